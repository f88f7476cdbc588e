// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/sequence.hpp>

/// Codelets of the accuracy checks: products with a Hermitian matrix in lower tiles, and sums of absolute
/// values. Sums are always double; every sums piece is written by one task and added up on the host.
/// Flops: not counted, a check is no part of a solve. Footprint: buffer sizes. All run on CPUs and GPUs.
namespace tessera {

/// Y := [Y +] what the lower tile A = A(i, j) contributes to A X: rows i (from row0) with X's rows j (from
/// col0) and, off the diagonal, rows j with rows i. Buffers: A (read), X (read), Y (write if `fresh`, the
/// rest of Y becomes zero; else read-write).
template <class T>
void insert_hermitian_times_slab(Sequence& sequence, const Data& a, Index row0, Index col0, const Data& x,
                                 const Data& y, bool fresh);

/// sums[c] := sum_i |R(i, c) - values[first + c] Y(i, c)| for the columns of a slab. Without y and values
/// (null): of |R|. Buffers: R (read), [Y (read), values (read)], sums (write).
template <class T>
void insert_column_sums(Sequence& sequence, const Data& r, const Data* y, const Data* values, Index first,
                        const Data& sums);

/// sums[d] := sum_c |(X^H Y - delta)(d, c)| over the columns c of Y, one sum for each column d of X; delta is
/// the identity if X and Y have the `same` column numbers, else zero. Buffers: X (read; null: the same piece
/// as Y), Y (read), sums (write), workspace (scratch: columns of X x columns of Y, or fewer columns, at least
/// one: Y is then taken by so many at a time).
template <class T>
void insert_inner_sums(Sequence& sequence, const Data* x, const Data& y, bool same, const Data& sums,
                       const Data& workspace);

/// Column sums of absolute values of a Hermitian matrix that the lower tile contributes: sums[0, n) for its
/// columns and, off the diagonal, sums[n, n + m) for its rows. Buffers: A (read), sums (write).
template <class T>
void insert_tile_sums(Sequence& sequence, const Data& a, bool diagonal, const Data& sums);

}  // namespace tessera
