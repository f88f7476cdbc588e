// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <numeric>

#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::test {
using namespace detail;
namespace {

using kernels::PanelFactor;

/// Result of a factorization.
template <class T>
struct Factored {
  Matrix<T> v, p, w, t, band;
  bool fallback;
};

template <class T>
class GpuPanelQr : public ::testing::Test {
 public:
  using R = RealOf<T>;

  void SetUp() override { TESSERA_NEED_GPU(); }

  static Matrix<T> product(Op op_a, const Matrix<T>& a, Op op_b, const Matrix<T>& b) {
    const Index m = op_a == Op::none ? a.rows() : a.cols(), k = op_a == Op::none ? a.cols() : a.rows(),
                n = op_b == Op::none ? b.cols() : b.rows();
    Matrix<T> c(m, n);
    if (m && n && k)
      blas::gemm(op_a, op_b, m, n, k, T(1), a.data(), a.ld(), b.data(), b.ld(), T(0), c.data(), c.ld());
    return c;
  }

  struct DeviceFactor {
    explicit DeviceFactor(Index b)
        : memory(PanelFactor<T>::bytes(b) / sizeof(T) + 1), factor(memory.data(), b) {}
    Matrix<T> part(MatrixView<T> x) const {
      Matrix<T> a(factor.b, factor.b);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
      cudaMemcpy(a.data(), x.data, sizeof(T) * std::size_t(factor.b * factor.b), cudaMemcpyDeviceToHost);
      return a;
    }
    bool fallback() const {
      std::int32_t flag = -1;
      cudaMemcpy(&flag, factor.fallback, sizeof(flag), cudaMemcpyDeviceToHost);
      EXPECT_TRUE(flag == 0 || flag == 1) << flag;
      return flag;
    }
    DeviceArray<T> memory;
    PanelFactor<T> factor;
  };

  /// Factors a panel in one piece, with leading dimensions larger than the number of rows.
  static Factored<T> factor(const Matrix<T>& a) {
    const Index m = a.rows(), b = a.cols();
    Matrix<T> padded(m, b, 3);
    padded.set_block(0, 0, a);
    const DeviceMatrix<T> p(padded), v(Matrix<T>(m, b, 1)), w(Matrix<T>(m, b, 2)), t(Matrix<T>(b, b, 1));
    const DeviceFactor f(b);
    const DeviceArray<char> workspace(panel_cuda::gpu_workspace_bytes<T>(m, b));
    panel_cuda::launch_panel_householder<T>(nullptr, p.const_view(), v.view(), f.factor, t.view(),
                                            workspace.data());
    panel_cuda::launch_panel_vectors<T>(nullptr, f.factor, t.const_view(), v.view(), true, true, p.view(),
                                        w.view());
    return {v.get(), p.get(), w.get(), t.get(), f.part(f.factor.band()), f.fallback()};
  }

