// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/reading.hpp>
#include <tessera/codelets/tile_part.hpp>
#include <tessera/codelets/tridiagonalize/matrix_tasks.hpp>

namespace tessera {
namespace {

constexpr Index hetrd_block = 32;

struct GroupArguments {
  const WorkTiles* tiles;
  Index group, i, j;
};

/// One diagonal tile between "strict lower triangle and half the diagonal" (factor 1/2) and the plain one
/// (factor 2).
template <class T>
void scale_diagonal(Index w, T* a, RealOf<T> factor) noexcept {
  for (Index l = 0; l < w; ++l) a[l + l * w] = real_part(a[l + l * w]) * factor;
}

template <class T>
void pack_tile_task(const TaskContext&, TaskBuffers buffers, const GroupArguments& a) {
  const auto tile = buffers.matrix<const T>(0);
  T* const group = buffers.matrix<T>(1).data;
  const WorkLayout& layout = a.tiles->layout();
  const Index w = layout.w, i0 = a.i * layout.pieces, j0 = a.j * layout.pieces;
  const auto& list = a.tiles->group(a.group);
  for (Index slot = a.tiles->first_slot(a.group, j0), end = a.tiles->first_slot(a.group, j0 + layout.pieces);
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
Codelet pack_tile_codelet = make_codelet<GroupArguments, pack_tile_task<T>>("tridiagonalize_pack",
                                                                            type_letter<T>);

struct ExtractArguments {
  const WorkTiles* tiles;
  Index group, column, count;
};
template <class T>
void extract_columns_task(const TaskContext&, TaskBuffers buffers, const ExtractArguments& a) {
  const T* const group = buffers.matrix<const T>(0).data;
  const auto columns = buffers.matrix<T>(1);
  const Index w = a.tiles->layout().w, first = a.column / w, last = (a.column + a.count - 1) / w;
  for (Index c = 0; c < a.count; ++c) std::fill_n(&columns(0, c), columns.rows, T(0));
  for (Index slot = a.tiles->first_slot(a.group, first), end = a.tiles->first_slot(a.group, last + 1);
       slot < end; ++slot) {
    const auto [i, j] = a.tiles->group(a.group)[static_cast<std::size_t>(slot)];
    const Index begin = std::max(a.column, j * w), stop = std::min(a.column + a.count, (j + 1) * w);
    for (Index q = begin; q < stop; ++q) {
      T* const target = &columns((i - first) * w, q - a.column);
      std::copy_n(group + slot * w * w + (q - j * w) * w, w, target);
      if (i == j) target[q - j * w] *= T(2);
    }
  }
}
template <class T>
Codelet extract_columns_codelet =
    make_codelet<ExtractArguments, extract_columns_task<T>>("tridiagonalize_extract", type_letter<T>);

struct UpdateArguments {
  const WorkTiles* tiles;
  RowChunks chunks;
  Index group, k, first_column;
  std::uint32_t footprint() const noexcept { return footprint_of(k, (chunks.end - first_column)); }
};
template <class T>
void rank_update_task(const TaskContext&, TaskBuffers buffers, const UpdateArguments& a) {
  const int chunks = a.chunks.chunks;
  T* const group = buffers.matrix<T>(chunks).data;
  const Index w = a.chunks.w, k = a.k;
  const auto rows_of = [&](Index i) {
    const Index c = a.chunks.chunk_of(i);
    const auto v = buffers.matrix<const T>(static_cast<int>(c));
    return v.block(i * w - a.chunks.padded_begin(c), 0, w, 3 * k);
  };
  const auto& list = a.tiles->group(a.group);
  for (Index slot = a.tiles->first_slot(a.group, a.first_column); slot < static_cast<Index>(list.size());
       ++slot) {
    const auto [i, j] = list[static_cast<std::size_t>(slot)];
    const auto v_i = rows_of(i), v_j = rows_of(j);
    T* const tile = group + slot * w * w;
    if (i != j) {
      blas::gemm(Op::none, Op::adjoint, w, w, 2 * k, T(-1), v_i.data, v_i.ld, &v_j(0, k), v_j.ld, T(1), tile,
                 w);
      continue;
    }
    scale_diagonal(w, tile, RealOf<T>(2));
    blas::her2k(Uplo::lower, Op::none, w, k, T(-1), v_i.data, v_i.ld, &v_i(0, k), v_i.ld, RealOf<T>(1), tile,
                w);
    scale_diagonal(w, tile, RealOf<T>(0.5));
  }
}
template <class T>
Codelet rank_update_codelet = make_codelet<UpdateArguments, rank_update_task<T>>("tridiagonalize_update",
                                                                                 type_letter<T>);

struct StoreArguments {
  WorkLayout layout;
  RowChunks chunks;
  Index chunk, k, at;
};
template <class T>
void store_reflectors_task(const TaskContext&, TaskBuffers buffers, const StoreArguments& a) {
  const auto v = buffers.matrix<const T>(0);
  const auto piece = buffers.matrix<T>(1);
  const Index first = a.chunks.begin(a.chunk), end = a.chunks.begin(a.chunk + 1),
              start = a.layout.start(first);
  for (Index r = first; r < end; ++r)
    blas::lacpy(Uplo::general, a.layout.count(r), a.k, &v((r - first) * a.layout.w, 0), v.ld,
                &piece(a.layout.start(r) - start, a.at), piece.ld);
}
template <class T>
Codelet store_reflectors_codelet =
    make_codelet<StoreArguments, store_reflectors_task<T>>("tridiagonalize_store", type_letter<T>);

struct RestArguments {
  WorkLayout layout;
  Index first;
  bool keep;
};

/// m x m, without the padding.
template <class T>
void assemble_square(TaskBuffers buffers, int first_buffer, const WorkLayout& layout, Index first, Index m,
                     T* square) noexcept {
  std::fill_n(square, m * m, T(0));
  const Index base = layout.start(first), rows = layout.rows();
  for (int g = first_buffer; g < buffers.count(); ++g) {
    const auto part = buffers.matrix<const T>(g);
    for (Index s = first; s < rows; ++s)
      for (Index c = 0; c < layout.count(s); ++c)
        for (Index r = s; r < rows; ++r)
          blas::axpy(layout.count(r), T(1), &part((r - first) * layout.w, (s - first) * layout.w + c), 1,
                     square + layout.start(r) - base + (layout.start(s) - base + c) * m, 1);
  }
}

template <class T>
void tridiagonalize_rest_task(const TaskContext&, TaskBuffers buffers, const RestArguments& a) {
  const Index m = a.layout.n - a.layout.start(a.first);
  const ScalarPiece<T> scalars(buffers.array<char>(0).data(), m);
  const int workspace = a.keep && m > 1 ? 2 : 1;
  T* const square = buffers.array<T>(workspace).data();
  T* const work = square + m * m;
  assemble_square(buffers, workspace + 1, a.layout, a.first, m, square);
  // LAPACK fills only m - 1 elements of e and tau.
  scalars.e[m - 1] = 0;
  scalars.tau[m - 1] = T(0);
  blas::hetrd(Uplo::lower, m, square, m, scalars.d, scalars.e, scalars.tau, work, hetrd_block * m);
  if (workspace == 1) return;
  const auto v = buffers.matrix<T>(1);
  for (Index j = 0; j < m - 1; ++j) {
    std::fill_n(&v(0, j), j + 1, T(0));
    v(j + 1, j) = T(1);
    std::copy(square + j + 2 + j * m, square + m + j * m, &v(0, j) + j + 2);
  }
}
template <class T>
Codelet tridiagonalize_rest_codelet =
    make_codelet<RestArguments, tridiagonalize_rest_task<T>>("tridiagonalize_rest", type_letter<T>);

struct PlaceArguments {
  Index at, count, elements;
};
template <class T>
void place_scalars_task(const TaskContext&, TaskBuffers buffers, const PlaceArguments& a) {
  const ScalarPiece<T> scalars(const_cast<char*>(buffers.array<const char>(0).data()), a.count);
  std::copy_n(scalars.d, a.count, buffers.array<RealOf<T>>(1).data() + a.at);
  std::copy_n(scalars.e, a.elements, buffers.array<RealOf<T>>(2).data() + a.at);
}
template <class T>
Codelet place_scalars_codelet = make_codelet<PlaceArguments, place_scalars_task<T>>("tridiagonalize_place",
                                                                                    type_letter<T>);

struct FactorArguments {
  std::int32_t pieces, panels;
  Index k;
};
template <class T>
void reflector_factor_task(const TaskContext&, TaskBuffers buffers, const FactorArguments& a) {
  const auto t = buffers.matrix<T>(buffers.count() - 1);
  for (int piece = 0; piece < a.pieces; ++piece) {
    const auto v = buffers.matrix<const T>(piece);
    blas::herk(Uplo::upper, Op::adjoint, a.k, v.rows, 1, v.data, v.ld, piece == 0 ? 0 : 1, t.data, t.ld);
  }
  // T takes the place of V^H V column by column: T(:, j) = -tau_j T (V^H V)(:, j) above the diagonal.
  Index j = 0;
  for (int panel = 0; panel < a.panels; ++panel) {
    const auto memory = buffers.array<const char>(a.pieces + panel);
    const Index width = static_cast<Index>(memory.size() / ScalarPiece<T>::bytes(1));
    const ScalarPiece<T> scalars(const_cast<char*>(memory.data()), width);
    for (Index l = 0; l < width && j < a.k; ++l, ++j) {
      const T tau = scalars.tau[l];
      blas::trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, j, 1, -tau, t.data, t.ld, &t(0, j), t.ld);
      t(j, j) = tau;
    }
  }
  if (a.k > 1) blas::laset(Uplo::lower, a.k - 1, a.k - 1, T(0), T(0), &t(1, 0), t.ld);
}
template <class T>
Codelet reflector_factor_codelet =
    make_codelet<FactorArguments, reflector_factor_task<T>>("tridiagonalize_factor", type_letter<T>);

}  // namespace

template <class T>
void insert_pack_tile(Sequence& sequence, int priority, const WorkTiles& tiles, Index group_number, Index i,
                      Index j, const Data& tile, const Data& group, bool fresh) {
  sequence.insert(pack_tile_codelet<T>, GroupArguments{&tiles, group_number, i, j}, {.priority = priority},
                  {read(tile), fresh ? write(group) : read_write(group)});
}

template <class T>
void insert_extract_columns(Sequence& sequence, int priority, const WorkTiles& tiles, Index group_number,
                            Index column, Index count, const Data& group, const Data& columns) {
  sequence.insert(extract_columns_codelet<T>, ExtractArguments{&tiles, group_number, column, count},
                  {.priority = priority}, {read(group), write(columns)});
}

template <class T>
void insert_rank_update(Sequence& sequence, int priority, const WorkTiles& tiles, Index group_number,
                        const RowChunks& chunks, Index k, Index first_column, std::span<const Data> v,
                        const Data& group) {
  auto accesses = reading(v);
  accesses.push_back(read_write(group));
  const Index w = tiles.layout().w;
  const double count = double(static_cast<Index>(tiles.group(group_number).size()) -
                              tiles.first_slot(group_number, first_column));
  sequence.insert(rank_update_codelet<T>, UpdateArguments{&tiles, chunks, group_number, k, first_column},
                  {.priority = priority, .flops = 4.0 * count * double(w) * w * k * flop_factor<T>},
                  std::span<const Access>(accesses));
}

template <class T>
void insert_store_reflectors(Sequence& sequence, int priority, const WorkLayout& layout,
                             const RowChunks& chunks, Index chunk, Index k, Index at, const Data& v,
                             const Data& piece) {
  sequence.insert(store_reflectors_codelet<T>, StoreArguments{layout, chunks, chunk, k, at},
                  {.priority = priority}, {read(v), at == 0 ? write(piece) : read_write(piece)});
}

template <class T>
void insert_tridiagonalize_rest(Sequence& sequence, int priority, const WorkLayout& layout, Index first,
                                std::span<const Data* const> squares, const Data& scalars, const Data* v,
                                const Data& workspace) {
  std::vector<Access> accesses{write(scalars)};
  if (v) accesses.push_back(write(*v));
  accesses.push_back(scratch(workspace));
  for (const Data* square : squares) accesses.push_back(read(*square));
  const double m = double(layout.n - layout.start(first));
  sequence.insert(tridiagonalize_rest_codelet<T>, RestArguments{layout, first, v != nullptr},
                  {.priority = priority, .flops = 4.0 / 3.0 * m * m * m * flop_factor<T>},
                  std::span<const Access>(accesses));
}

template <class T>
std::size_t rest_workspace_bytes(Index m) {
  return sizeof(T) * static_cast<std::size_t>(m * (m + hetrd_block));
}

template <class T>
void insert_place_scalars(Sequence& sequence, int priority, int rank, Index at, Index count, Index elements,
                          const Data& scalars, const Data& d, const Data& e) {
  sequence.insert(place_scalars_codelet<T>, PlaceArguments{at, count, elements},
                  {.priority = priority, .execute_on = rank},
                  {read(scalars), at == 0 ? write(d) : read_write(d), at == 0 ? write(e) : read_write(e)});
}

template <class T>
void insert_reflector_factor(Sequence& sequence, int priority, std::span<const Data> v,
                             std::span<const Data* const> scalars, Index rows, Index k, const Data& t) {
  auto accesses = reading(v);
  for (const Data* panel : scalars) accesses.push_back(read(*panel));
  accesses.push_back(write(t));
  const FactorArguments arguments{static_cast<std::int32_t>(v.size()),
                                  static_cast<std::int32_t>(scalars.size()), k};
  const double flops = (double(rows) * k * k + double(k) * k * k / 3) * flop_factor<T>;
  sequence.insert(reflector_factor_codelet<T>, arguments, {.priority = priority, .flops = flops},
                  std::span<const Access>(accesses));
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template void insert_pack_tile<T>(Sequence&, int, const WorkTiles&, Index, Index, Index, const Data&,     \
                                    const Data&, bool);                                                     \
  template void insert_extract_columns<T>(Sequence&, int, const WorkTiles&, Index, Index, Index,            \
                                          const Data&, const Data&);                                        \
  template void insert_rank_update<T>(Sequence&, int, const WorkTiles&, Index, const RowChunks&, Index,     \
                                      Index, std::span<const Data>, const Data&);                           \
  template void insert_store_reflectors<T>(Sequence&, int, const WorkLayout&, const RowChunks&, Index,      \
                                           Index, Index, const Data&, const Data&);                         \
  template void insert_tridiagonalize_rest<T>(Sequence&, int, const WorkLayout&, Index,                     \
                                              std::span<const Data* const>, const Data&, const Data*,       \
                                              const Data&);                                                 \
  template std::size_t rest_workspace_bytes<T>(Index);                                                      \
  template void insert_place_scalars<T>(Sequence&, int, int, Index, Index, Index, const Data&, const Data&, \
                                        const Data&);                                                       \
  template void insert_reflector_factor<T>(Sequence&, int, std::span<const Data>,                           \
                                           std::span<const Data* const>, Index, Index, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
