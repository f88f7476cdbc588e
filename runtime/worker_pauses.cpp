// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Workers run, and BLAS has one thread, while a sequence is alive; else cores and BLAS are the caller's.
#include <mutex>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>
#include <tessera/runtime/blas_threads.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera {

using namespace detail;

void Runtime::Detail::activate() {
  std::lock_guard lock(pause_mutex);
  if (active_sequences++ > 0) return;
  one_blas_thread.emplace();
  if (!paused) return;
  starpu_resume();
  paused = false;
}

void Runtime::Detail::deactivate() {
  std::lock_guard lock(pause_mutex);
  if (--active_sequences > 0) return;
  if (!paused) starpu_pause();
  paused = true;
  one_blas_thread.reset();
}

void Runtime::run_exclusively(int threads, const std::function<void()>& work) {
  if (detail_->active_sequences > 0)
    throw RuntimeError("run_exclusively while tasks are in flight: wait for their completions first");
  struct Restored {
    const int number = blas_threads();
    ~Restored() { set_blas_threads(number); }
  } const of_caller;
  set_blas_threads(threads);
  work();
}

}  // namespace tessera
