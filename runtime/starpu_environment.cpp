// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <starpu.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/starpu_environment.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

struct Range {
  const char* name;
  int least, most;
};

/// Numbers for which StarPU ends the program, spins or divides by zero outside of these ranges.
constexpr Range ranges[] = {{"STARPU_BACKOFF_MAX", 1, 1 << 20},
                            {"STARPU_BACKOFF_MIN", 1, 1 << 20},
                            {"STARPU_CALIBRATE", 0, 2},
                            {"STARPU_CUDA_PIPELINE", 0, 64},
                            {"STARPU_DISABLE_KERNELS", 0, 0},
                            {"STARPU_NCPU", 0, STARPU_MAXCPUS},
                            {"STARPU_NCPUS", 0, STARPU_MAXCPUS},
                            {"STARPU_NCUDA", 0, INT_MAX},
                            {"STARPU_NTHREADS_PER_CORE", 1, 64},
                            {"STARPU_NWORKER_PER_CUDA", 1, 64},
                            {"STARPU_TRACE_BUFFER_SIZE", 1, 1 << 20}};

/// The rest of what StarPU 1.4 reads as a number from 0, without the STARPU_ in front. A name that ends in *
/// is the beginning of names.
constexpr std::string_view numbers[] = {"AUTOHETEROPRIO_FREEZE_GATHERING",
                                        "AUTOHETEROPRIO_ORDERING_INTERVAL",
                                        "AUTOHETEROPRIO_PRINT_AFTER_ORDERING",
                                        "AUTOHETEROPRIO_PRINT_DATA_ON_UPDATE",
                                        "AUTOHETEROPRIO_PRIORITY_ORDERING_POLICY",
                                        "AUTOHETEROPRIO_TIME_ESTIMATION_POLICY",
                                        "BUS_CALIBRATE",
                                        "BUS_STATS",
                                        "CALIBRATE_MINIMUM",
                                        "CATCH_SIGNALS",
                                        "CODELET_PROFILING",
                                        "COMM_STATS",
                                        "CUDA_ONLY_FAST_ALLOC_OTHER_MEMNODES",
                                        "CUDA_THREAD_PER_*",
                                        "DATA_LOCALITY_ENFORCE",
                                        "DISABLE_ASYNCHRONOUS_*",
                                        "DISABLE_PINNING",
                                        "DISK_SWAP_SIZE",
                                        "DISPLAY_BINDINGS",
                                        "ENABLE_CUDA_GPU_GPU_DIRECT",
                                        "ENABLE_MAP",
                                        "ENERGY_PROFILING",
                                        "EXPECTED_TRANSFER_TIME_WRITEBACK",
                                        "FXT_TRACE",
                                        "GENERATE_TRACE",
                                        "GLOBAL_ARBITER",
                                        "HETEROPRIO_CODELET_GROUPING_STRATEGY",
                                        "HETEROPRIO_USE_AUTO_CALIBRATION",
                                        "HETEROPRIO_USE_LA",
                                        "HIP_*",
                                        "HISTORY_MAX_ERROR",
                                        "LIMIT_*",
                                        "MAIN_THREAD_BIND",
                                        "MAIN_THREAD_COREID",
                                        "MAIN_THREAD_CPUID",
                                        "MALLOC_SIMULATION_FOLD",
                                        "MAX_MEMORY_USE",
                                        "MAX_PRIO",
                                        "MAX_WORKERSIZE",
                                        "MEMORY_STATS",
                                        "MINIMUM_AVAILABLE_MEM",
                                        "MINIMUM_CLEAN_BUFFERS",
                                        "MIN_PRIO",
                                        "MIN_WORKERSIZE",
                                        "MPI_CACHE",
                                        "MPI_CACHE_STATS",
                                        "MPI_COOP_SENDS",
                                        "MPI_DEBUG_LEVEL_*",
                                        "MPI_DRIVER_CALL_FREQUENCY",
                                        "MPI_DRIVER_TASK_FREQUENCY",
                                        "MPI_EARLYDATA_ALLOCATE",
                                        "MPI_FAKE_*",
                                        "MPI_GPUDIRECT",
                                        "MPI_MASTER_NODE",
                                        "MPI_MEM_THROTTLE",
                                        "MPI_MS_MULTIPLE_THREAD",
                                        "MPI_NDETACHED_SEND",
                                        "MPI_NOBIND",
                                        "MPI_NREADY_PROCESS",
                                        "MPI_POLLING_PAUSE",
                                        "MPI_PRIORITIES",
                                        "MPI_PSM2",
                                        "MPI_RECV_WAIT_FINALIZE",
                                        "MPI_REDUX_ARITY_THRESHOLD",
                                        "MPI_STATS",
                                        "MPI_THREAD_COREID",
                                        "MPI_THREAD_CPUID",
                                        "MPI_THREAD_MULTIPLE_SEND",
                                        "MPI_TRACE_SYNC_CLOCKS",
                                        "NHIP",
                                        "NMAX_FPGA",
                                        "NMPIMSTHREADS",
                                        "NMPI_MS",
                                        "NOPENCL",
                                        "NTASKS_THRESHOLD",
                                        "NTCPIPMSTHREADS",
                                        "NTCPIP_MS",
                                        "NWORKER_PER_HIP",
                                        "OPENCL_ONLY_ON_CPUS",
                                        "OPENCL_ON_CPUS",
                                        "OPENCL_PIPELINE",
                                        "PCI_FLAT",
                                        "PERF_MODEL_HOMOGENEOUS_*",
                                        "PREFETCH",
                                        "RAND_SEED",
                                        "RESERVE_NCPU",
                                        "SCHED_GRAPH_TEST_DESCENDANTS",
                                        "SCHED_READY",
                                        "SCHED_SORTED_ABOVE",
                                        "SCHED_SORTED_BELOW",
                                        "SILENT",
                                        "SIMGRID*",
                                        "SINGLE_COMBINED_WORKER",
                                        "STATS",
                                        "SUBALLOCATOR",
                                        "SYNTHESIZE_ARITY_COMBINED_WORKER",
                                        "TARGET_AVAILABLE_MEM",
                                        "TARGET_CLEAN_BUFFERS",
                                        "TASK_BREAK_ON_*",
                                        "TASK_PROGRESS",
                                        "TCPIP_MS_MULTIPLE_THREAD",
                                        "TCPIP_MS_PORT",
                                        "TCPIP_MS_SLAVES",
                                        "TCPIP_USE_LOCAL_SOCKET",
                                        "USE_NUMA",
                                        "WATCHDOG_CRASH",
                                        "WATCHDOG_DELAY",
                                        "WORKERS_GETBIND",
                                        "WORKERS_NOBIND",
                                        "WORKER_STATS",
                                        "WORKER_TREE"};

