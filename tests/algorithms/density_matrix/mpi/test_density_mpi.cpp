// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/file_checks.hpp>

#include <tessera/density_matrices.hpp>
#include <tessera/density_state.hpp>

#include "../density_cases.hpp"
#include "../thermal_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace density_test;
using test::Matrix;

template <class T>
void check_methods(Runtime& runtime, unsigned seed) {
  const auto chain = make_chain<T>(7, 1);
  const auto exact = decompose(chain.hamiltonian, chain.overlap);
  Matrix<T> expected = reference_density(exact, chain.occupied);
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes, Symmetry::hermitian, seed),
             s = blocks_of(runtime, chain.overlap, chain.sizes, Symmetry::hermitian, 2 * seed);
  const double tolerance = 2e4 * double(precision<T>);
  for (const DensityMethod method :
       {DensityMethod::sign, DensityMethod::trs4, DensityMethod::tc2, DensityMethod::purification,
        DensityMethod::submatrix, DensityMethod::dense}) {
    SCOPED_TRACE(::testing::Message() << to_string(method) << " seed " << seed);
    const auto r = density_matrix(
        runtime, {.hamiltonian = h, .overlap = &s, .electrons = double(chain.occupied), .occupation = 1},
        {.method = method, .filter_eps = 0, .mixed_precision = false, .group_order = 7});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_LE(difference(gathered(r.density), expected), tolerance);
    EXPECT_NEAR(r.electrons, double(chain.occupied), tolerance * double(chain.occupied));
    EXPECT_EQ(r.density.layout(), h.layout());
    // All ranks have the same numbers.
    double numbers[] = {r.energy, -r.energy, r.chemical_potential, -r.chemical_potential};
    runtime.all_reduce_max(numbers, 4);
    EXPECT_EQ(numbers[0], -numbers[1]);
    EXPECT_EQ(numbers[2], -numbers[3]);
  }
}

TEST(DensityMpi, EveryMethodGivesThatOfLapack) {
  Runtime runtime({}, Communicator::world());
  check_methods<double>(runtime, 4);
  check_methods<std::complex<float>>(runtime, 0);
}

/// Dense matrices of several tiles, dealt to the ranks, with iterations in both precisions.
TEST(DensityMpi, PurificationOfManyTiles) {
  Runtime runtime({}, Communicator::world());
  using T = std::complex<double>;
  const auto chain = make_chain<T>(40, 1);
  ASSERT_GT(chain.hamiltonian.rows(), 2 * 64);
  const Matrix<T> expected = reference_density(decompose(chain.hamiltonian, chain.overlap), chain.occupied);
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes),
             s = blocks_of(runtime, chain.overlap, chain.sizes, Symmetry::hermitian, 3);
  for (const bool mixed : {true, false}) {
    SCOPED_TRACE(mixed ? "mixed precision" : "double precision");
    const auto r = density_matrix(
        runtime, {.hamiltonian = h, .overlap = &s, .electrons = double(chain.occupied), .occupation = 1},
        {.method = DensityMethod::purification, .filter_eps = 0, .mixed_precision = mixed});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_LE(difference(gathered(r.density), expected), mixed ? 1e-5 : 1e-11);
    EXPECT_NEAR(r.electrons, double(chain.occupied), 1e-9);
    double numbers[] = {r.energy, -r.energy};
    runtime.all_reduce_max(numbers, 2);
    EXPECT_EQ(numbers[0], -numbers[1]);
  }
}

/// Groups with their environments, dealt to the ranks.
TEST(DensityMpi, SubmatricesOfAChain) {
  Runtime runtime({}, Communicator::world());
  using T = double;
  const auto chain = make_chain<T>(60, 1);
  const Matrix<T> expected = reference_density(decompose(chain.hamiltonian, chain.overlap), chain.occupied);
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes, Symmetry::hermitian, 5, 1e-9),
             s = blocks_of(runtime, chain.overlap, chain.sizes, Symmetry::hermitian, 3, 1e-9);
  for (const bool mixed : {true, false}) {
    SCOPED_TRACE(mixed ? "mixed precision" : "double precision");
    const auto r = density_matrix(
        runtime, {.hamiltonian = h, .overlap = &s, .electrons = double(chain.occupied), .occupation = 1},
        {.method = DensityMethod::submatrix,
         .filter_eps = 1e-6,
         .mixed_precision = mixed,
         .group_order = 20});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_LE(difference(gathered(r.density), expected), 4.5e-4);  // where environments end
    EXPECT_NEAR(r.electrons, double(chain.occupied), 1e-5);
    EXPECT_EQ(r.density.layout(), h.layout());
    EXPECT_TRUE(std::any_of(r.steps.begin(), r.steps.end(), [](const IterationStep& step) {
      return step.stage == "columns" && step.occupation < 0.5;  // the largest submatrix
    }));
    double numbers[] = {r.energy, -r.energy, r.error, -r.error};
    runtime.all_reduce_max(numbers, 4);
    EXPECT_EQ(numbers[0], -numbers[1]);
    EXPECT_EQ(numbers[2], -numbers[3]);
  }
}

