// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// A Runtime on the processes of a BLACS context, and where they are in its grid.
struct BlacsRuntime {
  Runtime& runtime;
  int rows = 1, cols = 1;     ///< of the grid
  bool column_major = false;  ///< ranks of the Runtime go down the columns of the grid
};

/// The Runtime that is alive if it is on the processes of the context, else one with default options, which is made: it is the
/// default one, and ends with MPI. BLACS is looked up among the functions of the program and its libraries. Called by all
/// processes of the context.
/// @throws RuntimeError without BLACS, for a process that is not of the context, where the Runtime that is alive is on other
/// processes and not the default one, and where StarPU cannot start
BlacsRuntime blacs_runtime(int context);

}  // namespace tessera::detail
