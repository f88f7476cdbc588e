// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>
#include <tests/support/eigen_problem.hpp>
#include <unistd.h>

namespace tessera::test {
namespace {

template <class T>
class CEigensolve : public CTest<T> {};
TYPED_TEST_SUITE(CEigensolve, Scalars);

template <class T>
tessera_eigen_problem problem_of(const Matrix<T>& a, std::vector<RealOf<T>>& w, Matrix<T>* z) {
  tessera_eigen_problem problem;
  tessera_eigen_problem_init(&problem);
  problem.type = type_letter<T>;
  problem.a = tessera_array(a.data(), a.rows(), a.ld(), 'L');
  w.assign(static_cast<std::size_t>(std::max<Index>(a.rows(), 1)), RealOf<T>(0));
  problem.values = w.data();
  if (z) problem.vectors = tessera_array_out(z->data(), z->ld());
  return problem;
}

template <class T>
void expect_accurate(const Matrix<T>& a, const Matrix<T>* b, std::vector<RealOf<T>> w, const Matrix<T>& z,
                     Index first, Index count) {
  w.resize(static_cast<std::size_t>(count));
  const auto reference = b ? lapack_eigenvalues(a, *b) : lapack_eigenvalues(a);
  const Matrix<T> vectors = z.block(0, 0, a.rows(), count);
  const EigenErrors errors = eigen_errors(a, b, w, &vectors, reference, first);
  EXPECT_LT(errors.residual, 30);
  EXPECT_LT(errors.orthogonality, 30);
  EXPECT_LT(errors.values, 30);
}

TYPED_TEST(CEigensolve, AllPairs) {
  using T = TypeParam;
  for (const Index n : {1, 2, 7, 60, 131}) {
    const auto a = random_hermitian<T>(n, 3);
    Matrix<T> z(n, n, 3);
    std::vector<RealOf<T>> w;
    const auto problem = problem_of(a, w, &z);
    tessera_eigen_result result;
    ASSERT_C(tessera_eigensolve(this->runtime, &problem, nullptr, &result)) << n;
    EXPECT_EQ(result.count, n);
    EXPECT_EQ(result.first, 0);
    EXPECT_GE(result.seconds, 0);
    expect_accurate<T>(a, nullptr, w, z, 0, n);
  }
}

/// Each solver, eigenvalues alone, and ranges.
TYPED_TEST(CEigensolve, SolversAndRanges) {
  using T = TypeParam;
  const Index n = 90;
  const auto a = random_hermitian<T>(n, 5);
  const auto reference = lapack_eigenvalues(a);
  for (const int solver : {TESSERA_TWO_STAGE, TESSERA_ONE_STAGE, TESSERA_VENDOR}) {
    tessera_eigen_options options;
    tessera_eigen_options_init(&options);
    options.solver = solver;
    options.range = TESSERA_RANGE_INDEX;
    options.lo = 10;
    options.hi = 25;
    Matrix<T> z(n, 15);
    std::vector<RealOf<T>> w;
    const auto problem = problem_of(a, w, &z);
    tessera_eigen_result result;
    ASSERT_C(tessera_eigensolve(this->runtime, &problem, &options, &result));
    EXPECT_EQ(result.count, 15);
    EXPECT_EQ(result.first, 10);
    EXPECT_EQ(result.used.solver, solver);
    expect_accurate<T>(a, nullptr, w, z, 10, 15);

    options.range = TESSERA_RANGE_VALUE;
    options.above = 0.5 * (reference[29] + reference[30]);
    options.upto = 0.5 * (reference[40] + reference[41]);
    const auto values_alone = problem_of<T>(a, w, nullptr);
    ASSERT_C(tessera_eigensolve(this->runtime, &values_alone, &options, &result));
    ASSERT_EQ(result.count, 11);
    EXPECT_EQ(result.first, 30);
    for (std::size_t k = 0; k < 11; ++k)
      EXPECT_NEAR(w[k], reference[30 + k], 100 * n * precision<T> * std::abs(reference.back()));
  }
}

TYPED_TEST(CEigensolve, GeneralizedWithAndWithoutAKeptFactor) {
  using T = TypeParam;
  const Index n = 70;
  const auto a = random_hermitian<T>(n, 7);
  auto b = random_hermitian<T>(n, 8, 2.0 * n);
  Matrix<T> z(n, n), again(n, n);
  std::vector<RealOf<T>> w, w_again;
  auto problem = problem_of(a, w, &z);
  problem.b = tessera_array(b.data(), n, b.ld(), 'L');
  ASSERT_C(tessera_eigensolve(this->runtime, &problem, nullptr, nullptr));
  expect_accurate<T>(a, &b, w, z, 0, n);

  Factor factor;
  ASSERT_C(tessera_cholesky_factor_create(this->runtime, this->type, &problem.b, &factor));
  auto with_factor = problem_of(a, w_again, &again);
  with_factor.b_factor = factor;
  for (int repeat = 0; repeat < 2; ++repeat) {
    ASSERT_C(tessera_eigensolve(this->runtime, &with_factor, nullptr, nullptr));
    expect_accurate<T>(a, &b, w_again, again, 0, n);
  }
}

/// Several in flight; the results are complete when each was waited for.
TYPED_TEST(CEigensolve, Submitted) {
  using T = TypeParam;
  const Index n = 80;
  std::vector<Matrix<T>> a, z;
  std::vector<std::vector<RealOf<T>>> w(3);
  std::vector<tessera_eigen_result> results(3);
  std::vector<CompletionHandle> completions(3);
  for (std::size_t k = 0; k < 3; ++k) {
    a.push_back(random_hermitian<T>(n, 10 + k));
    z.emplace_back(n, n);
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const auto problem = problem_of(a[k], w[k], &z[k]);
    ASSERT_C(tessera_submit_eigensolve(this->runtime, &problem, nullptr, &results[k], &completions[k]));
  }
  for (std::size_t k = 3; k-- > 0;) {
    int done = -1;
    ASSERT_C(tessera_wait(completions[k]));
    ASSERT_C(tessera_wait(completions[k]));
    EXPECT_C(tessera_test(completions[k], &done));
    EXPECT_EQ(done, 1);
    EXPECT_EQ(results[k].count, n);
    expect_accurate<T>(a[k], nullptr, w[k], z[k], 0, n);
  }
}

/// The options of a tuner, its times and its file.
TYPED_TEST(CEigensolve, Tuner) {
  using T = TypeParam;
  const Index n = 300;
  const auto a = random_hermitian<T>(n, 4);
  tessera_eigen_tuner *tuner = nullptr, *again = nullptr;
  ASSERT_C(tessera_eigen_tuner_create(this->runtime, this->type, n, 0, nullptr, &tuner));
  Index candidates = 0, tried = -1;
  double best = 0;
  ASSERT_C(tessera_eigen_tuner_best(tuner, nullptr, &best, &candidates, &tried));
  EXPECT_TRUE(std::isinf(best));
  EXPECT_EQ(tried, 0);
  ASSERT_GE(candidates, 2);
  const auto reference = lapack_eigenvalues(a);
  for (Index k = 0; k < candidates; ++k) {
    tessera_eigen_options options;
    ASSERT_C(tessera_eigen_tuner_next(tuner, &options));
    std::vector<RealOf<T>> w;
    const auto problem = problem_of<T>(a, w, nullptr);
    ASSERT_C(tessera_eigensolve(this->runtime, &problem, &options, nullptr));
    EXPECT_NEAR(w[0], reference[0], 100 * n * precision<T>);
    ASSERT_C(tessera_eigen_tuner_record(tuner, 10.0 - static_cast<double>(k)));
  }
  ASSERT_C(tessera_eigen_tuner_best(tuner, nullptr, &best, nullptr, &tried));
  EXPECT_EQ(tried, candidates);
  EXPECT_EQ(best, 11.0 - static_cast<double>(candidates));
  const std::string path =
      std::filesystem::temp_directory_path() / ("tessera_c_tuner_" + std::to_string(::getpid()) + ".json");
  ASSERT_C(tessera_eigen_tuner_save(tuner, path.c_str()));
  ASSERT_C(tessera_eigen_tuner_create(this->runtime, this->type, n, 0, nullptr, &again));
  ASSERT_C(tessera_eigen_tuner_load(again, path.c_str()));
  ASSERT_C(tessera_eigen_tuner_best(again, nullptr, &best, nullptr, &tried));
  EXPECT_EQ(tried, candidates);
  std::filesystem::remove(path);
  EXPECT_EQ(tessera_eigen_tuner_load(again, path.c_str()), TESSERA_INPUT_ERROR);
  EXPECT_EQ(tessera_eigen_tuner_record(again, -1), TESSERA_INVALID_ARGUMENT);
  tessera_eigen_tuner_free(again);
  tessera_eigen_tuner_free(tuner);
  tessera_eigen_tuner_free(nullptr);
}

/// Failures tell where.
TYPED_TEST(CEigensolve, Failures) {
  using T = TypeParam;
  const Index n = 40;
  auto a = random_hermitian<T>(n, 20);
  auto b = identity<T>(n);
  b(12, 12) = T(-1);
  Matrix<T> z(n, n);
  std::vector<RealOf<T>> w;
  auto problem = problem_of(a, w, &z);
  problem.b = tessera_array(b.data(), n, b.ld(), 'L');
  EXPECT_EQ(tessera_eigensolve(this->runtime, &problem, nullptr, nullptr), TESSERA_NOT_POSITIVE_DEFINITE);
  EXPECT_STREQ(tessera_last_stage(), "cholesky");
  EXPECT_EQ(tessera_last_index(), 13);

  Factor factor;
  EXPECT_EQ(tessera_cholesky_factor_create(this->runtime, this->type, &problem.b, &factor),
            TESSERA_NOT_POSITIVE_DEFINITE);
  EXPECT_EQ(tessera_last_index(), 13);
  EXPECT_EQ(static_cast<tessera_cholesky_factor*>(factor), nullptr);

  a(30, 5) = not_a_number<T>();
  problem = problem_of(a, w, &z);
  EXPECT_EQ(tessera_eigensolve(this->runtime, &problem, nullptr, nullptr), TESSERA_NOT_FINITE);
  EXPECT_STREQ(tessera_last_stage(), "input");
  EXPECT_EQ(tessera_last_index(), 6);

  EXPECT_EQ(tessera_eigensolve(this->runtime, nullptr, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  tessera_cholesky_factor_free(nullptr);
  problem.type = 'q';
  EXPECT_EQ(tessera_eigensolve(this->runtime, &problem, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  problem.type = this->type;
  problem.values = nullptr;
  EXPECT_EQ(tessera_eigensolve(this->runtime, &problem, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tessera_last_message()).find("values"), std::string::npos);
  problem.values = w.data();
  problem.a.ld = n - 1;
  EXPECT_EQ(tessera_eigensolve(this->runtime, &problem, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  problem.a.ld = n;
  tessera_eigen_options options;
  tessera_eigen_options_init(&options);
  options.solver = 17;
  EXPECT_EQ(tessera_eigensolve(this->runtime, &problem, &options, nullptr), TESSERA_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tessera::test
