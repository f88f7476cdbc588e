// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/csb/csb_index.hpp>
#include <tessera/runtime/types.hpp>

/// The product of a piece of a half-stored CSB matrix, or its transpose, with some vectors: one thread block
/// for each strip of a pass of the index (csb_index.hpp).
///
/// Rows of X come to shared memory stage by stage, one stage ahead; a barrier separates the stages. 2 parts
/// neighbouring lanes take a run of a slice, two of the row's 16-byte chunks each: the sums of a run stay in
/// registers and are added to the strip's rows of Y in shared memory where the run ends. A row has one run in
/// a stage, so every sum has one fixed order. With two parts a slice is the work of two warps. Quads and
/// values are read once, two and one quads ahead, past the first-level cache.
///
/// Shared memory, in bytes a row: 64 parts for X and Y, with 8 parts double or 16 parts float columns. Of a
/// row, the lanes read one half in a wavefront: the first half for even places, the second one for odd ones.
/// Rows of two parts fill all banks, so these never meet; with one part rows of even and of odd slots lie in
/// different banks.
namespace tessera::device {

template <int parts>
constexpr int strip_threads = static_cast<int>(32 * csb_strip_warps) * parts;

template <class T>
struct StripProduct {
  const char* index;
  std::int64_t first_strip;  ///< of the pass
  int strip_rows;
  int m;          ///< vectors that take part
  const T* x[2];  ///< by side: X_J, X_I
  std::int64_t ldx[2];
  T* y[2];
  std::int64_t ldy[2];
  int cleared[2];  ///< columns m, ..., cleared - 1 of Y become zero
  bool overwrite[2];
};

template <class Part>
__device__ const Part* part_of_index(const char* index, std::int64_t offset) {
  return reinterpret_cast<const Part*>(index + offset);
}

/// Matrix elements are read once: past the first-level cache, 256 bytes at a time from memory.
__device__ inline double stream(const double* p) {
  double value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.f64 %0, [%1];" : "=d"(value) : "l"(p));
  return value;
}
__device__ inline float stream(const float* p) {
  float value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.f32 %0, [%1];" : "=f"(value) : "l"(p));
  return value;
}
__device__ inline CsbQuad stream(const CsbQuad* p) {
  std::uint32_t low, high;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%0, %1}, [%2];"
               : "=r"(low), "=r"(high)
               : "l"(p));
  return {low, high};
}

/// Brings what the warp needs some steps later to the second-level cache.
__device__ inline void prefetch(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/// Shared memory by its 32-bit addresses.
__device__ inline void load_shared(std::uint32_t from, double (&to)[2]) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(to[0]), "=d"(to[1]) : "r"(from) : "memory");
}
__device__ inline void load_shared(std::uint32_t from, float (&to)[4]) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from)
               : "memory");
}
/// Adds to shared memory, and leaves zeros: in one piece, or else the compiler copies what it might change.
__device__ inline void add_to_shared(std::uint32_t to, double (&sum)[2]) {
  asm volatile(
      "{\n\t.reg .f64 a, b;\n\t"
      "ld.shared.v2.f64 {a, b}, [%2];\n\t"
      "add.f64 a, a, %0;\n\tadd.f64 b, b, %1;\n\t"
      "st.shared.v2.f64 [%2], {a, b};\n\t"
      "mov.f64 %0, 0d0000000000000000;\n\tmov.f64 %1, 0d0000000000000000;\n\t}"
      : "+d"(sum[0]), "+d"(sum[1])
      : "r"(to)
      : "memory");
}
__device__ inline void add_to_shared(std::uint32_t to, float (&sum)[4]) {
  asm volatile(
      "{\n\t.reg .f32 a, b, c, d;\n\t"
      "ld.shared.v4.f32 {a, b, c, d}, [%4];\n\t"
      "add.f32 a, a, %0;\n\tadd.f32 b, b, %1;\n\tadd.f32 c, c, %2;\n\tadd.f32 d, d, %3;\n\t"
      "st.shared.v4.f32 [%4], {a, b, c, d};\n\t"
      "mov.f32 %0, 0f00000000;\n\tmov.f32 %1, 0f00000000;\n\tmov.f32 %2, 0f00000000;\n\tmov.f32 %3, "
      "0f00000000;\n\t}"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(to)
      : "memory");
}
/// Copies `bytes` of `size` (4, 8 or 16) in the background, and zeros instead of the others.
template <int size>
__device__ inline void copy_to_shared(std::uint32_t to, const void* from, int bytes) {
  if constexpr (size == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(size), "r"(bytes)
                 : "memory");
}

