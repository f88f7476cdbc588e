// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/sequence_state.hpp>
#include <tessera/runtime/stall_watch.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

namespace {

struct Sums {
  std::uint64_t running = 0, ended = 0;
};
Sums sums(const Runtime::Detail& runtime) noexcept {
  Sums result;
  for (const RunningKernels& worker : runtime.running) {
    result.ended += worker.ended.load(std::memory_order_acquire);
    result.running += static_cast<std::uint64_t>(worker.count.load());
  }
  return result;
}

/// A memory of which StarPU has used three quarters by its own account, or has left less than 64 MiB, or
/// nothing. In pieces, the rest may be of no use.
std::string exhausted_node() {
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node) {
    const starpu_ssize_t total = starpu_memory_get_total(node), available = starpu_memory_get_available(node);
    constexpr starpu_ssize_t of_use = 64 << 20;
    if (total <= 0 || available >= std::max(total / 4, of_use)) continue;
    char name[64];
    starpu_memory_node_get_name(node, name, sizeof name);
    return fmt::format("{}: {} of {} MiB are free", name, available >> 20, total >> 20);
  }
  return {};
}

}  // namespace

StallWatch::StallWatch(const Runtime::Detail& runtime)
    : runtime_(runtime),
      limit_(runtime.ranks > 1 ? 4 * patience : patience),
      since_(now()),
      ended_(sums(runtime).ended),
      refusals_(host_memory_refusals()) {}

void StallWatch::check() {
  const Sums so_far = sums(runtime_);
  const bool moves = so_far.running > 0 || so_far.ended != ended_;
  ended_ = so_far.ended;
  const std::uint64_t refusals = host_memory_refusals(), before = std::exchange(refusals_, refusals);
  const double now = detail::now();
  if (moves) since_ = now;
  if (now - since_ < limit_) return;
  const std::string where = refusals != before ? "the system gives no more" : exhausted_node();
  if (where.empty()) return;
  throw RuntimeError(
      fmt::format("tasks have waited {:.0f} s for memory that is not there ({})", now - since_, where));
}

}  // namespace tessera::detail
