// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "sparse_eigen_peer.hpp"

/// The same sparse eigenproblem by SLEPc, for comparison: on all processes of the run, one thread each,
/// double precision, both triangles by rows (AIJ).
namespace tessera::program {

/// The program was built with SLEPc.
bool has_slepc();
/// `3.18.2`; empty without.
std::string slepc_version();

struct SlepcSolution {
  double seconds = 0;          ///< of EPSSolve; the matrix is there before
  std::vector<double> values;  ///< converged ones, from the wanted end
  Index iterations = 0;
};

/// Collective over MPI's world.
/// @param solver  lobpcg or krylovschur
/// @throws InvalidArgument if has_slepc() is false, Error where SLEPc fails
SlepcSolution solve_with_slepc(const SparseEigenProblem& problem, const std::string& solver);

}  // namespace tessera::program
