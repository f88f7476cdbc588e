// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera {

/// What half of a square matrix tells about the other: A^T = A, A^T = -A, A^H = A. Other than `none`, only
/// the blocks (i, j) with i >= j are stored; diagonal blocks are stored whole.
enum class Symmetry : char { none = 'N', symmetric = 'S', antisymmetric = 'A', hermitian = 'H' };

/// What an element of one half gives for its mirror image.
template <class T>
constexpr T mirrored(Symmetry symmetry, T x) noexcept {
  return symmetry == Symmetry::antisymmetric ? -x : symmetry == Symmetry::hermitian ? conjugate(x) : x;
}

/// One block of a panel, as tasks read it.
struct PanelBlock {
  Index offset;                       ///< element of the panel's data at which it begins
  std::int32_t rows, cols;            ///< elements; stored column-major without gaps
  std::int32_t block_row, block_col;  ///< its numbers in the matrix
  Index first_row, first_col;         ///< element of the matrix at which it begins
};

}  // namespace tessera
