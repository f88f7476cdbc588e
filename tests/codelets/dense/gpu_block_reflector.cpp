// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/device_array.hpp>

#include <tessera/codelets/dense/block_reflector.inl>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuBlockReflector : public GpuTest<T> {};
TYPED_TEST_SUITE(GpuBlockReflector, Scalars);

/// Reflectors of `panels` panels of width b. Column j is zero above row (j / b + 1) b, as gathered
/// from a tile, and T_p makes I - V_p T_p V_p^H unitary.
template <class T>
struct Reflectors {
  Reflectors(Index rows, Index b, Index panels) : b(b), v(rows, b * panels) {
    for (Index p = 0; p < panels; ++p) {
      const auto random = random_matrix<T>(rows, b, 10 + p);
      Matrix<T> t_panel(b, b);
      for (Index j = 0; j < b; ++j) {
        const Index first = (p + 1) * b + j;
        T norm(0);
        for (Index i = first; i < rows; ++i) {
          v(i, p * b + j) = i == first ? T(1) : random(i, j);
          norm += conjugate(v(i, p * b + j)) * v(i, p * b + j);
        }
        // T_jj = 2 / (v^H v); above it -T V^H v T_jj (larft).
        t_panel(j, j) = first < rows ? T(2) / norm : T(0);
        for (Index i = 0; i < j; ++i) {
          T sum(0);
          for (Index l = i; l < j; ++l) {
            T product(0);
            for (Index r = 0; r < rows; ++r) product += conjugate(v(r, p * b + l)) * v(r, p * b + j);
            sum += t_panel(i, l) * product;
          }
          t_panel(i, j) = -sum * t_panel(j, j);
        }
      }
      t.push_back(t_panel);
    }
  }
  /// H_0 H_1 ... C, applied panel by panel.
  Matrix<T> apply(Matrix<T> c) const {
    for (Index p = static_cast<Index>(t.size()) - 1; p >= 0; --p) {
      const auto panel = v.block(0, p * b, v.rows(), b);
      const auto w = multiply(t[static_cast<std::size_t>(p)], multiply(Op::adjoint, panel, Op::none, c));
      c = multiply(Op::none, panel, Op::none, w, T(-1), T(1), c);
    }
    return c;
  }
  Index b;
  Matrix<T> v;
  std::vector<Matrix<T>> t;
};

TYPED_TEST(GpuBlockReflector, MergedFactorAppliesThePanelsInTurn) {
  using T = TypeParam;
  struct Case {
    Index rows, b, panels, cols;
  };
  for (const auto& [rows, b, panels, cols] :
       {Case{1, 1, 1, 1}, Case{9, 2, 1, 3}, Case{20, 2, 2, 7}, Case{31, 2, 3, 5}, Case{40, 3, 5, 8},
        Case{100, 1, 90, 4}, Case{150, 16, 7, 33}, Case{60, 8, 8, 1}})
    for (const Index cut : {Index(0), rows / 3}) {
      SCOPED_TRACE(::testing::Message() << "rows " << rows << ", b " << b << ", panels " << panels);
      const Reflectors<T> h(rows, b, panels);
      const Index k = b * panels;
      // V in one or two pieces.
      std::vector<DeviceMatrix<T>> pieces, panels_t;
      std::vector<MatrixView<const T>> v, t_panels;
      if (cut > 0) pieces.emplace_back(h.v.block(0, 0, cut, k));
      pieces.emplace_back(h.v.block(cut, 0, rows - cut, k));
      for (const auto& t : h.t) panels_t.emplace_back(t);
      for (const auto& piece : pieces) v.push_back(piece.const_view());
      for (const auto& t : panels_t) t_panels.push_back(t.const_view());
      const DeviceMatrix<T> device_t(k, k), workspace(2 * k, cols, 0);
      merge_t<T>(*this->handles_, v, t_panels, b, device_t.view());
      const auto t = device_t.get();
      for (Index j = 0; j < k; ++j)
        for (Index i = j + 1; i < k; ++i) ASSERT_EQ(t(i, j), T(0)) << i << " " << j;
      const auto c = random_matrix<T>(rows, cols, 1, 2);
      const DeviceMatrix<T> device_c(c);
      apply_block_reflector<T>(*this->handles_, v, device_t.const_view(), workspace.view().data, {},
                               device_c.view());
      EXPECT_LE(difference(device_c.get(), h.apply(c)), this->tolerance(rows + k));
    }
}

TYPED_TEST(GpuBlockReflector, Gather) {
  using T = TypeParam;
  for (const Index b : {1, 3, 4}) {
    const Index k = 12, heights[] = {20, 12, 1};
    std::vector<DeviceMatrix<T>> pieces;
    std::vector<MatrixView<const T>> views;
    Matrix<T> expected(33, k);
    Index row = 0;
    for (int p = 0; p < 3; ++p) {
      const auto piece = random_matrix<T>(heights[p], k, 1 + p, 2);
      expected.set_block(row, 0, piece);
      pieces.emplace_back(piece);
      row += heights[p];
    }
    for (const auto& piece : pieces) views.push_back(piece.const_view());
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < std::min<Index>((j / b + 1) * b, 33); ++i) expected(i, j) = T(0);
    const DeviceMatrix<T> v(33, k);
    gather_reflectors<T>(*this->handles_, views, b, v.view());
    EXPECT_EQ(difference(v.get(), expected), 0);
  }
}

TYPED_TEST(GpuBlockReflector, SolveAdjointRow) {
  using T = TypeParam;
  const Index tile = 24, last = 17, cols = 9;
  for (const int above : {0, 2}) {
    std::vector<DeviceMatrix<T>> l;
    std::vector<MatrixView<const T>> views;
    auto diagonal = random_matrix<T>(last, last, 5);
    for (Index i = 0; i < last; ++i) diagonal(i, i) += T(RealOf<T>(last));
    const auto x = random_matrix<T>(above * tile + last, cols, 1, 1);
    std::vector<Matrix<T>> tiles;
    for (int i = 0; i < above; ++i) l.emplace_back(tiles.emplace_back(random_matrix<T>(last, tile, 2 + i)));
    l.emplace_back(poison_other_triangle(diagonal, Uplo::lower));
    for (const auto& one : l) views.push_back(one.const_view());
    const DeviceMatrix<T> device_x(x);
    solve_adjoint_row<T>(*this->handles_, views, tile, device_x.view());
    const auto result = device_x.get();
    const auto x_k = result.block(above * tile, 0, last, cols);
    EXPECT_LE(difference(multiply(Op::adjoint, triangle(diagonal, Uplo::lower), Op::none, x_k),
                         x.block(above * tile, 0, last, cols)),
              this->tolerance(last) * double(last));
    for (int i = 0; i < above; ++i)
      EXPECT_LE(difference(result.block(i * tile, 0, tile, cols),
                           multiply(Op::adjoint, tiles[static_cast<std::size_t>(i)], Op::none, x_k, T(-1),
                                    T(1), x.block(i * tile, 0, tile, cols))),
                this->tolerance(last));
  }
}

}  // namespace
}  // namespace tessera::test
