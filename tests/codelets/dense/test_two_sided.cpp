// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/codelets/dense/panel_pairs.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/codelets/linalg/hermitian.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class TwoSidedCodelets : public RuntimeTest<T> {
 public:
  static double tolerance(Index k) { return 20 * double(k + 2) * precision<T>; }
  /// Mirrors A if both triangles are stored.
  static void mirror(Sequence& s, const Data& a) {
    if (keeps_both_triangles<T>(s.runtime())) s.insert(MirrorLower<T>{.a = a});
  }
};
TYPED_TEST_SUITE(TwoSidedCodelets, Scalars);

TYPED_TEST(TwoSidedCodelets, ProductWithATile) {
  using T = TypeParam;
  const Index rows = 11, cols = 9, b = 3;
  // The whole tile, and the part that remains after some panels.
  for (const auto& part : {TilePart(0, 0, rows, cols), TilePart(4, 5, rows - 4, cols - 5)})
    for (const bool fresh : {true, false}) {
      const auto a = random_matrix<T>(rows, cols, 1), w_i = random_matrix<T>(rows, b, 2),
                 w_j = random_matrix<T>(cols, b, 3), y_i = random_matrix<T>(rows, b, 4),
                 y_j = random_matrix<T>(cols, b, 5), one_i = identity<T>(rows), one_j = identity<T>(cols);
      const Data data_a = upload(this->runtime(), a), data_wi = upload(this->runtime(), w_i),
                 data_wj = upload(this->runtime(), w_j), data_yi = upload(this->runtime(), y_i),
                 data_yj = upload(this->runtime(), y_j);
      // Previous content must be ignored unless the same sequence has written it.
      const Data before_i = upload(this->runtime(), y_i), before_j = upload(this->runtime(), y_j),
                 data_one_i = upload(this->runtime(), one_i), data_one_j = upload(this->runtime(), one_j);
      ASSERT_TRUE(this->run([&](Sequence& s) {
        if (!fresh) {
          s.insert(TwoSidedProduct<T>{
              .a = data_one_i, .w_i = before_i, .y_i = data_yi, .part = {0, 0, rows, rows}, .b = b});
          s.insert(TwoSidedProduct<T>{
              .a = data_one_j, .w_i = before_j, .y_i = data_yj, .part = {0, 0, cols, cols}, .b = b});
        }
        s.insert(TwoSidedProduct<T>{.a = data_a,
                                    .w_i = data_wi,
                                    .w_j = data_wj,
                                    .y_i = data_yi,
                                    .y_j = data_yj,
                                    .part = part,
                                    .b = b});
      }));
      const auto block = a.block(part.row, part.col, part.rows, part.cols);
      const T beta(fresh ? 0 : 1);
      const auto expected_i = multiply(Op::none, block, Op::none, w_j.block(part.col, 0, part.cols, b), T(1),
                                       beta, y_i.block(part.row, 0, part.rows, b));
      const auto expected_j = multiply(Op::adjoint, block, Op::none, w_i.block(part.row, 0, part.rows, b),
                                       T(1), beta, y_j.block(part.col, 0, part.cols, b));
      EXPECT_LE(difference(download<T>(data_yi).block(part.row, 0, part.rows, b), expected_i),
                this->tolerance(rows));
      EXPECT_LE(difference(download<T>(data_yj).block(part.col, 0, part.cols, b), expected_j),
                this->tolerance(rows));
    }
}

TYPED_TEST(TwoSidedCodelets, MirrorMakesTheMatrixHermitian) {
  using T = TypeParam;
  for (const Index n : {0, 1, 2, 31, 32, 33, 64, 75}) {
    const auto a = random_hermitian<T>(n, 1);
    auto mirrored = poison_other_triangle(a, Uplo::lower);
    // The imaginary part that rounding leaves on the diagonal must be dropped.
    if constexpr (is_complex<T>)
      if (n > 0) mirrored(n - 1, n - 1) += T(0, 1);
    mirror_lower(HostContext(TaskHeader{}), mirrored.view());
    EXPECT_EQ(difference(mirrored, a), 0) << n;
  }
}

