// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>
#include <tessera/shell_model.hpp>

#include "sparse_rows_checks.hpp"

namespace tessera::test {
namespace {
using namespace detail;

using ShellProduct = RuntimeTest<double>;

/// y := H x from the stored rows and from the lists of both kinds.
void compare(Runtime& runtime, ShellInteraction interaction, const ShellModelSpace& space, SpeciesStorage storage) {
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

  std::vector<double> x(static_cast<std::size_t>(n * columns)), expected(x.size(), 0), diagonal(static_cast<std::size_t>(n)),
      sums(static_cast<std::size_t>(n));
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
    EXPECT_NEAR(a.diagonal()[static_cast<std::size_t>(i)], diagonal[static_cast<std::size_t>(row)], 1e-12 * norm);
    for (Index k = 0; k < columns; ++k)
      ASSERT_NEAR(found[i * columns + k], expected[row * columns + k], 1e-12 * norm) << i;
  }
}

TEST_F(ShellProduct, AgreesWithTheStoredRows) {
  const std::vector<ShellOrbit> p_shell{{0, 1, 3}, {0, 1, 1}}, two_parities{{0, 1, 1}, {0, 2, 3}, {1, 0, 1}};
  for (const SpeciesStorage storage : {SpeciesStorage::automatic, SpeciesStorage::dense, SpeciesStorage::sparse}) {
    for (int protons = 0; protons <= 6; protons += 2)
      for (int neutrons = 0; neutrons <= 6; ++neutrons)
        compare(runtime(), random_interaction(p_shell, 2), {protons, neutrons, (protons + neutrons) % 2, 0}, storage);
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
          if (parity == 0 || excitation > 1) compare(runtime(), random_interaction(orbits, 1),
                  {protons, neutrons, (protons + neutrons) % 2, parity, excitation}, storage);
}

TEST_F(ShellProduct, Refused) {
  const SparseGenerator chain = make_sparse_generator("heisenberg:8", {});
  expect_refused("generator", [&] { (void)shell_model_product(chain); });
}

}  // namespace
}  // namespace tessera::test
