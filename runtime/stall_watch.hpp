// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// Detects that tasks wait for memory that no task will free: StarPU would try for ever. The needs are
/// computed before the work, so this covers what the computation cannot know: address space, memory that
/// other processes took later, a fragmented GPU memory. For a thread that waits for tasks of this rank; not
/// thread-safe.
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

}  // namespace tessera::detail
