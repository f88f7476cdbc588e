// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <type_traits>
#include <vector>

#include <tessera/codelets/csb/fom_tiles.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {
namespace {

/// Buffers: [[piece], [index]], begins, R, W, scratch.
template <class V, class T>
void fom_task(const TaskContext&, TaskBuffers buffers, const FomArguments& a) {
  const bool stored = a.shape.block_count > 0;
  const int begins = (a.piece ? 1 : 0) + (a.index ? 1 : 0);
  const CsbPieceView<V> piece = stored ? csb_view<V>(buffers.array<const char>(0).data(), a.shape.block_count,
                                                     a.shape.entry_count, true)
                                       : CsbPieceView<V>{0, 0, true, nullptr, nullptr, nullptr, nullptr};
  const MatrixView<const T> r = buffers.matrix<const T>(begins + 1);
  const MatrixView<T> w = buffers.matrix<T>(begins + 2);
  kernels::fom_tiles<V, T>(piece, a.tiles, buffers.array<const std::uint32_t>(begins).data(), a.columns,
                           a.steps, a.shift, r.data, r.ld, w.data, w.ld, buffers.array<T>(begins + 3).data());
  if (w.rows > a.columns)
    for (Index i = 0; i < w.cols; ++i) std::fill_n(&w(a.columns, i), w.rows - a.columns, T(0));
}

/// The name tells V from T: fom_tiles_fd has float values and double vectors.
template <class V, class T>
Codelet fom_codelet = make_codelet<FomArguments, fom_task<V, T>>(std::is_same_v<V, T> ? "fom_tiles"
                                                                                      : "fom_tiles_f",
                                                                 type_letter<T>);

}  // namespace

double FomArguments::seconds(WorkerKind kind, double) const noexcept {
  // Products and five passes over the vectors in each step: a core at 4 Gflop/s, a GPU at 2 TB/s and four
  // launches.
  const double bytes =
      double(shape.entry_count) * (value_bytes + 4) + 5. * double(rows) * columns * element_bytes;
  return kind == WorkerKind::gpu ? steps * (20e-6 + bytes / 2e12)
                                 : 2e-6 + 1e-7 * double(tiles) * steps + flops() / 4e9;
}

template <class V, class T>
void insert_fom_tiles(Sequence& sequence, int priority, const CsbPieceShape& shape, std::int64_t rows,
                      std::int64_t tiles, int columns, int steps, double shift, const Data& piece,
                      const Data& index, const Data& begins, const Data& r, const Data& w,
                      const Data& scratch, int gpu) {
  const bool stored = shape.block_count > 0, indexed = stored && index.valid(),
             has_piece = stored && sequence.runtime().gpus() == 0;
  if (stored && !indexed && sequence.runtime().any_gpus())
    throw InvalidArgument("index", "none", "that of the piece, where GPUs take part");
  const FomArguments arguments{shape,     rows,    tiles,     columns,   steps,
                               has_piece, indexed, sizeof(V), sizeof(T), shift};
  std::vector<Access> accesses;
  if (has_piece) accesses.push_back(read(piece));
  if (indexed) accesses.push_back(read(index));
  accesses.insert(accesses.end(), {read(begins), read(r), write(w), tessera::scratch(scratch)});
  sequence.insert(fom_codelet<V, T>, arguments,
                  {.priority = priority, .flops = arguments.flops(), .gpu = gpu}, accesses);
}

#define TESSERA_INSTANTIATE(V, T)                                                                            \
  template void insert_fom_tiles<V, T>(Sequence&, int, const CsbPieceShape&, std::int64_t, std::int64_t,     \
                                       int, int, double, const Data&, const Data&, const Data&, const Data&, \
                                       const Data&, const Data&, int);
TESSERA_INSTANTIATE(float, float)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(double, double)

}  // namespace tessera
