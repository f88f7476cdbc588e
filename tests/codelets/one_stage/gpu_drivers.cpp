// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/one_stage/kernels/tridiagonalize_device.hpp>
#include <tessera/codelets/one_stage/lapack_driver.hpp>
#include <tessera/codelets/one_stage/whole_tasks.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuDrivers : public ::testing::Test {};
TYPED_TEST_SUITE(GpuDrivers, Scalars);

/// A Hermitian matrix with `shift` added to the diagonal.
template <class T>
Matrix<T> hermitian(Index n, std::uint64_t seed, double shift = 0) {
  auto a = random_matrix<T>(n, n, seed);
  for (Index j = 0; j < n; ++j) {
    a(j, j) = T(real_part(a(j, j)) + RealOf<T>(shift));
    for (Index i = j + 1; i < n; ++i) a(j, i) = conjugate(a(i, j));
  }
  return a;
}

template <class T>
Matrix<T> product(Op op_a, const Matrix<T>& a, const Matrix<T>& b) {
  const Index m = op_a == Op::none ? a.rows() : a.cols(), k = op_a == Op::none ? a.cols() : a.rows();
  Matrix<T> c(m, b.cols());
  blas::gemm<T>(op_a, Op::none, m, b.cols(), k, T(1), a.data(), a.ld(), b.data(), b.ld(), T(0), c.data(),
                c.ld());
  return c;
}

template <class T>
double largest_difference(const Matrix<T>& a, const Matrix<T>& b) {
  double worst = 0;
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) {
      const double d = std::abs(a(i, j) - b(i, j));
      worst = std::isnan(d) ? HUGE_VAL : std::max(worst, d);
    }
  return worst;
}

template <class T>
std::vector<RealOf<T>> reference_values(Matrix<T> a, Matrix<T> b) {
  const Index n = a.rows();
  std::vector<RealOf<T>> values(static_cast<std::size_t>(n)), rwork(static_cast<std::size_t>(3 * n + 10));
  std::vector<T> work(static_cast<std::size_t>(70 * n + 10));
  std::vector<int> iwork(static_cast<std::size_t>(10));
  if (b.rows() > 0) {
    EXPECT_EQ(blas::potrf<T>(Uplo::lower, n, b.data(), n), 0);
    EXPECT_EQ(blas::hegst<T>(1, Uplo::lower, n, a.data(), n, b.data(), n), 0);
  }
  EXPECT_EQ(blas::heevd<T>('N', Uplo::lower, n, a.data(), n, values.data(), work.data(), Index(work.size()),
                           rwork.data(), Index(rwork.size()), iwork.data(), Index(iwork.size())),
            0);
  return values;
}

template <class T>
struct Solved {
  std::vector<RealOf<T>> values;
  Matrix<T> vectors;
  long long no_convergence, not_positive_definite;
};

template <class T>
Solved<T> solve(const Matrix<T>& a, const Matrix<T>* b, bool vectors, Index lo, Index hi) {
  const DeviceHandles handles;
  const Index n = a.rows();
  const device::EigenDriver driver{n, b != nullptr, vectors, lo, hi};
  const DeviceArray<char> memory(device::eigen_driver_bytes<T>(driver));
  const device::EigenDriverSpace<T> space(handles.cusolver, driver, memory.data());
  EXPECT_EQ(space.bytes, device::eigen_driver_bytes<T>(driver));
  const auto bytes = sizeof(T) * static_cast<std::size_t>(n * n);
  cudaMemcpy(space.a, a.data(), bytes, cudaMemcpyHostToDevice);
  if (b) cudaMemcpy(space.b, b->data(), bytes, cudaMemcpyHostToDevice);
  const DeviceArray<RealOf<T>> values(static_cast<std::size_t>(n));
  const DeviceArray<long long> failures(std::vector<long long>{0, 0});
  device::launch_eigen_driver<T>(handles.cusolver, handles.stream, driver, space, values.data(),
                                 failures.data(), failures.data() + 1);
  const auto failed = failures.get();
  Solved<T> result{values.get(), Matrix<T>(n, hi - lo), failed[0], failed[1]};
  if (vectors && hi > lo)
    cudaMemcpy(result.vectors.data(), space.a + (driver.partial() ? 0 : lo) * n,
               sizeof(T) * static_cast<std::size_t>(n * (hi - lo)), cudaMemcpyDeviceToHost);
  return result;
}