constexpr std::string_view reals[] = {"SCHED_ALPHA", "SCHED_BETA",        "SCHED_GAMMA",
                                      "IDLE_POWER",  "EXP_LEN_THRESHOLD", "WINDOW_TIME_SIZE"};

/// As StarPU's strtol reads them: "1 2 5-7 9-".
constexpr std::string_view lists[] = {"STARPU_WORKERS_CPUID", "STARPU_WORKERS_COREID"};
/// "0 2"; nothing between numbers but blanks.
constexpr std::string_view plain_lists[] = {"STARPU_WORKERS_CUDAID", "STARPU_WORKERS_HIPID",
                                            "STARPU_WORKERS_OPENCLID"};

bool listed(std::string_view name, std::span<const std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view known) {
    return known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1)) : name == known;
  });
}

bool is_whole(std::string_view text, long least, long most) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= least && value <= most;
}

void require_number(const std::string& name, const std::string& value, long least, long most) {
  if (is_whole(value, least, most)) return;
  throw InvalidArgument(
      name, value,
      most == least ? fmt::format("{}", least) : fmt::format("a whole number from {} to {}", least, most));
}

void require_real(const std::string& name, const std::string& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number) || number < 0)
    throw InvalidArgument(name, value, "a number from 0");
}

void require_list(const std::string& name, const std::string& value, bool ranges_too) {
  constexpr long most = 1 << 20;
  std::string text = value;
  if (ranges_too) std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream words(text);
  int count = 0;
  bool good = true;
  for (std::string word; good && words >> word; ++count) {
    const std::size_t dash = ranges_too ? word.find('-') : std::string::npos;
    good = is_whole(word.substr(0, dash), 0, most);
    if (good && dash != std::string::npos && dash + 1 < word.size())
      good = is_whole(word.substr(dash + 1), dash == 0 ? 0 : std::stol(word.substr(0, dash)), most);
  }
  if (!good || count == 0)
    throw InvalidArgument(name, value, ranges_too ? "numbers of CPUs like `0 2 4-7`" : "numbers like `0 2`");
}

/// StarPU ends the program where it cannot make the directory.
void require_trace_directory(const std::string& name, const std::string& value) {
  const char* traced = std::getenv("STARPU_FXT_TRACE");
  if (!traced || !is_whole(traced, 1, INT_MAX)) return;
  std::error_code error;
  fs::create_directories(value, error);
  if (error || !fs::is_directory(value, error) || ::access(value.c_str(), W_OK | X_OK) != 0)
    throw InvalidArgument(name, value, "a directory that can be written");
}

