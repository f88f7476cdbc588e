// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/csb/csb_index.hpp>
#include <tessera/runtime/types.hpp>

/// The product of a piece of a half-stored CSB matrix, or its transpose, with up to 16 vectors: one thread
/// block for each strip of the index (csb_index.hpp).
///
/// The sums of the strip's rows lie in shared memory. Chunk after chunk its values and coordinates come to
/// shared memory, through registers: the next chunk's are on their way while this one is worked on, and the
/// positions and the description of the one after that as well, so that no load waits for another. A group of
/// `lanes` neighbouring lanes takes a run: each lane has `each` neighbouring columns, multiplies gathered
/// elements of X (through the first-level cache) and adds the run's sum to its row. Rows of a chunk are
/// different, so nobody else has that row then; a barrier separates chunks. Every sum has one fixed order,
/// whatever the thread blocks' order is.
namespace tessera::device {

inline constexpr int strip_threads = 512;

template <class V, class T>
struct StripProduct {
  const char* index;
  const V* values;
  const std::uint16_t* columns;
  int m;          ///< vectors that take part: at most lanes * each
  const T* x[2];  ///< by side: X_J, X_I
  std::uint32_t x_row_bytes[2];
  T* y[2];
  std::int64_t ldy[2];
  int cleared[2];  ///< columns m, ..., cleared - 1 of Y become zero
  bool overwrite[2];
};

template <class V, class T, int columns>
struct StripMemory {
  T y[csb_strip_rows * columns];
  V values[csb_chunk_entries];
  std::uint32_t runs[csb_strip_rows];
  std::uint16_t coordinates[csb_chunk_entries];
  CsbChunk chunks[4];  ///< descriptions of chunk c, ..., c + 3 at their number modulo 4
  CsbIndexHeader header;
};

/// Elements that a thread brings of each chunk.
inline constexpr int strip_brings = csb_chunk_entries / strip_threads;
static_assert(csb_strip_rows <= strip_threads);

/// A chunk on its way through a thread's registers.
template <class V>
struct ChunkPart {
  V values[strip_brings];
  std::uint16_t coordinates[strip_brings];
  std::uint32_t run;
};

template <class V, class T, int columns>
class StripWorker {
 public:
  using Memory = StripMemory<V, T, columns>;
  __device__ StripWorker(const StripProduct<V, T>& product, Memory& memory)
      : product_(product),
        memory_(memory),
        strip_(part_of_index<CsbStrip>(header_in_index().strips_offset)[blockIdx.x]),
        chunks_(part_of_index<CsbChunk>(header_in_index().chunks_offset) + strip_.first_chunk) {
    if (threadIdx.x < sizeof(CsbIndexHeader) / 8)
      reinterpret_cast<std::int64_t*>(&memory.header)[threadIdx.x] =
          reinterpret_cast<const std::int64_t*>(product.index)[threadIdx.x];
  }

  __device__ const CsbStrip& strip() const { return strip_; }

  /// for each chunk: work(chunk), its parts in memory.
  template <class Work>
  __device__ void for_chunks(const Work& work) {
    const int count = static_cast<int>(strip_.chunks);
    ChunkPart<V> part;
    std::uint16_t positions[strip_brings];
    for (int c = 0; c < 3 && c < count; ++c) copy_description(c);
    wait_for_descriptions();
    __syncthreads();
    bring_positions(0, positions);
    bring(0, positions, part);
    if (count > 1) bring_positions(1, positions);
    for (int c = 0; c < count; ++c) {
      __syncthreads();  // the chunk before is done with
      put(c, part);
      wait_for_descriptions();
      __syncthreads();
      if (c + 1 < count) bring(c + 1, positions, part);
      if (c + 2 < count) bring_positions(c + 2, positions);
      if (c + 3 < count) copy_description(c + 3);
      work(memory_.chunks[c & 3]);
    }
  }

 private:
  template <class E>
  __device__ const E* part_of_index(std::int64_t offset) const {
    return reinterpret_cast<const E*>(product_.index + offset);
  }
  __device__ const CsbIndexHeader& header_in_index() const {
    return *reinterpret_cast<const CsbIndexHeader*>(product_.index);
  }
  __device__ void copy_description(int c) {
    if (threadIdx.x >= sizeof(CsbChunk) / 8) return;
    const auto* const from = reinterpret_cast<const std::uint64_t*>(chunks_ + c) + threadIdx.x;
    const auto to = static_cast<std::uint32_t>(
        __cvta_generic_to_shared(reinterpret_cast<std::uint64_t*>(&memory_.chunks[c & 3]) + threadIdx.x));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
  }
  __device__ static void wait_for_descriptions() { asm volatile("cp.async.wait_all;" ::: "memory"); }

