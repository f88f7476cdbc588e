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
/// `2.5.0`; empty without.
std::string dbcsr_version();

/// One product of DBCSR.
template <class T>
struct DbcsrProduct {
  double seconds = 0;  ///< of the call
  double flop = 0;     ///< as DBCSR counts it
  BlockMap<T> blocks;  ///< of C; empty unless asked for
};

/// DBCSR started on this process: one of these in a process in all.
template <class T>
class DbcsrPeer {
 public:
  /// @param threads of OpenMP
  /// @throws InvalidArgument if has_dbcsr() is false
  explicit DbcsrPeer(int threads);
  ~DbcsrPeer();
  DbcsrPeer(const DbcsrPeer&) = delete;
  DbcsrPeer& operator=(const DbcsrPeer&) = delete;

  /// Puts A, B and C before into DBCSR's storage, with the same block sizes, blocks and values; half-stored
  /// operands whole.
  /// @param filter  eps of the filter, 0 for none
  /// @throws InvalidArgument if C is half-stored
  void load(const SparseProduct<T>& product, double filter);
  bool loaded() const;
  void unload();

  /// Computes C anew from what is loaded, with the workers paused.
  DbcsrProduct<T> multiply(bool with_blocks);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera::program
