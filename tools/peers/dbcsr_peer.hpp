// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "sparse_probes.hpp"

/// Computes the same block-sparse product with DBCSR, for comparison.
namespace tessera::program {

/// Whether the program was built with DBCSR.
bool has_dbcsr();
/// `2.5.0`; empty without DBCSR.
std::string dbcsr_version();

/// Result of one product with DBCSR.
template <class T>
struct DbcsrProduct {
  double seconds = 0;  ///< of the library call
  double flop = 0;     ///< as counted by DBCSR
  BlockMap<T> blocks;  ///< blocks of C; empty unless requested
};

/// Runs DBCSR in this process. A process can create only one such object.
template <class T>
class DbcsrPeer {
 public:
  /// @param threads  number of OpenMP threads
  /// @throws InvalidArgument if has_dbcsr() is false
  explicit DbcsrPeer(int threads);
  ~DbcsrPeer();
  DbcsrPeer(const DbcsrPeer&) = delete;
  DbcsrPeer& operator=(const DbcsrPeer&) = delete;

  /// Copies A, B and the initial C into DBCSR's storage, with the same block sizes, blocks and
  /// values. Half-stored operands become fully stored.
  /// @param filter  threshold of the filter; 0 for none
  /// @throws InvalidArgument if C is half-stored
  void load(const SparseProduct<T>& product, double filter);
  bool loaded() const;
  void unload();

  /// Computes a new C from the loaded matrices. The workers are paused meanwhile.
  DbcsrProduct<T> multiply(bool with_blocks);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::program
