// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/matrix/column_groups.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// Checks a Hermitian matrix for NaN and infinities and finds its scale: one real, every_rank, a power of two
/// that brings the largest entry to [1/2, 1). It reads only the triangle that the layout names (of a
/// general layout the lower one). With `power_of_four` a matrix whose largest entry is 1 keeps its scale.
/// A copy with this scale is finite: no later stage meets a NaN before the check has found it. Errors:
/// status not_finite, index = column of the entry, from 1.
template <class T>
Data check_and_scale(Sequence& sequence, const TiledMatrix<T>& a, bool power_of_four = false);

/// A scale of one, for copies without scaling.
template <class T>
Data unit_scale(Sequence& sequence);

/// destination := scale source for Hermitian matrices: any tile size, grid and triangle of the source into
/// lower tiles. A general source counts with its lower triangle. Imaginary parts on the diagonal are dropped,
/// as in LAPACK.
template <class T>
void copy_hermitian(Sequence& sequence, const TiledMatrix<T>& source, const Data& scale,
                    const TiledMatrix<T>& destination);

/// Lower tiles as a whole matrix, both triangles, in column groups, each on the GPU of its group; tiles are
/// released as they have been copied. Priority 3. One process.
/// @pre a: lower layout, square tiles whose size is a multiple of `block`.
template <class T>
ColumnGroups<T> deal_columns(Sequence& sequence, TiledMatrix<T>&& a, Index block, int groups);

}  // namespace tessera::detail
