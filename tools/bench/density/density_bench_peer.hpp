// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <tessera/density_matrix.hpp>

#include "eigen_peer.hpp"
#include "session.hpp"

namespace tessera::program {

/// What a peer has computed of a density matrix.
template <class T>
struct DensityPeerResult {
  double seconds = unknown;
  double energy = unknown;                      ///< trace(P H)
  std::optional<BlockSparseMatrix<T>> density;  ///< of method dense alone
};

/// Another way to the density matrix of a problem: method dense, or all eigenpairs by LAPACK or cuSOLVER.
template <class T>
class DensityPeer {
 public:
  /// @param name  dense, lapack, cusolver
  /// @throws InvalidArgument for --peer if it cannot run here
  DensityPeer(Session& session, std::string name);

  /// One run. Of the libraries the time is that of the routine, from dense matrices that are there to all
  /// eigenvectors, which are left where they are.
  /// @throws Error if it fails
  DensityPeerResult<T> run(const DensityProblem<T>& problem, const DensityOptions& options);
  /// The record of the runs so far, without times.
  PeerRecord record() const;
  /// Adds a run to it.
  void add_run(PeerRecord& record, double seconds) const;
  /// The memory that a run needs on a rank, in n x n matrices.
  double matrices() const;

 private:
  Session& session_;
  Runtime& runtime_;
  std::string name_;
  std::unique_ptr<EigenPeer<T>> library_;  ///< null: method dense
};

}  // namespace tessera::program
