// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/product/kernels/stack_instructions.cuh>
#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>
#include <tessera/codelets/linalg/stack_entry.hpp>

/// Copies of blocks to shared memory for the kernel of stack_kernel.cuh.
///
/// A block is aligned as its elements only, and nothing beside it may be read. In double precision single
/// elements are copied, of which consecutive threads take consecutive ones. In single precision that would take
/// as many instructions and requests for half the bytes. There 16 bytes are copied at once: a block without
/// gaps is put as far behind a multiple of 16 bytes as it is in global memory, so that all but its first and
/// last few elements can be; columns with gaps, where each of them is aligned. For 23 x 23 that makes six
/// instructions instead of 17. A warp that copies two such blocks has half of its threads at each (HalfWarpCopies):
/// what it takes to find the addresses is then spent once for both.
namespace tessera::detail::kernels::stack_detail {

/// An entry as it lies in memory, with its parts from the lowest bit on in their order. Of a StackEntry that is
/// kept over an iteration the compiler would keep each byte by itself.
struct PackedEntry {
  unsigned long long bits = 0;
  PackedEntry() = default;
  explicit __device__ PackedEntry(const StackEntry* at)
      : bits(__ldg(reinterpret_cast<const unsigned long long*>(at))) {}
  __device__ unsigned a() const { return part<0>(); }
  __device__ unsigned b() const { return part<stack_offset_bits>(); }
  __device__ unsigned panel() const { return unsigned(bits >> 2 * stack_offset_bits); }

 private:
  template <int first_bit>
  __device__ unsigned part() const {
    return unsigned(bits >> first_bit) & ((1u << stack_offset_bits) - 1);
  }
};

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

/// Copies of two blocks without gaps, of CountA and CountB elements, by a warp in single precision: the first 16
/// threads have the block of A, the others that of B, so that a thread computes the addresses of one of them.
/// They are copied as by Copies::copy_in_chunks; that of B goes FirstB elements behind that of A.
template <class T, int CountA, int CountB, int FirstB>
class HalfWarpCopies {
  static constexpr unsigned bytes_a = CountA * sizeof(T), bytes_b = CountB * sizeof(T),
                            most = bytes_a > bytes_b ? bytes_a : bytes_b,
                            least = bytes_a > bytes_b ? bytes_b : bytes_a;
  static constexpr unsigned chunk = 16 / sizeof(T), step = 16 * 16;

 public:
  /// There are elements before and behind whole chunks, and the halves have about as much to do.
  static constexpr bool worthwhile =
      least >= 32 && (most + step - 1) / step <=
                         (bytes_a + 2 * step - 1) / (2 * step) + (bytes_b + 2 * step - 1) / (2 * step) + 1;

  explicit __device__ HalfWarpCopies(unsigned lane)
      : of_b_(lane / 16),
        offset_shift_(opaque(of_b_ * stack_offset_bits)),
        panels_(opaque(of_b_ * unsigned(sizeof(StackFactors<T>::a)))),
        place_(opaque(lane % 16 * 16)),
        single_(opaque(lane % 16 < 2 * chunk ? lane % chunk * unsigned(sizeof(T)) : 2 * most)),
        of_end_(opaque(lane % 16 < chunk ? 0 : ~15u)) {}

  /// The place of this thread's half in the buffer at `buffer`.
  __device__ unsigned place_in(unsigned buffer) const {
    return buffer + of_b_ * (FirstB * unsigned(sizeof(T)));
  }
  /// Starts the copies to place `begin`; returns where the block of this thread's half begins.
  __device__ unsigned start(const StackFactors<T>& factors, const PackedEntry& entry, unsigned begin) const {
    const unsigned offset = unsigned(entry.bits >> offset_shift_) & ((1u << stack_offset_bits) - 1),
                   panel = entry.panel();
    const auto* const panel_at = reinterpret_cast<const T* const*>(reinterpret_cast<const char*>(&factors) +
                                                                   (panel * sizeof(T*) + panels_));
    const char* const from = reinterpret_cast<const char*>(*panel_at + offset);
    const unsigned behind = unsigned(reinterpret_cast<unsigned long long>(from)) % 16,
                   bytes = bytes_a == bytes_b || of_b_ == 0 ? bytes_a : bytes_b, end = behind + bytes;
    const char* const first_from =
        opaque(reinterpret_cast<const char*>(reinterpret_cast<unsigned long long>(from) & ~15ull) + place_);
    const unsigned first_to = opaque(begin + place_);
#pragma unroll
    for (unsigned q = 0; q < most; q += step)
      if ((q > 0 || place_ >= behind) && (q + step <= least / 16 * 16 || q + place_ < (end & ~15u)))
        copy_async<16>(first_to + q, first_from + q);
    // In the bytes from the block's begin: the elements before and behind the whole chunks.
    const unsigned at = single_ + (end & of_end_) - behind;
    if (at < bytes) copy_async<sizeof(T)>(begin + behind + at, from + at);
    return begin + behind;
  }
  static __device__ unsigned left(unsigned begin) {
    return __shfl_sync(0xffffffffu, begin, 0);
  }
  static __device__ unsigned right(unsigned begin) {
    return __shfl_sync(0xffffffffu, begin, 16);
  }

 private:
  const unsigned of_b_, offset_shift_, panels_, place_;
  const unsigned single_, of_end_;  ///< the thread's element before or behind the chunks, if it has one
};

}  // namespace tessera::detail::kernels::stack_detail
