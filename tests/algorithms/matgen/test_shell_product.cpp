// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>

#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/matgen/shell_model/no_core.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_space_count.hpp>
#include <tessera/shell_model.hpp>

#include "sparse_rows_checks.hpp"

namespace tessera::test {
namespace {
using namespace detail;

using ShellProduct = RuntimeTest<double>;

/// y := H x from the stored rows and from the lists of both kinds.
void compare(Runtime& runtime, ShellInteraction interaction, const ShellModelSpace& space,
             SpeciesStorage storage) {
  SCOPED_TRACE(fmt::format("Z = {}, N = {}, 2M = {}, parity {}", space.protons, space.neutrons, space.twice_m,
                           space.parity));
  SparseGenerator made;
  made.a = std::make_shared<ShellModelRows>(std::move(interaction), space);
  const ShellModelProduct product = shell_model_product(made);
  const Index n = made.a->order(), columns = 3;
  ASSERT_EQ(product.structure.order(), n);
  std::vector<Index> sorted = product.rows;
  std::sort(sorted.begin(), sorted.end());
  for (Index i = 0; i < n; ++i) ASSERT_EQ(sorted[static_cast<std::size_t>(i)], i);

  std::vector<double> x(static_cast<std::size_t>(n * columns)), expected(x.size(), 0),
      diagonal(static_cast<std::size_t>(n)), sums(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = random_uniform(3, 1, static_cast<Index>(i), 0);
  double largest = 0;
  for (const auto& [place, value] : gather(*made.a, n, n)) {
    const auto [row, column] = place;
    largest = std::max(largest, std::abs(value));
    sums[row] += std::abs(value);
    if (row == column)
      diagonal[row] = value;
    else
      sums[column] += std::abs(value);
    for (Index k = 0; k < columns; ++k) {
      expected[row * columns + k] += value * x[column * columns + k];
      if (row != column) expected[column * columns + k] += value * x[row * columns + k];
    }
  }
  const auto a = TwoSpeciesOperator<double>::build(runtime, product.structure, {.storage = storage});
  const double norm = *std::max_element(sums.begin(), sums.end());
  EXPECT_GE(a.norm_bound(), norm * (1 - 1e-12));
  EXPECT_LE(a.norm_bound(), 1.5 * norm);
  std::vector<double> from(x.size()), found(x.size());
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < columns; ++k)
      from[i * columns + k] = x[product.rows[static_cast<std::size_t>(i)] * columns + k];
  const BlockVectors<double> in(runtime, a.segments(), columns), out(runtime, a.segments(), columns);
  in.set(from.data(), columns, columns);
  Sequence sequence(runtime);
  a.apply(sequence, in, out, columns);
  EXPECT_TRUE(sequence.wait().ok());
  out.get(found.data(), columns, columns);
  for (Index i = 0; i < n; ++i) {
    const Index row = product.rows[static_cast<std::size_t>(i)];
    EXPECT_NEAR(a.diagonal()[static_cast<std::size_t>(i)], diagonal[static_cast<std::size_t>(row)],
                1e-12 * norm);
    for (Index k = 0; k < columns; ++k)
      ASSERT_NEAR(found[i * columns + k], expected[row * columns + k], 1e-12 * norm) << i;
  }
}

TEST_F(ShellProduct, AgreesWithTheStoredRows) {
  const std::vector<ShellOrbit> p_shell{{0, 1, 3}, {0, 1, 1}}, two_parities{{0, 1, 1}, {0, 2, 3}, {1, 0, 1}};
  for (const SpeciesStorage storage :
       {SpeciesStorage::automatic, SpeciesStorage::dense, SpeciesStorage::sparse}) {
    for (int protons = 0; protons <= 6; protons += 2)
      for (int neutrons = 0; neutrons <= 6; ++neutrons)
        compare(runtime(), random_interaction(p_shell, 2), {protons, neutrons, (protons + neutrons) % 2, 0},
                storage);
    for (const int parity : {0, 1, -1})
      for (const auto& [protons, neutrons] : {std::pair{2, 3}, {1, 4}, {3, 3}, {5, 2}})
        compare(runtime(), random_interaction(two_parities, 1),
                {protons, neutrons, (protons + neutrons) % 2, parity}, storage);
    compare(runtime(), random_interaction(sd_shell_orbits(), 4), {2, 3, 1, 0}, storage);
    compare(runtime(), random_interaction(sd_shell_orbits(), 4), {3, 2, -3, 1}, storage);
  }
}

TEST_F(ShellProduct, OfTruncatedSpaces) {
  std::vector<ShellOrbit> orbits{{0, 1, 1}, {0, 2, 3}, {1, 0, 1}};
  orbits[1].weight = 1;
  orbits[2].weight = 2;
  for (const SpeciesStorage storage : {SpeciesStorage::automatic, SpeciesStorage::sparse})
    for (int excitation = 0; excitation < 5; ++excitation)
      for (const int parity : {0, 1})
        for (const auto& [protons, neutrons] : {std::pair{2, 3}, {3, 3}, {1, 2}})
          if (parity == 0 || excitation > 1)
            compare(runtime(), random_interaction(orbits, 1),
                    {protons, neutrons, (protons + neutrons) % 2, parity, excitation}, storage);
}

TEST_F(ShellProduct, OfSpacesWithoutACore) {
  for (const SpeciesStorage storage : {SpeciesStorage::automatic, SpeciesStorage::sparse})
    for (const auto& [protons, neutrons, nmax] : {std::tuple{2, 2, 3}, {3, 2, 2}, {1, 2, 4}, {0, 2, 3}}) {
      const ShellModelSpace space = no_core_space(protons, neutrons, nmax, (protons + neutrons) % 2);
      const auto orbits = oscillator_orbits(highest_shell(protons, neutrons, nmax));
      compare(runtime(), random_interaction(orbits, 5, max_pair_weight(orbits, space)), space, storage);
    }
}

/// One spin's electrons of an open Hubbard chain: all states with `electrons` bits, ascending.
Species hubbard_species(int sites, int electrons) {
  std::vector<std::uint64_t> states;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << sites; ++bits)
    if (std::popcount(bits) == electrons) states.push_back(bits);
  Species species;
  species.sectors = {0, static_cast<Index>(states.size())};
  for (std::uint32_t k = 0; k < states.size(); ++k) {
    for (int s = 0; s + 1 < sites; ++s) {
      const std::uint64_t both = std::uint64_t{3} << s;
      if (std::popcount(states[k] & both) != 1) continue;
      const auto to = std::lower_bound(states.begin(), states.end(), states[k] ^ both) - states.begin();
      species.elements.push_back({static_cast<std::uint32_t>(to), k, -1});
    }
    for (int s = 0; s < sites; ++s)
      if (states[k] >> s & 1) species.moves.push_back({k, k, 0, static_cast<std::uint16_t>(s), 1});
  }
  return species;
}

/// Another use of the structure: electrons of two spins, H = -sum hops + U sum n_up n_down.
TEST_F(ShellProduct, OfAHubbardChain) {
  constexpr int sites = 6;
  TwoSpeciesStructure structure;
  structure.first = structure.second = hubbard_species(sites, sites / 2);
  structure.pairs = {{0, 0}};
  structure.couplings.push_back({0, 0, sites, sites, std::vector<double>(sites * sites, 0.0)});
  for (int s = 0; s < sites; ++s) structure.couplings[0].strengths[s * (sites + 1)] = 3;
  const SparseGenerator made = make_sparse_generator("hubbard:6:3:open", {});
  const Index n = made.a->order();
  ASSERT_EQ(structure.order(), n);
  const auto a = TwoSpeciesOperator<double>::build(runtime(), structure);
  std::vector<double> unit(static_cast<std::size_t>(n)), column(unit.size());
  const EntryMap entries = gather(*made.a, n, n);
  const BlockVectors<double> x(runtime(), a.segments(), 1), y(runtime(), a.segments(), 1);
  for (Index j = 0; j < n; j += 7) {
    std::fill(unit.begin(), unit.end(), 0.0);
    unit[static_cast<std::size_t>(j)] = 1;
    x.set(unit.data(), 1, 1);
    Sequence sequence(runtime());
    a.apply(sequence, x, y, 1);
    EXPECT_TRUE(sequence.wait().ok());
    y.get(column.data(), 1, 1);
    for (Index i = 0; i < n; ++i) {
      const auto found = entries.find({std::max(i, j), std::min(i, j)});
      EXPECT_EQ(column[static_cast<std::size_t>(i)], found == entries.end() ? 0 : found->second)
          << i << " " << j;
    }
  }
}

TEST_F(ShellProduct, Refused) {
  const SparseGenerator chain = make_sparse_generator("heisenberg:8", {});
  expect_refused("generator", [&] { (void)shell_model_product(chain); });
}

}  // namespace
}  // namespace tessera::test