TEST(DensityMpi, FunctionsOfMatrices) {
  Runtime runtime({}, Communicator::world());
  using T = std::complex<double>;
  const Matrix<T> dense = of_spectrum<T>(geometric(0.05, 5, order_of_functions), 3);
  const auto exact = decompose(dense);
  const auto a = blocks_of(runtime, dense, sizes_of_functions(), Symmetry::hermitian, 3);
  const auto roots = matrix_square_roots(runtime, {.a = a});
  ASSERT_TRUE(roots) << roots.status().message();
  EXPECT_LE(
      difference(gathered(roots.inverse_root), function_of(exact, [](double x) { return 1 / std::sqrt(x); })),
      1e-12);
  const auto factor = inverse_factor(runtime, {.a = a});
  ASSERT_TRUE(factor) << factor.status().message();
  EXPECT_LE(factor.error, 1e-13);
  const auto inverse = matrix_inverse(runtime, {.a = a});
  ASSERT_TRUE(inverse) << inverse.status().message();
  EXPECT_LE(difference(gathered(inverse.value), function_of(exact, [](double x) { return 1 / x; })), 1e-11);
  const auto logarithm = log_determinant(runtime, {.a = a});
  double expected = 0;
  for (const double x : exact.values) expected += std::log(x);
  EXPECT_NEAR(logarithm.value, expected, 1e-11);
}

/// k-points at a temperature, with one mu; and a state that is written, and read in the default distribution.
TEST(DensityMpi, KPointsAtATemperature) {
  Runtime runtime({}, Communicator::world());
  using T = std::complex<double>;
  constexpr double kt = 0.05, electrons = 15.4;
  std::vector<double> values;
  std::vector<BlockSparseMatrix<T>> points;
  std::vector<EigenDecomposition<T>> exact;
  for (const double flux : {0.4, 1.9}) {
    const Matrix<T> ring = metallic_ring<T>(18, flux);
    exact.push_back(decompose(ring));
    values.insert(values.end(), exact.back().values.begin(), exact.back().values.end());
    points.push_back(blocks_of(runtime, ring, std::vector<Index>(6, 3), Symmetry::hermitian, 4));
  }
  const double mu = exact_potential(values, 2 * electrons, 2, kt);
  DensityBatch<T> batch{.weights = {0.5, 0.5}, .common_chemical_potential = true};
  for (const auto& h : points)
    batch.problems.push_back({.hamiltonian = h, .electrons = electrons, .temperature = kt});
  for (const DensityMethod method : {DensityMethod::fermi, DensityMethod::dense}) {
    const auto r =
        density_matrices(runtime, batch, {.method = method, .filter_eps = 0, .mixed_precision = false});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.chemical_potential, mu, 1e-11);
    EXPECT_NEAR(r.electrons, electrons, 1e-11);
    EXPECT_NEAR(r.entropy, 0.5 * thermal_numbers(values, mu, 2, kt).entropy, 1e-10);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_LE(difference(gathered(r.results[k].density),
                           function_of(exact[k], [&](double e) { return 2 * fermi((e - mu) / kt); })),
                1e-11);
    const test::TemporaryFile file(runtime, ".h5");
    write_density_state(file.path(), state_of(batch.problems[1], r.results[1]));
    const auto state = read_density_state<T>(runtime, file.path());
    EXPECT_EQ(difference(gathered(state.density), gathered(r.results[1].density)), 0);
    EXPECT_EQ(state.chemical_potential, r.chemical_potential);
  }
}

/// What is wrong on one rank, or stops there, all ranks are told.
TEST(DensityMpi, FailuresAreThoseOfAllRanks) {
  Runtime runtime({}, Communicator::world());
  const auto chain = make_chain<double>(5, 1);
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes, Symmetry::hermitian, 4);
  const double electrons = double(chain.occupied);
  const bool last = runtime.rank() == runtime.size() - 1;
  const auto stopped =
      density_matrix(runtime, {.hamiltonian = h, .electrons = electrons, .occupation = 1},
                     {.monitor = [&](const IterationStep& step) { return !(last && step.iteration == 2); }});
  EXPECT_EQ(stopped.status().code, StatusCode::stopped);
  EXPECT_EQ(stopped.steps.size(), 2u);
  expect_refused("electrons", [&] {
    (void)density_matrix<double>(runtime,
                                 {.hamiltonian = h, .electrons = last ? -1 : electrons, .occupation = 1});
  });
  const auto again =
      submit_density_matrix(runtime, {.hamiltonian = h, .electrons = electrons, .occupation = 1}).result();
  ASSERT_TRUE(again) << again.status().message();
}

}  // namespace
}  // namespace tessera
