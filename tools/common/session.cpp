// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/gpu_memory.hpp>
#include <tessera/runtime/gpu_messages.hpp>
#include <tessera/runtime/output_file.hpp>
#include <tessera/version.hpp>

#include "output_files.hpp"
#include "usage_error.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Reports output files that cannot be written before any work starts, not at the end.
void check_targets(const CommonOptions& options) {
  if (!options.json.empty() && !options.json_alone()) require_writable("--json", options.json);
  if (!options.trace.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.trace, error);
    if (error || !std::filesystem::is_directory(options.trace))
      throw InputError(options.trace, 0, "is not a directory, and cannot be made one");
  }
}

RuntimeOptions runtime_options(const CommonOptions& options) {
  agree_outside_sessions(0, [&] {
    if (speaks()) check_targets(options);
  });
  RuntimeOptions result;
  result.cores = options.cores;
  result.gpus = options.gpus;
  result.hybrid = options.hybrid;
  result.scheduler = options.scheduler;
  result.trace_directory = options.trace;
  result.log = [](LogLevel level, std::string_view message) {
    if (level >= LogLevel::warning) say(stderr, "{}: {}\n", program_name(), message);
  };
  return result;
}

}  // namespace

Communicator communicator() {
  if (!launched_in_parallel()) return Communicator();
  abort_ranks = Runtime::abort_ranks;
  return Communicator::world();
}

namespace {

/// Set when the same exception was thrown on all ranks: then each rank ends by itself, without
/// another agreement.
bool ranks_have_thrown = false;

}  // namespace

void agree_outside_sessions(std::uint64_t arguments, const std::function<void()>& check) {
  try {
    agree(communicator(), arguments, check);
  } catch (...) {
    ranks_have_thrown = true;
    throw;
  }
}

int run_on_all_ranks(const std::function<int()>& command) {
  int code = exit_good;
  std::exception_ptr caught;
  try {
    code = command();
  } catch (...) {
    caught = std::current_exception();
    if (ranks_have_thrown) throw;
  }
  agree_outside_sessions(0, [&] {
    if (caught) std::rethrow_exception(caught);
  });
  return code;
}

std::vector<std::string>& command_line() {
  static std::vector<std::string> words;
  return words;
}

std::string& complaint_prefix() {
  static std::string prefix = program_name();
  return prefix;
}

Report new_record(const std::string& command) {
  Report report;
  report.command = command;
  report.version = TESSERA_VERSION_STRING;
  report.commit = TESSERA_VERSION_COMMIT;
  report.date = utc_date();
  report.command_line = command_line();
  report.title = fmt::format("{} {} ({})", program_name(), report.version, report.commit);
  if (command != program_name()) report.title += ' ' + command;
  return report;
}

bool speaks() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank) == 0;
  return true;
}

namespace {

void print_complaint(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  // Names from outside the program must not move the cursor or end the line.
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  say(stderr, "{}: {}\n", complaint_prefix(), line);
}

}  // namespace

int complain(const std::string& message) {
  if (speaks()) print_complaint(message);
  return exit_bad_input;
}

void end_poisoned(const Runtime& runtime, const std::string& complaint) {
  // Other ranks wait before they abort, so that the rank that failed can print its message.
  constexpr auto patience = std::chrono::seconds(1);
  if (runtime.failed_rank() == runtime.rank())
    print_complaint(runtime.size() > 1 ? fmt::format("rank {}: {}", runtime.rank(), complaint) : complaint);
  else
    std::this_thread::sleep_for(patience);
  Runtime::abort_ranks(exit_bad_input);
}

std::string complaint_about(const std::exception_ptr& caught) {
  try {
    std::rethrow_exception(caught);
  } catch (const InvalidArgument& error) {
    // Errors in the value of an option are reported in the form of the parser's messages.
    return error.name().starts_with("--")
               ? usage_text(error.name(), error.value(), "is not possible", error.expected())
               : error.what();
  } catch (...) {
    return text_of(caught);
  }
}

int complaining(const std::function<int()>& work) {
  try {
    return work();
  } catch (...) {
    return complain(complaint_about(std::current_exception()));
  }
}

Session::Session(const CommonOptions& options)
    : options_(options),
      runtime_(runtime_options(options), communicator()),
      progress_(speaks() && !options.quiet) {}

Report Session::new_report(const std::string& command) const {
  const RuntimeInfo& info = runtime_.info();
  Report report = new_record(command);
  report.machine = machine_json(info);
  report.options = to_json(used_options());
  report.lines.emplace_back("machine", machine_line(info));
  return report;
}

CommonOptions Session::used_options() const {
  CommonOptions used = options_;
  used.cores = runtime_.info().cpu_workers;
  used.gpus = static_cast<int>(runtime_.gpus());
  used.scheduler = runtime_.info().scheduler;
  return used;
}

void Session::set_memory_unit(double matrix_bytes) {
  base_bytes_ = resident_bytes();
  matrix_bytes_ = matrix_bytes;
}

void Session::begin_run() {
  runtime_.barrier();
  reset_peak_memory();
  runtime_.profile(true);
  start_ = now();
}