  /// Factors the panel in pieces, as reduce_to_band does if it spans several tiles.
  static Factored<T> factor_in_pieces(const Matrix<T>& a, const std::vector<Index>& heights) {
    const Index b = a.cols(), total = a.rows();
    const std::size_t count = heights.size();
    std::vector<std::unique_ptr<DeviceMatrix<T>>> p, v, w, g;
    Index row = 0, stack_rows = 0, largest = (Index(count) + 1) * b;
    for (const Index rows : heights) {
      Matrix<T> padded(rows, b, 2);
      padded.set_block(0, 0, a.block(row, 0, rows, b));
      p.push_back(std::make_unique<DeviceMatrix<T>>(padded));
      v.push_back(std::make_unique<DeviceMatrix<T>>(Matrix<T>(rows, b, 1)));
      w.push_back(std::make_unique<DeviceMatrix<T>>(Matrix<T>(rows, b)));
      g.push_back(std::make_unique<DeviceMatrix<T>>(Matrix<T>(b, b, 1)));
      row += rows;
      stack_rows += std::min(rows, b);
      largest = std::max(largest, rows);
    }
    const DeviceMatrix<T> t(Matrix<T>(b, b)), stack(Matrix<T>(stack_rows, b));
    const DeviceFactor f(b);
    const DeviceArray<char> memory(panel_cuda::gpu_workspace_bytes<T>(largest, b));
    void* const workspace = memory.data();
    std::vector<MatrixView<const T>> grams;
    for (const auto& gram : g) grams.push_back(gram->const_view());
    for (std::size_t i = 0; i < count; ++i)
      panel_cuda::launch_panel_gram<T>(nullptr, p[i]->const_view(), g[i]->view(), workspace);
    panel_cuda::launch_panel_add<T>(nullptr, grams, f.factor);
    panel_cuda::launch_panel_cholesky<T>(nullptr, f.factor);
    for (std::size_t i = 0; i < count; ++i)
      panel_cuda::launch_panel_orthogonalize<T>(nullptr, p[i]->const_view(), f.factor, v[i]->view(),
                                                g[i]->view(), workspace);
    panel_cuda::launch_panel_add<T>(nullptr, grams, f.factor);
    panel_cuda::launch_panel_check<T>(nullptr, f.factor);
    for (std::size_t i = 0; i < count; ++i)
      panel_cuda::launch_thin_qr<T>(nullptr, f.factor.fallback, p[i]->const_view(), v[i]->view(),
                                    g[i]->view(), workspace);
    row = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Index rows = std::min(heights[i], b);
      cudaMemcpy2DAsync(stack.data() + row, sizeof(T) * stack_rows, g[i]->data(), sizeof(T) * (b + 1),
                        sizeof(T) * rows, b, cudaMemcpyDeviceToDevice);
      row += rows;
    }
    panel_cuda::launch_thin_qr<T>(nullptr, f.factor.fallback, stack.const_view(), stack.view(), f.factor.r(),
                                  workspace);
    row = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Index rows = std::min(heights[i], b);
      panel_cuda::launch_panel_finish<T>(nullptr, f.factor, {stack.data() + row, rows, b, stack_rows},
                                         v[i]->view(), workspace);
      row += rows;
    }
    panel_cuda::launch_panel_reconstruct<T>(nullptr, v[0]->const_view(), f.factor, t.view());
    for (std::size_t i = 0; i < count; ++i)
      panel_cuda::launch_panel_vectors<T>(nullptr, f.factor, t.const_view(), v[i]->view(), i == 0, false,
                                          p[i]->view(), w[i]->view());
    Factored<T> result{Matrix<T>(total, b),     Matrix<T>(total, b), Matrix<T>(total, b), t.get(),
                       f.part(f.factor.band()), f.fallback()};
    row = 0;
    for (std::size_t i = 0; i < count; ++i) {
      result.v.set_block(row, 0, v[i]->get());
      result.p.set_block(row, 0, p[i]->get());
      result.w.set_block(row, 0, w[i]->get());
      row += heights[i];
    }
    return result;
  }

  /// Checks that (I - V T V^H) [band; 0] is the panel, I - V T V^H is unitary, P = V, W = V T, and
  /// that V and T have the right structure.
  static void check(const Factored<T>& f, const Matrix<T>& a) {
    const Index m = a.rows(), b = a.cols(), k = std::min(m, b);
    const double size = std::max(norm(a), norm(f.band)), tolerance = 4 * double(b + 20) * precision<T>;
    EXPECT_EQ(difference(f.v, f.p), 0);
    for (Index j = 0; j < b; ++j) {
      for (Index i = 0; i <= std::min(j, m - 1); ++i)
        ASSERT_EQ(f.v(i, j), T(i == j ? 1 : 0)) << i << ' ' << j;
      for (Index i = 0; i < b; ++i) {
        if (i > j || i >= k) {
          ASSERT_EQ(f.band(i, j), T(0));
        }
        if (i > j || i >= k || j >= k) {
          ASSERT_EQ(f.t(i, j), T(0));
        }
      }
    }
    EXPECT_LE(difference(product(Op::none, f.v, Op::none, f.t), f.w), tolerance * norm(f.w));
    // T^H (V^H V) T = T + T^H
    const auto gram = product(Op::adjoint, f.v, Op::none, f.v);
    const auto left = product(Op::adjoint, f.t, Op::none, product(Op::none, gram, Op::none, f.t));
    Matrix<T> right(b, b);
    for (Index j = 0; j < b; ++j)
      for (Index i = 0; i < b; ++i) right(i, j) = f.t(i, j) + conjugate(f.t(j, i));
    EXPECT_LE(difference(left, right), tolerance * norm(f.t) * 2);
    const auto top = f.band.block(0, 0, k, b);
    auto result =
        product(Op::none, f.w, Op::none, product(Op::adjoint, f.v.block(0, 0, k, b), Op::none, top));
    for (Index j = 0; j < b; ++j)
      for (Index i = 0; i < m; ++i) result(i, j) = (i < k ? top(i, j) : T(0)) - result(i, j);
    EXPECT_LE(difference(result, a), tolerance * size);
  }
  static double norm(const Matrix<T>& a) { return difference(a, Matrix<T>(a.rows(), a.cols())); }

  /// V, T and the band must equal those of LAPACK's Householder QR. The signs agree except in the
  /// last row of a real square panel, which LAPACK leaves unchanged.
  static void compare(const Factored<T>& f, const Matrix<T>& a) {
    const Index m = a.rows(), b = a.cols();
    if (m == b && !is_complex<T>) return;
    auto v = a;
    Matrix<T> t(b, b), r(b, b);
    std::vector<T> tau(b), work(64 * b);
    kernels::householder_panel<T>(v.view(), t.view(), r.view(), tau.data(), work.data());
    const double tolerance = 100 * double(b + 20) * precision<T>;
    EXPECT_LE(difference(v, f.v), tolerance * norm(v));
    EXPECT_LE(difference(t, f.t), tolerance * norm(t));
    EXPECT_LE(difference(r, f.band), tolerance * std::sqrt(double(m)) * norm(r));
  }

  /// Panels for which Cholesky QR is not safe.
  static constexpr int difficult_kinds = 7;
  static constexpr int nearly_rank_one = 2;  // harmless with a more precise Gram matrix
  static Matrix<T> difficult(int kind, Index m, Index b) {
    Matrix<T> a(m, b);
    if (kind == 0) return a;  // zero
    if (kind == 1)            // rank one
      return product(Op::none, random_matrix<T>(m, 1, 1), Op::none, random_matrix<T>(1, b, 2));
    a = random_matrix<T>(m, b, 5);
    const auto same = random_matrix<T>(m, 1, 3);
    for (Index j = 0; j < b; ++j)
      for (Index i = 0; i < m; ++i) {
        if (kind == nearly_rank_one)
          a(i, j) = same(i, 0) + a(i, j) * (R(4) * precision<T>);         // nearly rank one
        if (kind == 3 && j == b / 2) a(i, j) = T(0);                      // a zero column
        if (kind == 4) a(i, j) *= std::numeric_limits<R>::min() * R(64);  // tiny
        if (kind == 5 && j == b - 1) a(i, j) = a(i, 0);                   // zero below the top
        if (kind == 6 && i >= b) a(i, j) = T(0);                          // zero below the top
        if (kind == 6 && i > j) a(i, j) = T(0);
      }
    return a;
  }

  /// A panel whose Gram matrix, with the given machine epsilon, is positive definite only due to
  /// rounding. The first Cholesky factorization succeeds, and the second Gram matrix is far from
  /// the identity. The columns are unit vectors, two of which differ only in the last row, by a
  /// number whose square is 0.6 epsilon.
  static Matrix<T> definite_by_rounding(Index m, Index b, double epsilon) {
    Matrix<T> a(m, b);
    for (Index j = 0; j < b; ++j) a(j == 1 ? 0 : j, j) = T(1);
    a(m - 1, 1) = T(R(std::sqrt(0.6 * epsilon)));
    return a;
  }

  /// Checks a well-conditioned panel of 66 rows in one piece and in two.
  void check_small_panel(Index b) {
    const Index m = 66;
    auto a = random_matrix<T>(m, b, 15);
    for (Index j = 0; j < b; ++j) a(j, j) += T(RealOf<T>(b));
    for (const auto& f : {factor(a), factor_in_pieces(a, {m - 1, 1})}) {
      EXPECT_FALSE(f.fallback);
      check(f, a);
      compare(f, a);
    }
  }
};
TYPED_TEST_SUITE(GpuPanelQr, Scalars);

