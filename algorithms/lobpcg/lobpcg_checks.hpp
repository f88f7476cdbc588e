// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/lobpcg/lobpcg.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {

/// The options with nothing left to choose. Collective.
/// @throws InvalidArgument, on all ranks
template <class T>
LobpcgOptions checked_options(const Runtime& runtime, const LobpcgProblem<T>& problem,
                              const LobpcgOptions& options);

}  // namespace tessera
