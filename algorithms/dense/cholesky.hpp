// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// Cholesky factorisation of a Hermitian positive definite matrix, A = L L^H, in place: the lower tiles of
/// `a` become L (the upper triangles of the diagonal tiles are not touched).
///
/// Right-looking tiled algorithm (LAPACK potrf by tiles). Flops: n^3 / 3 (complex: x 4).
/// Priority of a task on tile (i, j) in step k: 3 (nt - k) - (i - k) - (j - k), so the next panel goes first.
/// Errors: status not_positive_definite, index = order of the first leading minor that is not positive.
/// @pre a is n x n in lower layout with square tiles.
template <class T>
void cholesky(Sequence& sequence, const TiledMatrix<T>& a);

/// Reduces A x = lambda B x to standard form: A := L^-1 A L^-H, in place in the lower tiles of `a`, with B =
/// L L^H.
///
/// Tiled form of LAPACK's hegst, itype 1 (as in Chameleon's pzhegst). Flops: n^3 (complex: x 4).
/// Priority as in cholesky.
/// @pre a and l have the same lower layout.
template <class T>
void to_standard(Sequence& sequence, const TiledMatrix<T>& a, const TiledMatrix<T>& l);

}  // namespace tessera::detail
