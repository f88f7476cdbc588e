// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

struct CUstream_st;  // cudaStream_t points to it

namespace tessera::detail::kernels {

/// Layout of a segment of a lower band matrix with room for the bulge: `width` consecutive columns, each of
/// `leading_dimension(b)` elements. Element (i, j), 0 <= i - j < 2b, is at `front() + (j - first column) * ld
/// + (i - j)`. Offsets 0..b are the band, b+1..2b-1 the room for the bulge. The 64 bytes behind each column,
/// and in front of the first, hold zeros and let the kernels work on whole vectors.
template <class T>
struct BandLayout {
  static constexpr Index pad = 64 / static_cast<Index>(sizeof(T));
  static constexpr Index front() noexcept { return pad; }
  static constexpr Index leading_dimension(Index bandwidth) noexcept { return 2 * bandwidth + pad; }
  /// Elements of a segment.
  static constexpr Index size(Index bandwidth, Index width) noexcept {
    return front() + width * leading_dimension(bandwidth);
  }
};

/// Some consecutive segments of a Hermitian band matrix of order n and bandwidth b (see BandLayout). Segment
/// k begins with column `first_column + k * segment_width`; the segments need not be contiguous in memory.
template <class T>
struct BandView {
  Index n = 0;
  Index bandwidth = 1;
  Index first_column = 0;
  Index segment_width = 1;
  T* const* segments = nullptr;

  /// Address of the diagonal element (j, j). The loop is short: a task has at most two segments.
  __attribute__((always_inline)) T* column(Index j) const noexcept {
    Index k = j - first_column;
    Index segment = 0;
    while (k >= segment_width) {
      k -= segment_width;
      ++segment;
    }
    return segments[segment] + BandLayout<T>::front() + k * BandLayout<T>::leading_dimension(bandwidth);
  }
};

/// Puts `count` columns from column `first` of an n x n band matrix of bandwidth b into a segment
/// (BandLayout) from its column `at`. Source: column j from its diagonal down, at most b + 1 elements, at
/// `from + (j - first) * ld`. Sets the rest of the columns' storage to zero and makes the diagonal real.
/// @return the first column (from 0) with a number that is not finite, or -1
template <class T>
Index band_to_segment(Index n, Index bandwidth, Index first, Index count, const T* from, Index ld, T* segment,
                      Index at) noexcept;

/// d(j) and e(j) = diagonal and subdiagonal (0 in column n - 1) of the `count` columns from column `first` of
/// a segment that holds a real tridiagonal matrix.
template <class T>
void segment_to_tridiagonal(Index n, Index bandwidth, Index first, Index count, const T* segment,
                            RealOf<T>* d, RealOf<T>* e) noexcept;

// On a GPU: all pointers are device pointers, and the functions enqueue.

/// band_to_segment for a whole segment: `launch_begin_gather`, then `launch_gather_piece` for each of its
/// pieces, then `launch_end_gather`. If a number is not finite, the last sets *bad to 1 + its column (from
/// 0), the lowest of all.
template <class T>
void launch_begin_gather(CUstream_st* stream, T* segment) noexcept;
template <class T>
void launch_gather_piece(CUstream_st* stream, Index n, Index bandwidth, Index first, Index count,
                         const T* from, Index ld, T* segment, Index at) noexcept;
template <class T>
void launch_end_gather(CUstream_st* stream, T* segment, long long* bad) noexcept;

/// segment_to_tridiagonal.
template <class T>
void launch_segment_to_tridiagonal(CUstream_st* stream, Index n, Index bandwidth, Index first, Index count,
                                   const T* segment, RealOf<T>* d, RealOf<T>* e) noexcept;

}  // namespace tessera::detail::kernels
