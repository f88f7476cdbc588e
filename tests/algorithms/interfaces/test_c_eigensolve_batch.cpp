// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>
#include <tests/codelets/batch/batch_checks.hpp>

namespace tessera::test {
namespace {

template <class T>
class CEigensolveBatch : public CTest<T> {
 protected:
  static tessera_eigen_batch_problem problem_of(TestBatch<T>& batch, bool vectors) {
    tessera_eigen_batch_problem problem;
    tessera_eigen_batch_problem_init(&problem);
    problem.type = type_letter<T>;
    problem.a = {.data = batch.a.data(),
                 .order = batch.n,
                 .count = batch.count,
                 .ld = batch.ld,
                 .stride = batch.stride,
                 .uplo = batch.uplo == Uplo::lower ? 'L' : 'U'};
    problem.values = batch.w.data();
    if (vectors) problem.vectors = {.data = batch.z.data(), .ld = batch.ld, .stride = batch.stride};
    problem.info = batch.info.data();
    return problem;
  }
};
TYPED_TEST_SUITE(CEigensolveBatch, Scalars);

TYPED_TEST(CEigensolveBatch, AgreesWithLapack) {
  for (const Index n : {1, 2, 33, 100})
    for (const bool vectors : {true, false}) {
      TestBatch<TypeParam> batch(random_batch<TypeParam>(n, 7), n % 2 ? Uplo::lower : Uplo::upper, n % 3);
      const auto problem = this->problem_of(batch, vectors);
      tessera_eigen_batch_options options;
      tessera_eigen_batch_options_init(&options);
      EXPECT_EQ(options.chunk, 0);
      options.chunk = n % 2 ? 3 : 0;
      tessera_eigen_batch_result result;
      ASSERT_C(tessera_eigensolve_batch(this->runtime, &problem, &options, &result));
      EXPECT_EQ(result.failed, 0);
      EXPECT_GE(result.seconds, 0);
      batch.expect_all_solved(vectors);
    }
}

/// One matrix directly after the other, without what may be null.
TYPED_TEST(CEigensolveBatch, MatricesWithoutGaps) {
  TestBatch<TypeParam> batch(random_batch<TypeParam>(12, 40), Uplo::upper);
  auto problem = this->problem_of(batch, true);
  problem.a = tessera_batch_array(batch.a.data(), batch.n, batch.count, 'U');
  problem.vectors = tessera_batch_array_out(batch.z.data(), batch.n);
  problem.info = nullptr;
  ASSERT_C(tessera_eigensolve_batch(this->runtime, &problem, nullptr, nullptr));
  std::fill(batch.info.begin(), batch.info.end(), 0);
  batch.expect_all_solved(true);
}

/// Several in flight; the results are complete when each was waited for.
TYPED_TEST(CEigensolveBatch, Submitted) {
  std::vector<TestBatch<TypeParam>> batches;
  for (const Index n : {20, 45, 7}) batches.emplace_back(random_batch<TypeParam>(n, 9), Uplo::lower);
  std::vector<tessera_eigen_batch_result> results(3);
  std::vector<CompletionHandle> completions(3);
  for (std::size_t k = 0; k < 3; ++k) {
    const auto problem = this->problem_of(batches[k], true);
    ASSERT_C(tessera_submit_eigensolve_batch(this->runtime, &problem, nullptr, &results[k], &completions[k]));
  }
  for (std::size_t k = 3; k-- > 0;) {
    int done = -1;
    ASSERT_C(tessera_wait(completions[k]));
    ASSERT_C(tessera_wait(completions[k]));
    EXPECT_C(tessera_test(completions[k], &done));
    EXPECT_EQ(done, 1);
    EXPECT_EQ(results[k].failed, 0);
    batches[k].expect_all_solved(true);
  }
}

TYPED_TEST(CEigensolveBatch, AMatrixFailsByItself) {
  using T = TypeParam;
  auto matrices = random_batch<T>(6, 9);
  matrices[2](3, 1) = matrices[2](1, 3) = not_a_number<T>();
  matrices[7](5, 5) = T(std::numeric_limits<RealOf<T>>::infinity());
  TestBatch<T> batch(matrices, Uplo::lower);
  const auto problem = this->problem_of(batch, true);
  tessera_eigen_batch_result result;
  EXPECT_EQ(tessera_eigensolve_batch(this->runtime, &problem, nullptr, &result), TESSERA_NOT_FINITE);
  EXPECT_STREQ(tessera_last_stage(), "eigensolve_batch");
  EXPECT_EQ(tessera_last_index(), 3);
  EXPECT_EQ(result.failed, 2);
  EXPECT_EQ(batch.info, (std::vector<int>{0, 0, -2, 0, 0, 0, 0, -6, 0}));
  for (const Index k : {0, 1, 3, 4, 5, 6, 8}) batch.expect_solved(k, true);
  for (const Index k : {2, 7}) EXPECT_TRUE(std::isnan(batch.values_of(k).front()));
}

TYPED_TEST(CEigensolveBatch, NothingToSolve) {
  tessera_eigen_batch_problem problem;
  tessera_eigen_batch_problem_init(&problem);
  tessera_eigen_batch_problem_init(nullptr);
  tessera_eigen_batch_options_init(nullptr);
  problem.type = this->type;
  EXPECT_C(tessera_eigensolve_batch(this->runtime, &problem, nullptr, nullptr));
  int info = -7;
  problem.a = tessera_batch_array(nullptr, 0, 1, 'L');
  problem.info = &info;
  EXPECT_C(tessera_eigensolve_batch(this->runtime, &problem, nullptr, nullptr));
  EXPECT_EQ(info, 0);
}

TYPED_TEST(CEigensolveBatch, RefusesWrongArguments) {
  TestBatch<TypeParam> batch(random_batch<TypeParam>(4, 2), Uplo::lower);
  const auto refused = [&](const char* name, const auto& change) {
    auto problem = this->problem_of(batch, true);
    tessera_eigen_batch_options options;
    tessera_eigen_batch_options_init(&options);
    change(problem, options);
    EXPECT_EQ(tessera_eigensolve_batch(this->runtime, &problem, &options, nullptr), TESSERA_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(tessera_last_message()).rfind(std::string(name) + " = ", 0), 0U)
        << tessera_last_message();
    CompletionHandle completion;
    EXPECT_EQ(tessera_submit_eigensolve_batch(this->runtime, &problem, &options, nullptr, &completion),
              TESSERA_INVALID_ARGUMENT);
    EXPECT_EQ(static_cast<tessera_completion*>(completion), nullptr);
  };
  refused("type", [](auto& problem, auto&) { problem.type = 'q'; });
  refused("a", [](auto& problem, auto&) { problem.a.data = nullptr; });
  refused("a.n", [](auto& problem, auto&) { problem.a.order = TESSERA_MAX_BATCH_ORDER + 1; });
  refused("a.count", [](auto& problem, auto&) { problem.a.count = -1; });
  refused("a.ld", [](auto& problem, auto&) { problem.a.ld = 3; });
  refused("a.stride", [](auto& problem, auto&) { problem.a.stride = 15; });
  refused("uplo", [](auto& problem, auto&) { problem.a.uplo = 'x'; });
  refused("values", [](auto& problem, auto&) { problem.values = nullptr; });
  refused("vectors_to.ld", [](auto& problem, auto&) { problem.vectors.ld = 3; });
  refused("vectors_to.stride", [](auto& problem, auto&) { problem.vectors.stride = 15; });
  refused("chunk", [](auto&, auto& options) { options.chunk = -1; });
  const auto problem = this->problem_of(batch, true);
  EXPECT_EQ(tessera_eigensolve_batch(this->runtime, nullptr, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_submit_eigensolve_batch(this->runtime, &problem, nullptr, nullptr, nullptr),
            TESSERA_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tessera::test
