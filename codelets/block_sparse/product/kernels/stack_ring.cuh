// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/product/kernels/stack_copies.cuh>
#include <tessera/codelets/block_sparse/product/kernels/stack_instructions.cuh>
#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>
#include <tessera/codelets/linalg/stack_entry.hpp>

/// A group's ring of buffers in shared memory, for the kernel of stack_kernel.cuh: blocks are copied into it and
/// multiplied from there. In single precision a product takes half the time, so that what is not arithmetic
/// weighs twice: there a thread keeps the addresses of what it reads as numbers of bytes, to which only where
/// the product's blocks begin is added.
namespace tessera::detail::kernels::stack_detail {

/// x; in single precision the compiler is kept from computing it anew for every product.
template <class T>
__device__ int known(int x) {
  return single_precision<T> ? int(opaque(unsigned(x))) : x;
}

/// A buffer has one product's A(:, k...) and B(k..., :), or all of them. In single precision a block may begin up
/// to 12 bytes behind the place for it, as far as in global memory behind a multiple of 16 bytes: most of it is
/// then copied in 16 bytes at once.
template <class T, int M, int N, int K, StackPlan Plan>
struct BufferShape {
  static constexpr StackElement element{sizeof(T), planes<T> == 2};
  static constexpr int slices = stack_ceil(K, Plan.slice), last = K - (slices - 1) * Plan.slice;
  static constexpr int lda = stack_leading_dimension_a(element, M),
                       ldb = stack_leading_dimension_b(element, Plan.slice),
                       spacing = stack_spacing(sizeof(T), lda, ldb);
  static constexpr int size_a = stack_place(element, lda*Plan.slice),
                       size = size_a + stack_place(element, ldb*N);
  static constexpr int threads = 32 * Plan.warps_m * Plan.warps_n;

  /// The inner indices that a thread takes at a step: first + distance * (lane % 4).
  template <int Inner, int Step>
  struct Indices {
    static constexpr int group = 4 * spacing * (Step / spacing), left = (Inner - group + 3) / 4;
    static constexpr int distance = left < spacing ? left : spacing, first = group + Step % spacing;
    static constexpr bool all = first + 3 * distance < Inner;
  };

  /// Starts the copies of a slice of blocks a and b; `behind` gets how many bytes behind their places they are.
  static __device__ void start_slice(int thread, int slice, const T* a, const T* b, unsigned to,
                                     unsigned (&behind)[2]) {
    if (last < Plan.slice && slice == slices - 1)
      start<last>(thread, (slices - 1) * Plan.slice, a, b, to, behind);
    else
      start<Plan.slice>(thread, slices == 1 ? 0 : slice * Plan.slice, a, b, to, behind);
  }

 private:
  template <int Inner>
  static __device__ void start(int thread, int k, const T* a, const T* b, unsigned to,
                               unsigned (&behind)[2]) {
    using Copying = Copies<T, threads>;
    behind[0] = Copying::template copy<M, Inner, M, lda>(thread, a + k * M, to);
    behind[1] = Copying::template copy<Inner, N, K, ldb>(thread, b + k, to + size_a * unsigned(sizeof(T)));
  }
};

/// Copies for `stage` are started after advance(), and stages are multiplied in the order in which they were
/// started.
template <class T, int M, int N, int K, StackPlan Plan, bool single = single_precision<T>>
class Ring : public BufferShape<T, M, N, K, Plan> {
  using Shape = BufferShape<T, M, N, K, Plan>;

 public:
  __device__ Ring(void* shared, int group, int thread, int tile_row, int tile_column)
      : buffers_(static_cast<T*>(shared) + group * Plan.stages * Shape::size),
        thread_(thread),
        inner_(thread % 4) {
    const int outer = thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < Plan.tiles_m; ++i) rows_[i] = stack_min(tile_row + 8 * i + outer, M - 1);
#pragma unroll
    for (int j = 0; j < Plan.tiles_n; ++j)
      columns_[j] = stack_min(tile_column + 8 * j + outer, N - 1) * Shape::ldb + Shape::size_a;
  }
  __device__ void advance() {}
  __device__ void start(int stage, int slice, const StackFactors<T>& factors, const PackedEntry& entry) {
    unsigned behind[2];
    Shape::start_slice(thread_, slice, factors.a[entry.panel()] + entry.a(),
                       factors.b[entry.panel()] + entry.b(), shared_address(buffers_ + stage * Shape::size),
                       behind);
  }
  /// sum += the slice's product.
  template <class Sum>
  __device__ void multiply(Sum& sum, int stage, int slice) const {
    const T* const buffer = buffers_ + stage * Shape::size;
    if (Shape::last < Plan.slice && slice == Shape::slices - 1)
      multiply_steps<Shape::last, 0>(sum, buffer);
    else
      multiply_steps<Plan.slice, 0>(sum, buffer);
  }

