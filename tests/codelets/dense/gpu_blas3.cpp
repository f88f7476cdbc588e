// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/device_array.hpp>

#include <tessera/codelets/dense/blas3.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuBlas3 : public GpuTest<T> {
 public:
  void SetUp() override {
    GpuTest<T>::SetUp();
    if (this->IsSkipped()) return;
    ASSERT_EQ(cudaHostAlloc(&failure_, sizeof(long long), cudaHostAllocMapped), cudaSuccess);
  }
  void TearDown() override {
    if (failure_) cudaFreeHost(failure_);
    GpuTest<T>::TearDown();
  }
  /// Cholesky factorization in place.
  void factor(const DeviceMatrix<T>& a, long long* failure) {
    const std::size_t bytes = potrf_bytes<T>(a.view().rows);
    const DeviceArray<char> work{std::vector<char>(bytes)};
    ASSERT_TRUE(launch_potrf<T>(*this->handles_, a.view(), {work.data(), bytes}, failure));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  static constexpr Index orders[] = {1, 2, 31, 32, 33, 63, 64, 65, 100, 128, 200, 333};
  void* failure_ = nullptr;
};
TYPED_TEST_SUITE(GpuBlas3, Scalars);

TYPED_TEST(GpuBlas3, RankUpdates) {
  using T = TypeParam;
  for (const Index n : {1, 30, 129}) {
    const Index k = 17;
    const auto a = random_matrix<T>(n, k, 1, 2), b = random_matrix<T>(n, k, 2, 1);
    const auto c = random_hermitian<T>(n, 3);
    const DeviceMatrix<T> device_a(a), device_b(b);
    const DeviceMatrix<T> once(poison_other_triangle(c, Uplo::lower)),
        twice(poison_other_triangle(c, Uplo::lower));
    launch_herk_subtract<T>(*this->handles_, device_a.const_view(), once.view());
    launch_her2k_subtract<T>(*this->handles_, device_a.const_view(), device_b.const_view(), twice.view());
    EXPECT_LE(difference(once.get(), multiply(Op::none, a, Op::adjoint, a, T(-1), T(1), c), Uplo::lower),
              this->tolerance(k));
    const auto half = multiply(Op::none, a, Op::adjoint, b, T(-1), T(1), c);
    EXPECT_LE(difference(twice.get(), multiply(Op::none, b, Op::adjoint, a, T(-1), T(1), half), Uplo::lower),
              this->tolerance(2 * k));
  }
}

TYPED_TEST(GpuBlas3, CholeskyFactor) {
  using T = TypeParam;
  for (const Index n : TestFixture::orders) {
    const auto a = random_hermitian<T>(n, 1, 2.0 * double(n) + 1);
    const DeviceMatrix<T> device(poison_other_triangle(a, Uplo::lower));
    auto* const failure = static_cast<long long*>(this->failure_);
    *failure = 0;
    this->factor(device, failure);
    const auto l = triangle(device.get(), Uplo::lower);
    EXPECT_EQ(*failure, 0);
    EXPECT_LE(difference(multiply(Op::none, l, Op::adjoint, l), a, Uplo::lower),
              this->tolerance(n) * double(n))
        << n;
    for (Index i = 0; i < n; ++i) {
      EXPECT_GT(real_part(l(i, i)), 0);
      EXPECT_EQ(imag_part(l(i, i)), 0);
    }
  }
}

TYPED_TEST(GpuBlas3, FirstMinorThatIsNotPositiveDefinite) {
  using T = TypeParam;
  for (const Index n : TestFixture::orders)
    for (const Index bad : {Index(0), n / 2, n - 1})
      for (const T value : {T(-1), T(0), not_a_number<T>()}) {
        auto a = identity<T>(n);
        a(bad, bad) = value;
        if (bad + 2 < n) a(n - 1, n - 1) = T(-1);  // a later minor, not to be reported
        const DeviceMatrix<T> device(a);
        auto* const failure = static_cast<long long*>(this->failure_);
        *failure = 0;
        this->factor(device, failure);
        EXPECT_EQ(*failure, bad + 1) << n;
      }
}

TYPED_TEST(GpuBlas3, ReductionToStandardForm) {
  using T = TypeParam;
  for (const Index n : TestFixture::orders)
    for (const Index base : {hegst_base, Index(32)}) {
      const auto a = random_hermitian<T>(n, 1);
      auto l = triangle(random_matrix<T>(n, n, 2), Uplo::lower);
      for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) l(i, j) = i == j ? T(1 + RealOf<T>(j % 3)) : l(i, j) / RealOf<T>(n);
      const DeviceMatrix<T> device_a(poison_other_triangle(a, Uplo::lower)),
          device_l(poison_other_triangle(l, Uplo::lower));
      // The whole square at once, and recursively halved down to a small order.
      launch_hegst<T>(*this->handles_, device_a.view(), device_l.const_view(), base);
      auto c = device_a.get();
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i <= j; ++i) c(i, j) = i == j ? T(real_part(c(i, j))) : conjugate(c(j, i));
      const auto product = multiply(Op::none, multiply(l, c), Op::adjoint, l);
      EXPECT_LE(difference(product, a), this->tolerance(n) * 10) << n;
    }
}

}  // namespace
}  // namespace tessera::test