/// The product with a diagonal tile on a GPU reads both triangles.
TYPED_TEST(TwoSidedCodelets, WhereGpusWorkBothTrianglesStayValid) {
  using T = TypeParam;
  if (this->runtime().info().cuda_workers == 0) GTEST_SKIP() << "no GPU";
  const Index n = 70, kb = 4;
  const auto h = random_hermitian<T>(n, 1), vz = random_matrix<T>(n, 2 * kb, 2);
  const Data data = upload(this->runtime(), poison_other_triangle(h, Uplo::lower)),
             data_vz = upload(this->runtime(), vz),
             workspace = Data::scratch(this->runtime(), update_workspace_bytes<T>(n, kb));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    this->mirror(s, data);
    s.insert(Rank2kUpdate<T>{.vz_i = data_vz,
                             .a = data,
                             .workspace = workspace,
                             .part = {8, 8, n - 8, n - 8},
                             .done = kb,
                             .b = 2,
                             .both_triangles = keeps_both_triangles<T>(this->runtime())});
  }));
  const auto result = download<T>(data);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i <= j; ++i) ASSERT_EQ(result(i, j), conjugate(result(j, i))) << i << " " << j;
}

TYPED_TEST(TwoSidedCodelets, ProductWithADiagonalTile) {
  using T = TypeParam;
  const Index n = 10, b = 4;
  for (const Index first : {Index(0), Index(3), n - 1})
    for (const bool fresh : {true, false}) {
      const auto a = random_hermitian<T>(n, 1);
      const auto w = random_matrix<T>(n, b, 2), y = random_matrix<T>(n, b, 3);
      const Data data_a = upload(this->runtime(), poison_other_triangle(a, Uplo::lower)),
                 data_w = upload(this->runtime(), w), data_y = upload(this->runtime(), y),
                 before = upload(this->runtime(), y), one = upload(this->runtime(), identity<T>(n));
      const TilePart part(first, first, n - first, n - first);
      ASSERT_TRUE(this->run([&](Sequence& s) {
        this->mirror(s, data_a);
        if (!fresh)
          s.insert(TwoSidedProduct<T>{.a = one, .w_i = before, .y_i = data_y, .part = {0, 0, n, n}, .b = b});
        s.insert(TwoSidedProduct<T>{.a = data_a, .w_i = data_w, .y_i = data_y, .part = part, .b = b});
      }));
      const auto expected =
          multiply(Op::none, a.block(first, first, n - first, n - first), Op::none,
                   w.block(first, 0, n - first, b), T(1), T(fresh ? 0 : 1), y.block(first, 0, n - first, b));
      EXPECT_LE(difference(download<T>(data_y).block(first, 0, n - first, b), expected), this->tolerance(n));
    }
}

