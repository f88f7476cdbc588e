// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/algorithms/matgen/density_system_checks.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/matgen/density_kinds.hpp>

namespace tessera::test {
namespace {

std::string text_of(const DensitySystemOptions& options) {
  std::ostringstream text;
  text << options.kind << ' ' << options.molecules << " blocks";
  for (const Index size : options.blocks) text << ' ' << size;
  text << " gap " << options.gap.value_or(-1) << " decay " << options.decay.value_or(-1) << " coupling "
       << options.coupling.value_or(-1);
  return text.str();
}

/// All kinds and mixes of blocks.
std::vector<DensitySystemOptions> all_mixes() {
  return {{.kind = "water", .molecules = 17},
          {.kind = "water", .molecules = 16, .blocks = {13, 5, 5}},
          {.kind = "water", .molecules = 60, .blocks = {6}},
          {.kind = "water", .molecules = 50, .blocks = {4, 1, 1}},
          {.kind = "amorphous", .molecules = 24},
          {.kind = "amorphous", .molecules = 30, .blocks = {4, 1}},
          {.kind = "tio2", .molecules = 8},
          {.kind = "tio2", .molecules = 20, .blocks = {9, 4}}};
}

/// Extreme gaps, decays, couplings and numbers of molecules.
std::vector<DensitySystemOptions> extremes() {
  std::vector<DensitySystemOptions> all;
  const auto add = [&](DensitySystemOptions options) {
    options.blocks = {4, 1, 1};
    all.push_back(options);
  };
  for (const Index molecules : {1, 2, 3}) add({.molecules = molecules});
  for (const double gap : {1e-3, 0.1, 3.0})
    for (const double decay : {0.2, 0.7, 10.0}) {
      const double limit =
          DensityModel::make({.blocks = {4, 1, 1}, .gap = gap, .decay = decay}).coupling_limit();
      for (const double coupling : {0.0, 0.5 * limit, limit * (1 - 1e-6)})
        add({.molecules = 30, .gap = gap, .decay = decay, .coupling = coupling});
    }
  return all;
}

/// That S and the gap are as density_system promises.
template <class T>
void expect_promises(const DensitySystem<T>& system) {
  SCOPED_TRACE(text_of(system.options));
  const Index n = system.overlap.rows(), occupied = system.electrons / 2;
  const auto s = whole_matrix(system.overlap);
  auto h = whole_matrix(system.hamiltonian);
  const double rounding = 100 * static_cast<double>(precision<T>);
  EXPECT_GT(system.overlap_bound, 0);
  EXPECT_GE(eigenvalues_of(s, n).front(), system.overlap_bound - rounding);
  const auto values = eigenvalues_of_pair(h, s, n);
  ASSERT_TRUE(0 < occupied && occupied < n);
  EXPECT_GT(system.gap_bound, 0);
  EXPECT_LE(system.gap_bound, *system.options.gap);
  EXPECT_LE(values[occupied - 1], system.mu - system.gap_bound / 2 + rounding);
  EXPECT_GE(values[occupied], system.mu + system.gap_bound / 2 - rounding);
}

template <class T>
class DensitySystems : public RuntimeTest<T> {};
TYPED_TEST_SUITE(DensitySystems, Scalars);

TYPED_TEST(DensitySystems, KeepTheirPromises) {
  for (const auto& options : all_mixes())
    expect_promises(density_system<TypeParam>(this->runtime(), options));
}

TYPED_TEST(DensitySystems, KeepTheirPromisesAtTheLimits) {
  for (const auto& options : extremes()) expect_promises(density_system<TypeParam>(this->runtime(), options));
}

TYPED_TEST(DensitySystems, AreHermitianWithFullBlocks) {
  for (const auto& options : all_mixes()) {
    SCOPED_TRACE(text_of(options));
    const auto system = density_system<TypeParam>(this->runtime(), options);
    EXPECT_EQ(system.overlap.symmetry(), is_complex<TypeParam> ? Symmetry::hermitian : Symmetry::symmetric);
    EXPECT_EQ(system.overlap.pattern_pointer(), system.hamiltonian.pattern_pointer());
    Index zeros = 0, not_hermitian = 0, not_one = 0;
    system.hamiltonian.for_each_block([&](Index row, Index col, MatrixView<const TypeParam> h) {
      const auto s = *system.overlap.get_block(row, col);
      for (Index j = 0; j < h.cols; ++j)
        for (Index i = 0; i < h.rows; ++i) {
          const TypeParam of_s = s[i + j * h.rows];
          zeros += h(i, j) == TypeParam(0);
          if (row == col) {
            not_hermitian += h(i, j) != conjugate(h(j, i));
            not_one += of_s != TypeParam(i == j ? 1 : 0);
          } else {
            zeros += of_s == TypeParam(0);
          }
        }
    });
    EXPECT_EQ(zeros, 0);
    EXPECT_EQ(not_hermitian, 0);
    EXPECT_EQ(not_one, 0);
  }
}

TYPED_TEST(DensitySystems, AreTheSameForAnyPanels) {
  for (DensitySystemOptions options : all_mixes()) {
    const auto prints = [&](Index panel) {
      const auto system = density_system_on<TypeParam>(this->runtime(), options, {}, panel);
      return std::pair(fingerprint(system.hamiltonian), fingerprint(system.overlap));
    };
    const auto one = prints(0);
    const auto system = density_system<TypeParam>(this->runtime(), options);
    EXPECT_EQ(std::pair(fingerprint(system.hamiltonian), fingerprint(system.overlap)), one);
    EXPECT_EQ(prints(60), one);
    EXPECT_EQ(prints(1), one);
    options.seed = 2;
    const auto other = prints(0);
    EXPECT_NE(other.first, one.first);
    EXPECT_NE(other.second, one.second);
  }
}

TYPED_TEST(DensitySystems, TheThresholdLeavesOutBlocksAlone) {
  DensitySystemOptions options{.molecules = 100, .blocks = {6}, .threshold = 0};
  const auto all = density_system<TypeParam>(this->runtime(), options);
  options.threshold = 1e-3;
  const auto some = density_system<TypeParam>(this->runtime(), options);
  const Index stored = some.overlap.pattern().blocks();
  EXPECT_LT(stored, all.overlap.pattern().blocks() / 2);
  EXPECT_GT(stored, 3 * 100);
  double largest_left_out = 0;
  all.overlap.for_each_block([&](Index row, Index col, MatrixView<const TypeParam> s) {
    double squares = 0;
    for (Index k = 0; k < s.rows * s.cols; ++k) squares += static_cast<double>(std::norm(s.data[k]));
    const auto kept = some.overlap.get_block(row, col), h = some.hamiltonian.get_block(row, col);
    if (!kept) {
      largest_left_out = std::max(largest_left_out, std::sqrt(squares));
      return;
    }
    EXPECT_TRUE(std::equal(kept->begin(), kept->end(), s.data));
    EXPECT_EQ(*h, *all.hamiltonian.get_block(row, col));
  });
  EXPECT_LT(largest_left_out, 1e-3);
  EXPECT_GT(largest_left_out, 1e-4);
}

using DensitySystem1 = RuntimeTest<double>;

TEST_F(DensitySystem1, SinglePrecisionIsTheRoundedDouble) {
  const DensitySystemOptions options{.kind = "amorphous", .molecules = 20};
  const auto single = density_system<float>(runtime(), options);
  const auto full = density_system<double>(runtime(), options);
  single.hamiltonian.for_each_block([&](Index row, Index col, MatrixView<const float> h) {
    const auto exact = *full.hamiltonian.get_block(row, col);
    for (Index k = 0; k < h.rows * h.cols; ++k) EXPECT_EQ(h.data[k], static_cast<float>(exact[k]));
  });
}

TEST_F(DensitySystem1, UnitsAreThoseOfTheKind) {
  const auto water = density_system<double>(runtime(), {.molecules = 5, .blocks = {13, 5, 5}});
  EXPECT_EQ(water.electrons, 40);
  EXPECT_EQ(water.block_sizes, repeated_block_sizes(std::vector<Index>{13, 5, 5}, 115));
  EXPECT_EQ(water.unit_of_block, (std::vector<Index>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
  EXPECT_NEAR(water.cell_length, std::cbrt(5 * 29.9), 1e-12);
  EXPECT_EQ(water.options.gap, 0.22);
  EXPECT_TRUE(water.options.decay && water.options.coupling);
  ASSERT_EQ(water.unit_positions.size(), 5u);
  for (const auto& position : water.unit_positions)
    for (const double x : position) EXPECT_TRUE(x >= 0 && x < water.cell_length);

  const auto oxide = density_system<double>(runtime(), {.kind = "tio2", .molecules = 3});
  EXPECT_EQ(oxide.electrons, 72);
  EXPECT_EQ(oxide.block_sizes, repeated_block_sizes(std::vector<Index>{26, 13, 13}, 156));

  const auto none = density_system<double>(runtime(), {.molecules = 0});
  EXPECT_EQ(none.electrons, 0);
  EXPECT_EQ(none.overlap.pattern().blocks(), 0);
}

/// CP2K's benchmark of an amorphous solid has 13846 atoms and 133214 basis functions.
TEST_F(DensitySystem1, TheAmorphousSolidHasTheMixOfTheBenchmark) {
  const auto system =
      density_system<double>(runtime(), {.kind = "amorphous", .molecules = 3000, .decay = 0.5});
  const double atoms = static_cast<double>(system.block_sizes.size());
  EXPECT_NEAR(static_cast<double>(system.overlap.rows()) / atoms, 133214.0 / 13846, 0.1);
  EXPECT_EQ(system.unit_of_block.back(), 2999);
  EXPECT_EQ(system.electrons % 2, 0);
  for (const Index size : system.block_sizes) EXPECT_TRUE(size == 13 || size == 5);
}

TEST_F(DensitySystem1, NeighboursDoNotGrowWithTheSystem) {
  const auto blocks_in_row = [&](Index molecules) {
    const auto system = density_system<double>(runtime(), {.molecules = molecules, .blocks = {6}});
    return 2 * static_cast<double>(system.overlap.pattern().blocks()) / static_cast<double>(molecules) - 1;
  };
  const double few = blocks_in_row(1000);
  EXPECT_NEAR(blocks_in_row(2700), few, 0.05 * few);
  EXPECT_LT(few, 200);
}

/// Share of the blocks of the density matrix, one a molecule, with a Frobenius norm above the filter.
double occupation_of_density(const DensitySystem<double>& system, double filter) {
  const Index n = system.overlap.rows(), units = system.overlap.block_rows(), size = n / units;
  auto vectors = whole_matrix(system.hamiltonian);
  eigenvalues_of_pair(vectors, whole_matrix(system.overlap), n, true);
  std::vector<double> density(vectors.size());
  blas::gemm<double>(Op::none, Op::transpose, n, n, system.electrons / 2, 2, vectors.data(), n,
                     vectors.data(), n, 0, density.data(), n);
  Index above = 0;
  for (Index a = 0; a < units; ++a)
    for (Index b = 0; b < units; ++b) {
      double squares = 0;
      for (Index j = b * size; j < (b + 1) * size; ++j)
        for (Index i = a * size; i < (a + 1) * size; ++i) squares += density[i + j * n] * density[i + j * n];
      above += squares > filter * filter;
    }
  return static_cast<double>(above) / static_cast<double>(units * units);
}

/// In a tight-binding calculation of 256 molecules 0.87 of the blocks are above 1e-6.
TEST_F(DensitySystem1, TheDensityMatrixOfWaterDecaysAsARealOne) {
  const auto system = density_system<double>(runtime(), {.molecules = 256, .blocks = {6}});
  EXPECT_NEAR(occupation_of_density(system, 1e-6), 0.87, 0.08);
}

TEST_F(DensitySystem1, BadArguments) {
  const auto refuse = [&](const char* name, const DensitySystemOptions& options) {
    expect_refused(name, [&] { density_system<double>(runtime(), options); });
  };
  refuse("kind", {.kind = "ice"});
  refuse("kind", {.kind = ""});
  refuse("molecules", {.molecules = -1});
  refuse("molecules", {.molecules = Index(1) << 40});
  refuse("blocks", {.blocks = {4}});
  refuse("blocks", {.blocks = {23, 0}});
  refuse("blocks", {.blocks = {23, -1}});
  refuse("blocks", {.kind = "amorphous", .blocks = {13}});
  refuse("blocks", {.kind = "amorphous", .blocks = {3, 5}});
  refuse("blocks", {.kind = "tio2", .blocks = {12}});
  for (const double bad : {0.0, -1.0, double(INFINITY), double(NAN)}) refuse("gap", {.gap = bad});
  for (const double bad : {0.0, 0.1, 11.0, double(NAN)}) refuse("decay", {.decay = bad});
  for (const double bad : {-0.1, 1.0, double(NAN)}) refuse("coupling", {.coupling = bad});
  for (const double bad : {-1.0, double(INFINITY), double(NAN)}) refuse("threshold", {.threshold = bad});
}

TEST(DensitySystemKinds, AreAllMade) {
  ASSERT_EQ(density_system_kinds().size(), 3u);
  for (const DensitySystemKind& kind : density_system_kinds()) {
    EXPECT_FALSE(kind.help.empty());
    const DensityModel model = DensityModel::make({.kind = std::string(kind.name)});
    double shares = 0;
    for (const UnitSpecies& species : model.species) {
      shares += species.share;
      EXPECT_EQ(species.electrons % 2, 0);
      EXPECT_LT(species.electrons / 2, species.functions());
    }
    EXPECT_NEAR(shares, 1, 1e-12);
    EXPECT_GE(model.overlap_bound(), 0.1);
  }
}

}  // namespace
}  // namespace tessera::test
