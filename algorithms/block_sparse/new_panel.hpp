// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>

#include <tessera/block_pattern.hpp>

namespace tessera::detail {

/// The values of a panel that has blocks, not written yet. All ranks make it.
template <class T>
std::shared_ptr<const Data> new_panel(const BlockPattern& pattern, Index panel) {
  const auto elements = static_cast<std::size_t>(std::max<Index>(pattern.panel_elements(panel), 1));
  return std::make_shared<const Data>(
      Data::bytes(pattern.runtime(), elements * sizeof(T), pattern.panel_owner(panel)));
}

}  // namespace tessera::detail
