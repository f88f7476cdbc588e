// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/product/kernels/stack_instructions.cuh>
#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>

/// Copies of blocks to shared memory for the kernel of stack_kernel.cuh.
///
/// A block is aligned as its elements only, and nothing beside it may be read. In double precision single
/// elements are copied, of which consecutive threads take consecutive ones. In single precision that would take
/// as many instructions and requests for half the bytes. There 16 bytes are copied at once: a block without
/// gaps is put as far behind a multiple of 16 bytes as it is in global memory, so that all but its first and
/// last few elements can be; columns with gaps, where each of them is aligned. For 23 x 23 that makes six
/// instructions instead of 17.
namespace tessera::detail::kernels::stack_detail {

/// Sixteen bytes.
struct alignas(16) Chunk {
  unsigned x[4];
};

/// Copies by a group of `threads` threads.
template <class T, int threads>
struct Copies {
  static constexpr int chunk = StackElement{sizeof(T), planes<T> == 2}.chunk();  ///< elements

  /// How many bytes behind a multiple of 16 bytes x is.
  static __device__ unsigned phase(const T* x) {
    return unsigned(reinterpret_cast<unsigned long long>(x)) % 16;
  }
  /// Starts copies of `Rows` x `Columns` elements or chunks, by all threads of the group. After `period` of
  /// them a thread is in the same row again.
  template <int Rows, int Columns, int From, int To, class E>
  static __device__ void copy_each(unsigned thread, const E* from, unsigned to) {
    constexpr unsigned rows = Rows, count = Rows * Columns, bytes = sizeof(E),
                       period = rows / stack_common_divisor(threads, Rows);
    const E* const linear_from = opaque(from + thread);
    const unsigned linear_to = opaque(to + thread * bytes);
#pragma unroll
    for (unsigned p = 0; p < period && p * threads < count; ++p) {
      const unsigned first = p * threads + thread, column = first / rows, row = first - column * rows;
      const E* const at_from = From == Rows ? linear_from + p * threads : from + (row + column * From);
      const unsigned at_to = To == Rows ? linear_to + p * threads * bytes : to + (row + column * To) * bytes;
#pragma unroll
      for (unsigned q = 0; q * period * threads + p * threads < count; ++q) {
        const unsigned begin = q * period * threads, columns = begin / rows;
        if (begin + (p + 1) * threads <= count || thread < count - begin - p * threads)
          copy_async<bytes>(at_to + columns * To * bytes, at_from + columns * From);
      }
    }
  }
  /// The same for elements without gaps, which begin `behind` bytes behind a multiple of 16 bytes and go as far
  /// behind `to`. A thread has the 16 bytes at 16 thread, 16 (thread + threads), ... from there, if they are
  /// whole. The elements of the first 16 and of those behind the last whole ones go one by one.
  template <int Count>
  static __device__ void copy_in_chunks(unsigned thread, const T* from, unsigned to, unsigned behind) {
    constexpr unsigned bytes = Count * sizeof(T);
    const auto* const aligned =
        reinterpret_cast<const char*>(reinterpret_cast<unsigned long long>(from) & ~15ull);
    const unsigned whole = (behind + bytes) & ~15u, place = 16 * thread;
    const char* const first_from = opaque(aligned + place);
    const unsigned first_to = opaque(to + place);
#pragma unroll
    for (unsigned begin = 0; begin < bytes; begin += 16 * threads)
      if ((begin > 0 || place >= behind) &&
          (begin + 16 * threads <= bytes / 16 * 16 || begin + place < whole))
        copy_async<16>(first_to + begin, first_from + begin);
    const unsigned at = thread % chunk * unsigned(sizeof(T)) + (thread < chunk ? 0 : whole);
    if (thread < 2 * chunk && at - behind < bytes) copy_async<sizeof(T)>(to + at, aligned + at);
  }
  /// Starts copies of `Rows` x `Columns` elements; returns how many bytes behind `to` the first one is.
  template <int Rows, int Columns, int From, int To>
  static __device__ unsigned copy(unsigned thread, const T* from, unsigned to) {
    constexpr bool no_gaps = (From == Rows && To == Rows) || Columns == 1,
                   whole_chunks = Rows % chunk == 0 && From % chunk == 0 && To % chunk == 0;
    if constexpr (chunk > 1 && no_gaps && Rows * Columns >= 2 * chunk) {
      const unsigned behind = phase(from);
      copy_in_chunks<Rows * Columns>(thread, from, to, behind);
      return behind;
    } else {
      if constexpr (chunk > 1 && whole_chunks)
        if (phase(from) == 0) {
          copy_each<Rows / chunk, Columns, From / chunk, To / chunk>(
              thread, reinterpret_cast<const Chunk*>(from), to);
          return 0;
        }
      copy_each<Rows, Columns, From, To>(thread, from, to);
      return 0;
    }
  }
};

}  // namespace tessera::detail::kernels::stack_detail