/// Addresses in shared memory of what the stages bring: twice the slots, the lists of their rows of X, and,
/// four times, where the list is.
template <int parts>
struct StageMemory {
  static constexpr std::uint32_t slot_bytes = 64 * parts,
                                 stage_bytes = static_cast<std::uint32_t>(csb_stage_slots) * slot_bytes,
                                 list_bytes = static_cast<std::uint32_t>(csb_stage_slots) * 4,
                                 total = 2 * (stage_bytes + list_bytes) + 4 * sizeof(CsbStage);
  std::uint32_t begin;
  __device__ std::uint32_t slots(std::uint32_t stage) const { return begin + (stage & 1) * stage_bytes; }
  __device__ std::uint32_t list(std::uint32_t stage) const {
    return begin + 2 * stage_bytes + (stage & 1) * list_bytes;
  }
  __device__ std::uint32_t place(std::uint32_t stage) const {
    return begin + 2 * (stage_bytes + list_bytes) +
           (stage & 3) * static_cast<std::uint32_t>(sizeof(CsbStage));
  }
};

/// Bytes of shared memory: the strip's rows of Y, those of runs that only fill up slices, and the stages.
template <int parts>
constexpr std::size_t strip_shared_bytes(std::int64_t strip_rows) {
  return static_cast<std::size_t>(64 * parts * (strip_rows + csb_slice_rows) + StageMemory<parts>::total);
}

/// Brings the rows of X one stage ahead, their lists two stages, and where these are four: nothing of this is
/// waited for but at the barrier.
template <class T, int parts, bool vector>
class StageCopies {
 public:
  __device__ StageCopies(const T* x, std::int64_t ldx, int m, const CsbStage* stages, std::uint32_t count,
                         const std::uint32_t* rows, StageMemory<parts> memory)
      : column_(static_cast<int>(threadIdx.x) % chunks * each),
        columns_(m - column_),
        x_(x + (columns_ > 0 ? column_ : 0)),
        ldx_(ldx),
        stages_(stages),
        count_(count),
        rows_(rows),
        memory_(memory) {
    begin_place(0);
    begin_place(1);
    wait();
    begin_list(0);
    begin_place(2);
    wait();
    begin_rows(0);
    begin_list(1);
    begin_place(3);
  }
  /// Waits for a stage, and for all warps to be done with the one before it; gives its slots.
  __device__ std::uint32_t next() {
    wait();
    const std::uint32_t stage = stage_++;
    begin_rows(stage + 1);
    begin_list(stage + 2);
    begin_place(stage + 4);
    return memory_.slots(stage);
  }

 private:
  static constexpr int each = 16 / sizeof(T), chunks = 4 * parts,
                       rows_at_once = strip_threads<parts> / chunks;

  /// For what all threads have begun.
  __device__ static void wait() {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
  }
  __device__ void begin_place(std::uint32_t stage) const {
    if (threadIdx.x == 0 && stage < count_)
      copy_to_shared<8>(memory_.place(stage), stages_ + stage, sizeof(CsbStage));
  }
  __device__ void begin_list(std::uint32_t stage) const {
    if (stage >= count_) return;
    const CsbStage place = load_place(stage);
    for (std::uint32_t number = threadIdx.x; number < place.count; number += strip_threads<parts>)
      copy_to_shared<4>(memory_.list(stage) + 4 * number, rows_ + place.first + number, 4);
  }
  __device__ void begin_rows(std::uint32_t stage) const {
    if (stage >= count_) return;
    const std::uint32_t count = load_place(stage).count, list = memory_.list(stage),
                        to = memory_.slots(stage) + StageMemory<parts>::slot_bytes +
                             column_ * static_cast<std::uint32_t>(sizeof(T));
#pragma unroll 4
    for (std::uint32_t number = threadIdx.x / chunks; number < count; number += rows_at_once) {
      std::uint32_t row;
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(row) : "r"(list + 4 * number) : "memory");
      copy(to + number * StageMemory<parts>::slot_bytes, x_ + row * ldx_);
    }
  }
  __device__ CsbStage load_place(std::uint32_t stage) const {
    CsbStage place;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
                 : "=r"(place.first), "=r"(place.count)
                 : "r"(memory_.place(stage))
                 : "memory");
    return place;
  }
  __device__ void copy(std::uint32_t to, const T* from) const {
    if constexpr (vector) {
      const int bytes = columns_ * static_cast<int>(sizeof(T));
      copy_to_shared<16>(to, from, bytes < 0 ? 0 : bytes < 16 ? bytes : 16);
    } else {
#pragma unroll
      for (int j = 0; j < each; ++j)
        copy_to_shared<sizeof(T)>(to + j * sizeof(T), from + (j < columns_ ? j : 0),
                                  j < columns_ ? sizeof(T) : 0);
    }
  }

  const int column_, columns_;
  const T* const x_;
  const std::int64_t ldx_;
  const CsbStage* const stages_;
  const std::uint32_t count_;
  const std::uint32_t* const rows_;
  const StageMemory<parts> memory_;
  std::uint32_t stage_ = 0;
};

