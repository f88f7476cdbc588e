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
  Index whole_entries = 0;  ///< of both triangles of A; 0: unknown
  std::uint64_t seed = 1;   ///< of a random start vector
  double tolerance = 0;
  double a_norm = 0;           ///< bound of ||A||, for norm backward; 0: unknown
  std::string norm;            ///< scale of the tolerance: backward, relative or absolute
  std::string preconditioner;  ///< for SLEPc's LOBPCG: none; otherwise block Jacobi with incomplete
                               ///< factorizations (PETSc's default)
};
struct SparseEigenSolution {
  std::vector<double> values;    ///< converged ones, starting at the wanted end
  Json record = Json::object();  ///< for PeerRecord::result
};
using SparseEigenPeer = PeerFor<SparseEigenProblem, SparseEigenSolution>;

/// Whether the peer can solve A x = lambda B x.
inline bool solves_generalized(const std::string& library) {
  return !library.ends_with("lanczos");
}

/// @param library  dense (LAPACK in scalar type T), lanczos (thick restarts, on the host), cusparse-lanczos (the same
/// on a GPU), slepc-lobpcg or slepc-krylovschur; returns null for none
template <class T>
std::unique_ptr<SparseEigenPeer> make_sparse_eigen_peer(Runtime& runtime, const std::string& library);

}  // namespace tessera::program
