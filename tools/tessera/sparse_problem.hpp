// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/algorithms/block_sparse/block_sparse_matrix.hpp>

#include "options.hpp"
#include "session.hpp"

/// The block-sparse matrices that a command works on.
namespace tessera::program {

/// How matrices are cut into blocks and panels, and dealt to ranks.
struct SparseShape {
  ProcessGrid grid;
  std::vector<Index> sizes;  ///< of all rows and columns; empty: `pattern`, repeated
  std::vector<Index> pattern;
  Index panel = 0;  ///< elements; 0: chosen

  /// @throws InvalidArgument if `sizes` do not add up to the elements
  BlockLayout layout(Index rows, Index cols, Symmetry symmetry) const;
  /// The block sizes of others, without symmetry.
  BlockLayout layout_like(const BlockDimension& rows, const BlockDimension& cols) const;
};

/// Numbers separated by white space. @throws InputError
std::vector<Index> read_block_sizes(const std::string& path);

/// A random or water-like matrix of order n; collective.
template <class T>
BlockSparseMatrix<T> generate_sparse(Session& session, const std::string& kind, Index n, double occupation,
                                     Symmetry symmetry, std::uint64_t seed, const SparseShape& shape);

/// A matrix from a file: Matrix Market, or HDF5 if its name ends in .h5, which has its own block sizes.
/// Collective; errors are thrown on all ranks.
template <class T>
BlockSparseMatrix<T> load_sparse(Session& session, const std::string& path, const SparseShape& shape);

/// Writes a matrix in one of these formats; collective.
template <class T>
void save_sparse(Session& session, const std::string& path, const BlockSparseMatrix<T>& matrix);

/// The file holds complex numbers.
bool is_complex_file(const std::string& path);

}  // namespace tessera::program