 private:
  template <int Inner, int Step, class Sum>
  __device__ void multiply_steps(Sum& sum, const T* buffer) const {
    constexpr int steps = (Inner + 3) / 4;
    constexpr bool two = planes<T> == 1 && Step + 1 < steps;
    Fragment<T> a[two ? 2 : 1][Plan.tiles_m], b[two ? 2 : 1][Plan.tiles_n];
    load<Inner, Step>(buffer, a[0], b[0]);
    if constexpr (two) load<Inner, Step + 1>(buffer, a[1], b[1]);
    sum.template multiply_add<two ? 2 : 1>(a, b);
    if constexpr (Step + (two ? 2 : 1) < steps) multiply_steps<Inner, Step + (two ? 2 : 1)>(sum, buffer);
  }
  template <int Inner, int Step>
  __device__ void load(const T* buffer, Fragment<T> (&a)[Plan.tiles_m],
                       Fragment<T> (&b)[Plan.tiles_n]) const {
    using At = typename Shape::template Indices<Inner, Step>;
    const int k = At::first + At::distance * inner_;
    const bool valid = At::all || k < Inner;
#pragma unroll
    for (int i = 0; i < Plan.tiles_m; ++i)
      a[i] = valid ? Fragment<T>(buffer[rows_[i] + k * Shape::lda]) : Fragment<T>();
#pragma unroll
    for (int j = 0; j < Plan.tiles_n; ++j)
      b[j] = valid ? Fragment<T>(buffer[columns_[j] + k]) : Fragment<T>();
  }

  T* const buffers_;
  const int thread_, inner_;
  int rows_[Plan.tiles_m], columns_[Plan.tiles_n];
};

template <class T, int M, int N, int K, StackPlan Plan>
class Ring<T, M, N, K, Plan, true> : public BufferShape<T, M, N, K, Plan> {
  using Shape = BufferShape<T, M, N, K, Plan>;
  static constexpr unsigned bytes = sizeof(T), size = Shape::size * bytes;
  using Halves = HalfWarpCopies<T, M * K, K * N, Shape::size_a>;
  static constexpr bool in_halves =
      Shape::threads == 32 && Shape::slices == 1 && Shape::lda == M && Shape::ldb == K && Halves::worthwhile;
  static constexpr int distance = Shape::template Indices<Plan.slice, 0>::distance;

 public:
  __device__ Ring(void* shared, int group, int thread, int tile_row, int tile_column)
      : thread_(thread),
        halves_(thread),
        begin_(first_place(shared_address(shared) + group * (Plan.stages * size))),
        to_(begin_),
        inner_(opaque(unsigned(thread % 4))) {
    const int outer = thread % 32 / 4, inner = thread % 4;
#pragma unroll
    for (int i = 0; i < Plan.tiles_m; ++i)
      rows_[i] = opaque(bytes *
                        unsigned(stack_min(tile_row + 8 * i + outer, M - 1) + distance * Shape::lda * inner));
#pragma unroll
    for (int j = 0; j < Plan.tiles_n; ++j)
      columns_[j] = opaque(
          bytes * unsigned(stack_min(tile_column + 8 * j + outer, N - 1) * Shape::ldb + distance * inner));
  }
  __device__ void advance() {
    now_ = under_way_[0];
#pragma unroll
    for (int i = 0; i + 2 < Plan.stages; ++i) under_way_[i] = under_way_[i + 1];
  }
  __device__ void start(int, int slice, const StackFactors<T>& factors, const PackedEntry& entry) {
    Begin& begin = under_way_[Plan.stages - 2];
    if constexpr (in_halves) {
      begin.left = halves_.start(factors, entry, to_);
    } else {
      unsigned behind[2];
      Shape::start_slice(thread_, slice, factors.a[entry.panel()] + entry.a(),
                         factors.b[entry.panel()] + entry.b(), to_, behind);
      begin.left = to_ + behind[0], begin.right = to_ + Shape::size_a * bytes + behind[1];
    }
    to_ = to_ == begin_ + (Plan.stages - 1) * size ? begin_ : to_ + size;
  }
  /// sum += the slice's product.
  template <class Sum>
  __device__ void multiply(Sum& sum, int, int slice) const {
    const unsigned left = in_halves ? Halves::left(now_.left) : now_.left,
                   right = in_halves ? Halves::right(now_.left) : now_.right;
    Reads reads;
#pragma unroll
    for (int i = 0; i < Plan.tiles_m; ++i)
      reads.rows[i] =
          whole(i, Plan.warps_m, Plan.tiles_m, M) ? reads.rows[0] + 8 * i * bytes : opaque(left + rows_[i]);
#pragma unroll
    for (int j = 0; j < Plan.tiles_n; ++j)
      reads.columns[j] = whole(j, Plan.warps_n, Plan.tiles_n, N)
                             ? reads.columns[0] + 8 * j * Shape::ldb * bytes
                             : opaque(right + columns_[j]);
    sum.begin_chain();
    if (Shape::last < Plan.slice && slice == Shape::slices - 1)
      multiply_steps<Shape::last, 0>(sum, reads);
    else
      multiply_steps<Plan.slice, 0>(sum, reads);
    sum.end_chain();
  }

