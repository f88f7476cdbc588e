// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/lobpcg/lobpcg_state.hpp>

namespace tessera::detail {

/// Gives the preconditioner an estimate of the wanted end of the spectrum (Preconditioner::expect): the Ritz
/// value and the residual of a few iterations with one vector and no preconditioner. Nothing where that
/// fails.
/// @param count the multiplications are added
template <class T>
void expect_wanted_end(Sequence& sequence, const LobpcgProblem<T>& problem, const LobpcgOptions& options,
                       MultiplicationCounts& count);

}  // namespace tessera::detail
