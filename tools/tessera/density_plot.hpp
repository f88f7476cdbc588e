// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/matrix_functions.hpp>

#include "residual_plot.hpp"

namespace tessera::program {

/// The steps of the iterations that lead to a density matrix: a curve for each stage, over the number of the
/// step.
ResidualPlot plot_of_steps(const std::vector<IterationStep>& steps);

}  // namespace tessera::program
