// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdlib>

#include <tessera/block_sparse_files.hpp>

#include "density_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace density_test;
using test::Matrix;

/// A box of water (tests/data/README.md).
struct Water {
  const char* prefix;
  Index molecules, functions, electrons;
  double homo, lumo, energy;  ///< hartree; 2 x sum of the occupied
};
constexpr Water dzvp{"water32_dzvp", 32, 23, 256, -0.0797670777, 0.1392856730, -95.653821261};
constexpr Water dftb{"water256_dftb", 256, 6, 2048, -0.2112134725, 0.3273390529, -939.493539027};

class WaterDensity : public RuntimeTest<double> {
 protected:
  void SetUp() override {
    if (!std::getenv("TESSERA_TEST_DATA")) GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
    RuntimeTest<double>::SetUp();
  }
  struct Box {
    BlockSparseMatrix<double> h, s;
  };
  static Box read(const Water& water, const std::vector<Index>& blocks) {
    const std::string path = std::string(std::getenv("TESSERA_TEST_DATA")) + "/" + water.prefix;
    const BlockLayout layout = make_block_layout(
        runtime(), repeated_block_sizes(blocks, water.molecules * water.functions),
        repeated_block_sizes(blocks, water.molecules * water.functions), Symmetry::symmetric);
    return {read_matrix_market<double>(runtime(), path + "_H.mtx.gz", layout),
            read_matrix_market<double>(runtime(), path + "_S.mtx.gz", layout)};
  }
  /// 2 sum_occupied c c^T of the dense problem.
  static Matrix<double> exact(const Box& box, const Water& water) {
    const auto dense = [](const BlockSparseMatrix<double>& a) {
      Matrix<double> m(a.rows(), a.cols());
      const std::vector<double> values = to_dense(a);
      std::copy(values.begin(), values.end(), m.data());
      return m;
    };
    Matrix<double> p = reference_density(decompose(dense(box.h), dense(box.s)), water.electrons / 2);
    for (Index j = 0; j < p.cols(); ++j)
      for (Index i = 0; i < p.rows(); ++i) p(i, j) *= 2;
    return p;
  }
  static double distance(const BlockSparseMatrix<double>& p, const Matrix<double>& expected) {
    const std::vector<double> values = to_dense(p);
    double largest = 0;
    for (Index j = 0; j < expected.cols(); ++j)
      for (Index i = 0; i < expected.rows(); ++i)
        largest = std::max(largest, std::abs(values[std::size_t(i + j * expected.rows())] - expected(i, j)));
    return largest;
  }
  /// How far P is from its transpose: its diagonal blocks have both halves.
  static double asymmetry(const BlockSparseMatrix<double>& p) {
    const std::vector<double> values = to_dense(p);
    const auto n = static_cast<std::size_t>(p.rows());
    double largest = 0;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < j; ++i)
        largest = std::max(largest, std::abs(values[i + j * n] - values[j + i * n]));
    return largest;
  }
  static void check(const DensityResult<double>& r, const Water& water, const Matrix<double>& expected,
                    double energy_of_molecule, double element) {
    ASSERT_TRUE(r) << r.status().message();
    // The last step's filter is a thousandth of that with which P's elements are exact to `element`.
    EXPECT_LE(asymmetry(r.density), 1e-5 * element);
    EXPECT_NEAR(r.energy, water.energy, energy_of_molecule * double(water.molecules) + 1e-9);
    EXPECT_LE(distance(r.density, expected), element);
    EXPECT_NEAR(r.electrons, double(water.electrons), energy_of_molecule * double(water.electrons));
    EXPECT_LT(water.homo, r.chemical_potential);
    EXPECT_LT(r.chemical_potential, water.lumo);
    if (r.method == DensityMethod::sign) return;
    constexpr double digits = 1e-9;  // of the reference
    EXPECT_LE(r.gap.homo.lower, water.homo + digits);
    EXPECT_GE(r.gap.homo.upper, water.homo - digits);
    EXPECT_LE(r.gap.lumo.lower, water.lumo + digits);
    EXPECT_GE(r.gap.lumo.upper, water.lumo - digits);
  }
};

TEST_F(WaterDensity, OfALargeBasis) {
  for (const std::vector<Index>& blocks : {std::vector<Index>{13, 5, 5}, {23}}) {
    const Box box = read(dzvp, blocks);
    const Matrix<double> expected = exact(box, dzvp);
    for (const DensityMethod method :
         {DensityMethod::submatrix, DensityMethod::purification, DensityMethod::trs4, DensityMethod::tc2,
          DensityMethod::sign, DensityMethod::dense}) {
      SCOPED_TRACE(::testing::Message() << to_string(method) << " blocks " << blocks[0]);
      const DensityProblem<double> problem{.hamiltonian = box.h, .overlap = &box.s, .electrons = 256};
      check(density_matrix(runtime(), problem, {.method = method, .filter_eps = 1e-6}), dzvp, expected, 1e-9,
            2e-4);
      if (blocks[0] == 23) break;
    }
  }
}

TEST_F(WaterDensity, OfASmallBasis) {
  const Box box = read(dftb, {6});
  const Matrix<double> expected = exact(box, dftb);
  const DensityProblem<double> problem{.hamiltonian = box.h, .overlap = &box.s, .electrons = 2048};
  GapBounds gap;
  for (const double eps : {1e-5, 1e-6}) {
    SCOPED_TRACE(::testing::Message() << "filter " << eps);
    const auto r = density_matrix(runtime(), problem, {.method = DensityMethod::tc2, .filter_eps = eps});
    check(r, dftb, expected, eps == 1e-5 ? 1e-7 : 1e-9, eps == 1e-5 ? 2e-3 : 2e-4);
    gap = r.gap;
  }
  // With the bounds of the first computation the next takes half the products of its purification.
  DensityProblem<double> again = problem;
  again.gap = gap;
  const auto r = density_matrix(runtime(), again, {.filter_eps = 1e-6});
  EXPECT_EQ(r.method, DensityMethod::sp2);
  check(r, dftb, expected, 1e-9, 2e-4);
  for (const DensityMethod method : {DensityMethod::purification, DensityMethod::submatrix})
    check(density_matrix(runtime(), problem, {.method = method, .filter_eps = 1e-6}), dftb, expected, 1e-9,
          2e-4);
  // Groups of six molecules, whose environments are about half of the box.
  const auto groups = density_matrix(
      runtime(), problem, {.method = DensityMethod::submatrix, .filter_eps = 1e-5, .group_order = 36});
  check(groups, dftb, expected, 1e-7, 2e-3);
  EXPECT_TRUE(std::any_of(groups.steps.begin(), groups.steps.end(), [](const IterationStep& step) {
    return step.stage == "columns" && step.occupation < 0.8;
  }));
  // The traces of blocks of atoms come to the filter's noise before the iteration ends.
  const Box atoms = read(dftb, {4, 1, 1});
  check(density_matrix(runtime(), {.hamiltonian = atoms.h, .overlap = &atoms.s, .electrons = 2048},
                       {.filter_eps = 1e-5}),
        dftb, expected, 1e-7, 2e-3);
}

}  // namespace
}  // namespace tessera
