// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

/// The history of an iteration's residuals as a drawing.
namespace tessera::program {

struct ResidualPlot {
  std::string title;
  std::string residual;  ///< what the vertical axis shows
  double tolerance = 0;  ///< drawn as a line, if positive
  std::vector<double> iterations;
  /// curves[p][i]: of pair p at iterations[i]; what is not positive and finite leaves a gap.
  std::vector<std::vector<double>> curves;
  std::vector<std::string> labels;  ///< of the curves
};

/// An SVG document: a line for each curve on a logarithmic axis, axes with labels, a legend.
std::string svg(const ResidualPlot& plot);

}  // namespace tessera::program