TYPED_TEST(GpuPanelQr, WellConditionedPanels) {
  using T = TypeParam;
  for (const Index b : {1, 3, 8, 32, 33, 64, 100, 128})
    for (const Index m : {b, b + 1, 2 * b + 5, Index(257), Index(1023), Index(5001)}) {
      if (m < b) continue;
      SCOPED_TRACE(::testing::Message() << m << " x " << b);
      auto a = random_matrix<T>(m, b, 7);
      for (Index j = 0; j < b; ++j) a(j, j) += T(m < 4 * b ? RealOf<T>(b) : RealOf<T>(0));
      const auto f = this->factor(a);
      EXPECT_FALSE(f.fallback);
      this->check(f, a);
      this->compare(f, a);
    }
}

TYPED_TEST(GpuPanelQr, OneVeryTallPanel) {
  using T = TypeParam;
  const auto a = random_matrix<T>(32768, 64, 8);
  const auto f = this->factor(a);
  EXPECT_FALSE(f.fallback);
  this->check(f, a);
  this->compare(f, a);
}

TYPED_TEST(GpuPanelQr, TheLastPanelsHaveFewRows) {
  using T = TypeParam;
  for (const Index b : {1, 8, 64, 128})
    for (const Index m : {1, 2, 7, 63, 127}) {
      if (m >= b) continue;
      SCOPED_TRACE(::testing::Message() << m << " x " << b);
      const auto a = random_matrix<T>(m, b, 9);
      const auto f = this->factor(a);
      EXPECT_TRUE(f.fallback);
      this->check(f, a);
      this->compare(f, a);
    }
}

