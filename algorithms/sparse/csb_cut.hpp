// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/sparse/csb_sharing.hpp>

namespace tessera::detail {

/// Rows of tiles and bands when nothing else says.
struct CsbUsualRows {
  Index of_tile, of_band;
};
CsbUsualRows csb_usual_rows(const RowSurvey& survey, Index order, const CsbDomains& on);

/// Cuts the rows into tiles, and these into groups and segments of about equal work: as the options say, or
/// as the sharing asks for.
CsbCut cut_csb_rows(const SymmetricRows& rows, const CsbOptions& options, const RowSurvey& survey,
                    const CsbSharing& sharing, Index usual_tile_rows);

/// First row of each band and, last, the order. Bands lie in one segment each; small tiles are joined up to
/// `usual` rows.
std::vector<Index> cut_csb_bands(const std::vector<Index>& tiles, const RowSegments& segments, Index usual);

}  // namespace tessera::detail
