// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/kept_files.hpp>
#include <tessera/runtime/starpu_detail.hpp>
#include <tessera/runtime/starpu_surroundings.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

/// Models, StarPU's files about the buses, and what it writes at its end.
constexpr std::size_t work_bytes = std::size_t(16) << 20;

bool mpi_runs() noexcept {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  return initialised && !finalised;
}

/// MPI was in use in the process that this one was forked from: its connections are not this process's.
std::atomic<bool> forked_from_mpi = false;

void note_fork() {
#if TESSERA_WITH_MPI
  if (mpi_runs()) forked_from_mpi = true;
#endif
}

[[maybe_unused]] const int fork_is_noted = pthread_atfork(nullptr, nullptr, note_fork);

}  // namespace

StarpuSurroundings::StarpuSurroundings(const PerformanceModels& models,
                                       const std::vector<std::string>& codelets, const std::string& host,
                                       const LogSink& log)
    : process_(::getpid()),
      entry_(make_private_directory(work_bytes)),
      directory_(entry_.path()),
      codelets_(codelets),
      fetched_(codelets.size()) {
  for (std::size_t k = 0; k < codelets_.size(); ++k) fetched_[k] = codelets_[k].empty();
  try {
    store_.emplace(models, host, directory_, log);
  } catch (const std::exception& failure) {
    throw RuntimeError(failure.what());
  }
}

void StarpuSurroundings::fetch_now(int codelet) noexcept {
  const auto number = static_cast<std::size_t>(codelet);
  const std::lock_guard lock(mutex_);
  if (fetched_[number]) return;
  try {
    store_->fetch_codelet(codelets_[number]);
  } catch (const std::exception&) {
    // StarPU measures anew.
  }
  fetched_[number].store(true, std::memory_order_release);
}

void StarpuSurroundings::keep() noexcept {
  if (::getpid() != process_) return;
  const std::lock_guard lock(mutex_);
  store_->keep();
}

void StarpuSurroundings::prepare_shutdown() noexcept {
  try {
    const int knob =
        starpu_perf_knob_name_to_id(starpu_perf_knob_scope_global, "starpu.global.g_calibrate_knob");
    if (knob < 0 || starpu_perf_knob_get_global_int32_value(knob) == 0) return;
    // The folder may have been removed, or the disk filled.
    const fs::path folder = directory_ / "codelets" / std::to_string(model_file_version);
    std::error_code error;
    fs::create_directories(folder, error);
    const fs::path probe = folder / "probe";
    std::ofstream output(probe);
    output << std::string(4096, '\0');
    output.close();
    fs::remove(probe, error);
    if (!output) starpu_perf_knob_set_global_int32_value(knob, 0);
  } catch (const std::exception&) {
    // There is no memory; StarPU will see for itself.
  }
}

StarpuVariables::StarpuVariables(const StarpuSurroundings& surroundings, const std::string& host) {
  const std::string directory = surroundings.directory().string();
  set("STARPU_PERF_MODEL_DIR", directory.c_str());
  set("STARPU_PERF_MODEL_PATH", nullptr);
  set("XDG_CACHE_HOME", directory.c_str());  // StarPU reads it before STARPU_HOME and HOME
  set("STARPU_HOSTNAME", host.c_str());
  set("STARPU_MPI_HOSTNAMES", nullptr);
}

StarpuVariables::~StarpuVariables() {
  for (const auto& [name, value] : saved_) value ? setenv(name, value->c_str(), 1) : unsetenv(name);
}

void StarpuVariables::set(const char* name, const char* value) {
  const char* const old = std::getenv(name);
  saved_.emplace_back(name, old ? std::optional<std::string>(old) : std::nullopt);
  value ? setenv(name, value, 1) : unsetenv(name);
}

bool needs_codelet_models(const std::string& scheduler) {
  constexpr std::array<std::string_view, 5> without = {"eager", "lws", "prio", "random", "ws"};
  const char* const calibrate = std::getenv("STARPU_CALIBRATE");
  return std::find(without.begin(), without.end(), scheduler) == without.end() ||
         (calibrate && std::atoi(calibrate) > 0);
}

#if TESSERA_WITH_MPI
namespace {

std::string name_of_thread_level(int level) {
  return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE (as MPI_Init does)"
         : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
         : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                          : fmt::format("level {}", level);
}

#ifdef OPEN_MPI
constexpr const char* advice_for_thread_level =
    " (with Open MPI, OMPI_MPI_THREAD_LEVEL=3 in the environment does this for a program that calls "
    "MPI_Init)";
#else
constexpr const char* advice_for_thread_level = "";
#endif

}  // namespace
#endif

void require_unfinished_mpi() {
#if TESSERA_WITH_MPI
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised) throw RuntimeError("MPI has been finalised: no more ranks can work together");
  if (forked_from_mpi)
    throw RuntimeError("this process was forked from one that uses MPI: it cannot use MPI itself");
#endif
}

void require_usable_mpi(Communicator communicator) {
  if (communicator.alone()) return;
#if TESSERA_WITH_MPI
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (!initialised) throw RuntimeError("MPI is not initialised: a communicator needs MPI_Init_thread before");
  require_unfinished_mpi();
  const MPI_Comm comm = MPI_Comm_f2c(communicator.fortran_handle());
  constexpr const char* expected = "a communicator inside one group, which this process belongs to";
  if (comm == MPI_COMM_NULL) throw InvalidArgument("communicator", "MPI_COMM_NULL", expected);
  int between_groups = 0, size = 0, provided = 0;
  MPI_Comm_test_inter(comm, &between_groups);
  if (between_groups) throw InvalidArgument("communicator", "one between two groups", expected);
  MPI_Comm_size(comm, &size);
  MPI_Query_thread(&provided);
  if (size > 1 && provided < MPI_THREAD_MULTIPLE)
    throw RuntimeError(
        fmt::format("MPI was initialised with {}, and several ranks need MPI_Init_thread with "
                    "MPI_THREAD_MULTIPLE{}",
                    name_of_thread_level(provided), advice_for_thread_level));
#endif
}

void require_stopped_starpu() {
  if (starpu_is_initialized())
    throw RuntimeError("StarPU has been started already, not by Tessera: shut it down before");
}

void require_same_process(pid_t owner) {
  if (owner != ::getpid())
    throw RuntimeError(
        "this process was forked from the one that made the Runtime: StarPU's threads are not in it");
}

}  // namespace tessera::detail
