// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/algorithms/density_matrix/submatrix_graph.hpp>
#include <tessera/block_sparse_matrix.hpp>
#include <tessera/codelets/density/submatrix_steps.hpp>

/// What the submatrix method reads: H and S in a basis that is orthonormal within each block.
namespace tessera::detail {

/// Blocks by columns, both triangles, as GatherSubmatrices takes them; each rank has its own.
struct SubmatrixSource {
  Data begins, blocks, hamiltonian, overlap;  ///< overlap: not valid without S
};

/// H' = D^H H D and S' = D^H S D of half-stored H and S, D the block-diagonal matrix with D_i^H S_ii D_i = 1: the inverse
/// Cholesky factors, upper triangular. Each rank has the scaled blocks of its panels, and of all blocks some numbers: 32
/// bytes for each.
template <class T>
class ScaledBlocks {
 public:
  /// `s`, if any, in H's layout. Collective.
  /// @throws IterationEnded: not_positive_definite where a diagonal block of S is not, not_finite
  ScaledBlocks(const BlockSparseMatrix<T>& h, const BlockSparseMatrix<T>* s);

  /// trace(H') / n
  double mean_energy() const noexcept { return mean_energy_; }
  /// The couplings ||H'_ij - shift S'_ij||_F of all blocks.
  BlockGraph graph(double shift) const;
  /// D of a block, column-major.
  MatrixView<const T> factor(Index block) const noexcept;
  /// The blocks whose row and column are among the wanted ones of this rank. Collective.
  SubmatrixSource source(const std::vector<char>& wanted) const;

 private:
  struct LowerBlock {
    std::int32_t row, col;
    Index element;
  };
  /// Of the scaled blocks.
  struct PairNorms {
    std::int32_t row, col;
    double hamiltonian, both, overlap;  ///< ||H'||^2, Re trace(H'^H S'), ||S'||^2
  };
  struct Blocks {
    std::vector<LowerBlock> index;
    std::unique_ptr<T[]> hamiltonian, overlap;
    /// Memory for the values, which the threads that write it touch first.
    void reserve(Index elements, bool has_overlap) {
      const auto count = static_cast<std::size_t>(elements);
      hamiltonian = std::make_unique_for_overwrite<T[]>(count);
      if (has_overlap) overlap = std::make_unique_for_overwrite<T[]>(count);
    }
  };
  void make_factors(const BlockSparseMatrix<T>& s);
  bool make_factor(Index block, const T* s);
  void scale_blocks(const BlockSparseMatrix<T>& h, const BlockSparseMatrix<T>* s);
  PairNorms scale(const LowerBlock& block, const T* h, const T* s);
  Blocks wanted_of_all(const std::vector<char>& wanted) const;
  SubmatrixSource by_columns(const Blocks& lower) const;
  Index size(Index block) const noexcept { return dimension_->size(block); }
  Runtime& runtime_;
  const BlockDimensionPointer dimension_;
  const bool has_overlap_;
  std::vector<Index> factor_begin_;
  std::vector<T> factors_;
  Blocks mine_;
  std::vector<PairNorms> norms_;  ///< of all ranks
  double mean_energy_ = 0;
};

}  // namespace tessera::detail
