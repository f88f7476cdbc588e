// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/block_sparse_files.hpp>

#include "common_options.hpp"
#include "session.hpp"

/// The block-sparse matrices for a command.
namespace tessera::program {

/// How matrices are divided into blocks and panels, and distributed to ranks.
struct SparseShape {
  const Runtime* runtime = nullptr;
  ProcessGrid grid;
  std::optional<BlockSizes> sizes;  ///< of rows and columns; none: `pattern`, repeated
  std::vector<Index> pattern;
  Index panel = 0;                           ///< elements; 0: the program chooses
  std::optional<std::uint64_t> homogenized;  ///< seed with which blocks are dealt at random; none: in runs

  /// Chooses, for the rows and for the columns, that one of the two lists of sizes whose sum is
  /// their number of elements.
  /// @throws InvalidArgument if neither list matches
  BlockLayout layout(Index rows, Index cols, Symmetry symmetry) const;
  /// Mean order of a block.
  double mean_block() const;
  /// Bytes on one rank of a matrix that is not yet built, if a share `occupation` of its elements
  /// is stored.
  double memory(Index rows, Index cols, double occupation, std::size_t element_bytes) const;
  /// Expected share of stored elements in a product of two such matrices of order n.
  double product_occupation(const std::string& kind, Index n, double occupation) const;
  /// A layout with the given block sizes.
  BlockLayout layout_like(const BlockDimension& rows, const BlockDimension& cols,
                          Symmetry symmetry = Symmetry::none) const;

 private:
  BlockLayout dealt(const BlockLayout& layout) const;
  BlockDimensionPointer dimension(std::vector<Index> sizes, int owners) const;
};

/// A random or water-like matrix of order n; collective.
template <class T>
BlockSparseMatrix<T> generate_sparse(Session& session, const std::string& kind, Index n, double occupation,
                                     Symmetry symmetry, std::uint64_t seed, const SparseShape& shape);

/// A matrix from a Matrix Market file, or from an HDF5 file (name ends in .h5), which stores its
/// own block sizes. Collective; errors are thrown on all ranks.
template <class T>
BlockSparseMatrix<T> load_sparse(Session& session, const std::string& path, const SparseShape& shape);

/// Writes a matrix in one of these formats; collective.
template <class T>
void save_sparse(const std::string& path, const BlockSparseMatrix<T>& matrix);

/// Whether the header of a Matrix Market file declares complex numbers; false for HDF5 files.
bool is_complex_file(const std::string& path);

}  // namespace tessera::program
