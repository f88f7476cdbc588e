// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

/// Plots the residuals of an iteration.
namespace tessera::program {

struct ResidualPlot {
  std::string title;
  std::string residual;  ///< label of the vertical axis
  double tolerance = 0;  ///< drawn as a line, if positive
  std::vector<double> iterations;
  /// curves[p][i]: residual of pair p at iterations[i]. A value that is not both positive and
  /// finite leaves a gap.
  std::vector<std::vector<double>> curves;
  std::vector<std::string> labels;  ///< one for each curve
};

/// An SVG document: a line for each curve on a logarithmic axis, axes with labels, a legend.
std::string svg(const ResidualPlot& plot);

}  // namespace tessera::program