/// A lane's part of its warp's quads.
template <class V, class T, int parts>
class RunSums {
 public:
  __device__ RunSums(const CsbQuad* quads, const V* values) : quads_(quads), values_(values) {
    a_.quad = stream(quads_);
    b_.quad = stream(quads_ + slice);
    load_values(a_);
  }

  /// All stages; y: the address of the rows of Y in shared memory.
  template <class Copies>
  __device__ void add_stages(std::uint32_t stages, std::uint32_t y, Copies& copies) {
    std::uint32_t x = copies.next();
    // The two take turns, so that nothing that is on its way has to be moved to another register.
    while (true) {
      if (turn(a_, b_, x, y)) {
        if (--stages == 0) return;
        x = copies.next();
      }
      if (turn(b_, a_, x, y)) {
        if (--stages == 0) return;
        x = copies.next();
      }
    }
  }

 private:
  static constexpr int each = 16 / sizeof(T), own = 2, half_row = 32 * parts,
                       steps = static_cast<int>(csb_quad_steps), slice = static_cast<int>(csb_slice_rows);
  /// Steps whose rows of X are read before they are used.
  static constexpr int together = 2;
  /// Values in front that are prefetched. With two blocks a multiprocessor one computes while the other one
  /// waits, and prefetches only cost time of the second cache.
  static constexpr int ahead = parts == 2 ? 4 * steps * slice : 0;

  struct Quad {
    CsbQuad quad;
    V factors[steps];
  };

  /// Of those of all warps of a slice.
  __device__ static int lane_of_slice() { return static_cast<int>(threadIdx.x) % (32 * parts); }
  /// Where this lane's first chunk of a row is; the other one is in the other half. Neighbouring places begin
  /// with different halves, that is, chunks in the order of the lanes.
  __device__ static std::uint32_t first_chunk() {
    return static_cast<std::uint32_t>(lane_of_slice() % (4 * parts) * 16);
  }
  __device__ void load_values(Quad& to) const {
#pragma unroll
    for (int k = 0; k < steps; ++k)
      if (k < to.quad.steps()) to.factors[k] = stream(values_ + k * slice);
  }
  /// Adds `here`, and begins to read the values of the next quad and the one after it; whether the stage
  /// ends.
  __device__ bool turn(Quad& here, Quad& next, std::uint32_t x, std::uint32_t y) {
    const CsbQuad quad = here.quad;
    here.quad = stream(quads_ + 2 * slice);
    const int count = quad.steps();
    values_ += count * slice;
    quads_ += slice;
    load_values(next);
    if constexpr (ahead > 0) {
      prefetch(values_ + ahead + lane_of_slice() * 16 / (parts * static_cast<int>(sizeof(V))));
      prefetch(quads_ + ahead / steps);
    }
    const std::uint32_t begin = x + first_chunk();
    if (count == steps) {
#pragma unroll
      for (int k = 0; k < steps; k += together) add_steps<together>(begin, quad, k, here.factors);
    } else {
      if (count > 1) add_steps<2>(begin, quad, 0, here.factors);
      if (count == 3) add_steps<1>(begin, quad, 2, here.factors);
      if (count == 1) add_steps<1>(begin, quad, 0, here.factors);
    }
    if (quad.last()) add_to(y, quad.row());
    return quad.end_of_stage();
  }
  template <int number>
  __device__ void add_steps(std::uint32_t begin, const CsbQuad& quad, int first, const V (&factors)[steps]) {
    T row[number][own][each];
#pragma unroll
    for (int k = 0; k < number; ++k) {
      const std::uint32_t slot = begin + quad.slot(first + k) * (64 * parts);
#pragma unroll
      for (int i = 0; i < own; ++i) load_shared(slot ^ (half_row * i), row[k][i]);
    }
    __syncwarp();  // or else the compiler reads a step's rows when it has added those of the one before
#pragma unroll
    for (int k = 0; k < number; ++k)
#pragma unroll
      for (int i = 0; i < own; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j) sum_[i][j] = fma(T(factors[first + k]), row[k][i][j], sum_[i][j]);
  }
  /// The sums of a run that ends; the next one's begin with zero.
  __device__ void add_to(std::uint32_t y, std::uint32_t row) {
    const std::uint32_t begin = y + first_chunk() + row * (64 * parts);
#pragma unroll
    for (int i = 0; i < own; ++i) add_to_shared(begin ^ (half_row * i), sum_[i]);
  }

