// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/product/kernels/stack_copies.cuh>
#include <tessera/codelets/block_sparse/product/kernels/stack_float.cuh>
#include <tessera/codelets/block_sparse/product/kernels/stack_instructions.cuh>
#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>
#include <tessera/codelets/block_sparse/product/kernels/stack_ring.cuh>
#include <tessera/codelets/linalg/stack_entry.hpp>

/// The kernel of a stack of products of one shape.
///
/// What bounds it: a product reads (m + n) k elements for 2 m n k operations, and C is read and written once
/// a run. If no block is used again, blocks of order b give b / 8 flops a byte in double precision. For small
/// b the memory and the second-level cache then carry far fewer flops than the tensor cores can do. The
/// kernel therefore
/// - keeps copies under way (stack_plan.hpp) and reads nothing twice: warps own a block of C, whose
///   sum is in registers;
/// - spends few instructions: all products are made by the tensor cores, in tiles of 8 x 8 with padding. Even
///   5 x 5 x 5, with two fifths of a tile used, takes fewer instructions than multiplications one by one;
/// - computes float by the tensor cores' TF32, each number as two (stack_float.cuh, with the error bound), and
///   copies it in 16 bytes where it can (stack_copies.cuh): half the bytes of double precision, and fewer
///   instructions of the tensor cores than float arithmetic would take of the others. 23 x 23 x 23 takes 45
///   tensor instructions, 36 reads and 108 instructions to split what was read; one by one it would be 414
///   multiplications and 207 reads;
/// - makes four real products of a complex one, as its inner dimension doubled. Three (Ar Br, Ai Bi and
///   (Ar + Ai)(Br + Bi)) would not be faster where blocks are small. In double precision a multiprocessor makes
///   128 multiplications and additions a cycle and gets about 24 to 30 bytes of scattered blocks: four products
///   of order b take b^3 / 32 cycles, their blocks 32 b^2 / 30. Up to order 34 the bytes are the bound. In
///   single precision the blocks of order 23 take 280 to 360 cycles, 180 tensor instructions of about 7 cycles
///   on four units 315; three products would save 45 of these but add 144 instructions to split sums, 36
///   additions and half as many sums in registers. And they have an error relative to |a| |b| only (N. J.
///   Higham, "Stability of a method for multiplying complex matrices with three real matrix multiplications",
///   SIAM J. Matrix Anal. Appl. 13, 1992), while four have one for the real and for the imaginary part.
///
/// Blocks are aligned as their elements only; nothing outside them is read. For compute capability 8.0 and later; made
/// for 9.0.
namespace tessera::detail::kernels {

namespace stack_detail {

/// A thread's part of C: in a tile of 8 x 8 its elements (row, 2 column) and (row, 2 column + 1), where row =
/// lane / 4, column = lane % 4.
template <class T, int TilesM, int TilesN>
struct Sum {
  using Number = double;
  static constexpr int count = TilesM * TilesN * 2 * planes<T>;
  double x[planes<T>][TilesM][TilesN][2] = {};

  __device__ double& at(int i) { return (&x[0][0][0][0])[i]; }
  // What sums in single precision need.
  __device__ void begin_chain() {}
  __device__ void end_chain() {}
  __device__ void finish() {}

  /// += A B for Steps (1 or 2) steps of four inner indices.
  template <int Steps>
  __device__ void multiply_add(const Fragment<T> (&a)[Steps][TilesM], const Fragment<T> (&b)[Steps][TilesN]) {
#pragma unroll
    for (int j = 0; j < TilesN; ++j)
#pragma unroll
      for (int i = 0; i < TilesM; i += 2) {
        const int next = i + 1 < TilesM ? i + 1 : i;
        if constexpr (planes<T> == 1) {
          if constexpr (Steps == 2) {
            if (next > i)
              mma_16x8x8(x[0][i][j], x[0][next][j], a[0][i].re, a[0][next].re, a[1][i].re, a[1][next].re,
                         b[0][j].re, b[1][j].re);
            else
              mma_8x8x4(x[0][i][j], a[0][i].re, b[0][j].re), mma_8x8x4(x[0][i][j], a[1][i].re, b[1][j].re);
          } else {
            if (next > i)
              mma_16x8x4(x[0][i][j], x[0][next][j], a[0][i].re, a[0][next].re, b[0][j].re);
            else
              mma_8x8x4(x[0][i][j], a[0][i].re, b[0][j].re);
          }
        } else {
#pragma unroll
          for (int s = 0; s < Steps; ++s) multiply_add_complex(i, next, j, a[s][i], a[s][next], b[s][j]);
        }
      }
  }

