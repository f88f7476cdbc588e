// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <vector>

#include <tests/support/device_array.hpp>

#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/linalg/split_hermitian.hpp>
#include <tessera/codelets/linalg/split_products.hpp>

/// Products by split operands against the same products in double on the host.
namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuSplitProducts : public GpuTest<T> {};
using SingleScalars = ::testing::Types<float, std::complex<float>>;
TYPED_TEST_SUITE(GpuSplitProducts, SingleScalars);

template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class T>
Matrix<Wide<T>> wide(const Matrix<T>& a) {
  Matrix<Wide<T>> result(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) result(i, j) = Wide<T>(a(i, j));
  return result;
}

/// Six times the error of cuBLAS' own product in float, and a last bit: far below what is lost without the low
/// parts, 2^-12 of each product.
template <class T>
double error_bound(const Matrix<T>& plain, const Matrix<Wide<T>>& expected) {
  const Matrix<Wide<T>> zero(expected.rows(), expected.cols());
  return 6 * difference(wide(plain), expected) + 2 * precision<T> * difference(expected, zero);
}

/// The largest element of |A| |W|. Of split operands each product has an error of 2^-21 of its magnitude, twice that
/// with the sum's rounding; without the low parts it would be 2^-12 of it.
template <class T>
double largest_sum_of_magnitudes(const Matrix<T>& a, const Matrix<T>& w) {
  const auto magnitudes = [](const Matrix<T>& x) {
    Matrix<double> result(x.rows(), x.cols());
    for (Index j = 0; j < x.cols(); ++j)
      for (Index i = 0; i < x.rows(); ++i) result(i, j) = std::abs(x(i, j));
    return result;
  };
  const auto sums = multiply(Op::none, magnitudes(a), Op::none, magnitudes(w));
  return difference(sums, Matrix<double>(sums.rows(), sums.cols()));
}

struct Shape {
  Op op_a, op_b;
  Index m, n, k;
};
constexpr Shape shapes[] = {{Op::none, Op::none, 300, 260, 129},    {Op::adjoint, Op::none, 257, 301, 200},
                            {Op::none, Op::adjoint, 301, 257, 65},  {Op::adjoint, Op::adjoint, 64, 72, 80},
                            {Op::adjoint, Op::none, 40, 600, 5000}, {Op::none, Op::none, 1, 1, 1},
                            {Op::none, Op::none, 3, 5, 7},          {Op::none, Op::adjoint, 33, 7, 4200}};

template <class T>
void check_product(const CudaContext& on, const Shape& s, double scale_a, double scale_b, RealOf<T> alpha,
                   RealOf<T> beta, std::size_t bytes) {
  SCOPED_TRACE(::testing::Message() << int(s.op_a) << int(s.op_b) << ' ' << s.m << ' ' << s.n << ' ' << s.k
                                    << " scales " << scale_a << ' ' << scale_b << " bytes " << bytes);
  auto a = s.op_a == Op::none ? random_matrix<T>(s.m, s.k, 1, 3) : random_matrix<T>(s.k, s.m, 1, 3);
  auto b = s.op_b == Op::none ? random_matrix<T>(s.k, s.n, 2, 1) : random_matrix<T>(s.n, s.k, 2, 1);
  auto c = random_matrix<T>(s.m, s.n, 3, 2);
  const auto scale = [](Matrix<T>& x, double by) {
    for (Index j = 0; j < x.cols(); ++j)
      for (Index i = 0; i < x.rows(); ++i) x(i, j) *= RealOf<T>(by);
  };
  scale(a, scale_a), scale(b, scale_b), scale(c, scale_a * scale_b);
  const auto expected = multiply(s.op_a, wide(a), s.op_b, wide(b), Wide<T>(alpha), Wide<T>(beta), wide(c));
  if (beta == 0)
    for (Index j = 0; j < s.n; ++j)
      for (Index i = 0; i < s.m; ++i) c(i, j) = T(std::numeric_limits<RealOf<T>>::quiet_NaN());
  const DeviceMatrix<T> device_a(a), device_b(b), device_c(c), plain(c);
  la::gemm(on, s.op_a, s.op_b, T(alpha), device_a.const_view(), device_b.const_view(), T(beta), plain.view());
  DeviceArray<char> work(bytes);
  split_gemm<T>(on, s.op_a, s.op_b, alpha, device_a.const_view(), device_b.const_view(), beta,
                device_c.view(), std::span<char>(work.data(), bytes));
  EXPECT_LE(difference(wide(device_c.get()), expected), error_bound(plain.get(), expected));
}