  __device__ void bring_positions(int c, std::uint16_t (&positions)[strip_brings]) const {
    const CsbChunk& chunk = memory_.chunks[c & 3];
    if (chunk.side == 0 || memory_.header.positions_offset == 0) return;
    const std::uint16_t* const from =
        part_of_index<std::uint16_t>(memory_.header.positions_offset) + chunk.first;
#pragma unroll
    for (int k = 0; k < strip_brings; ++k) {
      const int e = static_cast<int>(threadIdx.x) + k * strip_threads;
      if (e < chunk.entries) positions[k] = __ldcg(from + e);
    }
  }
  __device__ void bring(int c, const std::uint16_t (&positions)[strip_brings], ChunkPart<V>& part) const {
    const CsbChunk& chunk = memory_.chunks[c & 3];
    const bool by_position = chunk.side != 0 && memory_.header.positions_offset != 0;
    const std::uint16_t* const coordinates =
        (chunk.side == 0 ? product_.columns : part_of_index<std::uint16_t>(memory_.header.rows_offset)) +
        chunk.first;
    const V* const values = chunk.side == 0 ? product_.values + chunk.first
                            : by_position   ? product_.values + chunk.block
                                            : part_of_index<V>(memory_.header.values_offset) + chunk.first;
#pragma unroll
    for (int k = 0; k < strip_brings; ++k) {
      const int e = static_cast<int>(threadIdx.x) + k * strip_threads;
      if (e >= chunk.entries) break;
      part.coordinates[k] = __ldcg(coordinates + e);
      part.values[k] = __ldcg(values + (by_position ? static_cast<int>(positions[k]) : e));
    }
    if (threadIdx.x < chunk.runs)
      part.run =
          __ldcg(part_of_index<std::uint32_t>(memory_.header.runs_offset) + chunk.first_run + threadIdx.x);
  }
  __device__ void put(int c, const ChunkPart<V>& part) {
    const CsbChunk& chunk = memory_.chunks[c & 3];
#pragma unroll
    for (int k = 0; k < strip_brings; ++k) {
      const int e = static_cast<int>(threadIdx.x) + k * strip_threads;
      if (e >= chunk.entries) break;
      memory_.values[e] = part.values[k];
      memory_.coordinates[e] = part.coordinates[k];
    }
    if (threadIdx.x < chunk.runs) memory_.runs[threadIdx.x] = part.run;
  }

  const StripProduct<V, T>& product_;
  Memory& memory_;
  const CsbStrip strip_;
  const CsbChunk* const chunks_;
};

/// `each` neighbouring elements of a row of X, of which the first `count` are there; the others of x stay as
/// they are. `vector`: as one access.
template <class T, int each, bool vector>
__device__ inline void gather(const T* row, int count, T (&x)[each]) {
  if constexpr (vector && each == 2) {
    const double2 pair = __ldg(reinterpret_cast<const double2*>(row));
    x[0] = pair.x, x[1] = pair.y;
  } else if constexpr (vector) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(row));
    x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
  } else {
#pragma unroll
    for (int j = 0; j < each; ++j)
      if (j < count) x[j] = __ldg(row + j);
  }
}

/// The entries of a chunk in shared memory, and the rows of X that they meet.
template <class V, class T>
struct ChunkEntries {
  const V* values;
  const std::uint16_t* coordinates;
  const T* x;  ///< this lane's columns of the row that coordinate 0 means
  std::uint32_t x_row_bytes;
  int count;  ///< so many of the lane's columns take part
};

/// sum += entries at, at + step, ... (`number` of them, those < end) times their rows: all loads go out
/// together.
template <int number, int step, bool all, bool vector, class V, class T, int each>
__device__ inline void add_some(const ChunkEntries<V, T>& entries, int at, int end, T (&sum)[each]) {
  T rows[number][each] = {};
  V factors[number] = {};
#pragma unroll
  for (int k = 0; k < number; ++k) {
    const int e = at + k * step;
    if (all || e < end) {
      factors[k] = entries.values[e];
      const std::uint64_t offset = std::uint64_t(std::uint32_t(entries.coordinates[e])) * entries.x_row_bytes;
      gather<T, each, vector>(reinterpret_cast<const T*>(reinterpret_cast<const char*>(entries.x) + offset),
                              entries.count, rows[k]);
    }
  }
#pragma unroll
  for (int k = 0; k < number; ++k)
#pragma unroll
    for (int j = 0; j < each; ++j) sum[j] = fma(T(factors[k]), rows[k][j], sum[j]);
}