/// A panel step on two tile rows, the first of which is used from row 2 on, against the formulas
/// for whole matrices.
TYPED_TEST(TwoSidedCodelets, CorrectionsOfAPanelStep) {
  using T = TypeParam;
  const Index kb = 8, b = 2, first = 2;
  const Index heights[] = {7, 5};
  for (const Index done : {0, 2, 6})
    for (const int parts : {0, 2}) {
      SCOPED_TRACE(::testing::Message() << "done " << done << ", parts of Y from others: " << parts);
      const Index n = heights[0] - first + heights[1];
      Matrix<T> v_all(n, done), z_all(n, done), v(n, b), w_all(n, b), y_all(n, b);
      Matrix<T> vz[2];
      Data data_vz[2], data_w[2], own_part[2], data_y[2], data_d[2], data_parts[2][2], one[2];
      for (int i = 0; i < 2; ++i) {
        const Index row = i == 0 ? first : 0, at = i == 0 ? 0 : heights[0] - first, rows = heights[i] - row;
        vz[i] = random_matrix<T>(heights[i], 2 * kb, 10 + i);
        const auto w = random_matrix<T>(heights[i], b, 20 + i), y = random_matrix<T>(heights[i], b, 30 + i);
        v_all.set_block(at, 0, vz[i].block(row, 0, rows, done));
        z_all.set_block(at, 0, vz[i].block(row, kb, rows, done));
        v.set_block(at, 0, vz[i].block(row, done, rows, b));
        w_all.set_block(at, 0, w.block(row, 0, rows, b));
        data_vz[i] = upload(this->runtime(), in_pairs(vz[i], b));
        data_w[i] = upload(this->runtime(), w);
        own_part[i] = upload(this->runtime(), y);
        data_y[i] = upload(this->runtime(), random_matrix<T>(heights[i], b, 50 + i));
        one[i] = upload(this->runtime(), identity<T>(heights[i]));
        data_d[i] = Data::matrix(this->runtime(), 2 * kb + b, b, sizeof(T));
        // If there are parts from other groups, the second tile row has no part of its own.
        const bool own = !(parts > 0 && i == 1);
        auto sum = own ? y.block(row, 0, rows, b) : Matrix<T>(rows, b);
        for (int p = 0; p < parts; ++p) {
          const auto part = random_matrix<T>(heights[i], b, 40 + 2 * i + p);
          data_parts[i][p] = upload(this->runtime(), part);
          sum = multiply(Op::none, identity<T>(rows), Op::none, part.block(row, 0, rows, b), T(1), T(1), sum);
        }
        y_all.set_block(at, 0, sum);
      }
      const auto window = [&](int i) {
        const Index row = i == 0 ? first : 0;
        return PanelWindow{.row = row, .rows = heights[i] - row, .done = done, .kb = kb, .b = b};
      };
      const Data total = Data::matrix(this->runtime(), 2 * kb + b, b, sizeof(T));
      ASSERT_TRUE(this->run([&](Sequence& s) {
        const std::vector<const Data*> pieces{&data_d[0], &data_d[1]};
        for (int i = 0; i < 2; ++i) {
          std::vector<const Data*> extra;
          for (int p = 0; p < parts; ++p) extra.push_back(&data_parts[i][p]);
          // Its own part must have been written by the same sequence.
          if (!(parts > 0 && i == 1))
            s.insert(TwoSidedProduct<T>{.a = one[i],
                                        .w_i = own_part[i],
                                        .y_i = data_y[i],
                                        .part = {0, 0, heights[i], heights[i]},
                                        .b = b});
          s.insert(InnerProducts<T>{.vz = data_vz[i],
                                    .w = data_w[i],
                                    .y = data_y[i],
                                    .d = data_d[i],
                                    .parts = extra,
                                    .window = window(i)});
        }
        s.insert(InnerSum<T>{.pieces = pieces, .d = total, .done = done, .kb = kb, .b = b});
        for (int i = 0; i < 2; ++i)
          s.insert(FormZ<T>{.d = total, .y = data_y[i], .vz = data_vz[i], .window = window(i)});
      }));
      // A W = Y - Vacc Zacc^H W - Zacc Vacc^H W, Z = A W - V (W^H A W) / 2.
      auto a_w = multiply(Op::none, v_all, Op::none, multiply(Op::adjoint, z_all, Op::none, w_all), T(-1),
                          T(1), y_all);
      a_w = multiply(Op::none, z_all, Op::none, multiply(Op::adjoint, v_all, Op::none, w_all), T(-1), T(1),
                     a_w);
      const auto z =
          multiply(Op::none, v, Op::none, multiply(Op::adjoint, w_all, Op::none, a_w), T(-0.5), T(1), a_w);
      for (int i = 0; i < 2; ++i) {
        const Index row = i == 0 ? first : 0, at = i == 0 ? 0 : heights[0] - first, rows = heights[i] - row;
        auto expected = vz[i];
        expected.set_block(row, kb + done, z.block(at, 0, rows, b));
        EXPECT_LE(difference(without_pairs(download<T>(data_vz[i]), b), expected), 50 * this->tolerance(n));
      }
    }
}

