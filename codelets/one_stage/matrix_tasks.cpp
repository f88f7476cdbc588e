// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/one_stage/matrix_tasks.hpp>

namespace tessera::detail {

namespace {

constexpr Index hetrd_block = 32;

/// Converts a diagonal tile to "strict lower triangle and half the diagonal" (factor 1/2), or back (factor
/// 2).
template <class T>
void scale_diagonal(Index w, T* a, RealOf<T> factor) noexcept {
  for (Index l = 0; l < w; ++l) a[l + l * w] = real_part(a[l + l * w]) * factor;
}

}  // namespace

template <class T>
void run(const HostContext&, const TridiagonalizePack<T>& task) {
  const auto tile = *task.tile;
  T* const group = task.group.view().data;
  const WorkTiles& tiles = *task.tiles;
  const WorkLayout& layout = tiles.layout();
  const Index number = task.group_number, w = layout.w, i0 = task.i * layout.pieces,
              j0 = task.j * layout.pieces;
  const auto& list = tiles.group(number);
  for (Index slot = tiles.first_slot(number, j0), end = tiles.first_slot(number, j0 + layout.pieces);
       slot < end; ++slot) {
    const auto [i, j] = list[static_cast<std::size_t>(slot)];
    if (i < i0 || i >= i0 + layout.pieces) continue;
    const auto source =
        tile.block((i - i0) * layout.step, (j - j0) * layout.step, layout.count(i), layout.count(j));
    T* const target = group + slot * w * w;
    std::fill_n(target, w * w, T(0));
    for (Index c = 0; c < source.cols; ++c) {
      const Index first = i == j ? c : 0;
      std::copy(&source(0, c) + first, &source(0, c) + source.rows, target + c * w + first);
    }
    if (i == j) scale_diagonal(w, target, RealOf<T>(0.5));
  }
}

template <class T>
void run(const HostContext&, const TridiagonalizeExtract<T>& task) {
  const T* const group = task.group.view().data;
  const auto columns = *task.columns;
  const WorkTiles& tiles = *task.tiles;
  const Index number = task.group_number, column = task.column, count = task.count;
  const Index w = tiles.layout().w, first = column / w, last = (column + count - 1) / w;
  blas::set_zero(columns.block(0, 0, columns.rows, count));
  for (Index slot = tiles.first_slot(number, first), end = tiles.first_slot(number, last + 1); slot < end;
       ++slot) {
    const auto [i, j] = tiles.group(number)[static_cast<std::size_t>(slot)];
    const Index begin = std::max(column, j * w), stop = std::min(column + count, (j + 1) * w);
    for (Index q = begin; q < stop; ++q) {
      T* const target = &columns((i - first) * w, q - column);
      std::copy_n(group + slot * w * w + (q - j * w) * w, w, target);
      if (i == j) target[q - j * w] *= T(2);
    }
  }
}

template <class T>
void run(const HostContext& on, const TridiagonalizeUpdate<T>& task) {
  const RowChunks& chunks = task.chunks;
  T* const group = task.group.view().data;
  const Index w = chunks.w, k = task.k;
  const auto rows_of = [&](Index i) {
    const Index c = chunks.chunk_of(i);
    return task.v[static_cast<int>(c)].block(i * w - chunks.padded_begin(c), 0, w, 3 * k);
  };
  const auto& list = task.tiles->group(task.group_number);
  for (Index slot = task.tiles->first_slot(task.group_number, task.first_column);
       slot < static_cast<Index>(list.size()); ++slot) {
    const auto [i, j] = list[static_cast<std::size_t>(slot)];
    const auto v_i = rows_of(i), v_j = rows_of(j);
    const MatrixView<T> tile{group + slot * w * w, w, w, w};
    if (i != j) {
      la::gemm(on, Op::none, Op::adjoint, -1, v_i.block(0, 0, w, 2 * k), v_j.block(0, k, w, 2 * k), 1, tile);
      continue;
    }
    scale_diagonal(w, tile.data, RealOf<T>(2));
    la::her2k(on, Uplo::lower, Op::none, -1, v_i.block(0, 0, w, k), v_i.block(0, k, w, k), 1, tile);
    scale_diagonal(w, tile.data, RealOf<T>(0.5));
  }
}

template <class T>
void run(const HostContext& on, const TridiagonalizeStore<T>& task) {
  const auto v = *task.v;
  const auto piece = *task.piece;
  const WorkLayout& layout = task.layout;
  const Index first = task.chunks.begin(task.chunk), end = task.chunks.begin(task.chunk + 1),
              start = layout.start(first);
  for (Index r = first; r < end; ++r)
    la::copy(on, v.block((r - first) * layout.w, 0, layout.count(r), task.k),
             piece.block(layout.start(r) - start, task.at, layout.count(r), task.k));
}

namespace {

/// m x m, without the padding.
template <class T>
void assemble_square(const ReadAll<Matrix<T>>& squares, const WorkLayout& layout, Index first, Index m,
                     T* square) noexcept {
  std::fill_n(square, m * m, T(0));
  const Index base = layout.start(first), rows = layout.rows();
  for (int g = 0; g < squares.size(); ++g) {
    const auto part = squares[g];
    for (Index s = first; s < rows; ++s)
      for (Index c = 0; c < layout.count(s); ++c)
        for (Index r = s; r < rows; ++r)
          blas::axpy(layout.count(r), T(1), &part((r - first) * layout.w, (s - first) * layout.w + c), 1,
                     square + layout.start(r) - base + (layout.start(s) - base + c) * m, 1);
  }
}

}  // namespace

template <class T>
void run(const HostContext&, const TridiagonalizeRest<T>& task) {
  const Index m = task.layout.n - task.layout.start(task.first);
  const ScalarPiece<T> scalars(task.scalars.view().data(), m);
  T* const square = task.workspace.view().data();
  T* const work = square + m * m;
  assemble_square(task.squares, task.layout, task.first, m, square);
  // LAPACK fills only m - 1 elements of e and tau.
  scalars.e[m - 1] = 0;
  scalars.tau[m - 1] = T(0);
  blas::hetrd(Uplo::lower, m, square, m, scalars.d, scalars.e, scalars.tau, work, hetrd_block * m);
  if (!task.v) return;
  const auto v = *task.v;
  for (Index j = 0; j < m - 1; ++j) {
    std::fill_n(&v(0, j), j + 1, T(0));
    v(j + 1, j) = T(1);
    std::copy(square + j + 2 + j * m, square + m + j * m, &v(0, j) + j + 2);
  }
}

template <class T>
std::size_t rest_workspace_bytes(Index m) {
  return sizeof(T) * static_cast<std::size_t>(m * (m + hetrd_block));
}

template <class T>
void run(const HostContext&, const TridiagonalizePlace<T>& task) {
  const ScalarPiece<T> scalars(const_cast<char*>(task.scalars.view().data()), task.count);
  std::copy_n(scalars.d, task.count, task.d.view().data() + task.at);
  std::copy_n(scalars.e, task.elements, task.e.view().data() + task.at);
}

template <class T>
void run(const HostContext& on, const TridiagonalizeFactor<T>& task) {
  const auto t = *task.t;
  const Index k = task.k;
  for (int piece = 0; piece < task.v.size(); ++piece) {
    const auto v = task.v[piece];
    la::herk(on, Uplo::upper, Op::adjoint, 1, v.block(0, 0, v.rows, k), piece == 0 ? 0 : 1,
             t.block(0, 0, k, k));
  }
  // T takes the place of V^H V column by column: T(:, j) = -tau_j T (V^H V)(:, j) above the diagonal.
  Index j = 0;
  for (int panel = 0; panel < task.scalars.size(); ++panel) {
    const auto memory = task.scalars[panel];
    const Index width = static_cast<Index>(memory.size() / ScalarPiece<T>::bytes(1));
    const ScalarPiece<T> scalars(const_cast<char*>(memory.data()), width);
    for (Index l = 0; l < width && j < k; ++l, ++j) {
      const T tau = scalars.tau[l];
      la::trmm(on, Side::left, Uplo::upper, Op::none, Diag::non_unit, -tau, t, t.block(0, j, j, 1));
      t(j, j) = tau;
    }
  }
  blas::zero_below_diagonal(t.block(0, 0, k, k));
}

#define TESSERA_DEFINE(T)                       \
  TESSERA_DEFINE_TASK(TridiagonalizePack<T>)    \
  TESSERA_DEFINE_TASK(TridiagonalizeExtract<T>) \
  TESSERA_DEFINE_TASK(TridiagonalizeUpdate<T>)  \
  TESSERA_DEFINE_TASK(TridiagonalizeStore<T>)   \
  TESSERA_DEFINE_TASK(TridiagonalizeRest<T>)    \
  TESSERA_DEFINE_TASK(TridiagonalizePlace<T>)   \
  TESSERA_DEFINE_TASK(TridiagonalizeFactor<T>)  \
  template std::size_t rest_workspace_bytes<T>(Index);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
