// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/column_slabs.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/matrix/band_matrix.hpp>
#include <tessera/runtime/matrix/column_groups.hpp>
#include <tessera/tiled_matrix.hpp>

/// What the stages' calls have in common: hashes of what must be the same on all ranks, and checks.
namespace tessera::detail {

template <class T>
std::uint64_t hash_of(const TiledMatrix<T>& a) {
  return argument_hash(sizeof(T), is_complex<T>, hash_of(a.layout()));
}
template <class T>
std::uint64_t hash_of(const ColumnSlabs<T>& z) {
  return argument_hash(sizeof(T), is_complex<T>, z.rows(), z.cols(), z.width(), z.count());
}
template <class T>
std::uint64_t hash_of(const BandMatrix<T>& band) {
  return argument_hash(sizeof(T), is_complex<T>, band.size(), band.bandwidth(), band.segment_count());
}

/// A Hermitian matrix as the stages take it: n x n, lower layout, square tiles.
inline void require_lower_tiles(const char* name, const TileLayout& layout) {
  if (layout.rows != layout.cols || layout.uplo != Uplo::lower || layout.tile_rows != layout.tile_cols)
    throw InvalidArgument(name, std::to_string(layout.rows) + " x " + std::to_string(layout.cols),
                          "a square matrix in lower layout");
}

/// Slabs with as many rows as a matrix of order n.
template <class T>
void require_rows(const char* name, const ColumnSlabs<T>& z, Index n) {
  if (z.count() > 0 && z.rows() != n)
    throw InvalidArgument(name, std::to_string(z.rows()) + " rows", std::to_string(n) + " rows");
}

/// A piece of data that exists.
inline void require_made(const char* name, const Data& data) {
  if (!data.valid()) throw InvalidArgument(name, "nothing", "a piece of data");
}

}  // namespace tessera::detail
