// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/density_matrix/hermitian_tiles.hpp>
#include <tessera/spectral_bounds.hpp>

namespace tessera::detail {

/// An interval that holds the spectrum of A, as spectrum_of gives it of block-sparse matrices: Lanczos with full
/// reorthogonalisation. Each product reads the tiles once where they are; the vectors are the host's, but with one tile on
/// a GPU those of tasks.
/// @throws IterationEnded: not_finite, or what a task has failed with
template <class T>
SpectralInterval spectrum_of_tiles(Runtime& runtime, const HermitianTiles<T>& a);

}  // namespace tessera::detail
