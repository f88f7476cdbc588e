// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/codelets/one_stage/panel_tasks.hpp>

/// A Hermitian matrix in the layout of the one-stage tridiagonalization, built with plain loops.
namespace tessera::test {
using namespace detail;

template <class T>
struct WorkProblem {
  WorkLayout layout;
  WorkTiles tiles;
  Matrix<T> a;

  WorkProblem(Index n, Index tile, Index wanted, Index groups, std::uint64_t seed)
      : layout(n, tile, wanted), tiles(layout, ProcessGrid{}, 1, groups), a(random_hermitian<T>(n, seed)) {}

  Index rows() const { return layout.rows(); }
  Index padded_order() const { return rows() * layout.w; }
  RowChunks chunks(Index first, Index count) const {
    return {std::int32_t(first), std::int32_t(rows()), std::int32_t(layout.w), std::int32_t(count)};
  }
  bool owns(Index group, Index i, Index j) const {
    for (const auto& tile : tiles.group(group))
      if (tile.i == i && tile.j == j) return true;
    return false;
  }

  /// Rows from the start of work row `first` on, with zeros in the padding.
  Matrix<T> spread(const Matrix<T>& x, Index first = 0) const {
    Matrix<T> padded((rows() - first) * layout.w, x.cols());
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j)
        padded(layout.padded(layout.start(first) + i) - first * layout.w, j) = x(i, j);
    return padded;
  }
  Matrix<T> compress(const Matrix<T>& padded, Index first = 0) const {
    Matrix<T> x(layout.n - layout.start(first), padded.cols());
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j)
        x(i, j) = padded(layout.padded(layout.start(first) + i) - first * layout.w, j);
    return x;
  }
  /// Rows of chunk c of a padded matrix that begins with the first chunk.
  static Matrix<T> chunk(const RowChunks& chunks, Index c, const Matrix<T>& padded) {
    return padded.block(chunks.padded_begin(c) - chunks.padded_begin(0), 0, chunks.rows(c), padded.cols());
  }

  /// A group's tiles: the lower triangle and half of the diagonal.
  Matrix<T> group(Index g, const Matrix<T>& whole) const {
    const auto& list = tiles.group(g);
    Matrix<T> result(layout.w, layout.w * static_cast<Index>(list.size()));
    for (std::size_t slot = 0; slot < list.size(); ++slot) {
      const auto [i, j] = list[slot];
      for (Index c = 0; c < layout.count(j); ++c)
        for (Index r = i == j ? c : 0; r < layout.count(i); ++r) {
          const T x = whole(layout.start(i) + r, layout.start(j) + c);
          result(r, static_cast<Index>(slot) * layout.w + c) = i == j && r == c ? x / RealOf<T>(2) : x;
        }
    }
    return result;
  }
  /// The same with NaN in the tiles left of work column `first`.
  Matrix<T> trailing_group(Index g, Index first) const {
    Matrix<T> result = group(g, a);
    for (Index c = 0; c < tiles.first_slot(g, first) * layout.w; ++c)
      for (Index r = 0; r < layout.w; ++r) result(r, c) = not_a_number<T>();
    return result;
  }
};

/// (I - tau_0 v_0 v_0^H) (I - tau_1 v_1 v_1^H) ..., one factor after the other.
template <class T>
Matrix<T> product_of_reflectors(const Matrix<T>& v, const T* tau) {
  auto q = identity<T>(v.rows());
  for (Index j = 0; j < v.cols(); ++j) {
    const auto column = v.block(0, j, v.rows(), 1);
    q = multiply(Op::none, multiply(q, column), Op::adjoint, column, -tau[j], T(1), q);
  }
  return q;
}

}  // namespace tessera::test
