// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/divide_and_conquer/kernels/merge_device.cuh>
#include <tessera/codelets/divide_and_conquer/kernels/merge_vectors.hpp>

namespace tessera::detail::kernels {
namespace {

using namespace device;
using divide_and_conquer::Child;
using divide_and_conquer::MergeHeader;
using divide_and_conquer::PanelOutline;

template <class R>
struct TileList {
  const R* tile[max_packed_tiles];
};

constexpr int row_threads = 128;
constexpr int columns_at_once = 8;  ///< loads of a thread before its first store

/// packed := the columns of the tiles in the order of their slots, without tiny numbers.
template <class R>
__global__ void __launch_bounds__(row_threads)
    gather_kernel(Record record, Child child, Index rows, const __grid_constant__ TileList<R> tiles,
                  Index tile_columns, Index ldt, R* __restrict__ packed, Index ldp) {
  const R tiny = sizeof(R) == 8 ? R(0x1p-500) : R(0x1p-60);
  const MergeHeader& header = *record.header;
  const Index row = Index(blockIdx.x) * row_threads + threadIdx.x, count = header.packed_columns(child);
  const Index pole_slots = header.pole_slots(child);
  const Index first_pole = header.first_pole_slot(child), first_deflated = header.first_deflated_slot(child);
  const Index first_column = child == Child::left ? 0 : header.left;
  const Index columns = child == Child::left ? header.left : header.right;
  if (row >= rows) return;
  for (Index start = Index(blockIdx.y) * columns_at_once; start < count;
       start += Index(gridDim.y) * columns_at_once) {
    R x[columns_at_once];
#pragma unroll
    for (int i = 0; i < columns_at_once; ++i) {
      const Index p = start + i;
      x[i] = 0;
      if (p >= count) continue;
      const Index slot = p < pole_slots ? first_pole + p : first_deflated + (p - pole_slots);
      const Index column = record.slot_column()[slot] - first_column;
      if (column >= 0 && column < columns)
        x[i] = tiles.tile[column / tile_columns][(column % tile_columns) * ldt + row];
    }
#pragma unroll
    for (int i = 0; i < columns_at_once; ++i)
      if (start + i < count) packed[(start + i) * ldp + row] = fabs(x[i]) < tiny ? R(0) : x[i];
  }
}

/// The rotations, in order. The column y of a rotation is often the column x of the next one. Such chains are
/// independent of each other, and block row blockIdx.y takes the chains that begin in its share. A thread
/// loads the columns of a few rotations ahead, except a column that one of these rotations changes: that one
/// stays in a register.
template <class R>
__global__ void __launch_bounds__(row_threads)
    rotate_kernel(Record record, Child child, Index rows, R* __restrict__ packed, Index ldp) {
  const MergeHeader& header = *record.header;
  const int rotations = static_cast<int>(header.rotations);
  const Index row = Index(blockIdx.x) * row_threads + threadIdx.x;
  const int share = (rotations + static_cast<int>(gridDim.y) - 1) / static_cast<int>(gridDim.y);
  const int begin = static_cast<int>(blockIdx.y) * share, end = min(begin + share, rotations);
  if (row >= rows) return;
  const Index *rx = record.rotation_x(), *ry = record.rotation_y();
  const auto starts_chain = [&](int r) { return r == 0 || rx[r] != ry[r - 1]; };
  int r = begin;
  while (r < end && !starts_chain(r)) ++r;
  if (r >= end) return;
  R* const column = packed + row;
  R carried = 0;
  for (bool going = true; going;) {
    Index px[columns_at_once], py[columns_at_once];
    R x[columns_at_once], y[columns_at_once], c[columns_at_once], s[columns_at_once];
    bool chained[columns_at_once];
#pragma unroll
    for (int i = 0; i < columns_at_once; ++i) {
      px[i] = py[i] = -1;
      chained[i] = false;
      if (!going) continue;
      if (r >= rotations || (r >= end && starts_chain(r))) {
        going = false;
        continue;
      }
      px[i] = header.packed_column(child, rx[r]);
      py[i] = header.packed_column(child, ry[r]);
      chained[i] = r > 0 && !starts_chain(r);
      if (px[i] < 0 || py[i] < 0) {
        px[i] = -1;  // both columns are zero in these rows
      } else {
        // The first x of these few may be in the register; its copy in memory may then be stale.
        x[i] = column[px[i] * ldp];
        y[i] = column[py[i] * ldp];
        c[i] = static_cast<R>(record.cosine()[r]);
        s[i] = static_cast<R>(record.sine()[r]);
      }
      ++r;
    }
#pragma unroll
    for (int i = 0; i < columns_at_once; ++i) {
      if (px[i] < 0) {
        carried = 0;
        continue;
      }
      const R low = chained[i] ? carried : x[i];
      column[px[i] * ldp] = c[i] * low + s[i] * y[i];
      carried = c[i] * y[i] - s[i] * low;
      column[py[i] * ldp] = carried;
    }
  }
}

constexpr int spread_rows = 16, spread_lanes = 32, spread_columns = 16;

/// Writes the output columns from the last to the first, spread_lanes * spread_columns at a time. It reads
/// all of them before it writes one, and later reads lie in front of all that it writes.
template <class R>
__global__ void __launch_bounds__(spread_rows* spread_lanes)
    spread_kernel(Record record, Child child, Index rows, const R* packed, Index ldp, Index begin, Index end,
                  Index first_root, Index roots, R* out, Index ldo) {
  constexpr int step = spread_lanes * spread_columns;
  const Index row = Index(blockIdx.x) * spread_rows + threadIdx.x;
  const Index* output = record.output();
  const MergeHeader& header = *record.header;
  for (Index stop = end; stop > begin; stop -= step) {
    R x[spread_columns];
#pragma unroll
    for (int i = 0; i < spread_columns; ++i) {
      const Index c = stop - 1 - (i * spread_lanes + static_cast<Index>(threadIdx.y));
      x[i] = 0;
      if (c < begin || row >= rows) continue;
      const Index source = output[c];
      if (source < header.poles) {
        if (roots > 0) x[i] = out[(source - first_root) * ldo + row];
      } else {
        const Index column = header.packed_column(child, source);
        if (column >= 0) x[i] = packed[column * ldp + row];
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < spread_columns; ++i) {
      const Index c = stop - 1 - (i * spread_lanes + static_cast<Index>(threadIdx.y));
      if (c >= begin && row < rows) out[(c - begin) * ldo + row] = x[i];
    }
    __syncthreads();
  }
}

/// The first root at or after an output column (K if there is none), by one warp.
__device__ Index root_from(const Record& record, Index column) {
  const Index poles = record.header->poles;
  for (Index c = column; c < record.m; c += 32) {
    const Index mine = c + threadIdx.x < record.m ? record.output()[c + threadIdx.x] : poles;
    const unsigned found = __ballot_sync(~0u, mine < poles);
    if (found != 0) return __shfl_sync(~0u, mine, __ffs(found) - 1);
  }
  return poles;
}

__global__ void outline_kernel(Record record, Index begin, Index end, PanelOutline* outline) {
  const Index first = root_from(record, begin), stop = root_from(record, end);
  if (threadIdx.x == 0) {
    outline->header = *record.header;
    outline->roots = {first, stop - first};
  }
}

template <class T, class R>
__global__ void widen_kernel(Index rows, Index cols, const R* __restrict__ from, Index ldf,
                             T* __restrict__ to, Index ldt) {
  const Index row = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (Index j = blockIdx.y; j < cols; j += gridDim.y) to[j * ldt + row] = T(from[j * ldf + row]);
}

Record view(const void* record, Index m) {
  return Record(const_cast<char*>(static_cast<const char*>(record)), m);
}
}  // namespace

template <class R>
void launch_pack_rows(cudaStream_t stream, Index m, const void* record, Child child, Index rows,
                      const R* const* tiles, Index tile_count, Index tile_columns, Index ldt, R* packed,
                      Index ldp) {
  if (rows == 0) return;
  TileList<R> list;
  for (Index i = 0; i < tile_count && i < max_packed_tiles; ++i) list.tile[i] = tiles[i];
  const unsigned blocks = blocks_for(rows, row_threads);
  gather_kernel<<<dim3(blocks, blocks_for(m / columns_at_once, 1, 1024)), row_threads, 0, stream>>>(
      view(record, m), child, rows, list, tile_columns, ldt, packed, ldp);
  rotate_kernel<<<dim3(blocks, 64), row_threads, 0, stream>>>(view(record, m), child, rows, packed, ldp);
}

template <class R>
void launch_spread_columns(cudaStream_t stream, Index m, const void* record, Child child, Index rows,
                           const R* packed, Index ldp, Index begin, Index end, Index first_root, Index roots,
                           R* out, Index ldo) {
  if (rows == 0) return;
  spread_kernel<<<blocks_for(rows, spread_rows), dim3(spread_rows, spread_lanes), 0, stream>>>(
      view(record, m), child, rows, packed, ldp, begin, end, first_root, roots, out, ldo);
}

void launch_outline(cudaStream_t stream, Index m, const void* record, Index begin, Index end,
                    PanelOutline* outline) {
  outline_kernel<<<1, 32, 0, stream>>>(view(record, m), begin, end, outline);
}

template <class T, class R>
void launch_widen(cudaStream_t stream, Index rows, Index cols, const R* from, Index ldf, T* to, Index ldt) {
  if (rows == 0 || cols == 0) return;
  widen_kernel<<<dim3(blocks_for(rows, 256), blocks_for(cols, 1, 4096)), 256, 0, stream>>>(
      rows, cols, from, ldf, device_cast(to), ldt);
}

#define TESSERA_INSTANTIATE_REAL(R)                                                                      \
  template void launch_pack_rows(cudaStream_t, Index, const void*, Child, Index, const R* const*, Index, \
                                 Index, Index, R*, Index);                                               \
  template void launch_spread_columns(cudaStream_t, Index, const void*, Child, Index, const R*, Index,   \
                                      Index, Index, Index, Index, R*, Index);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE_REAL)
#define TESSERA_INSTANTIATE(T) \
  template void launch_widen(cudaStream_t, Index, Index, const RealOf<T>*, Index, T*, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
