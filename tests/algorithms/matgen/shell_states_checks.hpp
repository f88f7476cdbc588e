// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>
#include <tessera/shell_model.hpp>

#include "sparse_rows_checks.hpp"

/// Observables of shell-model states against the matrices of J^2, T^2 and the numbers of particles, which are made as
/// Hamiltonians with these "interactions".
namespace tessera::test {
using namespace detail;

/// J^2 = sum j (j + 1) + 2 sum_{i<j} j_i . j_j, and T^2 likewise: of two nucleons coupled to J and T the second part is
/// diagonal.
inline ShellInteraction square_interaction(std::vector<ShellOrbit> orbits, bool of_isospin) {
  ShellInteraction h(std::move(orbits));
  const auto square = [](double q) { return q * (q + 1); };
  const auto own = [&](int a) { return square(of_isospin ? 0.5 : h.orbits()[a].twice_j / 2.); };
  const int count = static_cast<int>(h.orbits().size());
  for (int a = 0; a < count; ++a) {
    h.energies[a] = own(a);
    for (int b = a; b < count; ++b)
      for (int j = 0; j <= h.largest_j(); ++j)
        for (int t = 0; t < 2; ++t)
          if (h.allowed(a, b, a, b, j, t))
            h.set_element(a, b, a, b, j, t, square(of_isospin ? t : j) - own(a) - own(b));
  }
  return h;
}
inline ShellInteraction number_interaction(std::vector<ShellOrbit> orbits, std::size_t orbit) {
  ShellInteraction h(std::move(orbits));
  h.energies[orbit] = 1;
  return h;
}

/// <x|A|x> / <x|x> of column `column` of row-major vectors.
inline double expectation(const SymmetricRows& rows, const std::vector<double>& x, Index width,
                          Index column) {
  double sum = 0, length = 0;
  for (const auto& [place, value] : gather(rows, rows.order(), rows.order()))
    sum += (place.first == place.second ? 1 : 2) * value * x[place.first * width + column] *
           x[place.second * width + column];
  for (Index row = 0; row < rows.order(); ++row) length += std::pow(x[row * width + column], 2);
  return sum / length;
}

/// Random vectors of this space.
template <class T>
void check_states(Runtime& runtime, const std::vector<ShellOrbit>& orbits, const ShellModelSpace& space) {
  SCOPED_TRACE(fmt::format("Z = {}, N = {}, 2M = {}, parity {}", space.protons, space.neutrons, space.twice_m,
                           space.parity));
  SparseGenerator made;
  made.a = std::make_shared<ShellModelRows>(random_interaction(orbits, 1), space);
  const Index n = made.a->order(), width = 4, count = 3;
  std::vector<T> given(static_cast<std::size_t>(n * width));
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < width; ++k) given[i * width + k] = T(random_uniform(7, k, i, 0) * double(k + 1));
  const std::vector<double> x(given.begin(), given.end());
  const BlockVectors<T> vectors(runtime, RowSegments::even(runtime, n, 3), width);
  vectors.set(given.data(), width, width);
  const ShellModelStates found = shell_model_states(runtime, made, vectors, count);
  ASSERT_EQ(found.states.size(), 3u);
  ASSERT_EQ(found.orbits.size(), orbits.size());
  const ShellModelRows j_square(square_interaction(orbits, false), space),
      t_square(square_interaction(orbits, true), space);
  for (Index k = 0; k < count; ++k) {
    const ShellModelState& state = found.states[static_cast<std::size_t>(k)];
    EXPECT_NEAR(state.j * (state.j + 1), expectation(j_square, x, width, k), 1e-10);
    EXPECT_NEAR(state.t * (state.t + 1), expectation(t_square, x, width, k), 1e-10);
    double protons = 0, neutrons = 0;
    for (std::size_t a = 0; a < orbits.size(); ++a) {
      EXPECT_NEAR(state.protons[a] + state.neutrons[a],
                  expectation(ShellModelRows(number_interaction(orbits, a), space), x, width, k), 1e-10);
      protons += state.protons[a], neutrons += state.neutrons[a];
    }
    EXPECT_NEAR(protons, space.protons, 1e-10);
    EXPECT_NEAR(neutrons, space.neutrons, 1e-10);
    if (space.parity != 0) {
      EXPECT_EQ(state.parity, space.parity);
    }
  }
}

}  // namespace tessera::test
