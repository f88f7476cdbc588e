// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/lobpcg.hpp>

namespace tessera::detail {

/// Pairs that one solve finds; of more wanted ones than a block has columns the size of a group.
Index pairs_of_group(const LobpcgOptions& options) noexcept;
/// Columns that a solve in groups keeps besides a group's; 0 for one solve.
Index columns_of_groups(const LobpcgOptions& options, bool generalized) noexcept;

/// More pairs than a block holds: groups of them, each by a solve that has those found before as constraints.
/// @param resolved  of checked_options, block and basis for a group
template <class T>
LobpcgResult<T> solve_pair_groups(Runtime& runtime, const LobpcgProblem<T>& problem,
                                  const LobpcgOptions& resolved);

}  // namespace tessera::detail
