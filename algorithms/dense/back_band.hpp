// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/column_slabs.hpp>

namespace tessera::detail {

/// Z := Q Z with the orthogonal factor of reduce_to_band (Eq. 6e of the GPU-ELPA2 paper): the panels of each
/// tile column, or of each block of columns in column groups, are merged into one block reflector as wide as
/// that, and applied from the last to the first, slab by slab. Of column groups, only one reflector after the
/// other goes to the GPUs that need it.
///
/// Flops: 2 n^2 k for k columns (complex: x 4), and n^2 x width of the reflectors for the merged factors.
/// Priorities: merging 1, applying 0. The reflectors are consumed: their memory is released as they have been
/// used.
/// @param split_products  the products on GPUs by split operands, or three real products
/// (codelets/linalg/split_products.hpp)
template <class T>
void back_band(Sequence& sequence, BandReflectors<T>&& reflectors, const ColumnSlabs<T>& z,
               bool split_products = true);

/// X := L^-H X: eigenvectors of the standard problem become those of A x = lambda B x, B = L L^H. Slab by
/// slab, block rows from the last to the first. Flops: n^2 k (complex: x 4). Priority 0.
/// @pre l: n x n lower layout, square tiles.
template <class T>
void to_general(Sequence& sequence, const TiledMatrix<T>& l, const ColumnSlabs<T>& x);

}  // namespace tessera::detail
