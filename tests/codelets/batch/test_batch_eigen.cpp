// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/codelets/batch/batch_checks.hpp>

namespace tessera::test {
namespace {

template <class T>
class BatchEigen : public ::testing::Test {
 protected:
  static void solve(TestBatch<T>& batch, bool vectors) {
    std::vector<std::max_align_t> work(
        kernels::eigen_batch_host_bytes<T>(batch.n, vectors) / sizeof(std::max_align_t) + 1);
    kernels::eigen_batch_on_host(batch.arguments(vectors), work.data());
  }
};
TYPED_TEST_SUITE(BatchEigen, Scalars);

TYPED_TEST(BatchEigen, AgreesWithLapack) {
  for (const Index n : {1, 2, 3, 17, 64, 101})
    for (const bool vectors : {true, false}) {
      TestBatch<TypeParam> batch(random_batch<TypeParam>(n, 3), n % 2 ? Uplo::lower : Uplo::upper, 2);
      this->solve(batch, vectors);
      batch.expect_all_solved(vectors);
    }
}

TYPED_TEST(BatchEigen, SpecialMatrices) {
  for (const Index n : {2, 33}) {
    TestBatch<TypeParam> batch(special_batch<TypeParam>(n), Uplo::lower);
    this->solve(batch, true);
    batch.expect_all_solved(true);
  }
}

TYPED_TEST(BatchEigen, ReportsWhatIsNotFinite) {
  using R = RealOf<TypeParam>;
  auto matrices = random_batch<TypeParam>(6, 4);
  matrices[1](4, 2) = matrices[1](2, 4) = not_a_number<TypeParam>();
  matrices[3](5, 5) = TypeParam(std::numeric_limits<R>::infinity());
  TestBatch<TypeParam> batch(matrices, Uplo::lower);
  this->solve(batch, true);
  EXPECT_EQ(batch.info, (std::vector<int>{0, -3, 0, -6}));
  EXPECT_TRUE(std::isnan(batch.w[6]) && std::isnan(batch.w.back()));
  batch.expect_solved(0, true);
  batch.expect_solved(2, true);
}

}  // namespace
}  // namespace tessera::test