/// sum += the entries start, start + step, ... < end times their rows of X.
template <int step, bool vector, class V, class T, int each>
__device__ inline void add_entries(const ChunkEntries<V, T>& entries, int start, int end, T (&sum)[each]) {
  constexpr int together = 4;
  if (entries.count <= 0) return;
  for (; start + (together - 1) * step < end; start += together * step)
    add_some<together, step, true, vector>(entries, start, end, sum);
  if (start < end) add_some<together - 1, step, false, vector>(entries, start, end, sum);
}

template <class V, class T, int lanes, int each, bool vector>
__global__ void __launch_bounds__(strip_threads, 2)
    strip_kernel(const __grid_constant__ StripProduct<V, T> product) {
  constexpr int columns = lanes * each, groups = 32 / lanes, warps = strip_threads / 32;
  using Memory = StripMemory<V, T, columns>;
  extern __shared__ __align__(16) char shared[];
  Memory& memory = *reinterpret_cast<Memory*>(shared);
  StripWorker<V, T, columns> worker(product, memory);
  const CsbStrip strip = worker.strip();
  if (strip.chunks == 0 && !product.overwrite[strip.side]) return;

  const int lane = static_cast<int>(threadIdx.x) % lanes, column = lane * each;
  const int group = static_cast<int>(threadIdx.x) % 32 / lanes, warp = static_cast<int>(threadIdx.x) / 32;
  const int count = product.m - column;  // so many of this lane's columns take part
  for (int i = static_cast<int>(threadIdx.x); i < strip.rows * columns; i += strip_threads)
    memory.y[i] = T(0);

  if (strip.chunks > 0)
    worker.for_chunks([&](const CsbChunk& chunk) {
      const std::uint32_t x_row_bytes = product.x_row_bytes[chunk.side];
      const T* const x = reinterpret_cast<const T*>(reinterpret_cast<const char*>(product.x[chunk.side]) +
                                                    std::uint64_t(chunk.gather) * x_row_bytes) +
                         column;
      const ChunkEntries<V, T> entries{memory.values, memory.coordinates, x, x_row_bytes, count};
      const auto add_to_row = [&](std::uint32_t run, const T(&sum)[each]) {
        T* const y = memory.y + csb_run_row(run) * columns + column;
#pragma unroll
        for (int j = 0; j < each; ++j) y[j] += sum[j];
      };
      for (int r = warp; r < chunk.long_runs; r += warps) {
        const std::uint32_t run = memory.runs[r];
        const int start = csb_run_start(run), end = start + csb_run_length(run);
        T sum[each] = {};
        add_entries<groups, vector>(entries, start + group, end, sum);
        __syncwarp();
#pragma unroll
        for (int mask = 16; mask >= lanes; mask /= 2)
#pragma unroll
          for (int j = 0; j < each; ++j) sum[j] += __shfl_xor_sync(~0u, sum[j], mask);
        if (group == 0) add_to_row(run, sum);
      }
      for (int r = chunk.long_runs + warp * groups + group; r < chunk.runs; r += warps * groups) {
        const std::uint32_t run = memory.runs[r];
        const int start = csb_run_start(run), end = start + csb_run_length(run);
        T sum[each] = {};
        add_entries<1, vector>(entries, start, end, sum);
        add_to_row(run, sum);
      }
    });
  __syncthreads();

  T* const y = product.y[strip.side] + strip.first_row * product.ldy[strip.side];
  const std::int64_t ldy = product.ldy[strip.side];
  const bool overwrite = product.overwrite[strip.side];
  for (int i = static_cast<int>(threadIdx.x); i < strip.rows * columns; i += strip_threads) {
    const int row = i / columns, j = i % columns;
    if (j >= product.m) continue;
    T& to = y[row * ldy + j];
    to = overwrite ? memory.y[i] : to + memory.y[i];
  }
  const int cleared = product.cleared[strip.side] - product.m;
  if (cleared > 0)
    for (int i = static_cast<int>(threadIdx.x); i < strip.rows * cleared; i += strip_threads)
      y[i / cleared * ldy + product.m + i % cleared] = T(0);
}

}  // namespace tessera::device
