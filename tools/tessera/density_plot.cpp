// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_plot.hpp"

#include "density_steps.hpp"

namespace tessera::program {

ResidualPlot plot_of_steps(const std::vector<IterationStep>& steps) {
  ResidualPlot plot;
  plot.residual = "convergence";
  plot.labels = stages_in_order(steps);
  plot.curves.resize(plot.labels.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    plot.iterations.push_back(static_cast<double>(s + 1));
    for (std::size_t p = 0; p < plot.curves.size(); ++p)
      plot.curves[p].push_back(steps[s].stage == plot.labels[p] ? steps[s].convergence : 0);
  }
  return plot;
}

}  // namespace tessera::program
