// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/density_matrix/submatrix_batches.hpp>

namespace tessera::detail {

/// P of the columns that the submatrices give.
template <class T>
struct AssembledDensity {
  BlockSparseMatrix<T> p;     ///< half-stored
  double asymmetry = 0;       ///< the largest |P_ij - conj(P_ji)| of the columns, zero where one is missing
  double norm = 0;            ///< ||P||_F
  double asymmetry_norm = 0;  ///< ||P - P^H||_F
};

/// (C + C^H) / 2 of the columns C, in the basis of H and S: P_ij = D_i C_ij D_j^H. Blocks of at most the norm `filter_eps`
/// are left out. Collective; waits.
/// @param columns of SubmatrixBatches::columns, over
template <class T>
AssembledDensity<T> assemble_columns(const BlockLayout& layout, const ScaledBlocks<T>& scaled,
                                     bool has_overlap, const std::vector<Submatrix>& submatrices,
                                     const std::vector<SubmatrixBatch>& batches,
                                     const std::vector<Data>& columns, Runtime& runtime, double filter_eps);

}  // namespace tessera::detail
