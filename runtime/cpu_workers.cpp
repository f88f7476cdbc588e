// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <exception>
#include <mutex>

#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/cpu_workers.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

void run_on_cpu_workers(Runtime& runtime, const std::function<void(int)>& work) {
  struct Shared {
    const std::function<void(int)>& work;
    std::atomic<int> next;
    std::mutex mutex;
    std::exception_ptr failure;
  } shared{work, 0, {}, {}};
  // Exceptions cannot pass through StarPU.
  const auto run = [](void* argument) {
    auto& all = *static_cast<Shared*>(argument);
    try {
      all.work(all.next++);
    } catch (...) {
      const std::lock_guard lock(all.mutex);
      all.failure = std::current_exception();
    }
  };
  collectively(runtime, "run_on_cpu_workers", 0, [&] {
    {
      const Sequence awake(runtime);  // workers sleep without it
      runtime.info().cpu_workers > 0 ? starpu_execute_on_each_worker(run, &shared, STARPU_CPU) : run(&shared);
    }
    agree(runtime, 0, [&] {
      if (shared.failure) std::rethrow_exception(shared.failure);
    });
  });
}

}  // namespace tessera::detail
