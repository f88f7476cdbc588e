// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/block_sparse_files.hpp>

#include "common_options.hpp"
#include "session.hpp"

/// The block-sparse matrices that a command works on.
namespace tessera::program {

/// How matrices are cut into blocks and panels, and dealt to ranks.
struct SparseShape {
  const Runtime* runtime = nullptr;
  ProcessGrid grid;
  std::optional<BlockSizes> sizes;  ///< of rows and columns; none: `pattern`, repeated
  std::vector<Index> pattern;
  Index panel = 0;                           ///< elements; 0: chosen
  std::optional<std::uint64_t> homogenized;  ///< seed with which blocks are dealt at random; none: in runs

  /// Rows and columns each have the one of the two lists of sizes that adds up to their elements.
  /// @throws InvalidArgument if none does
  BlockLayout layout(Index rows, Index cols, Symmetry symmetry) const;
  /// Elements along a block, in the mean.
  double mean_block() const;
  /// Bytes on a rank of a matrix to come, of whose elements the share `occupation` is stored.
  double memory(Index rows, Index cols, double occupation, std::size_t element_bytes) const;
  /// Share of the elements that a product of two such matrices of order n is expected to have.
  double product_occupation(const std::string& kind, Index n, double occupation) const;
  /// The block sizes of others.
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

/// A matrix from a file: Matrix Market, or HDF5 if its name ends in .h5, which has its own block sizes.
/// Collective; errors are thrown on all ranks.
template <class T>
BlockSparseMatrix<T> load_sparse(Session& session, const std::string& path, const SparseShape& shape);

/// Writes a matrix in one of these formats; collective.
template <class T>
void save_sparse(const std::string& path, const BlockSparseMatrix<T>& matrix);

/// The header of a Matrix Market file says that it holds complex numbers; of HDF5 files: no.
bool is_complex_file(const std::string& path);

}  // namespace tessera::program