 private:
  /// Where the blocks of a buffer begin; of copies in halves `left` is that of the thread's half.
  struct Begin {
    unsigned left = 0, right = 0;
  };
  /// What a thread reads: where its rows of A and its columns of B begin, at its inner index of step 0.
  struct Reads {
    unsigned rows[Plan.tiles_m], columns[Plan.tiles_n];
  };

  __device__ unsigned first_place(unsigned buffers) const {
    return opaque(in_halves ? halves_.place_in(buffers) : buffers);
  }
  /// Tile i > 0 is as far behind tile 0 in all threads: no element of it is beyond the block's end.
  static __device__ constexpr bool whole(int i, int warps, int tiles, int size) {
    return i > 0 && (warps == 1 ? 8 * (i + 1) <= size : 8 * warps * tiles <= size);
  }
  template <int Inner, int Step, class Sum>
  __device__ void multiply_steps(Sum& sum, const Reads& reads) const {
    constexpr int steps = (Inner + 3) / 4;
    constexpr bool two = planes<T> == 1 && Step + 1 < steps;
    Fragment<T> a[two ? 2 : 1][Plan.tiles_m], b[two ? 2 : 1][Plan.tiles_n];
    load<Inner, Step>(reads, a[0], b[0]);
    if constexpr (two) load<Inner, Step + 1>(reads, a[1], b[1]);
    sum.template multiply_add<two ? 2 : 1>(a, b);
    if constexpr (Step + (two ? 2 : 1) < steps) multiply_steps<Inner, Step + (two ? 2 : 1)>(sum, reads);
  }
  template <int Inner, int Step>
  __device__ void load(const Reads& reads, Fragment<T> (&a)[Plan.tiles_m],
                       Fragment<T> (&b)[Plan.tiles_n]) const {
    using At = typename Shape::template Indices<Inner, Step>;
    const bool valid = At::all || At::first + At::distance * int(inner_) < Inner;
    const unsigned nearer = (At::distance - distance) * inner_;
#pragma unroll
    for (int i = 0; i < Plan.tiles_m; ++i)
      a[i] = valid ? read(reads.rows[i] + Shape::lda * bytes * nearer + At::first * Shape::lda * bytes)
                   : Fragment<T>();
#pragma unroll
    for (int j = 0; j < Plan.tiles_n; ++j)
      b[j] = valid ? read(reads.columns[j] + bytes * nearer + At::first * bytes) : Fragment<T>();
  }
  static __device__ Fragment<T> read(unsigned address) {
    T x;
    read_shared(x, address);
    return Fragment<T>(x);
  }

  const int thread_;
  const Halves halves_;
  const unsigned begin_;
  unsigned to_;  ///< where the next copies go
  Begin now_, under_way_[Plan.stages - 1];
  const unsigned inner_;
  unsigned rows_[Plan.tiles_m], columns_[Plan.tiles_n];
};

}  // namespace tessera::detail::kernels::stack_detail
