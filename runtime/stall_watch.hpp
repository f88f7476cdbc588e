// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/runtime.hpp>

namespace tessera {

/// Notices that tasks wait for memory that nobody will give back: StarPU tries for ever. Needs are computed
/// before the work, so this is for what the computation does not see: address space, memory that others took
/// meanwhile, a GPU's memory in pieces. For one that waits for tasks of this rank; not thread-safe.
class StallWatch {
 public:
  /// Seconds without any task of this rank running or ending. Ranks wait for each other, too: of several the
  /// patience is four times as long. A test may have less.
  static inline double patience = 30;

  explicit StallWatch(const Runtime::Detail& runtime);

  /// To be called about once a second while tasks are pending.
  /// @throws RuntimeError if no task has run or ended for as long as the patience lasts, while some memory is
  /// exhausted
  void check();

 private:
  const Runtime::Detail& runtime_;
  double limit_, since_;
  std::uint64_t ended_ = 0, refusals_ = 0;
};

}  // namespace tessera
