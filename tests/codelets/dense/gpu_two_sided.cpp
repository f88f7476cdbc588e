// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/codelets/dense/panel_pairs.hpp>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/dense/two_sided.inl>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuTwoSided : public GpuTest<T> {};
TYPED_TEST_SUITE(GpuTwoSided, Scalars);

TYPED_TEST(GpuTwoSided, MirrorMakesTheMatrixHermitian) {
  using T = TypeParam;
  for (const Index n : {0, 1, 2, 31, 32, 33, 64, 157}) {
    auto a = random_hermitian<T>(n, 1);
    DeviceMatrix<T> device(poison_other_triangle(a, Uplo::lower));
    mirror_lower<T>(*this->handles_, device.view());
    EXPECT_EQ(difference(device.get(), a), 0) << n;
    if (n == 0) continue;
    // The imaginary part that rounding leaves on the diagonal must be dropped.
    if constexpr (is_complex<T>) {
      auto b = a;
      b(n - 1, n - 1) += T(0, 1);
      DeviceMatrix<T> other(b);
      mirror_lower<T>(*this->handles_, other.view());
      EXPECT_EQ(difference(other.get(), a), 0) << n;
    }
  }
}

TYPED_TEST(GpuTwoSided, ProductWithADiagonalTile) {
  using T = TypeParam;
  for (const Index n : {1, 5, 64, 131})
    for (const Index b : {1, 4, 32})
      for (const bool fresh : {true, false}) {
        const auto a = random_hermitian<T>(n, 1);
        const auto w = random_matrix<T>(n, b, 2, 3), y = random_matrix<T>(n, b, 3, 5);
        const DeviceMatrix<T> device_a(a), device_w(w);
        const DeviceMatrix<T> device_y = fresh ? DeviceMatrix<T>(n, b) : DeviceMatrix<T>(y);
        hermitian_product<T>(*this->handles_, device_a.const_view(), device_w.const_view(), fresh ? 0 : 1,
                             device_y.view());
        const auto expected = multiply(Op::none, a, Op::none, w, T(1), T(fresh ? 0 : 1), y);
        EXPECT_LE(difference(device_y.get(), expected), this->tolerance(n)) << n << " " << b;
      }
}

TYPED_TEST(GpuTwoSided, ProductWithATile) {
  using T = TypeParam;
  const Index rows = 75, cols = 41, b = 8;
  for (const bool fresh : {true, false}) {
    const auto a = random_matrix<T>(rows, cols, 1, 2), w_i = random_matrix<T>(rows, b, 2),
               w_j = random_matrix<T>(cols, b, 3), y_i = random_matrix<T>(rows, b, 4),
               y_j = random_matrix<T>(cols, b, 5);
    const DeviceMatrix<T> device_a(a), device_wi(w_i), device_wj(w_j);
    const DeviceMatrix<T> device_yi = fresh ? DeviceMatrix<T>(rows, b) : DeviceMatrix<T>(y_i);
    const DeviceMatrix<T> device_yj = fresh ? DeviceMatrix<T>(cols, b) : DeviceMatrix<T>(y_j);
    const int factor = fresh ? 0 : 1;
    product_pair<T>(*this->handles_, device_a.const_view(), device_wi.const_view(), device_wj.const_view(),
                    factor, factor, device_yi.view(), device_yj.view());
    const T beta(factor);
    EXPECT_LE(difference(device_yi.get(), multiply(Op::none, a, Op::none, w_j, T(1), beta, y_i)),
              this->tolerance(cols));
    EXPECT_LE(difference(device_yj.get(), multiply(Op::adjoint, a, Op::none, w_i, T(1), beta, y_j)),
              this->tolerance(rows));
  }
}

