// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <atomic>
#include <chrono>
#include <string>

#include <fmt/format.h>

#include <tessera/runtime/error.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/stall_watch.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera {
namespace {

double now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Of one worker, in a cache line of its own; the last one is for threads that are no workers.
struct alignas(64) Activity {
  std::atomic<std::uint64_t> begun = 0, ended = 0;
};
std::array<Activity, STARPU_NMAXWORKERS + 1> activities;

Activity& mine() noexcept {
  const int worker = starpu_worker_get_id();
  return activities[worker < 0 ? STARPU_NMAXWORKERS : static_cast<std::size_t>(worker)];
}

struct Sums {
  std::uint64_t begun = 0, ended = 0;
};
Sums sums() noexcept {
  Sums result;
  for (const Activity& activity : activities) {  // ends first: what begins meanwhile counts as running
    result.ended += activity.ended.load(std::memory_order_acquire);
    result.begun += activity.begun.load(std::memory_order_relaxed);
  }
  return result;
}

/// A memory of which StarPU has used three quarters by its own account, or nothing. In pieces, the rest may
/// be of no use.
std::string exhausted_node() {
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node) {
    const starpu_ssize_t total = starpu_memory_get_total(node), available = starpu_memory_get_available(node);
    if (total <= 0 || available >= total / 4) continue;
    char name[64];
    starpu_memory_node_get_name(node, name, sizeof name);
    return fmt::format("{}: {} of {} MiB are free", name, available >> 20, total >> 20);
  }
  return {};
}

}  // namespace

StallWatch::StallWatch(const Runtime& runtime)
    : limit_(runtime.size() > 1 ? 4 * patience : patience),
      since_(now()),
      ended_(sums().ended),
      refusals_(host_memory_refusals()) {}

void StallWatch::check() {
  const Sums so_far = sums();
  const bool moves = so_far.begun != so_far.ended || so_far.ended != ended_;
  ended_ = so_far.ended;
  const std::uint64_t refusals = host_memory_refusals(), before = std::exchange(refusals_, refusals);
  if (moves) since_ = now();
  if (now() - since_ < limit_) return;
  const std::string where = refusals != before ? "the system gives no more" : exhausted_node();
  if (where.empty()) return;
  throw RuntimeError(
      fmt::format("tasks have waited {:.0f} s for memory that is not there ({})", now() - since_, where));
}

namespace internal {

void note_task_begin() noexcept {
  mine().begun.fetch_add(1, std::memory_order_relaxed);
}
void note_task_end() noexcept {
  mine().ended.fetch_add(1, std::memory_order_release);
}

}  // namespace internal
}  // namespace tessera
