// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Workers run while a sequence is alive, and leave the cores to the caller else.
#include <mutex>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>
#include <tessera/runtime/blas_threads.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera {

using namespace detail;

void Runtime::Detail::activate() {
  std::lock_guard lock(pause_mutex);
  if (active_sequences++ == 0 && paused) {
    starpu_resume();
    paused = false;
  }
}

void Runtime::Detail::deactivate() {
  std::lock_guard lock(pause_mutex);
  if (--active_sequences == 0 && !paused) {
    starpu_pause();
    paused = true;
  }
}

void Runtime::run_exclusively(int threads, const std::function<void()>& work) {
  if (detail_->active_sequences > 0)
    throw RuntimeError("run_exclusively while tasks are in flight: wait for their completions first");
  set_blas_threads(threads);
  try {
    work();
  } catch (...) {
    set_blas_threads(1);
    throw;
  }
  set_blas_threads(1);
}

}  // namespace tessera
