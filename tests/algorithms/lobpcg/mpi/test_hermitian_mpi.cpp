// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <span>

#include <tests/algorithms/lobpcg/hermitian_problems.hpp>
#include <tests/support/hermitian_rows.hpp>
#include <tests/support/temporary_file.hpp>

#include <tessera/matgen.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/sparse_matrix.hpp>

/// Complex Hermitian problems over several ranks: products, solves and files.
namespace tessera::test {
namespace {

class HermitianMpi : public ::testing::Test {
 protected:
  using T = Complex;
  Runtime runtime_{{.cores = 1, .bind = false}, Communicator::world()};

  void expect_equal_on_all_ranks(const LobpcgResult<T>& result) {
    std::vector<double> numbers(result.values);
    numbers.insert(numbers.end(), result.residuals.begin(), result.residuals.end());
    numbers.push_back(double(result.iterations));
    const auto all = runtime_.all_gather(std::as_bytes(std::span<const double>(numbers)));
    for (const auto& other : all) EXPECT_EQ(other, all[0]);
  }
};

TEST_F(HermitianMpi, ProductsAndFiles) {
  const HermitianLists rows = random_hermitian_rows(150, 6, 3, {0, 31, 80, 150});
  const Matrix<Complex> dense = rows.dense();
  const std::vector<Complex> x = complex_block(150, 5, 2), expected = times(dense, x, 5);
  const TemporaryFile file(runtime_, ".h5");
  for (const Index groups : {0, 3}) {
    const auto a = CsbMatrix<T, T>::build(runtime_, rows, {.groups = groups});
    expect_equal(complex_product<T>(runtime_, a, x, 5), expected);
    a.save(file.path());
    const auto again = CsbMatrix<T, T>::load(runtime_, file.path());
    expect_equal(complex_product<T>(runtime_, again, x, 5), expected);
  }
}

TEST_F(HermitianMpi, Solves) {
  const SparseGenerator made = make_sparse_generator("hofstadter:8:6:1:4");
  const std::vector<double> exact = *made.lowest_eigenvalues(9);
  const auto a = CsbMatrix<T, T>::build(runtime_, *made.a, {.tile_rows = 8});
  for (const EigenMethod method : {EigenMethod::lobpcg, EigenMethod::generalized_davidson}) {
    FomPreconditioner<T, T> fom(runtime_, a);
    const auto result = lobpcg(runtime_, {.a = &a, .preconditioner = &fom},
                               {.count = 4, .method = method, .tolerance = 1e-9});
    EXPECT_TRUE(result) << result.status().message();
    expect_near(result.values, exact, 1e-11);
    expect_equal_on_all_ranks(result);
  }
}

/// Operators of the caller's, B, and constraints.
TEST_F(HermitianMpi, Generalized) {
  const Index n = 50;
  const HermitianEntries a = random_entries(n, 0, 5), b = random_entries(n, 4, 6);
  const auto op = operator_of<T>(runtime_, a, 5), mass = operator_of<T>(runtime_, b, 5);
  const LobpcgOptions options{.count = 2, .tolerance = 1e-9};
  const auto first = lobpcg(runtime_, {.a = &op, .b = &mass}, options);
  EXPECT_TRUE(first) << first.status().message();
  expect_pairs(first, a, &b, 1e-7, 1e-11);
  const auto next =
      lobpcg(runtime_, {.a = &op, .b = &mass, .constraints = &first.vectors, .constraint_count = 2}, options);
  EXPECT_TRUE(next) << next.status().message();
  expect_pairs(next, a, &b, 1e-7, 1e-11);
  EXPECT_GE(next.values[0], first.values[1] - 1e-10);
  expect_equal_on_all_ranks(next);
}

}  // namespace
}  // namespace tessera::test
