// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/runtime/bus_measurement.hpp>
#include <tessera/runtime/cache_directory.hpp>

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

bool can_be_run(const fs::path& program) {
  std::error_code error;
  return fs::is_regular_file(program, error) && ::access(program.c_str(), X_OK) == 0;
}

/// The last line of a text in a file that says something.
std::string last_line(const fs::path& file) {
  std::ifstream input(file);
  std::string line, last;
  while (std::getline(input, line))
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line.substr(0, 300);
  return last;
}

/// How a process starts: with the default handling of signals, none blocked, and no open file of ours.
class SpawnSettings {
 public:
  explicit SpawnSettings(const fs::path& report) {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, report.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

std::string text_of_status(int status) {
  if (WIFSIGNALED(status)) return fmt::format("it was ended by signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? std::string() : fmt::format("its exit code is {}", WEXITSTATUS(status));
}

/// Each pair of memories takes its time, and with each the GPUs' contexts are made anew.
std::chrono::milliseconds time_limit(const BusMachine& machine) {
  const unsigned pairs = machine.numa * (machine.numa + machine.gpus) + machine.gpus * machine.gpus;
  return std::chrono::seconds(60 + 5 * pairs);
}

/// Measures. @return why that has failed; empty: `files` has all
std::string measure(StarpuSurroundings& surroundings, const std::string& host, const BusMachine& machine,
                    BusFiles& files) {
  // What has failed once fails again, and takes its time.
  static std::set<fs::path> failed;
  const fs::path program = measuring_program();
  if (program.empty()) return "there is no program that measures them";
  std::string flaw;
  if (failed.contains(program)) {
    flaw = "has failed in this process before";
  } else {
    const StarpuVariables places(surroundings, host);
    flaw =
        run_measuring_program(program, surroundings.directory() / "measure_buses.log", time_limit(machine));
    if (flaw.empty()) flaw = surroundings.models().read_measured_buses(machine, files);
  }
  if (flaw.empty()) return {};
  failed.insert(program);
  files.clear();
  return fmt::format("{}: {}", program.string(), flaw);
}

/// The same for this rank, and its log.
BusFiles measure_and_report(StarpuSurroundings& surroundings, const std::string& host,
                            const BusMachine& machine, const LogSink& log) noexcept {
  BusFiles files;
  try {
    const Clock::time_point begin = Clock::now();
    std::string flaw;
    try {
      flaw = measure(surroundings, host, machine, files);
    } catch (const std::exception& failure) {
      flaw = failure.what();
      files.clear();
    }
    if (!log) return files;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    flaw.empty()
        ? log(LogLevel::info, fmt::format("another process has measured the buses in {:.1f} s", seconds))
        : log(LogLevel::warning,
              fmt::format("the buses cannot be measured, and their speeds are guesses ({})", flaw));
  } catch (...) {  // of the log
  }
  return files;
}

#if TESSERA_WITH_MPI
/// The files of rank 0 on all ranks.
void share(BusFiles& files, MPI_Comm group) {
  int rank = 0;
  MPI_Comm_rank(group, &rank);
  for (const char* what : bus_files) {
    const auto own = files.find(what);
    std::string bytes = rank == 0 && own != files.end() ? own->second : std::string();
    auto length = static_cast<std::uint64_t>(bytes.size());
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, group);
    bytes.resize(length);
    MPI_Bcast(bytes.data(), static_cast<int>(length), MPI_BYTE, 0, group);
    if (length > 0) files[what] = std::move(bytes);
  }
}

/// The first of the ranks of a host that need files of the same machine measures for the others.
BusFiles measure_for_all(StarpuSurroundings& surroundings, const std::string& host, const BusMachine& machine,
                         bool needs, MPI_Comm communicator, const LogSink& log) {
  BusFiles files;
  int any = needs ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, communicator);
  if (any == 0) return files;
  const std::uint64_t kind = hash_of(fmt::format("{} {} {}", host, machine.numa, machine.gpus));
  MPI_Comm local = MPI_COMM_NULL, group = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
  MPI_Comm_split(local, needs ? static_cast<int>(kind & std::numeric_limits<int>::max()) : MPI_UNDEFINED, 0,
                 &group);
  MPI_Comm_free(&local);
  if (group == MPI_COMM_NULL) return files;
  int rank = 0;
  MPI_Comm_rank(group, &rank);
  if (rank == 0) files = measure_and_report(surroundings, host, machine, log);
  share(files, group);
  MPI_Comm_free(&group);
  if (rank > 0) surroundings.models().put_buses(files);
  return files;
}
#else
/// There are no other ranks.
BusFiles measure_for_all(StarpuSurroundings&, const std::string&, const BusMachine&, bool, MPI_Comm,
                         const LogSink&) {
  return {};
}
#endif

}  // namespace

fs::path measuring_program() {
  if (const char* named = std::getenv("TESSERA_MEASURE_BUSES")) return named;
  Dl_info library;
  if (!dladdr(reinterpret_cast<const void*>(&measuring_program), &library) || !library.dli_fname) return {};
  std::error_code error;
  const fs::path folder = fs::canonical(library.dli_fname, error).parent_path();
  if (error) return {};
  for (const char* place : {TESSERA_LIBEXEC_FROM_LIBRARY, "../libexec/tessera"})
    if (const fs::path program = (folder / place / "measure_buses").lexically_normal(); can_be_run(program))
      return program;
  return {};
}

std::string run_measuring_program(const fs::path& program, const fs::path& report,
                                  std::chrono::milliseconds limit) {
  const SpawnSettings settings(report);
  std::string name = program.string();
  char* arguments[] = {name.data(), nullptr};
  pid_t child = 0;
  if (const int error =
          ::posix_spawn(&child, name.c_str(), &settings.actions, &settings.attributes, arguments, environ))
    return fmt::format("it cannot be run ({})", std::strerror(error));
  const Clock::time_point end = Clock::now() + limit;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (Clock::now() > end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return fmt::format("it has not ended within {} s", limit.count() / 1000.0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // The host program may have taken its status (a handler of SIGCHLD): what it has written decides.
  const std::string failure = ended == child ? text_of_status(status) : std::string();
  const std::string said = failure.empty() ? std::string() : last_line(report);
  return said.empty() ? failure : fmt::format("{}: {}", failure, said);
}

void prepare_buses(StarpuSurroundings& surroundings, [[maybe_unused]] const std::string& host,
                   [[maybe_unused]] bool uses_gpus, [[maybe_unused]] MPI_Comm communicator,
                   [[maybe_unused]] const LogSink& log) {
  ModelStore& models = surroundings.models();
#ifdef STARPU_SIMGRID
  models.fetch_buses(std::nullopt);
#else
  const BusMachine machine = inspect_buses();
  const char* const asked = std::getenv("STARPU_BUS_CALIBRATE");
  const bool forced = asked && std::atoi(asked) > 0;
  const bool known = models.fetch_buses(machine);
  const bool needs = forced || (!known && uses_gpus);
  BusFiles measured;
  if (communicator != MPI_COMM_NULL)
    measured = measure_for_all(surroundings, host, machine, needs, communicator, log);
  else if (needs)
    measured = measure_and_report(surroundings, host, machine, log);
  if (!measured.empty()) return;
  // What has failed may have left a part of its files. With one NUMA node alone there is nothing to measure.
  if (known && needs)
    models.fetch_buses(machine);
  else if (!known && (needs || machine.numa + machine.gpus > 1))
    models.put_buses(nominal_bus_files(machine));
#endif
}

}  // namespace tessera::detail
