// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/band_arguments.hpp>
#include <tessera/codelets/band/band_copy.hpp>
#include <tessera/codelets/band/band_tasks.hpp>
#include <tessera/codelets/reading.hpp>

namespace tessera {
namespace {

using namespace band_codelets;

template <class T>
void band_gather_task(const TaskContext& task, TaskBuffers buffers, const GatherArguments& a) {
  T* const segment = buffers.array<T>(0).data();
  for (int i = 1; i < buffers.count(); ++i) {
    const auto piece = buffers.matrix<const T>(i);
    const Index at = (i - 1) * a.piece_columns, count = std::min(a.piece_columns, a.columns - at);
    const Index bad = kernels::band_to_segment<T>(a.n, a.bandwidth, a.first_column + at, count, piece.data,
                                                  piece.ld, segment, at);
    if (bad >= 0) return task.fail(StatusCode::not_finite, bad + 1);
  }
}
template <class T>
Codelet band_gather_codelet = make_codelet<GatherArguments, band_gather_task<T>>("band_gather",
                                                                                 type_letter<T>);

template <class T>
void chase_tile_task(const TaskContext&, TaskBuffers buffers, const ChaseArguments<T>& a) {
  // Buffers: scratch, first segment, second segment if any, reflectors if kept.
  T* const segments[2] = {buffers.array<T>(1).data(), a.two_segments ? buffers.array<T>(2).data() : nullptr};
  const ChaseTile<T>& tile = a.tile;
  kernels::Reflectors<T> reflectors = tile.reflectors;
  if (a.keep) reflectors.data = buffers.array<T>(a.two_segments ? 3 : 2).data();
  const kernels::BandView<T> view{tile.n, tile.bandwidth, tile.first_column, tile.segment_width, segments};
  kernels::chase_tile<T>(view, tile.first_sweep, tile.sweeps, tile.column_begin, tile.column_end, reflectors,
                         buffers.array<RealOf<T>>(0).data());
}
template <class T>
Codelet chase_tile_codelet = make_codelet<ChaseArguments<T>, chase_tile_task<T>>("chase_tile",
                                                                                 type_letter<T>);

template <class T>
void chase_sweeps_task(const TaskContext&, TaskBuffers buffers, const SweepsArguments& a) {
  // Buffers: scratch, segment, reflectors if kept.
  kernels::chase_sweeps<T>(a.shape, buffers.array<T>(1).data(), a.keep ? buffers.array<T>(2).data() : nullptr,
                           buffers.array<char>(0).data());
}
template <class T>
Codelet chase_sweeps_codelet = make_codelet<SweepsArguments, chase_sweeps_task<T>>("chase_sweeps",
                                                                                   type_letter<T>);

template <class T>
void tridiagonal_piece_task(const TaskContext&, TaskBuffers buffers, const PieceArguments& a) {
  RealOf<T>* const piece = buffers.array<RealOf<T>>(1).data();
  kernels::segment_to_tridiagonal<T>(a.n, a.bandwidth, a.first_column, a.columns,
                                     buffers.array<const T>(0).data(), piece, piece + a.columns);
}
template <class T>
Codelet tridiagonal_piece_codelet =
    make_codelet<PieceArguments, tridiagonal_piece_task<T>>("tridiagonal_piece", type_letter<T>);

template <class R>
void tridiagonal_assemble_task(const TaskContext&, TaskBuffers buffers, const AssembleArguments& a) {
  R* const d = buffers.array<R>(0).data();
  R* const e = buffers.array<R>(1).data();
  for (int i = 2; i < buffers.count(); ++i) {
    const Index first = (i - 2) * a.piece_columns, count = std::min(a.piece_columns, a.n - first);
    const R* const piece = buffers.array<const R>(i).data();
    std::copy_n(piece, count, d + first);
    std::copy_n(piece + count, std::min(count, std::max<Index>(a.n - 1, 1) - first), e + first);
  }
}
template <class R>
Codelet tridiagonal_assemble_codelet =
    make_codelet<AssembleArguments, tridiagonal_assemble_task<R>>("tridiagonal_assemble", type_letter<R>);

}  // namespace

template <class T>
void insert_band_gather(Sequence& sequence, int priority, Index n, Index bandwidth, Index first_column,
                        Index columns, Index piece_columns, std::span<const Data* const> pieces,
                        const Data& segment) {
  sequence.insert(band_gather_codelet<T>, GatherArguments{n, bandwidth, first_column, columns, piece_columns},
                  {.priority = priority}, reading(pieces, {write(segment)}));
}

template <class T>
void insert_chase_tile(Sequence& sequence, int priority, const ChaseTile<T>& tile, const Data& first,
                       const Data* second, const Data* kept, bool kept_is_new, const Data& workspace) {
  double hops = 0;
  for (Index j = 0; j < tile.sweeps; ++j) {
    const Index sweep = tile.first_sweep + j, shift = 2 * tile.bandwidth * j;
    const Index end = std::min(kernels::first_hop_from(tile.bandwidth, sweep, tile.column_end - shift),
                               kernels::hop_count(tile.n, tile.bandwidth, sweep));
    hops += static_cast<double>(
        std::max<Index>(end - kernels::first_hop_from(tile.bandwidth, sweep, tile.column_begin - shift), 0));
  }
  const double b = static_cast<double>(tile.bandwidth);
  Access accesses[4] = {scratch(workspace), read_write(first)};
  std::size_t count = 2;
  if (second) accesses[count++] = read_write(*second);
  if (kept) accesses[count++] = kept_is_new ? write(*kept) : read_write(*kept);
  sequence.insert(chase_tile_codelet<T>, ChaseArguments<T>{tile, second != nullptr, kept != nullptr},
                  {.priority = priority, .flops = flop_factor<T> * 12 * b * b * hops},
                  std::span<const Access>(accesses, count));
}

template <class T>
void insert_chase_sweeps(Sequence& sequence, int priority, const kernels::DeviceReflectors& shape,
                         const Data& segment, const Data* kept, const Data& workspace) {
  // Sweep s has (n - 1 - s) / b hops, up to rounding.
  const double b = static_cast<double>(shape.bandwidth), sweeps = static_cast<double>(shape.sweeps);
  const double hops = sweeps * (static_cast<double>(shape.n - 1 - shape.first_sweep) - 0.5 * sweeps) / b;
  Access accesses[3] = {scratch(workspace), read_write(segment)};
  if (kept) accesses[2] = write(*kept);
  sequence.insert(chase_sweeps_codelet<T>, SweepsArguments{shape, kept != nullptr},
                  {.priority = priority, .flops = flop_factor<T> * 12 * b * b * hops},
                  std::span<const Access>(accesses, kept ? 3 : 2));
}

template <class T>
void insert_tridiagonal_piece(Sequence& sequence, int priority, Index n, Index bandwidth, Index first_column,
                              Index columns, const Data& segment, const Data& piece) {
  sequence.insert(tridiagonal_piece_codelet<T>, PieceArguments{n, bandwidth, first_column, columns},
                  {.priority = priority}, {read(segment), write(piece)});
}

template <class R>
void insert_tridiagonal_assemble(Sequence& sequence, int priority, int rank, Index n, Index piece_columns,
                                 std::span<const Data* const> pieces, const Data& d, const Data& e) {
  sequence.insert(tridiagonal_assemble_codelet<R>, AssembleArguments{n, piece_columns},
                  {.priority = priority, .execute_on = rank}, reading(pieces, {write(d), write(e)}));
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template void insert_band_gather<T>(Sequence&, int, Index, Index, Index, Index, Index,              \
                                      std::span<const Data* const>, const Data&);                     \
  template void insert_chase_tile<T>(Sequence&, int, const ChaseTile<T>&, const Data&, const Data*,   \
                                     const Data*, bool, const Data&);                                 \
  template void insert_chase_sweeps<T>(Sequence&, int, const kernels::DeviceReflectors&, const Data&, \
                                       const Data*, const Data&);                                     \
  template void insert_tridiagonal_piece<T>(Sequence&, int, Index, Index, Index, Index, const Data&,  \
                                            const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
template void insert_tridiagonal_assemble<float>(Sequence&, int, int, Index, Index,
                                                 std::span<const Data* const>, const Data&, const Data&);
template void insert_tridiagonal_assemble<double>(Sequence&, int, int, Index, Index,
                                                  std::span<const Data* const>, const Data&, const Data&);

}  // namespace tessera
