// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/sparse_matrix.hpp>

#include "peer.hpp"

namespace tessera::program {

/// A few eigenpairs at one end of the spectrum of a sparse symmetric or Hermitian problem.
struct SparseEigenProblem {
  const SymmetricRows* a = nullptr;
  const SymmetricRows* b = nullptr;  ///< null: the standard problem
  Index count = 1, block = 0, iterations = 500;
  bool largest = false;
  double tolerance = 0;
  std::string norm;            ///< scale of the tolerance: backward, relative or absolute
  std::string preconditioner;  ///< for SLEPc's LOBPCG: none; otherwise block Jacobi with incomplete
                               ///< factorizations (PETSc's default)
};
struct SparseEigenSolution {
  std::vector<double> values;    ///< converged ones, starting at the wanted end
  Json record = Json::object();  ///< for PeerRecord::result
};
using SparseEigenPeer = PeerFor<SparseEigenProblem, SparseEigenSolution>;

/// @param library  dense (LAPACK in scalar type T), slepc-lobpcg or slepc-krylovschur; returns null
/// for none
template <class T>
std::unique_ptr<SparseEigenPeer> make_sparse_eigen_peer(Runtime& runtime, const std::string& library);

}  // namespace tessera::program
