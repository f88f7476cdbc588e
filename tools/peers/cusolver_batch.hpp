// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "batch_peer.hpp"

namespace tessera::program {

/// Solves batches with cuSOLVER on the first GPU: with XsyevBatched and with the Jacobi method of syevjBatched (real)
/// or heevjBatched (complex). Each is timed by CUDA events with its workspace in place, and the faster one counts.
/// One that fails, or is so slow that waiting for it again is not worth it, is left out of later calls. The handle
/// is kept from call to call, and copies share it.
template <class T>
class CusolverBatch {
 public:
  CusolverBatch();
  /// @throws RuntimeError if there is no GPU, or if all routines fail
  BatchPeerSolution<T> operator()(const BatchPeerProblem<T>& problem) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tessera::program
