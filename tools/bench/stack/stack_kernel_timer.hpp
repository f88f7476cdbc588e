// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "stack_problem.hpp"

namespace tessera::program {

/// Seconds of the kernels alone, on one GPU and one stream.
struct StackKernelTimes {
  double own = unknown;      ///< with the kernels that the codelet launches
  double generic = unknown;  ///< with the kernel for arbitrary sizes
};

/// Runs the first `items` stacks of a problem on the first GPU, without StarPU, one after the
/// other: once as a warm-up, then `rounds` times between two CUDA events.
/// @throws RuntimeError without a GPU
template <class T>
class StackKernelTimer {
 public:
  StackKernelTimer(const StackProblem<T>& problem, std::size_t items);
  ~StackKernelTimer();
  StackKernelTimer(const StackKernelTimer&) = delete;
  StackKernelTimer& operator=(const StackKernelTimer&) = delete;
  /// Average seconds for one pass over all items.
  StackKernelTimes measure(Index rounds) const;
  /// All panels of C after the stacks were added once to zeros, as the codelet does it; empty where no stack
  /// is.
  std::vector<std::vector<T>> results() const;
  double flops() const;          ///< of all of the items
  double operand_bytes() const;  ///< A and B of each product

 private:
  struct Detail;
  std::unique_ptr<Detail> detail_;
  double flops_ = 0, operand_bytes_ = 0;
};

}  // namespace tessera::program
