// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/common/device_shared.cuh>
#include <tessera/codelets/common/store.hpp>
#include <tessera/codelets/sparse/csb_index.hpp>
#include <tessera/types.hpp>

/// The product of a piece of a half-stored CSB matrix, or its transpose, with some vectors: one thread block
/// for each strip of a pass of the index (csb_index.hpp).
///
/// Some warps do nothing but copy rows of X to shared memory, stage by stage. In the other warps two
/// neighbouring lanes take a run of a slice, each half of the row's 16-byte chunks: the sums of a run stay in
/// registers and are added to the strip's rows of Y in shared memory where the run ends. A row has one run in
/// a stage, and the sums of a stage are added after those of all stages before, so every sum has one fixed
/// order. There is no barrier for all warps: two stages have different slots, and a warp may begin the next
/// stage while others are in this one. Quads are read two ahead and values one quad ahead, once each, past
/// the first-level cache.
///
/// Shared memory, in bytes a row: 64 parts for X and Y, with 8 parts double or 16 parts float columns. In a
/// wavefront the lanes of 4 runs read 32 bytes of a row each, different ones for neighbouring places. Rows of
/// two parts fill all banks, so these never conflict; with one part rows of even and of odd slots lie in
/// different banks.
///
/// T is the real type of the vectors: complex ones are twice as many real columns, and V is the device's complex type.
namespace tessera::detail::device {

/// Warps that copy the rows of X, behind the csb_strip_warps others. Fewer could not keep up with these, and
/// more would take registers: with one part there are two thread blocks a multiprocessor.
template <int parts>
constexpr int copy_warps = 2 * parts;
template <int parts>
constexpr int strip_threads = 32 * (static_cast<int>(csb_strip_warps) + copy_warps<parts>);

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
  Store store[2];
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
__device__ inline Complex<double> stream(const Complex<double>* p) {
  Complex<double> value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.f64 {%0, %1}, [%2];"
               : "=d"(value.re), "=d"(value.im)
               : "l"(p));
  return value;
}
__device__ inline Complex<float> stream(const Complex<float>* p) {
  Complex<float> value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.f32 {%0, %1}, [%2];"
               : "=f"(value.re), "=f"(value.im)
               : "l"(p));
  return value;
}
__device__ inline CsbQuad stream(const CsbQuad* p) {
  std::uint32_t low, high;
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%0, %1}, [%2];"
               : "=r"(low), "=r"(high)
               : "l"(p));
  return {low, high};
}

