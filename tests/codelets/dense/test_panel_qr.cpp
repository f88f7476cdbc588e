// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>

namespace tessera::test {
namespace {

using kernels::PanelFactor;

/// What a panel factorisation gives: V and W below each other, T, S R, and whether the fall-back was taken.
template <class T>
struct FactoredPanel {
  Matrix<T> v, w, t, band;
  bool fallback;
};

template <class T>
class PanelQrCodelets : public RuntimeTest<T> {
 public:
  static constexpr Index kb = 8;

  /// Factors the panel whose tile rows have the given heights, as reduce_to_band does. The panel begins at
  /// row `skip` of the first tile and column 1 of each; V goes to the columns from `done` on.
  static FactoredPanel<T> factor(const std::vector<Index>& heights, const Matrix<T>& panel, Index skip,
                                 Index done) {
    Runtime& runtime = RuntimeTest<T>::runtime();
    const Index b = panel.cols();
    const std::size_t count = heights.size();
    std::vector<Data> tiles, vz(count), grams, w;
    std::vector<const Data*> gram_pieces;
    std::vector<TilePart> parts, v;
    Index row = 0, largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Index first = i == 0 ? skip : 0, rows = heights[i] - first;
      auto tile = random_matrix<T>(heights[i], b + 2, 90 + i);
      tile.set_block(first, 1, panel.block(row, 0, rows, b));
      tiles.push_back(upload(runtime, tile));
      vz[i] = Data::matrix(runtime, heights[i], 2 * kb, sizeof(T));
      grams.push_back(Data::matrix(runtime, b, b, sizeof(T)));
      w.push_back(Data::matrix(runtime, heights[i], b, sizeof(T)));
      parts.emplace_back(first, 1, rows, b);
      v.emplace_back(first, done, rows, b);
      row += rows;
      largest = std::max(largest, heights[i]);
    }
    for (const Data& gram : grams) gram_pieces.push_back(&gram);
    const Data factor = Data::bytes(runtime, PanelFactor<T>::bytes(b)),
               t = Data::matrix(runtime, b, b, sizeof(T));
    const Data workspace =
        Data::scratch(runtime, panel_workspace_bytes<T>(std::max<Index>(largest, (Index(count) + 1) * b), b));
    const bool one = count == 1;
    Data stack;
    const Status status = RuntimeTest<T>::run([&](Sequence& s) {
      if (one) {
        s.insert(PanelHouseholder<T>{.tile = tiles[0],
                                     .vz = vz[0],
                                     .factor = factor,
                                     .t = t,
                                     .workspace = workspace,
                                     .panel = parts[0],
                                     .v = v[0],
                                     .b = b});
      } else {
        for (std::size_t i = 0; i < count; ++i)
          s.insert(
              PanelGram<T>{.tile = tiles[i], .gram = grams[i], .workspace = workspace, .panel = parts[i]});
        s.insert(PanelCholesky<T>{.grams = gram_pieces, .factor = factor, .b = b});
        for (std::size_t i = 0; i < count; ++i)
          s.insert(PanelOrthogonalize<T>{.tile = tiles[i],
                                         .factor = factor,
                                         .vz = vz[i],
                                         .gram = grams[i],
                                         .workspace = workspace,
                                         .panel = parts[i],
                                         .v = v[i]});
        s.insert(PanelCheck<T>{.grams = gram_pieces, .factor = factor, .b = b});
        Index stack_rows = 0;
        for (std::size_t i = 0; i < count; ++i) {
          s.insert(TsqrLeaf<T>{.tile = tiles[i],
                               .factor = factor,
                               .vz = vz[i],
                               .triangle = grams[i],
                               .workspace = workspace,
                               .panel = parts[i],
                               .v = v[i]});
          stack_rows += std::min<Index>(b, parts[i].rows);
        }
        stack = Data::matrix(runtime, stack_rows, b, sizeof(T));
        s.insert(TsqrCombine<T>{.triangles = gram_pieces,
                                .factor = factor,
                                .stack = stack,
                                .workspace = workspace,
                                .first_rows = std::min<Index>(b, parts[0].rows),
                                .last_rows = std::min<Index>(b, parts.back().rows),
                                .b = b});
        Index stack_row = 0;
        for (std::size_t i = 0; i < count; ++i) {
          s.insert(PanelFinish<T>{.factor = factor,
                                  .stack = stack,
                                  .vz = vz[i],
                                  .workspace = workspace,
                                  .v = v[i],
                                  .stack_row = stack_row});
          stack_row += std::min<Index>(b, parts[i].rows);
        }
        s.insert(PanelReconstruct<T>{.vz = vz[0], .factor = factor, .t = t, .v = v[0], .b = b});
      }
      for (std::size_t i = 0; i < count; ++i)
        s.insert(PanelVectors<T>{.factor = factor,
                                 .t = t,
                                 .vz = vz[i],
                                 .tile = tiles[i],
                                 .w = w[i],
                                 .panel = parts[i],
                                 .v = v[i],
                                 .top = i == 0,
                                 .formed = one});
    });
    EXPECT_TRUE(status.ok());
    FactoredPanel<T> result{Matrix<T>(panel.rows(), b), Matrix<T>(panel.rows(), b), download<T>(t),
                            Matrix<T>(b, b), false};
    row = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto in_place = download<T>(tiles[i]), accumulator = download<T>(vz[i]),
                 whole_w = download<T>(w[i]);
      const auto& p = parts[i];
      const auto piece = in_place.block(p.row, 1, p.rows, b);
      // V lies in the accumulator and in the tile, whose other entries are as before.
      EXPECT_EQ(difference(accumulator.block(v[i].row, done, p.rows, b), piece), 0);
      auto expected = random_matrix<T>(heights[i], b + 2, 90 + i);
      expected.set_block(p.row, 1, piece);
      EXPECT_EQ(difference(in_place, expected), 0);
      result.v.set_block(row, 0, piece);
      result.w.set_block(row, 0, whole_w.block(p.row, 0, p.rows, b));
      row += p.rows;
    }
    HostAccess access(factor, HostAccess::Mode::read);
    const PanelFactor<T> block(access.array<char>().data(), b);
    for (Index j = 0; j < b; ++j)
      for (Index i = 0; i < b; ++i) result.band(i, j) = block.band()(i, j);
    result.fallback = *block.fallback != 0;
    return result;
  }