template <class T>
void check(const Matrix<T>& a, const Matrix<T>* b, const Solved<T>& solved, Index lo, Index hi,
           bool partial) {
  using R = RealOf<T>;
  const Index n = a.rows();
  EXPECT_EQ(solved.no_convergence, 0);
  EXPECT_EQ(solved.not_positive_definite, 0);
  const auto expected = reference_values<T>(a, b ? *b : Matrix<T>());
  const double bound = 40 * double(n) * double(precision<T>);
  for (Index k = 0; k < n; ++k) {
    const R value = solved.values[std::size_t(k)];
    if (partial && (k < lo || k >= hi))
      EXPECT_TRUE(std::isnan(value));
    else
      ASSERT_NEAR(value, expected[std::size_t(k)], bound) << n << ' ' << k;
  }
  const Matrix<T>& z = solved.vectors;
  if (z.cols() == 0) return;
  Matrix<T> right = b ? product(Op::none, *b, z) : z;
  Matrix<T> inner = product(Op::adjoint, z, right), identity(z.cols(), z.cols());
  for (Index k = 0; k < z.cols(); ++k) identity(k, k) = 1;
  EXPECT_LE(largest_difference(inner, identity), bound);
  for (Index k = 0; k < z.cols(); ++k)
    for (Index i = 0; i < n; ++i) right(i, k) *= solved.values[std::size_t(lo + k)];
  EXPECT_LE(largest_difference(product(Op::none, a, z), right), bound) << n << ' ' << lo << ' ' << hi;
}

TYPED_TEST(GpuDrivers, StandardProblem) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  for (const Index n : {1, 2, 3, 17, 64, 129, 301}) {
    const auto a = hermitian<T>(n, 1);
    Matrix<T> none;
    const auto values = solve<T>(a, nullptr, false, 0, n);
    Solved<T> only = values;
    only.vectors = none;
    check<T>(a, nullptr, only, 0, n, false);
    check<T>(a, nullptr, solve<T>(a, nullptr, true, 0, n), 0, n, false);
    for (const auto& [lo, hi] : {std::pair<Index, Index>{0, n / 3}, {n / 2, n}, {n / 3, n / 3 + 1}})
      if (hi > lo && hi - lo < n) check<T>(a, nullptr, solve<T>(a, nullptr, true, lo, hi), lo, hi, true);
  }
}

TYPED_TEST(GpuDrivers, GeneralizedProblem) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  for (const Index n : {1, 5, 130}) {
    const auto a = hermitian<T>(n, 2);
    const auto b = hermitian<T>(n, 3, 2 * double(n));
    check<T>(a, &b, solve<T>(a, &b, true, 0, n), 0, n, false);
    check<T>(a, &b, solve<T>(a, &b, true, n / 2, n), n / 2, n, false);
  }
  const Index n = 40;
  auto b = hermitian<T>(n, 3, 2 * double(n));
  b(24, 24) = -1;
  EXPECT_EQ(solve<T>(hermitian<T>(n, 2), &b, true, 0, n).not_positive_definite, 25);
}

/// NaN must not cause a hang, and the values must not look valid.
TYPED_TEST(GpuDrivers, NotANumber) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  auto a = hermitian<T>(65, 4);
  a(30, 7) = not_a_number<T>();
  const auto solved = solve<T>(a, nullptr, true, 0, 65);
  EXPECT_TRUE(solved.no_convergence != 0 || std::isnan(solved.values[0]) || std::isnan(solved.values[64]))
      << solved.values[0];
}

