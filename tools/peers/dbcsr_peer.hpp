// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "sparse_probes.hpp"

/// The same block-sparse product by DBCSR, for comparison.
namespace tessera::program {

/// The program was built with DBCSR.
bool has_dbcsr();

/// One product of DBCSR.
template <class T>
struct DbcsrProduct {
  double seconds = 0;  ///< of the call
  double flop = 0;     ///< as DBCSR counts it
  BlockMap<T> blocks;  ///< of C; empty unless asked for
};

/// A, B and C before in DBCSR's storage, with the same block sizes, blocks and values, on this process.
/// Half-stored operands are stored whole there. One of these at a time, and in a process one in all.
template <class T>
class DbcsrPeer {
 public:
  /// @param filter  eps of the filter, 0 for none
  /// @param threads of OpenMP
  /// @throws InvalidArgument if has_dbcsr() is false or C is half-stored
  DbcsrPeer(const SparseProduct<T>& product, double filter, int threads);
  ~DbcsrPeer();
  DbcsrPeer(const DbcsrPeer&) = delete;
  DbcsrPeer& operator=(const DbcsrPeer&) = delete;

  /// Computes C anew, with the workers paused.
  DbcsrProduct<T> multiply(bool with_blocks);
  /// `DBCSR 2.5.0`.
  static std::string name();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::program
