// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The density matrix of a dimerised ring without diagonalisation: hoppings -1 and -t in turn, whose energies
// +-|1 + t exp(iq)| are known; half of the states are occupied. Then once more with the bounds of the gap that the first
// computation has found, and the table of the second.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

namespace {

constexpr Index cells = 400;
constexpr double t = 0.6;

/// A block for each cell of two sites; symmetric, so only the lower half is stored.
tessera::BlockSparseMatrix<double> dimerised_ring(tessera::Runtime& runtime) {
  const std::vector<Index> sizes(cells, 2);
  tessera::BlockSparseBuilder<double> builder(
      runtime, tessera::make_block_layout(runtime, sizes, sizes, tessera::Symmetry::symmetric));
  const double within[] = {0, -1, -1, 0}, to_the_next[] = {0, 0, -t, 0}, around[] = {0, -t, 0, 0};
  for (Index c = 0; c < cells; ++c) {
    builder.put(c, c, {within, 2, 2, 2});
    // Column-major: the second site of a cell and the first of the next one.
    if (c + 1 < cells) builder.put(c + 1, c, {to_the_next, 2, 2, 2});
  }
  builder.put(cells - 1, 0, {around, 2, 2, 2});
  return builder.finalize();
}

double exact_energy() {
  double sum = 0;
  for (Index k = 0; k < cells; ++k)
    sum -= 2 * std::abs(1.0 + std::polar(t, 2 * std::numbers::pi * static_cast<double>(k) / cells));
  return sum;
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  const auto h = dimerised_ring(runtime);
  const double electrons = 2.0 * cells;
  const auto first =
      tessera::density_matrix(runtime, {.hamiltonian = h, .electrons = electrons}, {.filter_eps = 1e-7});
  if (!first) {
    std::fprintf(stderr, "%s\n", first.status().message().c_str());
    return 1;
  }
  std::printf("%s: energy %.8f (exact %.8f), %.8f electrons, %ld products, %.0f %% of P stored\n",
              to_string(first.method), first.energy, exact_energy(), first.electrons,
              static_cast<long>(first.products), 100 * tessera::occupation(first.density));
  std::printf("the gap holds (%.4f, %.4f); it is (%.4f, %.4f)\n", first.gap.homo.upper, first.gap.lumo.lower,
              t - 1, 1 - t);

  const auto again = tessera::density_matrix(
      runtime, {.hamiltonian = h, .electrons = electrons, .gap = first.gap},
      {.filter_eps = 1e-7, .monitor = [](const tessera::IterationStep& step) {
         std::printf("%8s %3ld  convergence %.1e  %.6f electrons\n", step.stage.c_str(),
                     static_cast<long>(step.iteration), step.convergence, step.electrons);
         return true;
       }});
  if (!again) return 1;
  std::printf("%s: energy %.8f, %ld products\n", to_string(again.method), again.energy,
              static_cast<long>(again.products));
  const bool right = std::abs(first.energy - exact_energy()) < 1e-6 &&
                     std::abs(again.energy - exact_energy()) < 1e-6 && first.gap.homo.upper >= t - 1 - 1e-4 &&
                     first.gap.lumo.lower <= 1 - t + 1e-4;
  return right ? 0 : 1;
}