TYPED_TEST(TwoSidedCodelets, PanelUpdateAndRank2kUpdate) {
  using T = TypeParam;
  const Index kb = 6, b = 2, m = 9, n = 7;
  const Data workspace = Data::scratch(this->runtime(), update_workspace_bytes<T>(m, kb));
  for (const Index done : {2, 6}) {
    const auto vz_i = random_matrix<T>(m, 2 * kb, 1), vz_j = random_matrix<T>(n, 2 * kb, 2);
    const Data data_i = upload(this->runtime(), in_pairs(vz_i, b)),
               data_j = upload(this->runtime(), in_pairs(vz_j, b));
    const auto update = [&](const Matrix<T>& left, const Matrix<T>& right, const Matrix<T>& a) {
      const auto v_l = left.block(0, 0, left.rows(), done), z_l = left.block(0, kb, left.rows(), done);
      const auto v_r = right.block(0, 0, right.rows(), done), z_r = right.block(0, kb, right.rows(), done);
      return multiply(Op::none, z_l, Op::adjoint, v_r, T(-1), T(1),
                      multiply(Op::none, v_l, Op::adjoint, z_r, T(-1), T(1), a));
    };
    // Off the diagonal, for the part from (2, 3) on.
    const auto a = random_matrix<T>(m, n, 3);
    const Data data_a = upload(this->runtime(), a);
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(Rank2kUpdate<T>{.vz_i = data_i,
                               .vz_j = data_j,
                               .a = data_a,
                               .workspace = workspace,
                               .part = {2, 3, m - 2, n - 3},
                               .done = done,
                               .b = b});
    }));
    auto expected = a;
    expected.set_block(2, 3,
                       update(vz_i.block(2, 0, m - 2, 2 * kb), vz_j.block(3, 0, n - 3, 2 * kb),
                              a.block(2, 3, m - 2, n - 3)));
    EXPECT_LE(difference(download<T>(data_a), expected), this->tolerance(2 * done));

    // On the diagonal only the lower triangle is updated.
    const auto h = random_hermitian<T>(m, 4);
    const Data data_h = upload(this->runtime(), poison_other_triangle(h, Uplo::lower));
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(Rank2kUpdate<T>{.vz_i = data_i,
                               .a = data_h,
                               .workspace = workspace,
                               .part = {1, 1, m - 1, m - 1},
                               .done = done,
                               .b = b,
                               .both_triangles = keeps_both_triangles<T>(this->runtime())});
    }));
    auto expected_h = h;
    const auto rows = vz_i.block(1, 0, m - 1, 2 * kb);
    expected_h.set_block(1, 1, update(rows, rows, h.block(1, 1, m - 1, m - 1)));
    EXPECT_LE(difference(download<T>(data_h), expected_h, Uplo::lower), this->tolerance(2 * done));

    // The next panel of two columns, with its top rows in another tile row or in the same one.
    for (const bool same : {false, true}) {
      const Data data_p = upload(this->runtime(), a);
      ASSERT_TRUE(this->run([&](Sequence& s) {
        s.insert(PanelUpdate<T>{.vz = data_i,
                                .vz_top = same ? nullptr : &data_j,
                                .p = data_p,
                                .workspace = workspace,
                                .part = {3, 4, m - 3, 2},
                                .top_row = 4,
                                .done = done,
                                .b = b});
      }));
      auto expected_p = a;
      expected_p.set_block(3, 4,
                           update(vz_i.block(3, 0, m - 3, 2 * kb),
                                  (same ? vz_i : vz_j).block(4, 0, 2, 2 * kb), a.block(3, 4, m - 3, 2)));
      EXPECT_LE(difference(download<T>(data_p), expected_p), this->tolerance(2 * done));
    }
  }
}

TYPED_TEST(TwoSidedCodelets, SetZero) {
  using T = TypeParam;
  const Data data = upload(this->runtime(), random_matrix<T>(5, 3, 1));
  ASSERT_TRUE(this->run([&](Sequence& s) { s.insert(SetZero<T>{.a = data}); }));
  EXPECT_EQ(difference(download<T>(data), Matrix<T>(5, 3)), 0);
}

TYPED_TEST(TwoSidedCodelets, CopyToBandTakesTheLowerBandAlone) {
  using T = TypeParam;
  const Index b = 3, ld = 2 * b, first_col = 6;
  const auto a = random_matrix<T>(10, 8, 1);
  // Entry (i, j) of the part is (row0 + i, col0 + j) of the band matrix; the segment begins at column 6.
  const Index row0 = 8, col0 = 7;
  const TilePart part(2, 1, 5, 4);
  const auto segment = random_matrix<T>(ld, 6, 2);
  const Data data_a = upload(this->runtime(), a), data = upload(this->runtime(), segment);
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(
        CopyToBand<T>{.tile = data_a,
                      .segment = data,
                      .part = part,
                      .place = {.row = row0, .column = col0, .first_column = first_col, .bandwidth = b}});
  }));
  auto expected = segment;
  for (Index j = 0; j < part.cols; ++j)
    for (Index i = 0; i < part.rows; ++i) {
      const Index offset = row0 + i - col0 - j;
      if (offset >= 0 && offset <= b) expected(offset, col0 + j - first_col) = a(part.row + i, part.col + j);
    }
  EXPECT_EQ(difference(download<T>(data), expected), 0);
}

}  // namespace
}  // namespace tessera::test