/// A topology that hwloc cannot load ends the program.
void require_topology(const std::string& name, const std::string& value) {
  if (value.empty()) return;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  const bool good =
      hwloc_topology_set_xml(topology, value.c_str()) == 0 && hwloc_topology_load(topology) == 0;
  hwloc_topology_destroy(topology);
  if (!good) throw InvalidArgument(name, value, "a file of hwloc's with a topology");
}

void require_writable_file(const std::string& name, const std::string& value) {
  std::error_code error;
  const fs::path folder = fs::absolute(value, error).parent_path();
  const bool there = fs::exists(value, error);
  const bool good = there ? fs::is_regular_file(value, error) && ::access(value.c_str(), W_OK) == 0
                          : fs::is_directory(folder, error) && ::access(folder.c_str(), W_OK | X_OK) == 0;
  if (!good) throw InvalidArgument(name, value, "a file that can be written");
}

void require_host_name(const std::string& name, const std::string& value, const std::string& host) {
  const bool good = !host.empty() && host.size() <= 63 && host.front() != '.' &&
                    std::all_of(host.begin(), host.end(), [](unsigned char c) {
                      return std::isalnum(c) || c == '-' || c == '_' || c == '.';
                    });
  if (!good) throw InvalidArgument(name, value, "names of hosts: up to 63 letters, digits and -_.");
}

void require_variable(const std::string& name, const std::string& value) {
  const std::string_view rest = std::string_view(name).substr(std::strlen("STARPU_"));
  for (const Range& range : ranges)
    if (name == range.name) return require_number(name, value, range.least, range.most);
  if (listed(rest, numbers)) return require_number(name, value, 0, INT_MAX);
  if (listed(rest, reals)) return require_real(name, value);
  if (listed(name, lists)) return require_list(name, value, true);
  if (listed(name, plain_lists)) return require_list(name, value, false);
  if (name == "STARPU_SCHED") return require_scheduler("STARPU_SCHED", value);
  if (name == "STARPU_FXT_PREFIX") return require_trace_directory(name, value);
  if (name == "STARPU_HWLOC_INPUT") return require_topology(name, value);
  if (name == "STARPU_BUS_STATS_FILE" || name == "STARPU_WORKER_STATS_FILE")
    return require_writable_file(name, value);
}

}  // namespace

void require_sound_starpu_environment() {
  // In the order of names: the same one of several is named on every host.
  std::vector<std::string> entries;
  for (char** entry = environ; entry && *entry; ++entry)
    if (std::string_view(*entry).starts_with("STARPU_")) entries.emplace_back(*entry);
  std::sort(entries.begin(), entries.end());
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) require_variable(entry.substr(0, equals), entry.substr(equals + 1));
  }
  const char* const least = std::getenv("STARPU_BACKOFF_MIN");
  const char* const most = std::getenv("STARPU_BACKOFF_MAX");
  if (least && std::atoi(least) > (most ? std::atoi(most) : 32))
    throw InvalidArgument("STARPU_BACKOFF_MIN", least, "at most STARPU_BACKOFF_MAX (32 if not set)");
  starpu_host_name();
}

void require_scheduler(const char* name, const std::string& scheduler) {
  // A library that the user names has its own policies; heft is an old name.
  if (scheduler.empty() || std::getenv("STARPU_SCHED_LIB") || scheduler.starts_with("heft")) return;
  std::vector<std::string_view> known;
  for (starpu_sched_policy** policy = starpu_sched_get_predefined_policies(); policy && *policy; ++policy)
    if ((*policy)->policy_name) known.emplace_back((*policy)->policy_name);
  if (std::find(known.begin(), known.end(), scheduler) == known.end())
    throw InvalidArgument(name, scheduler, fmt::format("one of {}", fmt::join(known, ", ")));
}

std::string starpu_host_name(int rank) {
  if (const char* list = std::getenv("STARPU_MPI_HOSTNAMES"); list && *list) {
    std::istringstream words(list);
    std::string host;
    for (int k = 0; k <= rank; ++k)
      if (!(words >> host)) throw InvalidArgument("STARPU_MPI_HOSTNAMES", list, "a host for each rank");
    require_host_name("STARPU_MPI_HOSTNAMES", list, host);
    return host;
  }
  if (const char* forced = std::getenv("STARPU_HOSTNAME"); forced && *forced) {
    require_host_name("STARPU_HOSTNAME", forced, forced);
    return forced;
  }
  char name[65] = {};
  gethostname(name, sizeof name - 1);
  const std::string host(name);
  return host.substr(0, host.find('.'));
}

}  // namespace tessera::detail