/// Sums with more parts than one kernel call processes.
TYPED_TEST(GpuTwoSided, SumOfParts) {
  using T = TypeParam;
  const Index rows = 37, cols = 5;
  for (const int count : {0, 1, 3, 70})
    for (const bool fresh : {true, false}) {
      const auto y = random_matrix<T>(rows, cols, 1, 1);
      auto expected = fresh ? Matrix<T>(rows, cols) : y;
      std::vector<DeviceMatrix<T>> parts;
      std::vector<MatrixView<const T>> views;
      for (int k = 0; k < count; ++k) {
        const auto part = random_matrix<T>(rows, cols, 2 + k, k % 3);
        expected = multiply(Op::none, identity<T>(rows), Op::none, part, T(1), T(1), expected);
        parts.emplace_back(part);
      }
      for (const auto& part : parts) views.push_back(part.const_view());
      const DeviceMatrix<T> device_y = fresh ? DeviceMatrix<T>(rows, cols) : DeviceMatrix<T>(y);
      sum_parts<T>(*this->handles_, views, fresh ? 0 : 1, device_y.view());
      EXPECT_LE(difference(device_y.get(), expected), this->tolerance(count)) << count;
    }
}

/// The steps from Y to Z on two tile rows, against the formulas for whole matrices.
TYPED_TEST(GpuTwoSided, CorrectionsOfAPanelStep) {
  using T = TypeParam;
  struct Case {
    Index kb, b, done, heights[2];
  };
  for (const auto& [kb, b, done, heights] :
       {Case{8, 2, 0, {7, 5}}, Case{8, 2, 6, {7, 5}}, Case{9, 3, 3, {1, 40}}, Case{128, 32, 0, {300, 33}},
        Case{128, 32, 96, {300, 33}}, Case{64, 1, 63, {100, 1}}, Case{64, 64, 0, {130, 70}},
        Case{256, 128, 128, {1100, 65}}, Case{140, 70, 70, {2000, 257}}}) {
    SCOPED_TRACE(::testing::Message() << "kb " << kb << ", b " << b << ", done " << done);
    const Index n = heights[0] + heights[1];
    const auto vz = random_matrix<T>(n, 2 * kb, 1), w = random_matrix<T>(n, b, 2),
               y = random_matrix<T>(n, b, 3);
    const auto v = vz.block(0, 0, n, done), z = vz.block(0, kb, n, done), v_new = vz.block(0, done, n, b);
    std::vector<DeviceMatrix<T>> device_vz, device_w, device_y, device_d;
    for (int i = 0; i < 2; ++i) {
      const Index row = i * heights[0];
      device_vz.emplace_back(in_pairs(vz.block(row, 0, heights[i], 2 * kb), b));
      device_w.emplace_back(w.block(row, 0, heights[i], b));
      device_y.emplace_back(y.block(row, 0, heights[i], b));
      device_d.emplace_back(2 * kb + b, b);
      inner_products<T>(*this->handles_, device_vz[i].const_view().block(0, 0, heights[i], 2 * done),
                        device_w[i].const_view(), device_y[i].const_view(), device_d[i].view());
    }
    const DeviceMatrix<T> total(2 * kb + b, b);
    const MatrixView<const T> pieces[] = {device_d[0].const_view(), device_d[1].const_view()};
    inner_sum<T>(*this->handles_, pieces, done, b, total.view());
    for (int i = 0; i < 2; ++i)
      form_z<T>(*this->handles_, total.const_view(), device_y[i].const_view(), done, device_vz[i].view());
    // A W = Y - V Z^H W - Z V^H W;  Z := A W - V_new (W^H A W) / 2.
    const auto v_w = multiply(Op::adjoint, v, Op::none, w), z_w = multiply(Op::adjoint, z, Op::none, w);
    auto a_w = multiply(Op::none, v, Op::none, z_w, T(-1), T(1), y);
    a_w = multiply(Op::none, z, Op::none, v_w, T(-1), T(1), a_w);
    const auto w_a_w = multiply(Op::adjoint, w, Op::none, a_w);
    const auto expected = multiply(Op::none, v_new, Op::none, w_a_w, T(-0.5), T(1), a_w);
    const double scale = std::max(1.0, norm_1(w_a_w));
    for (int i = 0; i < 2; ++i) {
      const auto result = without_pairs(device_vz[i].get(), b);
      const Index row = i * heights[0];
      EXPECT_LE(difference(result.block(0, kb + done, heights[i], b), expected.block(row, 0, heights[i], b)),
                this->tolerance(n) * scale);
      // The other columns must not change.
      auto rest = vz.block(row, 0, heights[i], 2 * kb);
      rest.set_block(0, kb + done, result.block(0, kb + done, heights[i], b));
      EXPECT_EQ(difference(result, rest), 0);
    }
  }
}

