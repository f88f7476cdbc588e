// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/require_memory.hpp>

namespace tessera::detail {

namespace {

/// What the ranks of this rank's host need together, and what they hold without use.
struct HostShare {
  std::uint64_t host = 0;
  double needed = 0, idle = 0;
  int ranks = 0;
};

HostShare sum_on_host(const Runtime& runtime, double host_bytes) {
  const HostShare mine{hash_of(runtime.info().host), host_bytes, static_cast<double>(idle_host_memory()), 1};
  HostShare sum{mine.host};
  for (const auto& bytes : runtime.all_gather(std::as_bytes(std::span(&mine, 1)))) {
    HostShare other;
    std::memcpy(&other, bytes.data(), sizeof other);
    if (other.host != mine.host) continue;
    sum.needed += other.needed;
    sum.idle += other.idle;
    sum.ranks += other.ranks;
  }
  return sum;
}

void require_on_host(const Runtime& runtime, std::string_view what, const HostShare& sum) {
  if (sum.ranks < 2) return;
  if (const double there = static_cast<double>(shared_host_memory()) + sum.idle; sum.needed > there)
    throw RuntimeError(memory_refusal(
        what, sum.needed,
        fmt::format("host memory on the {} ranks of {} together", sum.ranks, runtime.info().host), there));
}

void require_on_gpus(const Runtime& runtime, std::string_view what, double bytes) {
  if (const auto there = static_cast<double>(runtime.info().gpu_memory_bytes); there > 0 && bytes > there)
    throw RuntimeError(memory_refusal(what, bytes, "a GPU's memory", there));
}

}  // namespace

void require_memory(const Runtime& runtime, std::string_view what, double host_bytes, double gpu_bytes) {
  const auto check = [&] {
    require_host_memory(what, host_bytes);
    require_on_gpus(runtime, what, gpu_bytes);
  };
  if (runtime.size() == 1) return check();
  double most = host_bytes;
  runtime.all_reduce_max(&most, 1);
  HostShare sum;
  if (most * runtime.size() >= worth_looking) sum = sum_on_host(runtime, host_bytes);
  agree(runtime, 0, [&] {
    check();
    require_on_host(runtime, what, sum);
  });
}

}  // namespace tessera::detail
