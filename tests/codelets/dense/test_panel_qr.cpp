// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>

namespace tessera::test {
using namespace detail;
namespace {

using kernels::PanelFactor;

/// Result of a panel factorization: V above W, T, S R, and whether the fallback was used.
template <class T>
struct FactoredPanel {
  Matrix<T> v, w, t, band;
  bool fallback;
};

template <class T>
class PanelQrCodelets : public RuntimeTest<T> {
 public:
  static constexpr Index kb = 8;

  /// Factors a panel whose tile rows have the given heights, as reduce_to_band does. The panel
  /// begins at row `skip` of the first tile and at column 1 of each tile; V is stored in the
  /// columns from `done` on.
  static FactoredPanel<T> factor(const std::vector<Index>& heights, const Matrix<T>& panel, Index skip,
                                 Index done) {
    const Pieces p = upload_pieces(heights, panel, skip, done);
    const bool one = heights.size() == 1;
    Data stack;
    const Status status = RuntimeTest<T>::run([&](Sequence& s) {
      if (one) {
        s.insert(PanelHouseholder<T>{.tile = p.tiles[0],
                                     .vz = p.vz[0],
                                     .factor = p.factor,
                                     .t = p.t,
                                     .workspace = p.workspace,
                                     .panel = p.parts[0],
                                     .v = p.v[0],
                                     .b = p.b});
      } else {
        insert_cholesky_qr(s, p);
        stack = insert_tsqr(s, p);
        s.insert(PanelReconstruct<T>{.vz = p.vz[0], .factor = p.factor, .t = p.t, .v = p.v[0], .b = p.b});
      }
      for (std::size_t i = 0; i < heights.size(); ++i)
        s.insert(PanelVectors<T>{.factor = p.factor,
                                 .t = p.t,
                                 .vz = p.vz[i],
                                 .tile = p.tiles[i],
                                 .w = p.w[i],
                                 .panel = p.parts[i],
                                 .v = p.v[i],
                                 .top = i == 0,
                                 .formed = one});
    });
    EXPECT_TRUE(status.ok());
    return download_factored(p, heights, panel.rows());
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

 private:
  /// A panel in its tiles, the results of the tasks, and the position of the panel in the tiles.
  struct Pieces {
    Index b;
    std::vector<Data> tiles{}, vz{}, grams{}, w{};
    std::vector<TilePart> parts{}, v{};
    Data factor, t, workspace;

    std::vector<const Data*> gram_pieces() const {
      std::vector<const Data*> pieces;
      for (const Data& gram : grams) pieces.push_back(&gram);
      return pieces;
    }
    /// Number of rows of the triangle from tile i.
    Index triangle_rows(std::size_t i) const { return std::min<Index>(b, parts[i].rows); }
  };

  /// Entries of a tile around the panel.
  static Matrix<T> tile_before(std::size_t i, Index rows, Index b) {
    return random_matrix<T>(rows, b + 2, 90 + i);
  }

  static Pieces upload_pieces(const std::vector<Index>& heights, const Matrix<T>& panel, Index skip,
                              Index done) {
    Runtime& runtime = RuntimeTest<T>::runtime();
    const Index b = panel.cols(), count = Index(heights.size()),
                largest = *std::max_element(heights.begin(), heights.end());
    Pieces p{.b = b,
             .factor = Data::bytes(runtime, PanelFactor<T>::bytes(b)),
             .t = Data::matrix(runtime, b, b, sizeof(T)),
             .workspace = Data::scratch(
                 runtime, panel_workspace_bytes<T>(std::max<Index>(largest, (count + 1) * b), b))};
    Index row = 0;
    for (std::size_t i = 0; i < heights.size(); ++i) {
      const Index first = i == 0 ? skip : 0, rows = heights[i] - first;
      auto tile = tile_before(i, heights[i], b);
      tile.set_block(first, 1, panel.block(row, 0, rows, b));
      p.tiles.push_back(upload(runtime, tile));
      p.vz.push_back(Data::matrix(runtime, heights[i], 2 * kb, sizeof(T)));
      p.grams.push_back(Data::matrix(runtime, b, b, sizeof(T)));
      p.w.push_back(Data::matrix(runtime, heights[i], b, sizeof(T)));
      p.parts.emplace_back(first, 1, rows, b);
      p.v.emplace_back(first, done, rows, b);
      row += rows;
    }
    return p;
  }

  static void insert_cholesky_qr(Sequence& s, const Pieces& p) {
    for (std::size_t i = 0; i < p.tiles.size(); ++i)
      s.insert(PanelGram<T>{
          .tile = p.tiles[i], .gram = p.grams[i], .workspace = p.workspace, .panel = p.parts[i]});
    s.insert(PanelCholesky<T>{.grams = p.gram_pieces(), .factor = p.factor, .b = p.b});
    for (std::size_t i = 0; i < p.tiles.size(); ++i)
      s.insert(PanelOrthogonalize<T>{.tile = p.tiles[i],
                                     .factor = p.factor,
                                     .vz = p.vz[i],
                                     .gram = p.grams[i],
                                     .workspace = p.workspace,
                                     .panel = p.parts[i],
                                     .v = p.v[i]});
    s.insert(PanelCheck<T>{.grams = p.gram_pieces(), .factor = p.factor, .b = p.b});
  }

  /// Inserts the fallback. @return the stack of triangles, which must live until the tasks have
  /// ended
  static Data insert_tsqr(Sequence& s, const Pieces& p) {
    Index stack_rows = 0;
    for (std::size_t i = 0; i < p.tiles.size(); ++i) {
      s.insert(TsqrLeaf<T>{.tile = p.tiles[i],
                           .factor = p.factor,
                           .vz = p.vz[i],
                           .triangle = p.grams[i],
                           .workspace = p.workspace,
                           .panel = p.parts[i],
                           .v = p.v[i]});
      stack_rows += p.triangle_rows(i);
    }
    Data stack = Data::matrix(RuntimeTest<T>::runtime(), stack_rows, p.b, sizeof(T));
    s.insert(TsqrCombine<T>{.triangles = p.gram_pieces(),
                            .factor = p.factor,
                            .stack = stack,
                            .workspace = p.workspace,
                            .first_rows = p.triangle_rows(0),
                            .last_rows = p.triangle_rows(p.tiles.size() - 1),
                            .b = p.b});
    Index stack_row = 0;
    for (std::size_t i = 0; i < p.tiles.size(); ++i) {
      s.insert(PanelFinish<T>{.factor = p.factor,
                              .stack = stack,
                              .vz = p.vz[i],
                              .workspace = p.workspace,
                              .v = p.v[i],
                              .stack_row = stack_row});
      stack_row += p.triangle_rows(i);
    }
    return stack;
  }

  /// The result. V must be in the accumulator and in the tile, whose other entries must not change.
  static FactoredPanel<T> download_factored(const Pieces& p, const std::vector<Index>& heights, Index rows) {
    const Index b = p.b;
    FactoredPanel<T> result{Matrix<T>(rows, b), Matrix<T>(rows, b), download<T>(p.t), Matrix<T>(b, b), false};
    Index row = 0;
    for (std::size_t i = 0; i < heights.size(); ++i) {
      const auto in_place = download<T>(p.tiles[i]), accumulator = download<T>(p.vz[i]),
                 whole_w = download<T>(p.w[i]);
      const auto &part = p.parts[i], &v = p.v[i];
      const auto piece = in_place.block(part.row, 1, part.rows, b);
      EXPECT_EQ(difference(accumulator.block(v.row, v.col, part.rows, b), piece), 0);
      auto expected = tile_before(i, heights[i], b);
      expected.set_block(part.row, 1, piece);
      EXPECT_EQ(difference(in_place, expected), 0);
      result.v.set_block(row, 0, piece);
      result.w.set_block(row, 0, whole_w.block(part.row, 0, part.rows, b));
      row += part.rows;
    }
    HostAccess access(p.factor, HostAccess::Mode::read);
    const PanelFactor<T> block(access.array<char>().data(), b);
    for (Index j = 0; j < b; ++j)
      for (Index i = 0; i < b; ++i) result.band(i, j) = block.band()(i, j);
    result.fallback = *block.fallback != 0;
    return result;
  }
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
        // With a dominant top block, Cholesky QR works in single precision.
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
        if (kind == 1) {  // condition number 1 / eps: nearly equal columns
          panel = multiply(random_matrix<T>(m, 1, 1), random_matrix<T>(1, b, 2));
        } else if (kind == 2) {  // condition number 1 / eps: nearly equal columns
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
  // Columns graded from 1 to 10^-d, and nearly dependent ones. With either method Q must be
  // orthogonal.
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
      // Reflectors beyond the number of rows must be zero.
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
