// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/eigensolve.hpp>
#include <tessera/runtime/matrix/band_matrix.hpp>
#include <tessera/runtime/matrix/column_groups.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// The orthogonal factor of reduce_to_band: A = Q B Q^H, Q = H_0 H_1 ..., H_p = I - V_p T_p V_p^H. V_p (rows
/// from (p + 1) b on) lies in the columns of panel p of the reduced matrix, in its lower tiles or in its
/// column groups, with explicit ones and zeros.
template <class T>
struct BandReflectors {
  TiledMatrix<T> vectors;  ///< the tiles that held A; or
  ColumnGroups<T> groups;  ///< the column groups that held A, if there are any
  std::vector<Data> t;     ///< T of panels_of_t panels each, b x b upper triangular, beside each other
  Index band = 1;
  Index panels = 0, panels_of_t = 1;
};

/// Full to band: B = Q^H A Q with bandwidth b (Eq. 6a of the GPU-ELPA2 paper, arXiv:2002.10991),
/// double-blocked: the trailing matrix is updated once for every `update_width` columns, by one rank-2k
/// product (see codelets/dense/two_sided.hpp). The panels are factored by Cholesky QR twice with a
/// Householder TSQR fall-back (codelets/dense/panel_qr.hpp).
///
/// One loop over panels for three ways to hold the matrix (trailing_matrix.hpp): lower tiles; one tile, as on
/// one GPU that can hold it; column groups, one for each of several GPUs of one process.
///
///     column:  0    b    2b         what a panel step does
///            [ D            ]       D   diagonal block, goes into the band
///            [ R  D         ]       R   S R of the panel's QR, goes into the band
///            [ V  *  A0     ]       V   reflectors, stay in the matrix for back_band
///            [ V  *  *  A0  ]       A0  not updated within an outer block
///
/// Flops: 4/3 n^3 (complex: x 4). Every step of a panel needs the one before: the products A0 W are where the
/// parallelism is. Priorities: panel steps 3, products and sums 2, updates of the next outer block's columns
/// 1, other updates 0 (ReductionPriority); with column groups all updates 0.
/// @pre a: n x n, lower layout, square tiles, contents consumed; tile % update_width == 0, update_width % b
/// == 0.
/// @param band written completely; bandwidth b (band.bandwidth()).
/// @param reflectors takes over what held `a`; null: values only, it is released as soon as possible.
/// @param column_groups 0: tile by tile; else A is first dealt to this number of groups of columns, on CPUs
/// or GPUs (at most max_column_groups; one process).
/// @param split_products the updates on GPUs by split operands, or three real products
/// (codelets/linalg/split_products.hpp).
/// @throws InvalidArgument for sizes that do not divide each other, or a number of groups out of range.
template <class T>
void reduce_to_band(Sequence& sequence, TiledMatrix<T>&& a, Index update_width, const BandMatrix<T>& band,
                    BandReflectors<T>* reflectors, int column_groups = 0, bool split_products = true);

/// A band too wide for the panels of a matrix in several tiles where GPUs work.
/// @throws InvalidArgument
void require_gpu_band(const Runtime& runtime, Index band, bool one_tile, int column_groups);

/// The column groups of reduce_to_band that resolved options mean; 0: it is reduced tile by tile.
inline int reduction_groups(const EigensolveOptions& options) noexcept {
  return options.column_groups > 1 ? static_cast<int>(options.column_groups) : 0;
}

}  // namespace tessera::detail
