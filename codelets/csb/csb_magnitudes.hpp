// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/csb/multiply_csb.hpp>

/// Codelet csb_magnitudes: what a piece of a half-stored symmetric matrix adds to the sums of magnitudes of
/// the rows:
///   s_I += |A_IJ| 1,  s_J += |A_IJ|^T 1    (I = J: entries off the diagonal count for both, those on it
///   once), or only one of these (CsbSides).
///
/// Arguments: shape of the piece; whether s_I and s_J are overwritten, not added to.
/// Buffers:   piece (read; bytes), s_I (read-write; 1 x rows of doubles) and, unless I = J, s_J
///            (read-write); of one side only its sums.
/// Flops:     2 an entry.
/// Cost:      that of its bytes; CPUs only, once for a matrix.
namespace tessera {

namespace kernels {

/// Null: sums that are not asked for. On the diagonal both are the same.
template <class V>
void add_csb_magnitudes(const CsbPieceView<V>& piece, double* rows, double* columns) noexcept;

}  // namespace kernels

template <class V>
void insert_csb_magnitudes(Sequence& sequence, int priority, const CsbPieceShape& shape, bool overwrite_rows,
                           bool overwrite_columns, const Data& piece, const Data& rows, const Data& columns);

}  // namespace tessera