 private:
  /// Real and imaginary parts take the place of two inner indices.
  __device__ void multiply_add_complex(int i, int next, int j, const Fragment<T>& a, const Fragment<T>& a2,
                                       const Fragment<T>& b) {
    if (next > i) {
      mma_16x8x8(x[0][i][j], x[0][next][j], a.re, a2.re, -a.im, -a2.im, b.re, b.im);
      mma_16x8x8(x[1][i][j], x[1][next][j], a.re, a2.re, a.im, a2.im, b.im, b.re);
    } else {
      mma_8x8x4(x[0][i][j], a.re, b.re), mma_8x8x4(x[0][i][j], -a.im, b.im);
      mma_8x8x4(x[1][i][j], a.re, b.im), mma_8x8x4(x[1][i][j], a.im, b.re);
    }
  }
};

/// This thread's elements of C (M x N) in tiles that begin at (row, column): zero, or read early; and written.
template <class T, int M, int N, int TilesM, int TilesN>
struct Elements {
  T x[TilesM][TilesN][2] = {};
  int row, column;

  __device__ Elements(int tile_row, int tile_column)
      : row(tile_row + threadIdx.x % 32 / 4), column(tile_column + threadIdx.x % 4 * 2) {}

  template <class F>
  __device__ void for_each(const F& f) {
#pragma unroll
    for (int j = 0; j < TilesN; ++j)
#pragma unroll
      for (int i = 0; i < TilesM; ++i)
#pragma unroll
        for (int l = 0; l < 2; ++l)
          if (row + 8 * i < M && column + 8 * j + l < N)
            f(x[i][j][l], row + 8 * i + (column + 8 * j + l) * M, i, j, l);
  }
  __device__ void read(const T* c) {
    for_each([&](T& element, int at, int, int, int) { element = c[at]; });
  }
  __device__ void add_and_write(const Sum<T, TilesM, TilesN>& sum, T* c) {
    for_each([&](const T& element, int at, int i, int j, int l) {
      const Fragment<T> was(element);
      if constexpr (planes<T> == 1)
        c[at] = T(was.re + sum.x[0][i][j][l]);
      else
        c[at] = T(was.re + sum.x[0][i][j][l], was.im + sum.x[1][i][j][l]);
    });
  }
};

/// An element of C by plain multiplications and additions, one product after the other.
template <class T, int M, int K>
__device__ T plain_sum(const StackRun& run, const StackEntry* list, const StackFactors<T>& factors, int row,
                       int column) {
  T sum{};
#pragma unroll 1
  for (int e = 0; e < run.count; ++e) {
    const StackEntry entry = list[e];
    const T *const left = factors.a[entry.panel] + entry.a + row, *const right = factors.b[entry.panel] +
                                                                                 entry.b + column * K;
#pragma unroll 1
    for (int k = 0; k < K; ++k) {
      const T x = left[k * M], y = right[k];
      if constexpr (planes<T> == 1)
        sum += x * y;
      else
        sum.re += x.re * y.re - x.im * y.im, sum.im += x.re * y.im + x.im * y.re;
    }
  }
  return sum;
}

/// C := sum + what `elements` has of it. In single precision, if an element of the thread's sum is infinite or
/// NaN (stack_float.cuh), its plain sum takes its place.
template <class T, int M, int N, int K, int TilesM, int TilesN>
__device__ void write_run(Elements<T, M, N, TilesM, TilesN>& elements, const Sum<T, TilesM, TilesN>& sum,
                          const StackRun& run, const StackEntry* list, const StackFactors<T>& factors, T* c,
                          bool add) {
  if constexpr (single_precision<T>)
    if (!sum.finite()) {
#pragma unroll 1
      for (int i = 0; i < TilesM * TilesN * 2; ++i) {
        const int row = elements.row + i / 2 % TilesM * 8,
                  column = elements.column + i / 2 / TilesM * 8 + i % 2;
        if (row >= M || column >= N) continue;
        const T more = plain_sum<T, M, K>(run, list, factors, row, column);
        T& element = c[row + column * M];
        if (!add) element = T{};
        if constexpr (planes<T> == 1)
          element += more;
        else
          element.re += more.re, element.im += more.im;
      }
      return;
    }
  elements.add_and_write(sum, c);
}

/// What a group of warps has of a run: the products part, part + parts, ...
struct Share {
  int part, parts;
};

/// The sums of parts 1, 2, ... are added to that of part 0, in this order. `warp` of `warps` counts the warps
/// of a part.
template <int Parts, class Sum>
__device__ void add_parts(Sum& sum, int part, int warp, int warps, typename Sum::Number* shared) {
  const int lane = threadIdx.x % 32;
  if (part > 0) {
    auto* const mine = shared + ((part - 1) * warps + warp) * Sum::count * 32 + lane;
#pragma unroll
    for (int i = 0; i < Sum::count; ++i) mine[i * 32] = sum.at(i);
  }
  __syncthreads();
  if (part > 0) return;
#pragma unroll
  for (int p = 1; p < Parts; ++p) {
    const auto* const other = shared + ((p - 1) * warps + warp) * Sum::count * 32 + lane;
#pragma unroll
    for (int i = 0; i < Sum::count; ++i) sum.at(i) += other[i * 32];
  }
}

/// Blocks of at most 8 x 8 or few tiles: a warp lays the inner dimensions of Plan.products products end to
/// end and loads their elements straight into the tensor cores' operands, all before the first use.
template <class T, int M, int N, int K, StackPlan Plan>
__device__ void multiply_direct(Share share, const StackRun& run, const StackEntry* list,
                                const StackFactors<T>& factors, T* c, bool add,
                                typename Sum<T, 1, 1>::Number* shared) {
  constexpr int products = Plan.products, tiles_m = Plan.tiles_m, tiles_n = Plan.tiles_n;
  // In single precision an instruction takes two steps.
  constexpr int together = single_precision<T> && planes<T> == 1 && products * K > 4 ? 2 : 1,
                steps = stack_ceil(products * K, 4 * together) * together;
  const int lane = threadIdx.x % 32, part = share.part, parts = share.parts;
  // Each of the first lanes holds an entry.
  auto entry_of_lane = [&](int first) {
    return lane < products && first + lane < run.count ? list[first + lane] : StackEntry(0, 0);
  };
  Elements<T, M, N, tiles_m, tiles_n> elements(0, 0);
  if (part == 0 && add) elements.read(c);
  Sum<T, tiles_m, tiles_n> sum;
  StackEntry mine = entry_of_lane(part * products);
#pragma unroll 1
  for (int first = part * products; first < run.count; first += parts * products) {
    Fragment<T> fa[steps / together][together][tiles_m], fb[steps / together][together][tiles_n];
    const T *const my_a = factors.a[mine.panel] + mine.a, *const my_b = factors.b[mine.panel] + mine.b;
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      const int inner = 4 * s + lane % 4, product = inner / K, k = inner - product * K;
      const T *const a = shuffle(my_a, product), *const b = shuffle(my_b, product);
      const bool valid = product < products && first + product < run.count;
#pragma unroll
      for (int i = 0; i < tiles_m; ++i) {
        const int row = 8 * i + lane / 4;
        fa[s / together][s % together][i] = valid && row < M ? Fragment<T>(a[row + k * M]) : Fragment<T>();
      }
#pragma unroll
      for (int j = 0; j < tiles_n; ++j) {
        const int column = 8 * j + lane / 4;
        fb[s / together][s % together][j] =
            valid && column < N ? Fragment<T>(b[k + column * K]) : Fragment<T>();
      }
    }
    mine = entry_of_lane(first + parts * products);
    sum.begin_chain();
#pragma unroll
    for (int s = 0; s < steps; s += together)
      sum.template multiply_add<together>(fa[s / together], fb[s / together]);
    sum.end_chain();
  }
  sum.finish();
  if (parts > 1) add_parts<Plan.parts>(sum, part, 0, 1, shared);
  if (part == 0) write_run<T, M, N, K>(elements, sum, run, list, factors, c, add);
}

/// The same for one tile in single precision, without an exchange between threads: those of equal lane % 4 = l
/// have the products l, l + 4, ... of Plan.products, whose inner dimensions are theirs, end to end. So a thread
/// computes the addresses of its own products alone, and reads at constant distances from them.
template <class T, int M, int N, int K, StackPlan Plan>
__device__ void multiply_lanes(Share share, const StackRun& run, const StackEntry* list,
                               const StackFactors<T>& factors, T* c, bool add,
                               typename Sum<T, 1, 1>::Number* shared) {
  constexpr int products = Plan.products, each = products / 4, steps = each * K,
                together = planes<T> == 1 ? 2 : 1;
  const int outer = int(threadIdx.x) % 32 / 4, inner = int(threadIdx.x) % 4, part = share.part,
            parts = share.parts;
  // Rows and columns beyond the block's end are its last one.
  const unsigned row = unsigned(stack_min(outer, M - 1)), column = unsigned(stack_min(outer, N - 1) * K);
  Elements<T, M, N, 1, 1> elements(0, 0);
  if (part == 0 && add) elements.read(c);
  Sum<T, 1, 1> sum;
  PackedEntry mine[each];
  // In place of one beyond the last product that one is taken, of whose A nothing is read.
  auto read_entries = [&](int first) {
#pragma unroll
    for (int p = 0; p < each; ++p)
      mine[p] = PackedEntry(list + stack_min(first + 4 * p + inner, run.count - 1));
  };
  if (part * products < run.count) read_entries(part * products);
#pragma unroll 1
  for (int first = part * products; first < run.count;) {
    Fragment<T> a[steps][1], b[steps][1];
#pragma unroll
    for (int p = 0; p < each; ++p) {
      const unsigned panel = mine[p].panel();
      const T *const at_a = factors.a[panel] + (mine[p].a() + row), *const at_b = factors.b[panel] +
                                                                                  (mine[p].b() + column);
      const bool valid = first + 4 * p + inner < run.count;
#pragma unroll
      for (int k = 0; k < K; ++k) {
        a[p * K + k][0] = valid ? Fragment<T>(read_global(at_a + k * M)) : Fragment<T>();
        b[p * K + k][0] = Fragment<T>(read_global(at_b + k));
      }
    }
    first += parts * products;
    if (first < run.count) read_entries(first);
    sum.begin_chain();
#pragma unroll
    for (int s = 0; s < steps; s += together) {
      if constexpr (together == 2)
        if (s + 1 < steps) {
          const Fragment<T> two_a[2][1] = {{a[s][0]}, {a[s + 1][0]}},
                            two_b[2][1] = {{b[s][0]}, {b[s + 1][0]}};
          sum.template multiply_add<2>(two_a, two_b);
          continue;
        }
      const Fragment<T> one_a[1][1] = {{a[s][0]}}, one_b[1][1] = {{b[s][0]}};
      sum.template multiply_add<1>(one_a, one_b);
    }
    sum.end_chain();
  }
  sum.finish();
  if (parts > 1) add_parts<Plan.parts>(sum, part, 0, 1, shared);
  if (part == 0) write_run<T, M, N, K>(elements, sum, run, list, factors, c, add);
}

/// Larger blocks: each group of warps copies the blocks of its products into its own ring of buffers.
template <class T, int M, int N, int K, StackPlan Plan>
__device__ void multiply_staged(Share share, const StackRun& run, const StackEntry* list,
                                const StackFactors<T>& factors, T* c, bool add, void* shared) {
  using Buffers = Ring<T, M, N, K, Plan>;
  constexpr int warps = Plan.warps_m * Plan.warps_n, stages = Plan.stages, parts = Plan.parts,
                slices = Buffers::slices;
  const int group = known<T>(threadIdx.x / (32 * warps)), thread = known<T>(threadIdx.x % (32 * warps)),
            warp = thread / 32;
  // Tiles beyond the block's end read its last row or column.
  const int tile_row = warp % Plan.warps_m * Plan.tiles_m * 8,
            tile_column = warp / Plan.warps_m * Plan.tiles_n * 8;
  Buffers ring(shared, group, thread, tile_row, tile_column);
  const int part = share.part, step = share.parts;

  // The product whose copies start next, and its slice.
  int product = part, slice = 0;
  const StackEntry* next = list + part;
  PackedEntry entry;
  if (product < run.count) entry = PackedEntry(next);
  auto start = [&](int stage) {
    ring.advance();
    if (product < run.count) {
      ring.start(stage, slice, factors, entry);
      if (slices == 1 || ++slice == slices) {
        slice = 0, product += step, next += step;
        if (product < run.count) entry = PackedEntry(next);
      }
    }
    copy_commit();
  };
#pragma unroll 1
  for (int stage = 0; stage + 1 < stages; ++stage) start(stage);
  if (add) {
    constexpr int lines = stack_ceil(M * N * int(sizeof(T)), 128);
#pragma unroll
    for (int line = 0; line < lines; line += 32 * warps)
      if (line + thread < lines) prefetch(reinterpret_cast<const char*>(c) + (line + thread) * 128);
  }

  Sum<T, Plan.tiles_m, Plan.tiles_n> sum;
  int stage = 0, free_stage = stages - 1, at_slice = 0;
#pragma unroll 1
  for (int at_product = part; at_product < run.count;) {
    copy_wait<stages - 2>();
    synchronize<32 * warps, parts>(group);
    start(free_stage);
    ring.multiply(sum, stage, at_slice);
    free_stage = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
    if (slices == 1 || ++at_slice == slices) at_slice = 0, at_product += step;
  }
  sum.finish();
  if (parts > 1 && step > 1) {
    copy_wait<0>();
    __syncthreads();
    add_parts<parts>(sum, part, warp, warps, static_cast<typename decltype(sum)::Number*>(shared));
  }
  if (part > 0) return;
  Elements<T, M, N, Plan.tiles_m, Plan.tiles_n> elements(tile_row, tile_column);
  if (add) elements.read(c);
  write_run<T, M, N, K>(elements, sum, run, list, factors, c, add);
}

template <class T, int M, int N, int K, StackPlan Plan>
__device__ void multiply_stack(const StackRun* runs, int run_count, const StackEntry* entries,
                               const StackFactors<T>& factors, T* c, bool add, StackOrder order) {
  extern __shared__ double2 stack_shared[];
  const int group = int(threadIdx.x) / (Plan.threads / Plan.parts);
  const int number = order.together ? int(blockIdx.x) : int(blockIdx.x) * Plan.parts + group;
  const Share share = order.together ? Share{group, Plan.parts} : Share{0, 1};
  if (number >= run_count) return;
  const StackRun run = runs[place_of_run(number, run_count, order.per_row)];
  needed(run.first), needed(run.c);  // read with the count, not after it
  if (run.count == 0 && add) return;
  if constexpr (Plan.staged)
    multiply_staged<T, M, N, K, Plan>(share, run, entries + run.first, factors, c + run.c, add, stack_shared);
  else if constexpr (single_precision<T> && stack_by_lanes(Plan, K))
    multiply_lanes<T, M, N, K, Plan>(share, run, entries + run.first, factors, c + run.c, add,
                                     reinterpret_cast<typename Sum<T, 1, 1>::Number*>(stack_shared));
  else
    multiply_direct<T, M, N, K, Plan>(share, run, entries + run.first, factors, c + run.c, add,
                                      reinterpret_cast<typename Sum<T, 1, 1>::Number*>(stack_shared));
}

template <class T, int M, int N, int K>
inline constexpr StackPlan plan_of = stack_plan(sizeof(T), planes<T> == 2, M, N, K);

}  // namespace stack_detail

/// C_r := sum_e A_e B_e + C_r (without `add`: + 0; C is not read then) for the runs r < run_count and their
/// entries e, in a fixed order that depends on the shape, the plan and order.together. C_r: M x N at c +
/// runs[r].c; A_e: M x K at entries[e].a of its panel; B_e: K x N at entries[e].b; column-major without gaps,
/// aligned as T. No two runs have the same C. Launch: as the plan says, a thread block for each run or, without
/// order.together, for each Plan.parts of them.
template <class T, int M, int N, int K, StackPlan Plan = stack_detail::plan_of<T, M, N, K>>
__global__ void __launch_bounds__(Plan.threads, Plan.blocks_per_multiprocessor)
    multiply_stack_kernel(const StackRun* __restrict__ runs, int run_count,
                          const StackEntry* __restrict__ entries,
                          const __grid_constant__ StackFactors<T> factors, T* __restrict__ c, bool add,
                          StackOrder order) {
  stack_detail::multiply_stack<T, M, N, K, Plan>(runs, run_count, entries, factors, c, add, order);
}

}  // namespace tessera::detail::kernels