  /// H = I - V T V^H is orthogonal, H [band; 0] is the panel, V is unit lower trapezoidal, W = V T.
  static void check(const FactoredPanel<T>& f, const Matrix<T>& panel, double scale = 1) {
    const Index m = panel.rows(), b = panel.cols();
    const double tolerance = 20 * double(m + b) * precision<T>;
    EXPECT_LE(difference(multiply(f.v, f.t), f.w), tolerance);
    const auto h = multiply(Op::none, f.w, Op::adjoint, f.v, T(-1), T(1), identity<T>(m));
    EXPECT_LE(difference(multiply(Op::adjoint, h, Op::none, h), identity<T>(m)), tolerance);
    for (Index j = 0; j < b; ++j)
      for (Index i = 0; i <= std::min(j, m - 1); ++i) {
        EXPECT_EQ(f.v(i, j), T(i == j ? 1 : 0)) << i << ' ' << j;
      }
    Matrix<T> r(m, b);
    r.set_block(0, 0, f.band.block(0, 0, std::min(m, b), b));
    EXPECT_EQ(difference(triangle(r, Uplo::upper), r), 0);
    EXPECT_LE(difference(multiply(h, r), panel), tolerance * scale);
  }
  const std::vector<std::vector<Index>> shapes = {{8, 8}, {8, 8, 8, 2}, {8, 3}, {8, 8, 1}, {16, 16, 16}};
};
TYPED_TEST_SUITE(PanelQrCodelets, Scalars);

TYPED_TEST(PanelQrCodelets, CholeskyQrOnTallPanels) {
  using T = TypeParam;
  for (const auto& heights : this->shapes)
    for (const Index b : {1, 3, 4})
      for (const Index skip : {Index(0), Index(4)}) {
        Index m = -skip;
        for (Index h : heights) m += h;
        SCOPED_TRACE(::testing::Message() << m << " x " << b << " in " << heights.size() << " tiles");
        // A dominant top block keeps single precision within the reach of Cholesky QR.
        auto panel = random_matrix<T>(m, b, 7);
        for (Index j = 0; j < b; ++j) panel(j, j) += T(RealOf<T>(4));
        const auto factored = this->factor(heights, panel, skip, b == 4 ? 4 : 0);
        EXPECT_FALSE(factored.fallback);
        this->check(factored, panel, 6);
      }
}