TYPED_TEST(GpuPanelQr, WiderThanCholeskyQrTakes) {
  using T = TypeParam;
  const auto a = random_matrix<T>(500, 150, 10);
  const auto f = this->factor(a);
  EXPECT_TRUE(f.fallback);
  this->check(f, a);
}

TYPED_TEST(GpuPanelQr, FallsBackWhereCholeskyQrIsNotSafe) {
  using T = TypeParam;
  for (int kind = 0; kind < this->difficult_kinds; ++kind)
    for (const Index b : {2, 8, 64})
      for (const Index m : {b, Index(100), Index(3001)}) {
        if (m < b) continue;
        SCOPED_TRACE(::testing::Message() << m << " x " << b << " kind " << kind);
        const auto a = this->difficult(kind, m, b);
        const auto f = this->factor(a);
        // Squares of tiny floats do not underflow in a Gram matrix of doubles.
        const bool harmless = kind == this->nearly_rank_one || (kind == 4 && sizeof(RealOf<T>) == 4);
        if (kind < 6 && !harmless) {
          EXPECT_TRUE(f.fallback);
        }
        this->check(f, a);
      }
}

// While Cholesky QR is used, the residual must not grow with the condition number.
TYPED_TEST(GpuPanelQr, IllConditionedPanelsHaveSmallResiduals) {
  using T = TypeParam;
  using R = RealOf<T>;
  int taken = 0;
  for (double power = 1; power < 16; power += 1)
    for (const Index b : {8, 64}) {
      SCOPED_TRACE(::testing::Message() << "1e" << power << ' ' << b);
      auto left = random_matrix<T>(2000, b, 11);
      const auto right = random_matrix<T>(b, b, 12);
      for (Index j = 0; j < b; ++j)
        for (Index i = 0; i < 2000; ++i) left(i, j) *= R(std::pow(10, -power * double(j) / double(b - 1)));
      const auto a = this->product(Op::none, left, Op::none, right);
      const auto f = this->factor(a);
      taken += !f.fallback;
      this->check(f, a);
    }
  EXPECT_GE(taken, 4);
  EXPECT_LE(taken, 28);
}

/// Each third column differs from the one before by a part in a million, the next by one in ten thousand: double has
/// bits enough for the Gram matrix.
TYPED_TEST(GpuPanelQr, NearlyDependentColumnsNeedNoHouseholderReflections) {
  using T = TypeParam;
  using R = RealOf<T>;
  if (sizeof(R) == 4) GTEST_SKIP() << "float has too few bits for the orthogonal columns";
  for (const Index b : {9, 32, 64}) {
    SCOPED_TRACE(::testing::Message() << b);
    auto a = random_matrix<T>(2000, b, 16);
    for (Index j = 1; j < b; ++j)
      for (Index i = 0; i < 2000 && j % 3 != 0; ++i)
        a(i, j) = a(i, j - 1) + a(i, j) * R(j % 3 == 1 ? 1e-6 : 1e-4);
    const auto f = this->factor(a);
    EXPECT_FALSE(f.fallback);
    this->check(f, a);
  }
}

