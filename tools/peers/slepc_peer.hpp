// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "sparse_eigen_peer.hpp"

/// Solves the same sparse eigenproblem with SLEPc, for comparison, on all processes of the run with
/// one thread each: double precision, both triangles by rows (AIJ).
namespace tessera::program {

/// Whether the program was built with SLEPc.
bool has_slepc();
/// `3.18.2`; empty without SLEPc.
std::string slepc_version();

struct SlepcSolution {
  double seconds = 0;          ///< of EPSSolve; the matrix is built before
  std::vector<double> values;  ///< converged ones, starting at the wanted end
  Index iterations = 0;
};

/// Collective over MPI_COMM_WORLD.
/// @param solver  lobpcg or krylovschur
/// @throws InvalidArgument if has_slepc() is false, Error if SLEPc fails
SlepcSolution solve_with_slepc(const SparseEigenProblem& problem, const std::string& solver);

}  // namespace tessera::program
