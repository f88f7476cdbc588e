// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/column_slabs.hpp>
#include <tessera/tiled_matrix.hpp>

#include "common_options.hpp"
#include "session.hpp"

/// The matrices for a command, in tiles on the ranks that own them.
namespace tessera::program {

/// A file, or a kind of test matrix.
struct MatrixSource {
  std::string file;
  std::string kind;
  Index n = 0;
  std::uint64_t seed = 1;
  double scale = 1;
};

template <class T>
struct HermitianProblem {
  TiledMatrix<T> matrix;  ///< lower tiles
  double norm = 0;        ///< one-norm
  double trace = 0;
  double square = 0;  ///< squared Frobenius norm
  std::optional<std::vector<double>> exact_eigenvalues;
};

/// The grid that the user gave, or the grid of all ranks that is closest to a square.
/// @throws InvalidArgument if the given grid has more ranks than there are
ProcessGrid process_grid(const Runtime& runtime, const GridOption& option);

/// Order of the tiles that store a command's input.
Index input_tile(const Runtime& runtime, Index n, Index wanted);

/// Reads or generates the matrix; collective. Errors are thrown on all ranks.
template <class T>
HermitianProblem<T> load(Session& session, const MatrixSource& source, const ProcessGrid& grid, Index tile);

/// Fills the lower tiles of an existing matrix with a test matrix; collective.
template <class T>
void fill(const Runtime& runtime, const TiledMatrix<T>& matrix, const MatrixSource& source);

/// Fills all tiles of a general matrix with random elements in [-1, 1].
template <class T>
void fill_general(const TiledMatrix<T>& matrix, std::uint64_t seed);

/// The whole matrix, column-major, of which only the lower triangle is valid. For one process.
template <class T>
std::vector<T> gather_lower(const Runtime& runtime, const TiledMatrix<T>& matrix);

/// Slabs with random elements in [-1, 1] that do not depend on the number of ranks.
template <class T>
ColumnSlabs<T> random_slabs(Runtime& runtime, Index rows, Index cols, Index width, std::uint64_t seed);

/// Columns [first, first + count) of slab j (count n-vectors, column-major), on every rank;
/// collective.
template <class T>
std::vector<T> gather_slab(Runtime& runtime, const ColumnSlabs<T>& slabs, Index j);

/// Squared Frobenius norm of slabs; collective.
template <class T>
double squared_norm(Runtime& runtime, const ColumnSlabs<T>& slabs);

}  // namespace tessera::program
