// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include <tests/codelets/batch/batch_checks.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/eigensolve_batch.hpp>

namespace tessera::test {
namespace {

template <class T>
class EigensolveBatch : public RuntimeTest<T> {
 protected:
  /// Solves a batch into its own arrays.
  static EigenBatchResult<T> solve(TestBatch<T>& batch, const EigensolveBatchOptions& options) {
    const EigenBatchProblem<T> problem{
        .a = {batch.a.data(), batch.n, batch.count, batch.ld, batch.stride, batch.uplo},
        .vectors_to = {batch.z.data(), batch.ld, batch.stride},
        .values_to = batch.w.data()};
    auto result = eigensolve_batch(RuntimeTest<T>::runtime(), problem, options);
    std::fill(batch.info.begin(), batch.info.end(), 0);
    for (const BatchFailure& failure : result.failures)
      batch.info[static_cast<std::size_t>(failure.matrix)] = 1;
    return result;
  }
};
TYPED_TEST_SUITE(EigensolveBatch, Scalars);

TYPED_TEST(EigensolveBatch, AgreesWithLapack) {
  for (const Index n : {1, 2, 7, 32, 33, 100, 131})
    for (const bool vectors : {true, false}) {
      TestBatch<TypeParam> batch(random_batch<TypeParam>(n, 7), n % 2 ? Uplo::lower : Uplo::upper, n % 3);
      const auto before = batch.a;
      const auto result = this->solve(batch, {.vectors = vectors, .chunk = n % 2 ? 3 : 0});
      EXPECT_TRUE(result) << result.status().message();
      EXPECT_TRUE(result.values.empty() && result.vectors.empty());
      EXPECT_EQ(std::memcmp(before.data(), batch.a.data(), sizeof(TypeParam) * before.size()), 0);
      batch.expect_all_solved(vectors);
    }
}

TYPED_TEST(EigensolveBatch, SpecialMatrices) {
  TestBatch<TypeParam> batch(special_batch<TypeParam>(40), Uplo::lower);
  EXPECT_TRUE(this->solve(batch, {}));
  batch.expect_all_solved(true);
}

TYPED_TEST(EigensolveBatch, TheResultHasWhatIsGivenNoPlace) {
  TestBatch<TypeParam> batch(random_batch<TypeParam>(9, 5), Uplo::lower);
  // Matrices with a gap between them.
  const Index stride = batch.n * batch.n + 4;
  std::vector<TypeParam> a(static_cast<std::size_t>(stride * batch.count), not_a_number<TypeParam>());
  for (Index k = 0; k < batch.count; ++k)
    std::copy_n(batch.a.begin() + k * batch.stride, batch.stride, a.begin() + k * stride);
  const EigenBatchProblem<TypeParam> problem{.a = {a.data(), batch.n, batch.count, batch.n, stride}};
  auto first = submit_eigensolve_batch(this->runtime(), problem),
       second = submit_eigensolve_batch(this->runtime(), problem);
  EXPECT_TRUE(first.wait() && second.wait());
  const auto result = std::move(first).result();
  ASSERT_EQ(result.values.size(), batch.w.size());
  ASSERT_EQ(result.vectors.size(), batch.z.size());
  batch.w = result.values;
  batch.z = result.vectors;
  std::fill(batch.info.begin(), batch.info.end(), 0);
  batch.expect_all_solved(true);
}

TYPED_TEST(EigensolveBatch, AMatrixFailsByItself) {
  auto matrices = random_batch<TypeParam>(6, 9);
  matrices[2](3, 1) = matrices[2](1, 3) = not_a_number<TypeParam>();
  matrices[7](5, 5) = TypeParam(std::numeric_limits<RealOf<TypeParam>>::infinity());
  TestBatch<TypeParam> batch(matrices, Uplo::lower);
  const auto result = this->solve(batch, {.chunk = 4});
  EXPECT_EQ(result.status().code, StatusCode::not_finite);
  EXPECT_EQ(result.status().stage, "eigensolve_batch");
  EXPECT_EQ(result.status().index, 3);
  ASSERT_EQ(result.failures.size(), 2U);
  EXPECT_EQ(result.failures[0].matrix, 2);
  EXPECT_EQ(result.failures[0].index, 2);
  EXPECT_EQ(result.failures[1].matrix, 7);
  EXPECT_EQ(result.failures[1].index, 6);
  for (const Index k : {0, 1, 3, 4, 5, 6, 8}) batch.expect_solved(k, true);
}

TYPED_TEST(EigensolveBatch, NothingToSolve) {
  EXPECT_TRUE(eigensolve_batch<TypeParam>(this->runtime(), {.a = {nullptr, 0, 5}}));
  EXPECT_TRUE(eigensolve_batch<TypeParam>(this->runtime(), {.a = {nullptr, 5, 0}}));
}

TYPED_TEST(EigensolveBatch, RefusesWrongArguments) {
  std::vector<TypeParam> a(64), z(64);
  using Problem = EigenBatchProblem<TypeParam>;
  const auto refused = [&](const char* name, const Problem& problem,
                           const EigensolveBatchOptions& options = {}) {
    expect_refused(name,
                   [&] { (void)submit_eigensolve_batch<TypeParam>(this->runtime(), problem, options); });
  };
  refused("a", {.a = {nullptr, 4, 2}});
  refused("a.n", {.a = {a.data(), -1, 2}});
  refused("a.n", {.a = {a.data(), max_batch_order + 1, 1}});
  refused("a.count", {.a = {a.data(), 4, -2}});
  refused("a.ld", {.a = {a.data(), 4, 2, 3, 16}});
  refused("a.stride", {.a = {a.data(), 4, 2, 4, 15}});
  refused("vectors_to.ld", {.a = {a.data(), 4, 2}, .vectors_to = {z.data(), 3, 16}});
  refused("vectors_to.stride", {.a = {a.data(), 4, 2}, .vectors_to = {z.data(), 5, 21}});
  refused("chunk", {.a = {a.data(), 4, 2}}, {.chunk = -1});
}

}  // namespace
}  // namespace tessera::test
