// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/eigensolve.hpp>

namespace tessera::detail {

/// What Solver::automatic becomes for a problem of order n of which `wanted` eigenvectors are computed (0:
/// values alone). `workers` are those of all ranks.
/// `gpu_driver`: one process with a GPU, so that Solver::vendor is cuSOLVER's driver.
Solver choose_solver(Index n, Index wanted, int workers, bool gpu_driver);

}  // namespace tessera::detail
