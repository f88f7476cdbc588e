// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "sparse_probes.hpp"

namespace tessera::program {

/// The same block-sparse product by cuTENSOR on the first GPU, in separate memory and on a stream of its own.
/// cuTENSOR does not find the blocks of C: it gets those of our result.
template <class T>
class CutensorProduct {
 public:
  /// Copies A, B and the initial C to the GPU, the blocks of each one after the other, half-stored operands
  /// as a whole; makes the plan, and computes the product once to warm up.
  /// @param product  without adjoints of complex operands, which cuTENSOR cannot express
  /// @throws InvalidArgument if C is half-stored
  /// @throws RuntimeError if cuTENSOR or CUDA fails
  explicit CutensorProduct(const SparseProduct<T>& product);
  ~CutensorProduct();
  CutensorProduct(const CutensorProduct&) = delete;
  CutensorProduct& operator=(const CutensorProduct&) = delete;

  /// Whether there is something to compute: A, B and C have blocks.
  bool has_work() const;
  /// Computes C from the initial one again. Returns the seconds from the call until the GPU has finished.
  double multiply();
  /// The last C.
  BlockMap<T> blocks() const;
  double plan_seconds() const;
  std::size_t workspace_bytes() const;

 private:
  struct Detail;
  std::unique_ptr<Detail> detail_;
};

}  // namespace tessera::program
