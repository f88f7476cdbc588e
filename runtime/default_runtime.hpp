// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include <tessera/runtime.hpp>

/// Included by runtime/*.cpp only.
namespace tessera::detail {

/// The Runtime of this process, from the end of its constructor to the begin of its destructor; null: none.
extern std::atomic<Runtime*> alive_runtime;

/// The Runtime that is alive, or being made, is that of default_runtime().
bool default_runtime_alive() noexcept;

/// A default Runtime on these processes, in place of the one that there may be. It ends with MPI, in MPI_Finalize. Collective.
/// @throws RuntimeError while another one than the default Runtime is alive, and where StarPU cannot start
Runtime& default_runtime_on(Communicator communicator);

}  // namespace tessera::detail