/// More pieces than one kernel call processes, against their sum as one piece.
TYPED_TEST(GpuTwoSided, InnerSumOfManyPieces) {
  using T = TypeParam;
  const Index kb = 12, b = 4;
  for (const Index done : {Index(0), Index(4), kb - b}) {
    Matrix<T> sum(2 * kb + b, b);
    std::vector<DeviceMatrix<T>> parts;
    std::vector<MatrixView<const T>> pieces;
    for (int k = 0; k < 75; ++k) {
      const auto part = random_matrix<T>(2 * kb + b, b, 1 + k, k % 3);
      sum = multiply(Op::none, identity<T>(2 * kb + b), Op::none, part, T(1), T(1), sum);
      parts.emplace_back(part);
    }
    for (const auto& part : parts) pieces.push_back(part.const_view());
    const DeviceMatrix<T> whole(sum), once(2 * kb + b, b), many(2 * kb + b, b);
    const MatrixView<const T> one[] = {whole.const_view()};
    inner_sum<T>(*this->handles_, one, done, b, once.view());
    inner_sum<T>(*this->handles_, pieces, done, b, many.view());
    const auto expected = once.get(), result = many.get();
    const double scale = std::max(1.0, norm_1(sum) * norm_1(sum));
    EXPECT_LE(difference(result.block(0, 0, 2 * done + b, b), expected.block(0, 0, 2 * done + b, b)),
              this->tolerance(75) * scale)
        << done;
  }
}

template <class T>
Matrix<T> expected_update(const Matrix<T>& left, const Matrix<T>& right, Index done, Index kb,
                          const Matrix<T>& c) {
  const auto part = [&](const Matrix<T>& vz, Index first) { return vz.block(0, first, vz.rows(), done); };
  const auto once = multiply(Op::none, part(left, 0), Op::adjoint, part(right, kb), T(-1), T(1), c);
  return multiply(Op::none, part(left, kb), Op::adjoint, part(right, 0), T(-1), T(1), once);
}

TYPED_TEST(GpuTwoSided, UpdateOfATile) {
  using T = TypeParam;
  const Index m = 267, kb = 16, b = 4;
  for (const Index n : {1, 43, 64, 128, 140})
    for (const Index done : {Index(4), kb}) {
      const auto left = random_matrix<T>(m, 2 * kb, 1, 1), right = random_matrix<T>(n, 2 * kb, 2, 2),
                 c = random_matrix<T>(m, n, 3, 3);
      const DeviceMatrix<T> device_left(in_pairs(left, b)), device_right(in_pairs(right, b)), device_c(c),
          workspace(n, 2 * kb, 0);
      subtract_pair<T>(*this->handles_, device_left.const_view().block(0, 0, m, 2 * done),
                       device_right.const_view().block(0, 0, n, 2 * done), b, workspace.view().data, {},
                       device_c.view());
      EXPECT_LE(difference(device_c.get(), expected_update(left, right, done, kb, c)),
                this->tolerance(2 * done));
    }
}

TYPED_TEST(GpuTwoSided, UpdateOfADiagonalTile) {
  using T = TypeParam;
  const Index kb = 8, b = 2;
  for (const Index n : {1, 50, 513})
    for (const Index done : {6, 8}) {
      const auto vz = random_matrix<T>(n, 2 * kb, 1, 1);
      const auto c = random_hermitian<T>(n, 2);
      const DeviceMatrix<T> device_vz(in_pairs(vz, b)), workspace(n, 2 * kb, 0);
      const DeviceMatrix<T> device_c(poison_other_triangle(c, Uplo::lower));
      hermitian_update<T>(*this->handles_, device_vz.const_view().block(0, 0, n, 2 * done), b, true,
                          workspace.view().data, {}, device_c.view());
      const auto result = device_c.get();
      EXPECT_LE(difference(result, expected_update(vz, vz, done, kb, c)), this->tolerance(2 * done)) << n;
      for (Index i = 0; i < n; ++i) EXPECT_EQ(imag_part(result(i, i)), 0);
    }
}