TYPED_TEST(GpuSplitProducts, AgreeWithDouble) {
  using T = TypeParam;
  for (const Shape& s : shapes) {
    const std::size_t bytes = split_product_bytes<T>({s.m, s.n, s.k});
    check_product<T>(*this->handles_, s, 1, 1, 1, 0, bytes);
    check_product<T>(*this->handles_, s, 1, 1, -1, 1, bytes);
    check_product<T>(*this->handles_, s, 1e-18, 1e17, RealOf<T>(0.5), 2, bytes);
    check_product<T>(*this->handles_, s, 1e12, 1e-3, 1, 1, bytes);
  }
}

/// A small work space cuts the sum and the columns; with none that is of use the product is a plain one.
TYPED_TEST(GpuSplitProducts, CutOperands) {
  using T = TypeParam;
  for (const Shape& s : {Shape{Op::adjoint, Op::none, 20, 1300, 2500},
                         {Op::none, Op::none, 100, 1300, 300},
                         {Op::none, Op::adjoint, 40, 1200, 400}})
    for (const std::size_t bytes : {std::size_t(1) << 19, std::size_t(3) << 20, std::size_t(512)})
      check_product<T>(*this->handles_, s, 1, 1, -1, 1, bytes);
}

TYPED_TEST(GpuSplitProducts, ZeroNotANumberAndNothing) {
  using T = TypeParam;
  const Index m = 70, k = 40;
  const std::size_t bytes = split_product_bytes<T>({m, m, k});
  DeviceArray<char> work(bytes);
  const auto b = random_matrix<T>(k, m, 2);
  auto a = random_matrix<T>(m, k, 1);
  const DeviceMatrix<T> zero(Matrix<T>(m, k)), device_b(b), c(random_matrix<T>(m, m, 3));
  const auto times = [&](const DeviceMatrix<T>& left) {
    split_gemm<T>(*this->handles_, Op::none, Op::none, 1, left.const_view(), device_b.const_view(), 0,
                  c.view(), std::span<char>(work.data(), bytes));
    return c.get();
  };
  const auto none = times(zero);
  for (Index j = 0; j < m; ++j)
    for (Index i = 0; i < m; ++i) ASSERT_EQ(none(i, j), T(0));
  a(17, 5) = T(std::numeric_limits<RealOf<T>>::quiet_NaN());
  const auto bad = times(DeviceMatrix<T>(a));
  for (Index j = 0; j < m; ++j)
    for (Index i = 0; i < m; ++i) ASSERT_TRUE(std::isnan(std::abs(bad(i, j)))) << i << ' ' << j;
  const MatrixView<T> empty{c.view().data, 0, m, m};
  split_gemm<T>(*this->handles_, Op::none, Op::none, 1, {zero.const_view().data, 0, k, m},
                device_b.const_view(), 0, empty, std::span<char>(work.data(), bytes));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

/// Several products with parts of one split matrix, of one sum and of several, beside others of its work space's rows.
TYPED_TEST(GpuSplitProducts, HermitianMatrixSplitOnce) {
  using T = TypeParam;
  for (const auto& [n, columns] : {std::pair<Index, Index>{1, 1}, {70, 3}, {1100, 64}, {2051, 32}, {4200, 5}})
    for (const double scale : {1., 1e-15, 1e15}) {
      SCOPED_TRACE(::testing::Message() << n << ' ' << columns << ' ' << scale);
      auto a = random_hermitian<T>(n, 1);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) a(i, j) *= RealOf<T>(scale);
      const DeviceMatrix<T> device_a(a);
      const std::size_t bytes = SplitHermitianLayout<T>(n, columns).bytes();
      DeviceArray<char> space(bytes);
      const std::span<char> work(space.data(), bytes);
      split_hermitian<T>(*this->handles_, device_a.const_view(), columns, work);
      for (const Index first : {Index(0), n / 3, n - 1}) {
        const Index m = n - first;
        const auto part = a.block(first, first, m, m), w = random_matrix<T>(m, columns, 2 + first, 3);
        const DeviceMatrix<T> device_w(w), y(random_matrix<T>(m, columns, 3, 2));
        split_hermitian_product<T>(*this->handles_, n, first, device_w.const_view(), y.view(), work);
        const auto expected = multiply(Op::none, wide(part), Op::none, wide(w));
        EXPECT_LE(difference(wide(y.get()), expected), 0x1p-20 * largest_sum_of_magnitudes(part, w)) << first;
      }
    }
}