/// T, and Q applied to the identity matrix in two parts.
template <class T>
struct Tridiagonalized {
  Matrix<T> q, t;
};
template <class T>
Tridiagonalized<T> tridiagonalize(const Matrix<T>& a) {
  using R = RealOf<T>;
  const DeviceHandles handles;
  const Index n = a.rows();
  const DeviceMatrix<T> device(a);
  const auto off = static_cast<std::size_t>(std::max<Index>(n - 1, 1));
  const DeviceArray<R> d(static_cast<std::size_t>(n)), e(off);
  const DeviceArray<T> tau(off);
  const std::size_t bytes = device::hetrd_bytes<T>(n);
  const DeviceArray<char> work(bytes);
  EXPECT_TRUE(device::launch_hetrd<T>(handles.cusolver, handles.stream, device.view(), d.data(), e.data(),
                                      tau.data(), work.data(), bytes));
  const auto diagonal = d.get(), below = e.get();
  Matrix<T> identity(n, n, 1), t(n, n);
  for (Index k = 0; k < n; ++k) {
    identity(k, k) = 1;
    t(k, k) = diagonal[std::size_t(k)];
    if (k + 1 < n) t(k + 1, k) = t(k, k + 1) = below[std::size_t(k)];
  }
  const DeviceMatrix<T> q(identity);
  const Index half = n / 2;
  for (const auto& [first, count] : {std::pair<Index, Index>{0, half}, {half, n - half}}) {
    const std::size_t size = device::unmtr_bytes<T>(n, count);
    const DeviceArray<char> space(size);
    EXPECT_TRUE(device::launch_unmtr<T>(handles.cusolver, device.const_view(), tau.data(),
                                        q.view().block(0, first, n, count), space.data(), size));
    EXPECT_EQ(cudaStreamSynchronize(handles.stream), cudaSuccess);
  }
  return {q.get(), t};
}

/// A Q must equal Q T, and Q^H Q the identity. scale: of A's elements.
template <class T>
void check_tridiagonalized(const Matrix<T>& a, const Tridiagonalized<T>& result, double scale) {
  const auto& [q, t] = result;
  const Index n = a.rows();
  const double bound = 20 * double(n) * double(precision<T>);
  EXPECT_LE(largest_difference(product(Op::none, a, q), product(Op::none, q, t)), bound * scale) << n;
  Matrix<T> eye(n, n);
  for (Index k = 0; k < n; ++k) eye(k, k) = 1;
  EXPECT_LE(largest_difference(product(Op::adjoint, q, q), eye), bound) << n;
}

/// On both sides of the orders at which the kernels for small matrices change, and with less than a row for each of
/// their thread blocks.
TYPED_TEST(GpuDrivers, TridiagonalizesInOnePiece) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const Index largest = device::largest_tridiagonalized_at_once<T>();
  EXPECT_GT(largest, 513);
  for (const Index n : {Index(1), Index(2), Index(3), Index(4), Index(5), Index(31), Index(65), Index(200),
                        Index(511), Index(512), Index(513), largest - 1, largest, largest + 1}) {
    Matrix<T> a(n, n, 3);
    a.set_block(0, 0, hermitian<T>(n, 5));
    check_tridiagonalized(a, tridiagonalize(a), 1);
  }
}

/// Squares that under- and overflow, columns that are zero already, and an upper triangle that is not to be read.
TYPED_TEST(GpuDrivers, TridiagonalizesMatricesOfOtherSizesAndForms) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 150;
  const double tiny = sizeof(R) == 4 ? 1e-30 : 1e-200, huge = sizeof(R) == 4 ? 1e25 : 1e180;
  for (const double scale : {tiny, huge}) {
    auto a = hermitian<T>(n, 6);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) a(i, j) *= R(scale);
    check_tridiagonalized(a, tridiagonalize(a), scale);
  }
  Matrix<T> diagonal(n, n), banded(n, n), zero(n, n);
  const auto full = hermitian<T>(n, 7);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      if (i == j) diagonal(i, j) = full(i, j);
      if (std::abs(i - j) <= 1) banded(i, j) = full(i, j);
    }
  for (const auto& a : {diagonal, banded, zero}) check_tridiagonalized(a, tridiagonalize(a), 1);
  auto lower = full;
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < j; ++i) lower(i, j) = not_a_number<T>();
  check_tridiagonalized(full, tridiagonalize(lower), 1);
}

/// NaN must not cause a hang, and the same matrix gives the same bits.
TYPED_TEST(GpuDrivers, TridiagonalizesNaNsAndAgain) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  auto a = hermitian<T>(600, 8);
  const auto once = tridiagonalize(a), again = tridiagonalize(a);
  EXPECT_EQ(largest_difference(once.t, again.t), 0);
  a(300, 20) = not_a_number<T>();
  EXPECT_TRUE(std::isnan(std::abs(tridiagonalize(a).t(599, 599))));
}

}  // namespace
}  // namespace tessera::test
