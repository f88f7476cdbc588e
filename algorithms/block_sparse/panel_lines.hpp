// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/values/panel_lines.hpp>

/// Where blocks lie among the rows and columns of their panels.
namespace tessera::detail {

/// For each block of a dimension, at which element of its panel it begins.
std::vector<Index> first_lines(const BlockDimension& dimension);

/// Where the blocks of a panel lie in it (an array of BlockLines), on its owner.
Data make_lines(const BlockPattern& pattern, Index p);

/// The PanelOrder of a panel, on its owner; nothing where no rank has a GPU to use it.
Data make_order(const BlockPattern& pattern, Index p);

/// An operand that may be absent.
inline const Data* if_valid(const Data& data) noexcept {
  return data.valid() ? &data : nullptr;
}

}  // namespace tessera::detail
