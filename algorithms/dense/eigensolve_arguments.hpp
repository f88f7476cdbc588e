// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tessera/eigensolve.hpp>

/// Matrices of the caller in the calls of this folder: checks, hashes of what must be equal on all ranks, and
/// the tiles that tasks see.
namespace tessera::detail {

/// @param name of the argument, for messages
/// @throws InvalidArgument for what is wrong on this rank
template <class T>
void check_input(const Runtime& runtime, const std::string& name, const MatrixInput<T>& input);

/// The same of what a problem with these options writes.
/// @throws InvalidArgument
template <class T>
void check_output(const Runtime& runtime, const MatrixOutput<T>& output, Index n,
                  const EigensolveOptions& options);

template <class T>
std::uint64_t hash_of(const MatrixInput<T>& input);
template <class T>
std::uint64_t hash_of(const MatrixOutput<T>& output);

/// Where on this rank the first block begins of the part from (row, col) on of a block-cyclic array (as
/// TiledMatrix::wrap_block_cyclic wants it with layout.part(row, col, ...)); null if local is.
template <class T>
T* local_part(const Runtime& runtime, T* local, Index ld, const TileLayout& layout, Index row, Index col);

/// The matrix as tiles: the caller's, or wrapped ones of its array, which are only read and go as soon as the
/// solver's own tiles have their contents.
template <class T>
class InputTiles {
 public:
  /// @param tile of an array that is all one rank's
  InputTiles(Runtime& runtime, const MatrixInput<T>& input, Index tile);
  InputTiles(const InputTiles&) = delete;
  InputTiles& operator=(const InputTiles&) = delete;
  /// Null without a matrix.
  const TiledMatrix<T>* get() const noexcept { return tiles_; }
  void release() {
    if (own_) own_->release_unchanged();
  }

 private:
  std::optional<TiledMatrix<T>> own_;
  const TiledMatrix<T>* tiles_;
};

}  // namespace tessera::detail