TYPED_TEST(GpuPanelQr, NotANumberTerminates) {
  using T = TypeParam;
  for (const Index m : {5, 64, 1000}) {
    auto a = random_matrix<T>(m, 64, 13);
    a(m / 2, 3) = not_a_number<T>();
    const auto f = this->factor(a);
    EXPECT_TRUE(f.fallback);
    EXPECT_TRUE(std::isnan(std::abs(f.v(m - 1, 3))) || std::isnan(std::abs(f.band(3, 3))));
  }
}

TYPED_TEST(GpuPanelQr, InSeveralPieces) {
  using T = TypeParam;
  for (const Index b : {4, 32, 64, 100})
    for (const auto& heights : {std::vector<Index>{300, 300}, {200, 256, 256, 3}, {128, 1}}) {
      const Index m = std::accumulate(heights.begin(), heights.end(), Index(0));
      SCOPED_TRACE(::testing::Message() << m << " x " << b << " in " << heights.size());
      auto a = random_matrix<T>(m, b, 14);
      for (Index j = 0; j < b; ++j) a(j, j) += T(RealOf<T>(b));
      const auto f = this->factor_in_pieces(a, heights);
      EXPECT_FALSE(f.fallback);
      this->check(f, a);
      this->compare(f, a);
      for (int kind = 0; kind < this->difficult_kinds; ++kind) {
        SCOPED_TRACE(::testing::Message() << "kind " << kind);
        const auto d = this->difficult(kind, m, b);
        const auto g = this->factor_in_pieces(d, heights);
        if (kind < 6 && kind != this->nearly_rank_one) {
          EXPECT_TRUE(g.fallback);
        }
        this->check(g, d);
      }
    }
}

// compute-sanitizer's racecheck is hundreds of times slower than the kernels alone, so its cases
// are small and separate. There is one width for each size of the small matrices, with at least two
// entries per thread in each direction. 66 rows are two chunks of the Gram matrix and two thread
// blocks of a product. More than 32 columns are several blocks of columns.
TYPED_TEST(GpuPanelQr, SmallEnoughForRacecheck17Columns) {
  this->check_small_panel(17);
}
TYPED_TEST(GpuPanelQr, SmallEnoughForRacecheck33Columns) {
  this->check_small_panel(33);
}
TYPED_TEST(GpuPanelQr, SmallEnoughForRacecheck65Columns) {
  this->check_small_panel(65);
}

// All conditions that select the fallback. The Gram matrix of a panel in one piece is in double
// precision.
TYPED_TEST(GpuPanelQr, SmallEnoughForRacecheckFallBack) {
  using T = TypeParam;
  const Index m = 66, b = 33;
  const std::vector<Index> heights{m - 1, 1};
  const auto falls_back = [&](const char* what, const Factored<T>& f, const Matrix<T>& a) {
    SCOPED_TRACE(what);
    EXPECT_TRUE(f.fallback);
    this->check(f, a);
  };
  const auto few_rows = random_matrix<T>(5, b, 9), zero_column = this->difficult(3, m, b);
  falls_back("few rows", this->factor(few_rows), few_rows);
  falls_back("first factorisation", this->factor(zero_column), zero_column);
  falls_back("first factorisation in pieces", this->factor_in_pieces(zero_column, heights), zero_column);
  const auto late = this->definite_by_rounding(m, b, std::numeric_limits<double>::epsilon());
  falls_back("second factorisation", this->factor(late), late);
  const auto late_in_pieces = this->definite_by_rounding(m, b, std::numeric_limits<RealOf<T>>::epsilon());
  falls_back("second factorisation in pieces", this->factor_in_pieces(late_in_pieces, heights),
             late_in_pieces);
}

}  // namespace
}  // namespace tessera::test