/// Prefetches data that the warp needs some steps later into the second-level cache.
__device__ inline void prefetch(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
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
/// sum += factor row.
template <class V, class T, int each>
__device__ inline void add_product(V factor, const T (&row)[each], T (&sum)[each]) {
#pragma unroll
  for (int j = 0; j < each; ++j) sum[j] = fma(T(factor), row[j], sum[j]);
}
/// Of complex numbers, whose real and imaginary parts stand next to each other.
template <class P, class T, int each>
__device__ inline void add_product(Complex<P> factor, const T (&row)[each], T (&sum)[each]) {
  const T re = T(factor.re), im = T(factor.im);
#pragma unroll
  for (int j = 0; j < each; j += 2) {
    sum[j] = fma(re, row[j], fma(-im, row[j + 1], sum[j]));
    sum[j + 1] = fma(re, row[j + 1], fma(im, row[j], sum[j + 1]));
  }
}

/// Addresses in shared memory: for each of two stages the slots, a barrier that completes when the rows of X
/// have arrived, and one that completes when all warps have used them.
template <int parts>
struct StageMemory {
  static constexpr std::uint32_t slot_bytes = 64 * parts,
                                 stage_bytes = static_cast<std::uint32_t>(csb_stage_slots) * slot_bytes,
                                 total = 2 * stage_bytes + 4 * sizeof(std::uint64_t);
  std::uint32_t begin;
  __device__ std::uint32_t slots(std::uint32_t stage) const { return begin + (stage & 1) * stage_bytes; }
  __device__ std::uint32_t full(std::uint32_t stage) const {
    return begin + 2 * stage_bytes + (stage & 1) * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  }
  __device__ std::uint32_t done(std::uint32_t stage) const {
    return full(stage) + 2 * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  }
  /// For every second stage one after the other.
  __device__ static std::uint32_t parity(std::uint32_t stage) { return stage >> 1 & 1; }
};

/// Bytes of shared memory: the strip's rows of Y, those of runs that only fill up slices, and the stages.
template <int parts>
constexpr std::size_t strip_shared_bytes(std::int64_t strip_rows) {
  return static_cast<std::size_t>(64 * parts * (strip_rows + csb_slice_rows) + StageMemory<parts>::total);
}

/// The work of the copy warps: they copy the rows of X one stage ahead.
template <class T, int parts, bool vector>
class StageCopies {
 public:
  __device__ StageCopies(const T* x, std::int64_t ldx, int m, const CsbStage* stages, std::uint32_t count,
                         const std::uint32_t* rows, StageMemory<parts> memory)
      : x_(x), ldx_(ldx), m_(m), stages_(stages), count_(count), rows_(rows), memory_(memory) {}

  __device__ void copy_all() const {
    CsbStage place = load(stages_);
    for (std::uint32_t stage = 0; stage < count_; ++stage) {
      // While the slots are still in use.
      std::uint32_t rows[max_rows];
#pragma unroll
      for (int k = 0; k < max_rows; ++k) {
        const std::uint32_t number = first_row() + rows_at_once * k + lane();
        rows[k] = number < place.count ? load(rows_ + place.first + number) : 0;
      }
      const std::uint32_t count = place.count;
      if (stage + 1 < count_) place = load(stages_ + stage + 1);
      if (stage >= 2) barrier_wait(memory_.done(stage), memory_.parity(stage - 2));
      copy_stage(stage, count, rows);
      barrier_arrive_when_copied(memory_.full(stage));
    }
  }

 private:
  static constexpr int rows_at_once = 32 * copy_warps<parts>,
                       max_rows = (static_cast<int>(csb_stage_slots) + rows_at_once - 2) / rows_at_once;

  __device__ static std::uint32_t lane() {
    return threadIdx.x % 32;
  }
  /// The row of a stage that this warp copies first.
  __device__ static std::uint32_t first_row() {
    return threadIdx.x / 32 * 32 - static_cast<std::uint32_t>(32 * csb_strip_warps);
  }
  /// Loads that the compiler does not move: it would move them behind the barrier, into the chain of loads
  /// that the copies wait for.
  __device__ static std::uint32_t load(const std::uint32_t* p) {
    std::uint32_t value;
    asm volatile("ld.relaxed.cta.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
  }
  __device__ static CsbStage load(const CsbStage* p) {
    return {load(&p->first), load(&p->count)};
  }
  __device__ void copy_stage(std::uint32_t stage, std::uint32_t count,
                             const std::uint32_t (&rows)[max_rows]) const {
    constexpr int size = vector ? 16 : sizeof(T), each = size / sizeof(T), chunks = 64 * parts / size,
                  at_once = 32 / chunks;
    const int column = static_cast<int>(lane()) % chunks * each,
              left = (m_ - column) * static_cast<int>(sizeof(T)),
              bytes = left < 0      ? 0
                      : left < size ? left
                                    : size;
    const T* const x = x_ + (left > 0 ? column : 0);
    const std::uint32_t to = memory_.slots(stage) + StageMemory<parts>::slot_bytes +
                             static_cast<std::uint32_t>(column) * static_cast<std::uint32_t>(sizeof(T));
#pragma unroll
    for (int k = 0; k < max_rows; ++k)
#pragma unroll(vector ? chunks : 1)
      for (int j = 0; j < chunks; ++j) {
        const std::uint32_t source = j * at_once + lane() / chunks,
                            number = first_row() + rows_at_once * k + source,
                            row = __shfl_sync(~0u, rows[k], static_cast<int>(source));
        if (number < count)
          thread_copy<size>(to + number * StageMemory<parts>::slot_bytes, x + row * ldx_, bytes);
      }
  }

  const T* const x_;
  const std::int64_t ldx_;
  const int m_;
  const CsbStage* const stages_;
  const std::uint32_t count_;
  const std::uint32_t* const rows_;
  const StageMemory<parts> memory_;
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
  __device__ void add_stages(std::uint32_t stages, std::uint32_t y, const StageMemory<parts>& memory) {
    std::uint32_t stage = 0;
    barrier_wait(memory.full(0), 0);
    // The two quads alternate, so that no pending load has to be moved to another register.
    while (true) {
      if (turn(a_, b_, stage, y, memory) && next(stage, stages, memory)) return;
      if (turn(b_, a_, stage, y, memory) && next(stage, stages, memory)) return;
    }
  }

 private:
  static constexpr int each = 16 / sizeof(T), own = 2 * parts, steps = static_cast<int>(csb_quad_steps),
                       slice = static_cast<int>(csb_slice_rows);
  /// Steps whose rows of X are read before they are used.
  static constexpr int together = 2;
  /// Distance in values of the prefetches; 0: none. With two thread blocks a multiprocessor one computes
  /// while the other waits, and prefetches would only load the second cache.
  static constexpr int ahead = parts == 2 ? 4 * steps * slice : 0;

  struct Quad {
    CsbQuad quad;
    V factors[steps];
  };

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  /// Ends a stage; true if it was the last one. (One lane arrives for its warp. The tool racecheck does not
  /// understand that and reports hazards; it reports none if all lanes arrive.)
  __device__ static bool next(std::uint32_t& stage, std::uint32_t stages, const StageMemory<parts>& memory) {
    __syncwarp();
    if (lane() == 0) barrier_arrive(memory.done(stage));
    if (++stage == stages) return true;
    barrier_wait(memory.full(stage), memory.parity(stage));
    return false;
  }
  /// Offset of this lane's first chunk of a row; its other chunks are found by flipping the bits from 32
  /// bytes on. Neighbouring places begin with different chunks, in the order of the lanes.
  __device__ static std::uint32_t first_chunk() {
    return static_cast<std::uint32_t>(lane() % (4 * parts) * 16);
  }
  __device__ void load_values(Quad& to) const {
#pragma unroll
    for (int k = 0; k < steps; ++k)
      if (k < to.quad.steps()) to.factors[k] = stream(values_ + k * slice);
  }
  /// Adds `here`, and begins to read the values of the next quad and the one after it. True if the stage
  /// ends.
  __device__ bool turn(Quad& here, Quad& next, std::uint32_t stage, std::uint32_t y,
                       const StageMemory<parts>& memory) {
    const CsbQuad quad = here.quad;
    here.quad = stream(quads_ + 2 * slice);
    const int count = quad.steps();
    values_ += count * slice;
    quads_ += slice;
    load_values(next);
    if constexpr (ahead > 0) {
      prefetch(values_ + ahead + lane() * 16 / static_cast<int>(sizeof(V)));
      prefetch(quads_ + ahead / steps);
    }
    const std::uint32_t begin = memory.slots(stage) + first_chunk();
    if (count == steps) {
#pragma unroll
      for (int k = 0; k < steps; k += together) add_steps<together>(begin, quad, k, here.factors);
    } else {
      if (count > 1) add_steps<2>(begin, quad, 0, here.factors);
      if (count == 3) add_steps<1>(begin, quad, 2, here.factors);
      if (count == 1) add_steps<1>(begin, quad, 0, here.factors);
    }
    if (quad.last()) {
      // Other warps may still add the sums of the stage before to the same rows.
      if (stage > 0) barrier_wait(memory.done(stage - 1), memory.parity(stage - 1));
      add_to(y, quad.row());
    }
    return quad.end_of_stage();
  }
  template <int number>
  __device__ void add_steps(std::uint32_t begin, const CsbQuad& quad, int first, const V (&factors)[steps]) {
    T row[number][own][each];
#pragma unroll
    for (int k = 0; k < number; ++k) {
      const std::uint32_t slot = begin + quad.slot(first + k) * (64 * parts);
#pragma unroll
      for (int i = 0; i < own; ++i) load_shared(slot ^ (32 * i), row[k][i]);
    }
    __syncwarp();  // keeps the compiler from reading a step's rows only after the sums of the step before
#pragma unroll
    for (int k = 0; k < number; ++k)
#pragma unroll
      for (int i = 0; i < own; ++i) add_product(factors[first + k], row[k][i], sum_[i]);
  }
  /// The sums of a run that ends; the next one's begin with zero.
  __device__ void add_to(std::uint32_t y, std::uint32_t row) {
    const std::uint32_t begin = y + first_chunk() + row * (64 * parts);
#pragma unroll
    for (int i = 0; i < own; ++i) add_to_shared(begin ^ (32 * i), sum_[i]);
  }

  const CsbQuad* quads_;
  const V* values_;
  Quad a_, b_;
  T sum_[own][each] = {};
};

/// Stores the strip's rows of Y from shared memory. It reads the elements of a few steps before it writes
/// any, since otherwise each write would wait for its read.
template <class T, int parts>
__device__ void store_strip(const StripProduct<T>& product, const CsbStrip& strip, const std::uint32_t* rows,
                            const T* sums) {
  constexpr int width = 64 * parts / static_cast<int>(sizeof(T)), together = 8;
  T* const y = product.y[strip.side];
  const std::int64_t ldy = product.ldy[strip.side];
  const Store store = product.store[strip.side];
  const int count = strip.rows * width, column = static_cast<int>(threadIdx.x) % width;
  static_assert(strip_threads<parts> % width == 0);
  for (int first = static_cast<int>(threadIdx.x); first < count; first += together * strip_threads<parts>) {
    T* to[together];
    T before[together] = {};
#pragma unroll
    for (int k = 0; k < together; ++k) {
      const int e = first + k * strip_threads<parts>;
      to[k] = e < count ? y + rows[e / width] * ldy : nullptr;
    }
    if (store == Store::add && column < product.m)
#pragma unroll
      for (int k = 0; k < together; ++k)
        if (to[k] != nullptr) before[k] = to[k][column];
#pragma unroll
    for (int k = 0; k < together; ++k) {
      if (to[k] == nullptr) continue;
      if (column < product.m) to[k][column] = before[k] + sums[first + k * strip_threads<parts>];
      for (int zero = column < product.m ? column + width : column; zero < product.cleared[strip.side];
           zero += width)
        to[k][zero] = T(0);
    }
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
  if (strip.stages == 0 && product.store[strip.side] == Store::add) return;

  // Sums and slots 0 begin as zeros.
  T* const sums = reinterpret_cast<T*>(memory);
  const int sum_bytes = (product.strip_rows + static_cast<int>(csb_slice_rows)) * 64 * parts;
  for (int b = static_cast<int>(threadIdx.x) * 16; b < sum_bytes; b += strip_threads<parts> * 16)
    *reinterpret_cast<float4*>(memory + b) = {};
  char* const stages = memory + sum_bytes;
  if (threadIdx.x < 8 * parts)
    *reinterpret_cast<float4*>(stages + threadIdx.x / (4 * parts) * stage_bytes +
                               threadIdx.x % (4 * parts) * 16) = {};
  const StageMemory<parts> stage_memory{static_cast<std::uint32_t>(__cvta_generic_to_shared(stages))};
  if (threadIdx.x == 0) {
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
      barrier_init(stage_memory.full(stage), 32 * copy_warps<parts>);
      barrier_init(stage_memory.done(stage), csb_strip_warps);
    }
    barriers_ready();
  }
  __syncthreads();

  const unsigned warp_number = threadIdx.x / 32;
  if (strip.stages > 0 && warp_number >= csb_strip_warps) {
    const StageCopies<T, parts, vector> copies(
        product.x[strip.side], product.ldx[strip.side], product.m,
        part_of_index<CsbStage>(product.index, header.stages_offset) + strip.first_stage, strip.stages,
        part_of_index<std::uint32_t>(product.index, header.x_offset), stage_memory);
    copies.copy_all();
  } else if (strip.stages > 0) {
    const CsbWarpStart start = part_of_index<CsbWarpStart>(
        product.index, header.starts_offset)[number * csb_strip_warps + warp_number];
    const std::int64_t place = threadIdx.x % 32 / 2;
    RunSums<V, T, parts> warp(
        part_of_index<CsbQuad>(product.index, header.quads_offset) + start.quad * csb_slice_rows + place,
        part_of_index<V>(product.index, header.values_offset) + start.step * csb_slice_rows + place);
    warp.add_stages(strip.stages, static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)), stage_memory);
  }
  __syncthreads();
  store_strip<T, parts>(product, strip,
                        part_of_index<std::uint32_t>(product.index, header.rows_offset) + strip.first_row,
                        sums);
}

}  // namespace tessera::detail::device
