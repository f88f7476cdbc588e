// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <tessera/codelets/reading.hpp>
#include <tessera/codelets/tile_part.hpp>
#include <tessera/codelets/tridiagonal/merge_vectors.hpp>
#include <tessera/codelets/tridiagonal/secular.hpp>
#include <tessera/codelets/tridiagonal/vector_arguments.hpp>
#include <tessera/codelets/tridiagonal/vector_tasks.hpp>

namespace tessera {
namespace {

using namespace vector_codelets;
using tridiagonal::Child;
using tridiagonal::MergeRecord;
using tridiagonal::PanelOutline;

MergeRecord record_of(TaskBuffers buffers, int i, Index m) noexcept {
  // The view only reads here, but the type of its pointers serves the writers too.
  return MergeRecord(const_cast<char*>(buffers.array<const char>(i).data()), m);
}

void outline_task(const TaskContext&, TaskBuffers buffers, const MergeColumns& arguments) {
  const MergeRecord record = record_of(buffers, 0, arguments.m);
  *reinterpret_cast<PanelOutline*>(buffers.array<char>(1).data()) = {
      *record.header, record.roots_of(arguments.begin, arguments.end)};
}
Codelet outline_codelet = make_codelet<MergeColumns, outline_task>("tridiagonal_outline");

template <class R>
void secular_vectors_task(const TaskContext&, TaskBuffers buffers, const MergeColumns& arguments) {
  const MergeRecord record = record_of(buffers, 1, arguments.m);
  const auto s = buffers.matrix<R>(2);
  const auto [first, count] = outline_of(buffers, 0).roots;
  kernels::secular_vectors(record, first, first + count, s.data, s.ld);
}
template <class R>
Codelet secular_vectors_codelet =
    make_codelet<MergeColumns, secular_vectors_task<R>>("tridiagonal_secular_vectors", type_letter<R>);

template <class R>
void pack_rows_task(const TaskContext&, TaskBuffers buffers, const PackArguments& arguments) {
  const MergeRecord record = record_of(buffers, 0, arguments.m);
  const auto packed = buffers.matrix<R>(1);
  std::array<const R*, most_tiles> tiles;
  Index ld = 0;
  for (int i = 2; i < buffers.count(); ++i) {
    const auto tile = buffers.matrix<const R>(i);
    tiles[static_cast<std::size_t>(i - 2)] = tile.data;
    ld = tile.ld;
  }
  kernels::pack_rows(record, arguments.child, arguments.rows, tiles.data(), arguments.tile_columns, ld,
                     packed.data, packed.ld);
}
template <class R>
Codelet pack_rows_codelet = make_codelet<PackArguments, pack_rows_task<R>>("tridiagonal_pack_rows",
                                                                           type_letter<R>);

template <class R>
void update_rows_task(const TaskContext&, TaskBuffers buffers, const MergeColumns& arguments) {
  const MergeRecord record = record_of(buffers, 1, arguments.m);
  const auto packed = buffers.matrix<const R>(2), s = buffers.matrix<const R>(3);
  const auto out = buffers.matrix<R>(4);
  kernels::update_rows(record, arguments.child, arguments.rows, packed.data, packed.ld, arguments.begin,
                       arguments.end, s.data, s.ld, out.data, out.ld);
}
template <class R>
Codelet update_rows_codelet = make_codelet<MergeColumns, update_rows_task<R>>("tridiagonal_update_rows",
                                                                              type_letter<R>);

template <class T>
void fill_slab_task(const TaskContext&, TaskBuffers buffers, const SlabArguments& arguments) {
  const auto slab = buffers.matrix<T>(0);
  const auto [from, to, count] = arguments.columns;
  for (Index row = 0, b = 1; row < slab.rows; row += arguments.block_rows, ++b) {
    const auto tile = buffers.matrix<const RealOf<T>>(static_cast<int>(b));
    for (Index c = 0; c < count; ++c)
      std::copy_n(tile.data + (from + c) * tile.ld, tile.rows, slab.data + row + (to + c) * slab.ld);
  }
}
template <class T>
Codelet fill_slab_codelet = make_codelet<SlabArguments, fill_slab_task<T>>("tridiagonal_fill_slab",
                                                                           type_letter<T>);

}  // namespace

void insert_panel_outline(Sequence& sequence, int priority, Index m, Index begin, Index end,
                          const Data& record, const Data& outline) {
  sequence.insert(outline_codelet, MergeColumns{m, begin, end, 0, 0, Child::left}, {.priority = priority},
                  {read(record), write(outline)});
}

template <class R>
void insert_secular_vectors(Sequence& sequence, int priority, Index m, Index begin, Index end,
                            const Data& outline, const Data& record, const Data& s) {
  sequence.insert(secular_vectors_codelet<R>, MergeColumns{m, begin, end, 0, 0, Child::left},
                  {.priority = priority}, {read(outline), read(record), write(s)});
}

template <class R>
void insert_pack_rows(Sequence& sequence, int priority, Index m, Child child, Index rows, Index tile_columns,
                      const Data& record, const Data& packed, std::span<const Data> tiles) {
  sequence.insert(pack_rows_codelet<R>, PackArguments{m, rows, tile_columns, child}, {.priority = priority},
                  reading(tiles, {read(record), write(packed)}));
}

template <class R>
void insert_update_rows(Sequence& sequence, int priority, Index m, Child child, Index rows, Index inner,
                        Index begin, Index end, const Data& outline, const Data& record, const Data& packed,
                        const Data& s, const Data& out) {
  const double flops = 2.0 * double(rows) * double(inner) * double(end - begin);
  sequence.insert(update_rows_codelet<R>, MergeColumns{m, begin, end, rows, inner, child},
                  {.priority = priority, .flops = flops},
                  {read(outline), read(record), read(packed), read(s), write(out)});
}

template <class T>
void insert_fill_slab(Sequence& sequence, int priority, Index block_rows, SlabColumns columns, bool fresh,
                      const Data& slab, std::span<const Data> tiles) {
  sequence.insert(fill_slab_codelet<T>, SlabArguments{block_rows, columns}, {.priority = priority},
                  reading(tiles, {fresh ? write(slab) : read_write(slab)}));
}

#define TESSERA_INSTANTIATE_REAL(R)                                                                          \
  template void insert_secular_vectors<R>(Sequence&, int, Index, Index, Index, const Data&, const Data&,     \
                                          const Data&);                                                      \
  template void insert_pack_rows<R>(Sequence&, int, Index, Child, Index, Index, const Data&, const Data&,    \
                                    std::span<const Data>);                                                  \
  template void insert_update_rows<R>(Sequence&, int, Index, Child, Index, Index, Index, Index, const Data&, \
                                      const Data&, const Data&, const Data&, const Data&);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE_REAL)
#define TESSERA_INSTANTIATE(T)                                                             \
  template void insert_fill_slab<T>(Sequence&, int, Index, SlabColumns, bool, const Data&, \
                                    std::span<const Data>);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
