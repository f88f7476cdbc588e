// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/codelets/batch/batch_checks.hpp>
#include <tests/support/device_array.hpp>

namespace tessera::test {
namespace {

template <class T>
class GpuBatchEigen : public GpuTest<T> {
 protected:
  /// @param in_place the vectors replace the matrices
  void solve(TestBatch<T>& batch, bool vectors, bool in_place = false) {
    const DeviceArray<T> a(batch.a), z(batch.z);
    const DeviceArray<RealOf<T>> w(batch.w);
    const DeviceArray<int> info(batch.info);
    const DeviceArray<char> work(kernels::eigen_batch_bytes<T>(batch.n, batch.count, vectors));
    auto arguments = batch.arguments(vectors);
    arguments.a = a.data();
    arguments.w = w.data();
    if (vectors) arguments.z = in_place ? a.data() : z.data();
    arguments.info = info.data();
    kernels::launch_eigen_batch(this->stream_, this->cublas_, arguments, work.data());
    batch.w = w.get();
    batch.z = in_place ? a.get() : z.get();
    batch.info = info.get();
  }
};
TYPED_TEST_SUITE(GpuBatchEigen, Scalars);

TYPED_TEST(GpuBatchEigen, EveryOrderUpTo65) {
  for (Index n = 1; n <= 65; ++n)
    for (const bool vectors : {true, false}) {
      TestBatch<TypeParam> batch(random_batch<TypeParam>(n, 5), n % 2 ? Uplo::lower : Uplo::upper, n % 3);
      this->solve(batch, vectors);
      batch.expect_all_solved(vectors);
    }
}

TYPED_TEST(GpuBatchEigen, LargerOrders) {
  for (const Index n : {95, 96, 100, 129, 168, 169, 200, 240, 300})
    for (const bool vectors : {true, false}) {
      TestBatch<TypeParam> batch(random_batch<TypeParam>(n, 3), n % 2 ? Uplo::lower : Uplo::upper, n % 3);
      this->solve(batch, vectors);
      batch.expect_all_solved(vectors);
    }
}

TYPED_TEST(GpuBatchEigen, LargestOrders) {
  for (const Index n : {512, 1024}) {
    TestBatch<TypeParam> batch(random_batch<TypeParam>(n, 1), Uplo::lower);
    this->solve(batch, true);
    batch.expect_all_solved(true);
  }
}

TYPED_TEST(GpuBatchEigen, SpecialMatrices) {
  for (const Index n : {2, 5, 32, 65, 130, 250})
    for (const bool vectors : {true, false}) {
      TestBatch<TypeParam> batch(special_batch<TypeParam>(n), Uplo::lower);
      this->solve(batch, vectors);
      batch.expect_all_solved(vectors);
    }
}

TYPED_TEST(GpuBatchEigen, InPlace) {
  for (const Index n : {1, 20, 64, 150, 260})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      TestBatch<TypeParam> batch(random_batch<TypeParam>(n, 3), uplo);
      this->solve(batch, true, true);
      batch.expect_all_solved(true);
    }
}

TYPED_TEST(GpuBatchEigen, OneMatrixAndThousands) {
  for (const Index count : {1, 2049}) {
    TestBatch<TypeParam> batch(random_batch<TypeParam>(12, count), Uplo::lower);
    this->solve(batch, true);
    batch.expect_all_solved(true);
  }
}

TYPED_TEST(GpuBatchEigen, ReportsWhatIsNotFinite) {
  using R = RealOf<TypeParam>;
  for (const Index n : {2, 33, 100, 260}) {
    auto matrices = random_batch<TypeParam>(n, 5);
    matrices[1](n - 1, 0) = matrices[1](0, n - 1) = not_a_number<TypeParam>();
    matrices[3](n - 1, n - 1) = TypeParam(std::numeric_limits<R>::infinity());
    TestBatch<TypeParam> batch(matrices, Uplo::lower);
    this->solve(batch, true);
    EXPECT_EQ(batch.info, (std::vector<int>{0, -1, 0, static_cast<int>(-n), 0}));
    const auto failed = static_cast<std::size_t>(n);
    EXPECT_TRUE(std::isnan(batch.w[failed]) && std::isnan(batch.w[2 * failed - 1]) &&
                std::isnan(batch.w[3 * failed]));
    for (const Index k : {0, 2, 4}) batch.expect_solved(k, true);
  }
}

}  // namespace
}  // namespace tessera::test
