// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tessera/algorithms/sparse/csb_pieces.hpp>
#include <tessera/data.hpp>

namespace tessera::detail {

/// A piece of a CsbMatrix: what it holds, on every rank, and the data of this or another rank.
struct CsbPiece {
  CsbPieceContents contents;
  Data data;
};

/// What the rows had beside entries: tiles, and the families of the segments that this rank owns.
struct CsbRowStructure {
  std::vector<Index> tiles;
  std::vector<RowFamilies> families;  ///< segment after segment; empty: none has families

  CsbRowStructure() = default;
  CsbRowStructure(const SymmetricRows& rows, const RowSegments& segments, int rank);
};

/// All of a CsbMatrix that a file of it has.
struct CsbSaved {
  const Runtime& runtime;
  const CsbPartition& partition;
  std::span<const CsbPiece> pieces;
  const CsbRowStructure& structure;
  Index piece_bytes;
};

/// CsbMatrix::save. V: the values' type. Collective. @returns the bytes of the entries
template <class V>
double save_csb(const CsbSaved& matrix, const std::string& path, const CsbSaveOptions& options);

}  // namespace tessera::detail
