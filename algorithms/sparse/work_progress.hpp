// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>

#include <tessera/types.hpp>

namespace tessera::detail {

/// Counts the work that several threads have done, and tells it to CsbOptions::progress.
class WorkProgress {
 public:
  /// `tell` must outlive this; empty: nobody is told.
  explicit WorkProgress(const std::function<void(double)>& tell) : tell_(tell) {}

  /// The work of all is known only now. From one thread, before any is done.
  void set_whole(Index whole) noexcept { whole_ = whole; }
  /// On thread 0 of parallel_for, which is the caller's, tells the share that all threads have done.
  void add(Index done, int thread) {
    done_.fetch_add(done);
    if (thread == 0) tell();
  }
  /// On the caller's thread, which may have had no part of the work.
  void tell() const {
    const Index done = done_.load();
    // 1 is told at the end, when all is there.
    if (tell_ && done < whole_) tell_(static_cast<double>(done) / static_cast<double>(whole_));
  }
  void finish() const {
    if (tell_) tell_(1);
  }

 private:
  const std::function<void(double)>& tell_;
  Index whole_ = 1;
  std::atomic<Index> done_ = 0;
};

}  // namespace tessera::detail
