// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

namespace tessera::kernels {

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

/// Some consecutive segments of a Hermitian band matrix of order n, bandwidth b (see BandLayout). Segment k
/// holds the columns `first_column + k * segment_width` and following; their memory need not be contiguous.
template <class T>
struct BandView {
  Index n = 0;
  Index bandwidth = 1;
  Index first_column = 0;
  Index segment_width = 1;
  T* const* segments = nullptr;

  /// Address of the diagonal element (j, j). The loop is short: a task sees two segments.
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

}  // namespace tessera::kernels
