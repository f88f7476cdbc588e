// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/cholesky_factor.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// What a CholeskyFactor stands for: scale B = L L^H.
template <class T>
struct CholeskyParts {
  TiledMatrix<T> l;   ///< lower tiles
  Data scale;         ///< one real, every_rank: a power of four
  bool made = false;  ///< the sequence that makes it has succeeded
};

/// The parts with a copy of B in these tiles, which the Cholesky stage makes a factor; with a check of B for
/// what is not finite.
template <class T>
std::shared_ptr<CholeskyParts<T>> parts_to_factorize(Sequence& sequence, const TiledMatrix<T>& b,
                                                     const TileLayout& layout);

/// The layout of a solve's own tiles: the grid of its input, if that has all ranks.
TileLayout own_tiles(const Runtime& runtime, const TileLayout& input, Index n, Index tile);

/// The factor is in such tiles: a solve with them takes it as it is.
template <class T>
bool lies_in(const CholeskyFactor<T>& factor, const TileLayout& layout) noexcept;

/// The factor in such tiles: itself or a copy.
template <class T>
std::shared_ptr<const CholeskyParts<T>> factor_in(Sequence& sequence, const CholeskyFactor<T>& factor,
                                                  const TileLayout& layout);

/// @throws InvalidArgument for a factor of another order or Runtime, or one whose computation has failed
template <class T>
void check_factor(const Runtime& runtime, const CholeskyFactor<T>& factor, Index n);

}  // namespace tessera::detail
