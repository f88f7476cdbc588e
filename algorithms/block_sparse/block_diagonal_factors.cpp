// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/block_sparse/copy_matching.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/diagonal_blocks.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// All diagonal blocks, stored in `a` or not.
template <class T>
BlockPatternPointer diagonal_pattern(const BlockSparseMatrix<T>& a, Symmetry symmetry) {
  BlockLayout layout = a.layout();
  layout.symmetry = symmetry;
  std::vector<BlockCoordinate> blocks;
  for (Index i = 0; i < a.block_rows(); ++i)
    if (layout.owner(i, i) == a.runtime().rank()) blocks.push_back({i, i});
  return BlockPattern::make(a.runtime(), layout, blocks);
}

template <class T>
BlockSparseMatrix<T> submit_factors(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                    DiagonalFactor factor) {
  const Symmetry symmetry = factor == DiagonalFactor::inverse ? a.symmetry() : Symmetry::none;
  BlockSparseMatrix<T> result(diagonal_pattern(a, symmetry));
  // Blocks on the diagonal lie in the same panels whether A is half-stored or not.
  copy_matching(sequence, a, result, T(1));
  const BlockPattern& pattern = result.pattern();
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (pattern.panel_elements(p) == 0) continue;
    Index largest = 0;
    double flops = 0;
    for (const Index row : pattern.rows().panel(pattern.row_panel(p))) {
      if (pattern.cols().panel_of(row) != pattern.col_panel(p)) continue;
      largest = std::max(largest, pattern.rows().size(row));
      flops += factor_flops(factor, static_cast<double>(pattern.rows().size(row)));
    }
    const Data work =
        Data::scratch(sequence.runtime(), factor_work_bytes(largest, pattern.panel_blocks(p), sizeof(T)));
    sequence.insert(FactorBlocks<T>{.blocks = pattern.blocks_of(p),
                                    .values = result.panel(p),
                                    .work = work,
                                    .factor = factor,
                                    .symmetry = symmetry,
                                    .largest = largest,
                                    .real_flops = flops});
  }
  return result;
}

template <class T>
BlockSparseMatrix<T> factors(const char* name, Sequence& sequence, const BlockSparseMatrix<T>& a,
                             DiagonalFactor factor) {
  const auto check = [&] {
    require_made("a", a);
    if (!a.layout().rows->same_sizes(*a.layout().cols))
      throw InvalidArgument("a", "rows and columns of other block sizes",
                            "rows and columns of the same blocks");
    const Symmetry symmetry = kind_of<T>(a.symmetry());
    if (factor != DiagonalFactor::inverse && symmetry != Symmetry::none &&
        symmetry != kind_of<T>(Symmetry::hermitian))
      throw InvalidArgument("a", "of symmetry " + text_of(a.symmetry()), "of symmetry H or N");
  };
  return collectively(sequence.runtime(), name, shape_hash(a), check,
                      [&] { return submit_factors(sequence, a, factor); });
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
BlockSparseMatrix<T> block_diagonal_inverse(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  return factors("block_diagonal_inverse", sequence, a, DiagonalFactor::inverse);
}

template <class T>
BlockSparseMatrix<T> block_diagonal_cholesky(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  return factors("block_diagonal_cholesky", sequence, a, DiagonalFactor::cholesky);
}

template <class T>
BlockSparseMatrix<T> block_diagonal_inverse_cholesky(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  return factors("block_diagonal_inverse_cholesky", sequence, a, DiagonalFactor::inverse_cholesky);
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template BlockSparseMatrix<T> block_diagonal_inverse<T>(Sequence&, const BlockSparseMatrix<T>&);  \
  template BlockSparseMatrix<T> block_diagonal_cholesky<T>(Sequence&, const BlockSparseMatrix<T>&); \
  template BlockSparseMatrix<T> block_diagonal_inverse_cholesky<T>(Sequence&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
