// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/lobpcg/lobpcg_state.hpp>

namespace tessera::detail {

/// The state as a line of the history. @param count wanted eigenpairs @param seconds since the start
template <class T>
LobpcgStep history_step(const LobpcgState<T>& s, const ConvergenceTest& test, Index count,
                        const Sequence& sequence, double seconds);

/// Numbers and vectors of the state as they are: also without convergence they are the best that there is.
/// The result has its status already; X moves into it.
template <class T>
void fill_result(LobpcgState<T>& s, const ConvergenceTest& test, Index count, LobpcgResult<T>& result);

}  // namespace tessera::detail
