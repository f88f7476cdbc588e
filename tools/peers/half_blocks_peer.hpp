// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "half_blocks.hpp"
#include "rows_peer.hpp"

namespace tessera::program {

/// The product by blocks of half of the matrix: on the first GPU if there is one, else on all cores. The blocks are
/// those of our CsbMatrix for this runtime.
/// @param name  naive, atomic or cached; null for another one
template <class V, class T>
std::unique_ptr<RowsPeer<T>> make_half_blocks_peer(Runtime& runtime, const std::string& name);

}  // namespace tessera::program
