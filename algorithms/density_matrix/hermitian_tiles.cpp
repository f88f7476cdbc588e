// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/algorithms/density_matrix/hermitian_tiles.hpp>
#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/copy.hpp>

namespace tessera::detail {

namespace {

/// Tile (i, j) of a Hermitian matrix of which the lower ones are stored.
struct TileOf {
  const Data& data;
  Op op;
};
template <class T>
TileOf tile_of(const TiledMatrix<T>& a, Index i, Index j) {
  return i >= j ? TileOf{a.tile(i, j), Op::none} : TileOf{a.tile(j, i), Op::adjoint};
}

/// C(i, j) := [C(i, j)] + alpha op(A) op(B), whole tiles.
template <class T>
void insert_product(Sequence& sequence, T alpha, const TileOf& a, const TileOf& b, const Destination& c,
                    Index m, Index n, Index k) {
  const auto part = [](Op op, Index rows, Index cols) {
    return op == Op::none ? TilePart(0, 0, rows, cols) : TilePart(0, 0, cols, rows);
  };
  sequence.insert(Gemm<T>{.a = a.data,
                          .b = b.data,
                          .c = c,
                          .op_a = a.op,
                          .op_b = b.op,
                          .alpha = alpha,
                          .part_a = part(a.op, m, k),
                          .part_b = part(b.op, k, n),
                          .part_c = {0, 0, m, n}});
}

}  // namespace

template <class T>
Index tile_for_products(const Runtime& runtime, Index n) {
  if (runtime.size() == 1 && runtime.gpus() == 1 && gpu_holds_problem(runtime, n, sizeof(T)))
    return std::max<Index>(n, 1);
  // Two tiles a side for each of a square of workers.
  const auto side = [&](Index workers) {
    const double per_side = std::sqrt(4.0 * static_cast<double>(workers * runtime.size()));
    return ceil_div(n, static_cast<Index>(std::ceil(per_side)));
  };
  if (runtime.gpus() > 0) return std::clamp<Index>(side(runtime.gpus()), 1024, 4096);
  return std::clamp<Index>(ceil_div(side(runtime.common_workers()), 32) * 32, 64, 512);
}

template <class T>
HermitianTiles<T>::HermitianTiles(Runtime& runtime, const TileLayout& layout) : tiles_(runtime, layout) {
  for_each_tile([&](Index i, Index j) {
    sums_.push_back(Data::bytes(runtime, sizeof(HermitianSums), tiles_.owner(i, j)));
  });
  if (!runtime.any_gpus()) return;
  work_of_sums_ = Data::scratch(runtime, sums_work(1));
  if (std::is_same_v<T, float> && tiles_.row_tiles() == 1)
    work_of_square_ = Data::scratch(runtime, split_work(tiles_.rows(), 1));
}

template <class T>
template <class Insert>
void HermitianTiles<T>::for_each_tile(const Insert& insert) const {
  for (Index j = 0; j < tiles_.col_tiles(); ++j)
    for (Index i = j; i < tiles_.row_tiles(); ++i) insert(i, j);
}

template <class T>
template <class S>
void HermitianTiles<T>::assign(Sequence& sequence, double c0, double c2, const TiledMatrix<S>& y) {
  std::size_t k = 0;
  for_each_tile([&](Index i, Index j) {
    sequence.insert(ShiftedCopy<S, T>{.x = tiles_.tile(i, j),
                                      .y = y.tile(i, j),
                                      .sums = sums_[k++],
                                      .work = work_of_sums_.valid() ? &work_of_sums_ : nullptr,
                                      .c0 = c0,
                                      .c2 = c2,
                                      .diagonal = i == j});
  });
}

template <class T>
void HermitianTiles<T>::multiply(Sequence& sequence, const HermitianTiles& a, const HermitianTiles& b) {
  const Index inner = tiles_.row_tiles();
  for_each_tile([&](Index i, Index j) {
    const Data& c = tiles_.tile(i, j);
    for (Index k = 0; k < inner; ++k) {
      const TileOf left = tile_of(a.tiles_, i, k), right = tile_of(b.tiles_, k, j);
      const Destination to = k == 0 ? overwrite(c) : add_to(c);
      if (i == j)
        sequence.insert(HermitianProduct<T>{.a = left.data,
                                            .b = right.data,
                                            .c = to,
                                            .work = work_of_square_.valid() ? &work_of_square_ : nullptr,
                                            .op_a = left.op,
                                            .op_b = right.op,
                                            .n = tiles_.tile_rows(i),
                                            .k = tiles_.tile_rows(k)});
      else
        insert_product<T>(sequence, 1, left, right, to, tiles_.tile_rows(i), tiles_.tile_cols(j),
                          tiles_.tile_rows(k));
    }
  });
  a.tiles_.flush_remote_copies();
  b.tiles_.flush_remote_copies();
}

template <class T>
void HermitianTiles<T>::square(Sequence& sequence, const TiledMatrix<T>& y) {
  for_each_tile([&](Index i, Index j) {
    const Data& c = tiles_.tile(i, j);
    for (Index k = 0; k < y.col_tiles(); ++k) {
      const Destination to = k == 0 ? overwrite(c) : add_to(c);
      if (i == j)
        sequence.insert(HermitianProduct<T>{.a = y.tile(i, k),
                                            .b = y.tile(i, k),
                                            .c = to,
                                            .op_b = Op::adjoint,
                                            .n = tiles_.tile_rows(i),
                                            .k = y.tile_cols(k)});
      else
        insert_product<T>(sequence, 1, {y.tile(i, k), Op::none}, {y.tile(j, k), Op::adjoint}, to,
                          tiles_.tile_rows(i), tiles_.tile_cols(j), y.tile_cols(k));
    }
  });
  y.flush_remote_copies();
}

template <class T>
void HermitianTiles<T>::combine(Sequence& sequence, double c0, double c1, double c2,
                                const HermitianTiles& y) {
  std::size_t k = 0;
  for_each_tile([&](Index i, Index j) {
    sequence.insert(PolynomialStep<T>{.x = tiles_.tile(i, j),
                                      .y = y.tiles_.tile(i, j),
                                      .sums = sums_[k++],
                                      .work = work_of_sums_.valid() ? &work_of_sums_ : nullptr,
                                      .c0 = c0,
                                      .c1 = c1,
                                      .c2 = c2,
                                      .diagonal = i == j});
  });
}

template <class T>
HermitianSums HermitianTiles<T>::sums() const {
  double all[3] = {};
  for (const Data& one : sums_) {
    if (!one.local()) continue;
    const HostAccess access(one, HostAccess::Mode::read);
    const HermitianSums& of_tile = access.array<HermitianSums>().front();
    all[0] += of_tile.trace;
    all[1] += of_tile.square;
    all[2] += of_tile.dot;
  }
  tiles_.tile(0, 0).runtime()->all_reduce_sum(all, 3);
  return {all[0], all[1], all[2]};
}

template <class T>
TiledMatrix<T> HermitianTiles<T>::taken_in_full(Sequence& sequence) {
  if (tiles_.row_tiles() == 1) return std::move(tiles_);
  TileLayout layout = tiles_.layout();
  layout.uplo = Uplo::general;
  TiledMatrix<T> full(sequence.runtime(), layout);
  const Data one = Data::bytes(sequence.runtime(), sizeof(RealOf<T>), Data::every_rank);
  {
    const HostAccess access(one, HostAccess::Mode::write);
    access.array<RealOf<T>>().front() = 1;
  }
  for (Index j = 0; j < full.col_tiles(); ++j)
    for (Index i = 0; i < full.row_tiles(); ++i) {
      const TileOf from = tile_of(tiles_, i, j);
      const Index m = full.tile_rows(i), n = full.tile_cols(j);
      sequence.insert(CopyTile<T>{.source = from.data,
                                  .scale = one,
                                  .destination = overwrite(full.tile(i, j)),
                                  .from = from.op == Op::none ? TilePart(0, 0, m, n) : TilePart(0, 0, n, m),
                                  .to = {0, 0, m, n},
                                  .op = from.op,
                                  .row0 = i * layout.tile_rows,
                                  .col0 = j * layout.tile_cols});
    }
  tiles_.flush_remote_copies();
  return full;
}

template <class T>
void substitute_adjoint(Sequence& sequence, const TiledMatrix<T>& l, const TiledMatrix<T>& y) {
  const Index nt = y.row_tiles();
  // Back substitution in each column of tiles.
  for (Index j = 0; j < nt; ++j)
    for (Index i = nt - 1; i >= 0; --i) {
      for (Index k = i + 1; k < nt; ++k)
        insert_product<T>(sequence, -1, {l.tile(k, i), Op::adjoint}, {y.tile(k, j), Op::none},
                          add_to(y.tile(i, j)), y.tile_rows(i), y.tile_cols(j), y.tile_rows(k));
      sequence.insert(Trsm<T>{
          .l = l.tile(i, i), .b = y.tile(i, j), .op = Op::adjoint, .m = y.tile_rows(i), .n = y.tile_cols(j)});
    }
  l.flush_remote_copies();
  y.flush_remote_copies();
}

#define TESSERA_INSTANTIATE(T)                                \
  template Index tile_for_products<T>(const Runtime&, Index); \
  template class HermitianTiles<T>;                           \
  template void substitute_adjoint<T>(Sequence&, const TiledMatrix<T>&, const TiledMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#define TESSERA_INSTANTIATE_ASSIGN(S, T) \
  template void HermitianTiles<T>::assign<S>(Sequence&, double, double, const TiledMatrix<S>&);
TESSERA_FOR_HERMITIAN_COPIES(TESSERA_INSTANTIATE_ASSIGN)

}  // namespace tessera::detail