  const CsbQuad* quads_;
  const V* values_;
  Quad a_, b_;
  T sum_[own][each] = {};
};

/// The strip's rows of Y, from shared memory.
template <class T, int parts>
__device__ void store_strip(const StripProduct<T>& product, const CsbStrip& strip, const std::uint32_t* rows,
                            const T* sums) {
  constexpr int width = 64 * parts / static_cast<int>(sizeof(T));
  T* const y = product.y[strip.side];
  const std::int64_t ldy = product.ldy[strip.side];
  const bool overwrite = product.overwrite[strip.side];
  const int most = product.m > product.cleared[strip.side] ? product.m : product.cleared[strip.side];
  for (int e = static_cast<int>(threadIdx.x); e < strip.rows * width; e += strip_threads<parts>) {
    const int row = e / width;
    T* const to = y + rows[row] * ldy;
    for (int column = e % width; column < most; column += width)
      if (column < product.m)
        to[column] = overwrite ? sums[e] : to[column] + sums[e];
      else
        to[column] = T(0);
  }
}

template <class V, class T, int parts, bool vector>
__global__ void __launch_bounds__(strip_threads<parts>, parts == 1 ? 2 : 1)
    strip_kernel(const __grid_constant__ StripProduct<T> product) {
  constexpr std::uint32_t stage_bytes = StageMemory<parts>::stage_bytes;
  extern __shared__ __align__(128) char memory[];
  const auto& header = *reinterpret_cast<const CsbIndexHeader*>(product.index);
  const std::int64_t number = product.first_strip + blockIdx.x;
  const CsbStrip strip = part_of_index<CsbStrip>(product.index, header.strips_offset)[number];
  if (strip.stages == 0 && !product.overwrite[strip.side]) return;

  // Sums and slots 0 begin as zeros.
  T* const sums = reinterpret_cast<T*>(memory);
  const int sum_bytes = (product.strip_rows + static_cast<int>(csb_slice_rows)) * 64 * parts;
  for (int b = static_cast<int>(threadIdx.x) * 16; b < sum_bytes; b += strip_threads<parts> * 16)
    *reinterpret_cast<float4*>(memory + b) = {};
  char* const stages = memory + sum_bytes;
  if (threadIdx.x < 8 * parts)
    *reinterpret_cast<float4*>(stages + threadIdx.x / (4 * parts) * stage_bytes +
                               threadIdx.x % (4 * parts) * 16) = {};

  if (strip.stages > 0) {
    const auto x = static_cast<std::uint32_t>(__cvta_generic_to_shared(stages)),
               y = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
    StageCopies<T, parts, vector> copies(
        product.x[strip.side], product.ldx[strip.side], product.m,
        part_of_index<CsbStage>(product.index, header.stages_offset) + strip.first_stage, strip.stages,
        part_of_index<std::uint32_t>(product.index, header.x_offset), {x});
    const CsbWarpStart start = part_of_index<CsbWarpStart>(
        product.index, header.starts_offset)[number * csb_strip_warps + threadIdx.x / (32 * parts)];
    const std::int64_t place = threadIdx.x % (32 * parts) / (2 * parts);
    RunSums<V, T, parts> warp(
        part_of_index<CsbQuad>(product.index, header.quads_offset) + start.quad * csb_slice_rows + place,
        part_of_index<V>(product.index, header.values_offset) + start.step * csb_slice_rows + place);
    warp.add_stages(strip.stages, y, copies);
  }
  __syncthreads();
  store_strip<T, parts>(product, strip,
                        part_of_index<std::uint32_t>(product.index, header.rows_offset) + strip.first_row,
                        sums);
}

}  // namespace tessera::device
