// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/runtime.hpp>
#include <tessera/runtime/blas_threads.hpp>
#include <tessera/runtime/starpu_detail.hpp>
#include <tessera/version.hpp>

/// What a Runtime tells of itself: what it found at its start, and what its workers do.
namespace tessera::detail {

namespace {

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view view(text, static_cast<std::size_t>(std::max(length, 0)));
  return std::string(view.substr(0, view.find_first_of(",\n")));
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

void Runtime::fill_info() {
  info_.version = TESSERA_VERSION_STRING;
  info_.commit = TESSERA_VERSION_COMMIT;
  info_.starpu_version =
      fmt::format("{}.{}.{}", STARPU_MAJOR_VERSION, STARPU_MINOR_VERSION, STARPU_RELEASE_VERSION);
  info_.mpi_version = mpi_version();
  info_.blas = blas_description();
  info_.host = host_name();
  info_.cpu_workers = static_cast<int>(starpu_cpu_worker_get_count());
  info_.ranks = size_;
  for (int worker = 0; worker < workers_; ++worker) {
    if (starpu_worker_get_type(worker) != STARPU_CUDA_WORKER) continue;
    char name[128];
    starpu_worker_get_name(worker, name, sizeof name);
    info_.gpus.emplace_back(name);
    const auto memory =
        static_cast<std::int64_t>(starpu_memory_get_total(starpu_worker_get_memory_node(worker)));
    if (memory > 0 && (info_.gpu_memory_bytes == 0 || memory < info_.gpu_memory_bytes))
      info_.gpu_memory_bytes = memory;
  }
  double smallest[2] = {-static_cast<double>(info_.gpu_memory_bytes), -static_cast<double>(info_.l2_bytes)};
  all_reduce_max(smallest, 2);
  info_.gpu_memory_bytes = static_cast<std::int64_t>(-smallest[0]);
  info_.l2_bytes = static_cast<std::int64_t>(-smallest[1]);  // tiles are chosen by it
}

void Runtime::profile(bool on) {
  starpu_profiling_status_set(on ? STARPU_PROFILING_ENABLE : STARPU_PROFILING_DISABLE);
  if (!on) return;
  worker_profiles();  // reading clears
  bytes_moved();
}

std::vector<WorkerProfile> Runtime::worker_profiles() const {
  std::vector<WorkerProfile> profiles;
  for (int worker = 0; worker < workers_; ++worker) {
    starpu_profiling_worker_info info;
    if (starpu_profiling_worker_get_info(worker, &info) != 0) continue;
    char name[128];
    starpu_worker_get_name(worker, name, sizeof name);
    WorkerProfile profile;
    profile.name = name;
    profile.total = starpu_timing_timespec_to_us(&info.total_time) * 1e-6;
    profile.executing = starpu_timing_timespec_to_us(&info.executing_time) * 1e-6;
    profile.sleeping = starpu_timing_timespec_to_us(&info.sleeping_time) * 1e-6;
    profile.overhead = profile.total - profile.executing - profile.sleeping;
    profile.tasks = info.executed_tasks;
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

double Runtime::bytes_moved() const {
  const auto on_gpu = [](int node) {
    return starpu_node_get_kind(static_cast<unsigned>(node)) == STARPU_CUDA_RAM;
  };
  double bytes = 0;
  for (int bus = 0; bus < starpu_bus_get_count(); ++bus) {
    if (!on_gpu(starpu_bus_get_src(bus)) && !on_gpu(starpu_bus_get_dst(bus))) continue;
    starpu_profiling_bus_info info;
    if (starpu_bus_get_profiling_info(bus, &info) == 0) bytes += static_cast<double>(info.transferred_bytes);
  }
  return bytes;
}

int Runtime::gpu_of_part(Index part, Index parts) const noexcept {
  return gpus_ < 2 || options_.hybrid ? -1 : static_cast<int>(part * gpus_ / parts);
}

int Runtime::first_gpu() const noexcept {
  for (int worker = 0; worker < workers_; ++worker)
    if (starpu_worker_get_type(worker) == STARPU_CUDA_WORKER) return starpu_worker_get_devid(worker);
  return -1;
}

}  // namespace tessera