/// Large enough for the product by blocks; only some entries are checked.
TYPED_TEST(GpuTwoSided, UpdateOfALargeDiagonalTile) {
  using T = TypeParam;
  const Index n = 8200 + 512 + 9, kb = 3;
  if (is_complex<T>) GTEST_SKIP() << "takes long, and nothing differs";
  const auto vz = random_matrix<T>(n, 2 * kb, 1, 1);
  for (const Index done : {kb, kb - 1}) {
    const DeviceMatrix<T> device_vz(in_pairs(vz, 1)), workspace(n, 2 * kb, 0), c(n, n, 0);
    la::set_zero(*this->handles_, c.view());
    hermitian_update<T>(*this->handles_, device_vz.const_view().block(0, 0, n, 2 * done), 1, true,
                        workspace.view().data, {}, c.view());
    const auto result = c.get();
    for (Index s = 0; s < 50000; ++s) {
      const Index i = s * 7919 % n, j = s < 40000 ? s * 104729 % n : std::min(i + s % 5, n - 1);
      T expected(0);
      for (Index k = 0; k < done; ++k)
        expected -= vz(i, k) * conjugate(vz(j, kb + k)) + vz(i, kb + k) * conjugate(vz(j, k));
      ASSERT_LE(std::abs(result(i, j) - expected), this->tolerance(kb)) << i << " " << j;
    }
  }
}

/// All shapes of its blocks: none, only full ones, and a remainder at one level or several.
TYPED_TEST(GpuTwoSided, LowerProductByBlocks) {
  using T = TypeParam;
  const Index k = 3;
  for (const Index n : {1, 511, 512, 1024, 1100, 1537, 2048, 2700}) {
    const auto x = random_matrix<T>(n, k, 1, 1), y = random_matrix<T>(n, k, 2, 2);
    const auto c = random_matrix<T>(n, n, 3);
    const DeviceMatrix<T> device_x(x), device_y(y), device_c(c);
    subtract_lower_product<T>(*this->handles_, device_x.view(), device_y.view(), device_c.view());
    const auto expected = multiply(Op::none, x, Op::adjoint, y, T(-1), T(1), c);
    EXPECT_LE(difference(device_c.get(), expected, Uplo::lower), this->tolerance(k)) << n;
  }
}

TYPED_TEST(GpuTwoSided, SetZeroLeavesThePaddingAlone) {
  using T = TypeParam;
  const DeviceMatrix<T> a(19, 7);
  la::set_zero(*this->handles_, a.view());
  EXPECT_EQ(difference(a.get(), Matrix<T>(19, 7)), 0);
  auto b = random_matrix<T>(8, 4, 1);
  const DeviceMatrix<T> device_b(b);
  la::set_zero(*this->handles_, device_b.view().block(2, 1, 3, 2));
  b.set_block(2, 1, Matrix<T>(3, 2));
  EXPECT_EQ(difference(device_b.get(), b), 0);
}

TYPED_TEST(GpuTwoSided, CopyToBand) {
  using T = TypeParam;
  struct Case {
    Index rows, cols, b, row0, col0, first_col;
  };
  for (const auto& [rows, cols, b, row0, col0, first_col] :
       {Case{4, 4, 4, 8, 8, 8}, Case{4, 4, 4, 12, 8, 4}, Case{1, 1, 3, 5, 5, 0}, Case{9, 3, 4, 10, 10, 10},
        Case{3, 5, 7, 11, 6, 2}, Case{70, 64, 64, 64, 0, 0}}) {
    const auto source = random_matrix<T>(rows, cols, 1, 2);
    auto segment = random_matrix<T>(2 * b + 1, col0 - first_col + cols + 2, 2, 1);
    const DeviceMatrix<T> device_source(source), device_segment(segment);
    copy_to_band<T>(*this->handles_, device_source.const_view(), {row0, col0, first_col, b},
                    device_segment.view());
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i)
        if (const Index offset = row0 + i - col0 - j; offset >= 0 && offset <= b)
          segment(offset, col0 + j - first_col) = source(i, j);
    EXPECT_EQ(difference(device_segment.get(), segment), 0);
  }
}

}  // namespace
}  // namespace tessera::test
