// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <tessera/block_pattern.hpp>

namespace tessera::detail {

/// The elements at which the blocks of a panel begin in its data, row by row, and the number of its elements.
/// `panel_rows`: its block rows; `col_sizes`: of its block columns, by position.
std::vector<Index> block_offsets(const PanelIndex& index, const BlockDimension& rows,
                                 std::span<const Index> panel_rows, std::span<const Index> col_sizes);

}  // namespace tessera::detail
