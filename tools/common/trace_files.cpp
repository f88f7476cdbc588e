// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/io/input_file.hpp>
#include <tessera/runtime/output_file.hpp>

#include "output_files.hpp"
#include "session.hpp"
#include "trace_summary.hpp"

namespace tessera::program {
using namespace detail;

namespace {

namespace fs = std::filesystem;

/// StarPU's raw traces, one file for each rank.
std::vector<std::string> raw_traces(const fs::path& directory) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().filename().string().starts_with("prof_file_"))
      files.push_back(fs::absolute(entry.path()).string());
  std::sort(files.begin(), files.end());
  return files;
}

/// Where StarPU's program may be that reads its traces: beside StarPU's library (a package that brings StarPU along), in
/// the folder bin of its prefix, or where the shell finds programs.
std::vector<std::string> fxt_tools() {
  std::vector<std::string> tools;
  Dl_info library;
  std::error_code error;
  if (void* symbol = dlsym(RTLD_DEFAULT, "starpu_init");
      symbol && dladdr(symbol, &library) && library.dli_fname) {
    const fs::path folder = fs::canonical(library.dli_fname, error).parent_path();
    if (!error)
      for (const char* place : {".", "../bin"})
        tools.push_back((folder / place / "starpu_fxt_tool").lexically_normal().string());
  }
  tools.emplace_back("starpu_fxt_tool");
  return tools;
}

/// Runs a program without a shell, discards its output, and limits its CPU time to `seconds`.
/// Returns its exit code; 127 if the program does not exist.
int run_silently(const std::vector<std::string>& words, double seconds) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const rlimit limit{static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds)};
  const pid_t child = fork();
  if (child == 0) {
    setrlimit(RLIMIT_CPU, &limit);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // its output is of no use if this process ends
    std::signal(SIGPIPE, SIG_DFL);
    if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) _exit(126);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 126;
  return WEXITSTATUS(status);
}

/// Moves the tool's output files to the trace directory. tasks.rec is last, because its existence
/// marks the set as complete.
void take_over(const fs::path& made, const fs::path& directory) {
  std::vector<fs::path> names;
  for (const auto& entry : fs::directory_iterator(made))
    if (entry.path().filename() != "tasks.rec") names.push_back(entry.path().filename());
  names.push_back("tasks.rec");
  for (const fs::path& name : names) {
    std::error_code error;
    fs::rename(made / name, directory / name, error);
    if (error) throw InputError((directory / name).string(), 0, "cannot be written: " + error.message());
  }
}

/// Converts the raw traces to tasks.rec and comms.rec (and StarPU's other files: Paje, DAG), unless
/// that was done before.
void convert(const fs::path& directory) {
  const std::vector<std::string> raw = raw_traces(directory);
  const fs::path tasks = directory / "tasks.rec";
  if (raw.empty()) {
    if (fs::exists(tasks)) return;
    throw InputError(directory.string(), 0, "holds no trace (neither prof_file_* nor tasks.rec)");
  }
  auto newest = fs::last_write_time(raw.front());
  for (const std::string& file : raw) newest = std::max(newest, fs::last_write_time(file));
  if (fs::exists(tasks) && fs::last_write_time(tasks) >= newest) return;
  // A damaged trace must not make the tool run forever.
  double max_seconds = 120;
  for (const std::string& file : raw) max_seconds += 1e-5 * static_cast<double>(InputFile(file).bytes());
  const TemporaryDirectory work(directory);
  for (const std::string& tool : fxt_tools()) {
    std::vector<std::string> words{tool, "-d", work.path().string()};
    for (const std::string& file : raw) words.insert(words.end(), {"-i", file});
    const int status = run_silently(words, max_seconds);
    if (status == 0 && fs::exists(work.path() / "tasks.rec")) return take_over(work.path(), directory);
    if (status != 127)
      throw InputError(directory.string(), 0,
                       fmt::format("starpu_fxt_tool cannot read the trace (exit code {})", status));
  }
  throw InputError(directory.string(), 0, "starpu_fxt_tool, which reads StarPU's traces, is not there");
}

}  // namespace

Trace read_trace(const std::string& where) {
  const fs::path directory = where;
  if (!fs::is_directory(directory)) throw InputError(directory.string(), 0, "there is no such directory");
  convert(directory);
  const std::string tasks = (directory / "tasks.rec").string(), messages = (directory / "comms.rec").string();
  Trace trace;
  const auto parse = [](const std::string& path, const auto& parser) {
    InputFile check(path);
    std::ifstream input(path);
    return parser(input, path);
  };
  trace.tasks = parse(tasks, parse_tasks);
  if (fs::exists(messages)) trace.messages = parse(messages, parse_messages);  // for several ranks
  align_clocks(trace);
  if (trace.tasks.empty()) throw InputError(tasks, 0, "holds no executed task");
  return trace;
}

void summarise_trace(const std::string& directory, bool print) {
  const std::string text = format_summary(summarise(read_trace(directory)));
  write_file((fs::path(directory) / "summary.txt").string(), text);
  if (print) print_text(stdout, text);
}

}  // namespace tessera::program
