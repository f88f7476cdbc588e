// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/band_view.hpp>

namespace tessera::kernels {

/// Puts `count` columns from column `first` of an n x n band matrix of bandwidth b into a segment
/// (BandLayout) from its column `at`. Source: column j from its diagonal down, at most b + 1 elements, at
/// `from + (j - first) * ld`. The rest of the columns' storage is zeroed, and the diagonal made real. Memory
/// traffic only: no flops.
/// @return the first column (from 0) with a number that is not finite, or -1
template <class T>
Index band_to_segment(Index n, Index bandwidth, Index first, Index count, const T* from, Index ld, T* segment,
                      Index at) noexcept;

/// d(j) and e(j) = diagonal and subdiagonal (0 in column n - 1) of the `count` columns from column `first` of
/// a segment that holds a real tridiagonal matrix.
template <class T>
void segment_to_tridiagonal(Index n, Index bandwidth, Index first, Index count, const T* segment,
                            RealOf<T>* d, RealOf<T>* e) noexcept;

}  // namespace tessera::kernels
