// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "peer.hpp"
#include "peer_solution.hpp"

namespace tessera::program {

/// A x = lambda x, or A x = lambda B x.
template <class T>
struct EigenPeerProblem {
  std::vector<T> a, b;  ///< n x n, lower triangle; b empty: the standard problem
  Index n = 0;
  RangeOption range;
  bool vectors = true;
  bool fetch = true;  ///< whether to copy vectors from the GPUs to the host, if any
};
template <class T>
using EigenPeer = PeerFor<EigenPeerProblem<T>, PeerSolution<T>>;

/// @param library  lapack (as many threads as the run has workers), cusolver (first GPU) or
/// cusolvermg (the run's GPUs); returns null for none
template <class T>
std::unique_ptr<EigenPeer<T>> make_eigen_peer(Runtime& runtime, const std::string& library);

}  // namespace tessera::program
