// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "peer.hpp"
#include "peer_solution.hpp"

namespace tessera::program {

/// A_k x = lambda x for each matrix of a batch.
template <class T>
struct BatchPeerProblem {
  const T* a = nullptr;  ///< on the host: n x n matrices, one directly after the other; only read
  Index n = 0, count = 0;
  bool vectors = true;
  bool on_gpu = false;  ///< on a GPU the matrices are there before the time and the results after it
  bool fetch = true;    ///< whether vectors are wanted in the solution
};

/// `values`: n of each matrix; `vectors`: n x n of each matrix.
template <class T>
struct BatchPeerSolution : PeerSolution<T> {
  std::vector<std::string> left_out;  ///< routines that are not tried (again), each with the reason
};

template <class T>
using BatchPeer = PeerFor<BatchPeerProblem<T>, BatchPeerSolution<T>>;

/// One for each case, because it remembers which routines are too slow for it.
/// @param library  lapack (heevd for a matrix on one thread, as many threads as the run has CPU workers; heevr is no
/// candidate, because its vectors can miss the bound of the check) or cusolver (first GPU); returns null for none
template <class T>
std::unique_ptr<BatchPeer<T>> make_batch_peer(Runtime& runtime, const std::string& library);

}  // namespace tessera::program