TYPED_TEST(GpuSplitProducts, HermitianMatrixThatIsNotFinite) {
  using T = TypeParam;
  const Index n = 50, columns = 4;
  auto a = random_hermitian<T>(n, 1);
  a(7, 3) = a(3, 7) = T(std::numeric_limits<RealOf<T>>::infinity());
  const std::size_t bytes = SplitHermitianLayout<T>(n, columns).bytes();
  DeviceArray<char> space(bytes);
  const std::span<char> work(space.data(), bytes);
  const DeviceMatrix<T> device_a(a), w(random_matrix<T>(n, columns, 2)), y(n, columns);
  split_hermitian<T>(*this->handles_, device_a.const_view(), columns, work);
  split_hermitian_product<T>(*this->handles_, n, 0, w.const_view(), y.view(), work);
  const auto result = y.get();
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < n; ++i) ASSERT_TRUE(std::isnan(std::abs(result(i, j)))) << i << ' ' << j;
}

/// All shapes of its blocks, and a work space that cuts the sum.
TYPED_TEST(GpuSplitProducts, LowerProduct) {
  using T = TypeParam;
  const Index k = 100;
  for (const Index n : {1, 511, 512, 1100, 1537})
    for (const bool whole : {true, false}) {
      const std::size_t bytes = whole ? split_product_bytes<T>({n, n, k}) : std::size_t(n) * 800 + 100000;
      DeviceArray<char> work(bytes);
      const auto x = random_matrix<T>(n, k, 1, 1), y = random_matrix<T>(n, k, 2, 2);
      const auto c = random_matrix<T>(n, n, 3);
      const DeviceMatrix<T> device_x(x), device_y(y), device_c(c), plain(c);
      la::gemm(*this->handles_, Op::none, Op::adjoint, T(-1), device_x.const_view(), device_y.const_view(),
               T(1), plain.view());
      split_subtract_lower_product<T>(*this->handles_, device_x.view(), device_y.view(), device_c.view(),
                                      std::span<char>(work.data(), bytes));
      const auto expected =
          multiply(Op::none, wide(x), Op::adjoint, wide(y), Wide<T>(-1), Wide<T>(1), wide(c));
      EXPECT_LE(difference(wide(device_c.get()), expected, Uplo::lower), error_bound(plain.get(), expected))
          << n << ' ' << whole;
    }
}