TYPED_TEST(PanelQrCodelets, FallsBackToHouseholderWhereCholeskyQrIsNotSafe) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const auto& heights : this->shapes)
    for (const Index b : {2, 4})
      for (const int kind : {0, 1, 2, 3, 4}) {
        Index m = 0;
        for (Index h : heights) m += h;
        SCOPED_TRACE(::testing::Message() << m << " x " << b << " kind " << kind);
        Matrix<T> panel(m, b);
        if (kind == 1) {  // rank one
          panel = multiply(random_matrix<T>(m, 1, 1), random_matrix<T>(1, b, 2));
        } else if (kind == 2) {  // condition number 1 / eps: the columns agree but for the last digits
          const auto column = random_matrix<T>(m, 1, 3);
          const auto noise = random_matrix<T>(m, b, 4);
          for (Index j = 0; j < b; ++j)
            for (Index i = 0; i < m; ++i) panel(i, j) = column(i, 0) + noise(i, j) * R(4) * precision<T>;
        } else if (kind == 3) {  // one zero column
          panel = random_matrix<T>(m, b, 5);
          for (Index i = 0; i < m; ++i) panel(i, b - 1) = T(0);
        } else if (kind == 4) {  // too small for a Gram matrix
          panel = random_matrix<T>(m, b, 6);
          for (Index j = 0; j < b; ++j)
            for (Index i = 0; i < m; ++i) panel(i, j) *= std::numeric_limits<R>::min() * R(64);
        }
        const auto factored = this->factor(heights, panel, 0, 0);
        EXPECT_TRUE(factored.fallback);
        this->check(factored, panel, kind == 4 ? double(std::numeric_limits<R>::min()) * 64 : 1);
      }
}

TYPED_TEST(PanelQrCodelets, AnyConditionIsFactored) {
  using T = TypeParam;
  using R = RealOf<T>;
  // Columns graded from 1 to 10^-d, and nearly dependent ones: whichever way is taken, Q is orthogonal.
  for (int digits = 0; digits <= 18; digits += 2) {
    const Index m = 21, b = 4;
    for (const bool graded : {true, false}) {
      SCOPED_TRACE(::testing::Message() << digits << " digits, graded " << graded);
      auto panel = random_matrix<T>(m, b, 8);
      const R small = std::pow(R(10), R(-digits));
      for (Index j = 1; j < b; ++j)
        for (Index i = 0; i < m; ++i)
          panel(i, j) =
              graded ? panel(i, j) * std::pow(small, R(j) / R(b - 1)) : panel(i, 0) + panel(i, j) * small;
      this->check(this->factor({8, 8, 5}, panel, 0, 0), panel, 4);
    }
  }
}

TYPED_TEST(PanelQrCodelets, PanelInOneTileOfAnyHeight) {
  using T = TypeParam;
  for (const Index m : {1, 2, 3, 4, 5, 8})
    for (const bool zero : {false, true}) {
      SCOPED_TRACE(::testing::Message() << m << " rows, zero " << zero);
      const Index b = 4;
      const auto panel = zero ? Matrix<T>(m, b) : random_matrix<T>(m, b, 9);
      const auto factored = this->factor({m + 3}, panel, 3, 4);
      // Reflectors beyond the number of rows are zero.
      auto head = factored;
      const Index k = std::min(m, b);
      for (Index j = k; j < b; ++j)
        for (Index i = 0; i < m; ++i) EXPECT_EQ(factored.v(i, j), T(0));
      const auto h = multiply(Op::none, factored.w, Op::adjoint, factored.v, T(-1), T(1), identity<T>(m));
      const double tolerance = 20 * double(m + b) * precision<T>;
      EXPECT_LE(difference(multiply(Op::adjoint, h, Op::none, h), identity<T>(m)), tolerance);
      Matrix<T> r(m, b);
      r.set_block(0, 0, factored.band.block(0, 0, k, b));
      EXPECT_LE(difference(multiply(h, r), panel), tolerance);
    }
}

}  // namespace
}  // namespace tessera::test
