// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/codelets/sparse/multiply_csb.hpp>
#include <tessera/data.hpp>

namespace tessera::detail {

/// Diagonal tiles of one segment of rows of a CsbMatrix: a piece of their own (segment x segment, cells on
/// its diagonal), which the segment's owner has. They are part of A and take part in apply.
struct CsbDiagonalTiles {
  const Data* piece = nullptr;  ///< null where a segment has no entries there
  const Data* index = nullptr;  ///< for GPUs; null where none takes part
  CsbPieceShape shape;
  std::vector<Index> begins;  ///< first row of each tile, from the segment's, and last the segment's rows
};

}  // namespace tessera::detail
