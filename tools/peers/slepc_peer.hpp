// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/algorithms/lobpcg/symmetric_rows.hpp>

#include "lobpcg_problem.hpp"

/// The same sparse eigenproblem by SLEPc, for comparison: on all processes of the run, one thread each,
/// double precision, both triangles by rows (AIJ).
namespace tessera::program {

/// The program was built with SLEPc.
bool has_slepc();

struct SlepcSolution {
  std::string name;
  double seconds = 0;          ///< of EPSSolve; the matrix is there before
  std::vector<double> values;  ///< converged ones, from the wanted end
  Index iterations = 0;
};

struct SlepcOptions {
  std::string solver;  ///< lobpcg or krylovschur
  Index count = 1, block = 0, iterations = 500;
  bool largest = false;
  double tolerance = 0;
  /// What the tolerance is relative to: the norm of A, the eigenvalue, or nothing.
  std::string norm;
  std::string preconditioner;  ///< of SLEPc's LOBPCG: none, or else block Jacobi with incomplete factors
                               ///< (PETSc's default)
};

/// Collective over MPI's world.
/// @param b  null: the standard problem
/// @throws InvalidArgument if has_slepc() is false, Error where SLEPc fails
SlepcSolution solve_with_slepc(const SymmetricRows& a, const SymmetricRows* b, const SlepcOptions& options);

}  // namespace tessera::program
