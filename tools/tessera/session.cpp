// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <optional>

#include <fmt/format.h>

#include <tessera/runtime/error.hpp>
#include <tessera/runtime/gpu_messages.hpp>
#include <tessera/runtime/output_file.hpp>
#include <tessera/version.hpp>

#include "output_files.hpp"

namespace tessera::program {

namespace {

/// What cannot be written at the end is said at the start.
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
  if (speaks()) check_targets(options);
  RuntimeOptions result;
  result.cores = options.cores;
  result.gpus = options.gpus;
  result.hybrid = options.hybrid;
  result.scheduler = options.scheduler;
  // StarPU takes the directory as a prefix of file names.
  if (!options.trace.empty())
    result.trace_directory = options.trace.ends_with('/') ? options.trace : options.trace + '/';
  result.log = [](LogLevel level, std::string_view message) {
    if (level >= LogLevel::warning) say(stderr, "tessera: {}\n", message);
  };
  return result;
}

}  // namespace

std::vector<std::string>& command_line() {
  static std::vector<std::string> words;
  return words;
}

bool speaks() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* rank = std::getenv(name)) return std::atoi(rank) == 0;
  return true;
}

int complain(const std::string& message) {
  if (speaks()) say(stderr, "tessera: {}\n", message.substr(0, message.find('\n')));
  return exit_bad_input;
}

int complaining(const std::function<int()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return complain("there is not enough memory");
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}

Session::Session(const CommonOptions& options)
    : options_(options),
      runtime_(runtime_options(options), launched_in_parallel() ? Communicator::world() : Communicator()),
      progress_(speaks() && !options.quiet) {}

void Session::together(const std::function<void()>& work) {
  std::string message;
  std::optional<InvalidArgument> argument;
  try {
    work();
  } catch (const Error& error) {
    message = error.what();
    if (message.empty()) message = "unknown error";
  }
  // The first rank that failed speaks for all.
  const double rank = static_cast<double>(runtime_.rank());
  double first = message.empty() ? -1e9 : -rank;
  runtime_.all_reduce_max(&first, 1);
  if (first < -1e8) return;
  const int speaker = static_cast<int>(-first);
  double length = runtime_.rank() == speaker ? static_cast<double>(message.size()) : 0;
  runtime_.all_reduce_max(&length, 1);
  message.resize(static_cast<std::size_t>(length));
  runtime_.broadcast(message.data(), static_cast<Index>(message.size()), speaker);
  throw Error(message);
}

Report Session::new_report(const std::string& command) const {
  const RuntimeInfo& info = runtime_.info();
  Report report;
  report.command = command;
  report.version = TESSERA_VERSION_STRING;
  report.commit = TESSERA_VERSION_COMMIT;
  report.command_line = command_line();
  report.machine = machine_json(info);
  report.options = to_json(options_);
  report.title = fmt::format("tessera {} ({}) {}", report.version, report.commit, command);
  report.lines.emplace_back("machine", machine_line(info));
  return report;
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

  // Sums over the ranks, in one go: tasks, flops and busy time of each stage, then the workers' times, the
  // memory and the copies.
  std::vector<double> sums;
  for (const StageStatistics& stage : statistics.stages) {
    sums.push_back(static_cast<double>(stage.tasks));
    sums.push_back(stage.flops);
    sums.push_back(stage.busy_seconds);
    sums.push_back(static_cast<double>(stage.device_tasks));
  }
  double executing = 0, sleeping = 0, total = 0;
  for (const WorkerProfile& profile : profiles) {
    executing += profile.executing;
    sleeping += profile.sleeping;
    total += profile.total;
  }
  sums.insert(sums.end(),
              {executing, sleeping, total, static_cast<double>(runtime_.workers()),
               static_cast<double>(statistics.tasks), peak_resident_bytes(), base_bytes_, bytes_moved});
  runtime_.all_reduce_sum(sums.data(), static_cast<Index>(sums.size()));
  std::vector<double> seconds;
  for (const StageStatistics& stage : statistics.stages) seconds.push_back(stage.seconds);
  seconds.push_back(wall);
  runtime_.all_reduce_max(seconds.data(), static_cast<Index>(seconds.size()));

  for (std::size_t s = 0; s < statistics.stages.size(); ++s) {
    StageRecord record;
    record.name = statistics.stages[s].name;
    record.seconds = seconds[s];
    record.tasks = static_cast<Index>(sums[4 * s]);
    record.flops = sums[4 * s + 1];
    record.busy_seconds = sums[4 * s + 2];
    record.cuda_tasks = static_cast<Index>(sums[4 * s + 3]);
    if (record.tasks == 0) continue;  // on no rank
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
  // Of small matrices the workers' stacks and buffers would be most of it.
  constexpr double worth_counting = 16 << 20;
  if (matrix_bytes_ > worth_counting && rest[5] > 0) run.peak_matrices = (rest[5] - rest[6]) / matrix_bytes_;
  return run;
}

int Session::finish(const Report& report) {
  progress_.done();
  if (runtime_.rank() == 0) {
    if (!options_.quiet && !options_.json_alone()) print_text(stdout, format_report(report));
    if (!options_.json.empty()) write_json(options_.json, to_json(report));
  }
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
  const std::string text = document.dump(2) + '\n';
  target == "-" ? print_text(stdout, text) : write_file(target, text);
}

}  // namespace tessera::program
