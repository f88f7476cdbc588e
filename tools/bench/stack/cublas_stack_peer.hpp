// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "peer.hpp"
#include "stack_problem.hpp"

namespace tessera::program {

/// --peer names one of cuBLAS's.
bool is_cublas_stack_peer(const std::string& library);

/// Stacks by cuBLAS's batched or grouped product on the first GPU. A call adds one product to each C (beta =
/// 1), so that a stack takes as many calls as its longest run has products (product_rounds). Operands and
/// arrays of pointers are on the GPU before the clock starts.
template <class T>
class CublasStackPeer final : public Peer {
 public:
  /// @param library  cublas-batched or cublas-grouped
  CublasStackPeer(const Runtime& runtime, const std::string& library);
  ~CublasStackPeer() override;
  /// The first `items` stacks of the problem, which are computed `rounds` times in a run.
  void load(const StackProblem<T>& problem, std::size_t items, Index rounds);
  /// Seconds of all rounds, after one to warm up.
  double run() override;
  void release() override {}
  Index calls() const;  ///< for all stacks once
  /// All panels of C after the stacks were added once to zeros; empty where no stack is.
  std::vector<std::vector<T>> results() const;

 private:
  struct Detail;
  bool grouped_;
  Index rounds_ = 1;
  std::unique_ptr<Detail> detail_;
};

/// max |C - C'| / (eps k p) over all elements, where a block of C has p products, of elements of at most 1 (real and
/// imaginary parts).
template <class T>
double difference_of_results(const StackProblem<T>& problem, std::size_t items,
                             const std::vector<std::vector<T>>& one,
                             const std::vector<std::vector<T>>& other);

}  // namespace tessera::program