RunRecord Session::end_run(const SequenceStatistics& statistics) {
  const double wall = now() - start_;
  const std::vector<WorkerProfile> profiles = runtime_.worker_profiles();
  const double bytes_moved = runtime_.bytes_moved();
  runtime_.profile(false);
  RunRecord run;
  run.total_seconds = wall;
  run.submit_seconds = statistics.submit_seconds;

  // Sums over all ranks, in a single reduction: tasks, flops, busy time and GPU tasks of each
  // stage, then the workers' times and number, all tasks, the memory, the bytes moved and those held on GPUs.
  std::vector<double> sums;
  for (const StageStatistics& stage : statistics.stages) {
    sums.push_back(static_cast<double>(stage.tasks));
    sums.push_back(stage.flops);
    sums.push_back(stage.busy_seconds);
    sums.push_back(static_cast<double>(stage.device_tasks));
  }
  double executing = 0, sleeping = 0, total = 0;
  Index tasks = 0;
  for (const WorkerProfile& profile : profiles) {
    executing += profile.executing;
    sleeping += profile.sleeping;
    total += profile.total;
    tasks += profile.tasks;
  }
  sums.insert(sums.end(),
              {executing, sleeping, total, static_cast<double>(runtime_.workers()),
               static_cast<double>(statistics.tasks > 0 ? statistics.tasks : tasks), peak_resident_bytes(),
               base_bytes_, bytes_moved, static_cast<double>(gpu_bytes_held())});
  runtime_.all_reduce_sum(sums.data(), static_cast<Index>(sums.size()));
  std::vector<double> seconds;
  for (const StageStatistics& stage : statistics.stages) {
    seconds.push_back(stage.seconds);
    seconds.push_back(stage.longest_busy_seconds);
  }
  seconds.push_back(wall);
  runtime_.all_reduce_max(seconds.data(), static_cast<Index>(seconds.size()));

  for (std::size_t s = 0; s < statistics.stages.size(); ++s) {
    StageRecord record;
    record.name = statistics.stages[s].name;
    record.seconds = seconds[2 * s];
    record.longest_busy_seconds = seconds[2 * s + 1];
    record.tasks = static_cast<Index>(sums[4 * s]);
    record.flops = sums[4 * s + 1];
    record.busy_seconds = sums[4 * s + 2];
    record.cuda_tasks = static_cast<Index>(sums[4 * s + 3]);
    if (record.tasks == 0) continue;  // no rank had a task
    run.flops += record.flops;
    run.stages.push_back(std::move(record));
  }
  const double* rest = sums.data() + 4 * statistics.stages.size();
  run.total_seconds = seconds.back();
  run.workers.count = static_cast<int>(rest[3]);
  if (rest[2] > 0) {
    run.workers.busy_share = rest[0] / rest[2];
    run.workers.sleeping_share = rest[1] / rest[2];
    run.workers.overhead_share = std::max(0.0, 1 - run.workers.busy_share - run.workers.sleeping_share);
  }
  run.workers.bytes_moved = rest[7];
  run.tasks = static_cast<Index>(rest[4]);
  run.peak_bytes = rest[5];
  if (runtime_.any_gpus()) run.gpu_bytes = rest[8];
  // For small matrices, the workers' stacks and buffers would dominate the memory growth.
  constexpr double worth_counting = 16 << 20;
  if (matrix_bytes_ > worth_counting && rest[5] > 0) run.peak_matrices = (rest[5] - rest[6]) / matrix_bytes_;
  return run;
}

int Session::finish(const Report& report) {
  progress_.done();
  agree(runtime_, 0, [&] {
    if (runtime_.rank() != 0) return;
    if (!options_.quiet && !options_.json_alone()) print_text(stdout, format_report(report));
    if (!options_.json.empty()) write_json(options_.json, to_json(report));
  });
  return report.passed() ? exit_good : exit_check_failed;
}

Json machine_json(const RuntimeInfo& info) {
  Json json;
  json["host"] = info.host;
  json["cpu"] = info.cpu_model;
  json["physical_cores"] = info.physical_cores;
  json["numa_nodes"] = info.numa_nodes;
  json["memory_bytes"] = info.memory_bytes;
  json["l2_bytes"] = info.l2_bytes;
  json["l3_bytes"] = info.l3_bytes;
  json["ranks"] = info.ranks;
  json["cpu_workers"] = info.cpu_workers;
  json["cuda_workers"] = info.cuda_workers;
  json["gpus"] = info.gpus;
  json["scheduler"] = info.scheduler;
  json["performance_models"] = info.performance_models.empty() ? "none" : info.performance_models;
  json["starpu"] = info.starpu_version;
  json["mpi"] = info.mpi_version;
  json["cuda_aware_mpi"] = mpi_is_cuda_aware();
  json["blas"] = info.blas;
  Json environment = Json::object();
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text(*variable);
    const auto equals = text.find('=');
    if (text.starts_with("STARPU_") && equals != std::string_view::npos)
      environment[std::string(text.substr(0, equals))] = std::string(text.substr(equals + 1));
  }
  json["environment"] = environment;
  return json;
}

std::string machine_line(const RuntimeInfo& info) {
  std::string line = fmt::format("{} CPU worker{}", info.cpu_workers, info.cpu_workers == 1 ? "" : "s");
  if (info.cuda_workers > 0)
    line += fmt::format(", {} GPU{}", info.cuda_workers, info.cuda_workers == 1 ? "" : "s");
  if (info.ranks > 1) line = fmt::format("{} ranks of {}", info.ranks, line);
  return line + fmt::format(", {}, {}", info.cpu_model, info.scheduler);
}

void write_json(const std::string& target, const Json& document) {
  // Host names and environment variables may contain invalid UTF-8, which JSON does not allow.
  const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
  target == "-" ? print_text(stdout, text) : write_file(target, text);
}

}  // namespace tessera::program
