// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/sequence.hpp>

/// Codelets on whole tiles, as tiled Cholesky and the reduction to standard form need them: herk, her2k,
/// hemm, trsm, and their product-pair. Tiles are column-major; a Hermitian tile keeps its lower triangle.
///
/// Flops: in brackets, for m x n results and inner size k (complex: x 4). Footprint: buffer sizes and the
/// options. Source: BLAS 3. All run on CPUs and GPUs; on a GPU, what is above the diagonal of a Hermitian or
/// triangular tile that is written may change.
namespace tessera {

/// C := C - A A^H, lower triangle. A (read, n x k), C (read-write, n x n). [n^2 k]
template <class T>
void insert_herk_subtract(Sequence& sequence, int priority, const Data& a, const Data& c, Index n, Index k);

/// C := C - A B^H - B A^H, lower triangle. A, B (read, n x k), C (read-write). [2 n^2 k]
template <class T>
void insert_her2k_subtract(Sequence& sequence, int priority, const Data& a, const Data& b, const Data& c,
                           Index n, Index k);

/// C := C - A1 B1^H - A2 B2^H: the off-diagonal tile of the same update. A1, A2 (read, m x k), B1, B2 (read,
/// n x k), C (read-write, m x n). [4 m n k]
template <class T>
void insert_gemm_pair_subtract(Sequence& sequence, int priority, const Data& a1, const Data& b1,
                               const Data& a2, const Data& b2, const Data& c, Index m, Index n, Index k);

/// C := C + alpha B A, A Hermitian n x n (lower, read) on the right, B (read, m x n), C (read-write, m x n).
/// [2 m n^2]
template <class T>
void insert_hemm_right(Sequence& sequence, int priority, T alpha, const Data& a, const Data& b, const Data& c,
                       Index m, Index n);

/// B := op(L)^-1 B (left) or B op(L)^-1 (right), L lower triangular (read), B (read-write, m x n). [m^2 n or
/// m n^2]
template <class T>
void insert_trsm(Sequence& sequence, int priority, Side side, Op op, const Data& l, const Data& b, Index m,
                 Index n);

/// A := L with L L^H = A, lower triangle, n x n (read-write), [W (scratch), where GPUs take part]. [n^3 / 3]
/// Errors: not_positive_definite with index = first_row + order of the leading minor in the tile.
template <class T>
void insert_potrf(Sequence& sequence, int priority, const Data& a, Index n, Index first_row);

/// A := L^-1 A L^-H, lower triangle (read-write), L (read). [n^3]
template <class T>
void insert_hegst(Sequence& sequence, int priority, const Data& a, const Data& l, Index n);

}  // namespace tessera
