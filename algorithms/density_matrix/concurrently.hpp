// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/runtime/thread_work.hpp>

namespace tessera::detail {

/// Calls work(k) for all k from 0 to count - 1: in a process of one rank at the same time, each on a thread of
/// its own; on several ranks, whose calls must meet, one after the other.
/// @throws IterationEnded of the lowest k that has ended so; all have been called in one process
template <class Work>
void concurrently(Runtime& runtime, std::size_t count, const Work& work) {
  if (count == 1 || runtime.size() > 1) {
    for (std::size_t k = 0; k < count; ++k) work(k);
    return;
  }
  std::vector<std::optional<IterationEnded>> ended(count);
  std::vector<std::unique_ptr<ThreadWork<ResultStatus>>> threads;
  for (std::size_t k = 0; k < count; ++k)
    threads.push_back(std::make_unique<ThreadWork<ResultStatus>>(
        runtime,
        [&, k] {
          try {
            work(k);
          } catch (const IterationEnded& early) {
            ended[k] = early;
          }
          return ResultStatus();
        },
        std::make_shared<ResultStatus>()));
  std::exception_ptr thrown;
  for (auto& thread : threads) {
    try {
      thread->finish();
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
  for (const auto& early : ended)
    if (early) throw *early;
}

}  // namespace tessera::detail