/// Three real products for a complex one: by cuBLAS without work space, by planes with space for all columns or for
/// some at a time.
TEST(GpuThreeProducts, AgreeWithFour) {
  using T = std::complex<double>;
  TESSERA_NEED_GPU();
  const DeviceHandles handles;
  const auto bytes_for = [](Index m, Index columns, Index k) {
    const Index padded = three_products::padded_rows(k) + three_products::alignment;
    return 24 * static_cast<std::size_t>((m + 16) * padded + (columns + 16) * (m + padded) + 16 * k);
  };
  for (const auto& [m, n, k] :
       {ProductShape{70, 60, 90}, {1, 1, 1}, {301, 1000, 33}, {40, 777, 1}, {5, 300, 0}})
    for (const Op op_a : {Op::none, Op::adjoint})
      for (const Op op_b : {Op::none, Op::adjoint})
        for (const double beta : {0., 2.})
          for (const std::size_t bytes : {std::size_t(0), bytes_for(m, 300, k), bytes_for(m, n, k)}) {
            SCOPED_TRACE(::testing::Message() << m << ' ' << n << ' ' << k << ' ' << int(op_a) << int(op_b)
                                              << ' ' << beta << ' ' << bytes);
            const auto a = op_a == Op::none ? random_matrix<T>(m, k, 1, 3) : random_matrix<T>(k, m, 1, 3);
            const auto b = op_b == Op::none ? random_matrix<T>(k, n, 2, 1) : random_matrix<T>(n, k, 2, 1);
            auto c = random_matrix<T>(m, n, 3, 2);
            const auto expected = multiply(op_a, a, op_b, b, T(-1), T(beta), c);
            if (beta == 0)
              for (Index j = 0; j < n; ++j)
                for (Index i = 0; i < m; ++i) c(i, j) = T(std::numeric_limits<double>::quiet_NaN());
            const DeviceMatrix<T> device_a(a), device_b(b), device_c(c);
            // With space the planes are taken, not cuBLAS' own products.
            if (bytes > 0 && k > 0) {
              ASSERT_GE(three_products::columns_at_once(bytes, a.rows(), a.cols(), m, k),
                        std::min<Index>(n, 256));
            }
            DeviceArray<char> work(bytes);
            split_gemm<T>(handles, op_a, op_b, -1, device_a.const_view(), device_b.const_view(), beta,
                          device_c.view(), std::span<char>(work.data(), bytes));
            EXPECT_LE(difference(device_c.get(), expected), 20 * double(k + 1) * precision<T>);
          }
}

/// The lower triangle, with blocks of both kinds.
TEST(GpuThreeProducts, LowerProduct) {
  using T = std::complex<double>;
  TESSERA_NEED_GPU();
  const DeviceHandles handles;
  const Index order = 4096 + 700;
  const auto x = random_matrix<T>(order, 2, 1), y = random_matrix<T>(order, 2, 2);
  const DeviceMatrix<T> device_x(x), device_y(y), device_c(order, order, 0);
  la::set_zero(handles, device_c.view());
  split_subtract_lower_product<T>(handles, device_x.view(), device_y.view(), device_c.view(), {});
  const auto result = device_c.get();
  for (Index s = 0; s < 50000; ++s) {
    const Index i = s * 7919 % order, j = s * 104729 % (i + 1);
    const T expected = -x(i, 0) * conjugate(y(j, 0)) - x(i, 1) * conjugate(y(j, 1));
    ASSERT_LE(std::abs(result(i, j) - expected), 100 * precision<T>) << i << ' ' << j;
  }
}

/// The space that a product of the size of an update of many eigenvectors gets is enough for parts of its columns.
TEST(GpuThreeProducts, SpaceIsEnough) {
  using namespace three_products;
  for (const auto& [m, n, k] : {ProductShape{16384, 16384, 1024}, {1024, 16384, 16384}, {8191, 8193, 1025}}) {
    EXPECT_GE(columns_at_once(bytes(m, n, k), m, k, m, k), std::min<Index>(n, 1024))
        << m << ' ' << n << ' ' << k;
    EXPECT_GE(columns_at_once(bytes(m, n, k), k, m, m, k), std::min<Index>(n, 1024))
        << m << ' ' << n << ' ' << k;
    EXPECT_LT(bytes(m, n, k), 0x1p31) << m;
  }
  EXPECT_EQ(bytes(4096, 4096, 1024), split_products::header_bytes);
  EXPECT_LE(columns_at_once(split_products::header_bytes, 4096, 1024, 4096, 1024), 0);
}

}  // namespace
}  // namespace tessera::test
