// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// Threads for work on the host while no tasks run.
inline int host_threads(const Runtime& runtime) {
  return runtime.info().host_threads;
}

/// Calls work(i, thread) for i = 0, ..., count - 1, on `threads` threads, or as many as the system gives, in
/// any order. Of exceptions the one of the lowest i is thrown at the end.
template <class Work>
void parallel_for(int threads, Index count, const Work& work) {
  std::atomic<Index> next = 0;
  std::mutex mutex;
  Index failed = count;
  std::exception_ptr caught;
  const auto run = [&](int thread) {
    for (Index i; (i = next.fetch_add(1)) < count;) {
      try {
        work(i, thread);
      } catch (...) {
        // Later calls do not begin. Calls with a lower i have begun already and may fail, too.
        next.store(count);
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          caught = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int thread = 1; thread < threads && thread < count; ++thread) others.emplace_back(run, thread);
    } catch (...) {  // no more threads, or no memory for one: those that there are do the work
    }
    run(0);
  }
  if (caught) std::rethrow_exception(caught);
}

}  // namespace tessera::detail
