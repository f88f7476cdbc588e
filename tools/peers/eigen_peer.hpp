// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/column_slabs.hpp>
#include <tessera/tiled_matrix.hpp>

#include "common_options.hpp"
#include "peer.hpp"
#include "peer_solution.hpp"

namespace tessera::program {

/// A x = lambda x, or A x = lambda B x.
template <class T>
struct EigenPeerProblem {
  std::vector<T> a{}, b{};  ///< n x n, lower triangle; b empty: the standard problem
  Index n = 0;
  RangeOption range{};
  bool vectors = true;
  bool fetch = true;  ///< whether vectors, if any, are needed on the host
  /// In place of a and b for peers that solve on all ranks; b_tiles null: the standard problem.
  const TiledMatrix<T>*a_tiles = nullptr, *b_tiles = nullptr;
};
/// Of a peer on all ranks the vectors are in `slabs`.
template <class T>
struct EigenPeerSolution : PeerSolution<T> {
  ColumnSlabs<T> slabs{};
  Json record = Json::object();  ///< for PeerRecord::result
};
template <class T>
using EigenPeer = PeerFor<EigenPeerProblem<T>, EigenPeerSolution<T>>;

/// Whether the library takes tiles, and solves on all ranks of the run.
bool solves_on_all_ranks(const std::string& library);

/// @param library  lapack (as many threads as the run has workers), scalapack or elpa (all ranks, each with as
/// many threads as it has workers), cusolver (first GPU) or cusolvermg (the run's GPUs); returns null for none
template <class T>
std::unique_ptr<EigenPeer<T>> make_eigen_peer(Runtime& runtime, const std::string& library);

}  // namespace tessera::program
