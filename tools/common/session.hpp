// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/sequence.hpp>

#include "common_options.hpp"
#include "process.hpp"
#include "report.hpp"

/// The parts that all commands share: start the runtime, agree on errors, print and write the
/// record.
namespace tessera::program {
using namespace detail;

/// Exit codes of every executable.
inline constexpr int exit_good = 0, exit_check_failed = 1, exit_bad_input = 2;

/// The words of the command line, for the record.
std::vector<std::string>& command_line();

/// Start of every error message: the name of the executable, and the command once it is known.
std::string& complaint_prefix();

/// Creates a command's record, without machine and options.
Report new_record(const std::string& command);

/// Whether this process prints: it is rank 0, or the only process.
bool speaks();

/// All processes that the launcher started, or only this one.
Communicator communicator();

/// Calls agree() over all of these processes, outside of sessions. Each session begins with such a
/// call, and the program ends with one, so that no rank waits for one that failed in between. After
/// a call that throws, no further call follows.
void agree_outside_sessions(std::uint64_t arguments, const std::function<void()>& check);

/// Calls command(). An exception on one rank is thrown on all ranks.
int run_on_all_ranks(const std::function<int()>& command);

class Session {
 public:
  /// @throws InvalidArgument, InputError (files that cannot be written), RuntimeError
  explicit Session(const CommonOptions& options);

  Runtime& runtime() noexcept { return runtime_; }
  Progress& progress() noexcept { return progress_; }
  const CommonOptions& options() const noexcept { return options_; }

  /// Runs `work` on every rank. If it throws on any rank, all ranks throw the exception of the
  /// first one.
  void together(const std::function<void()>& work) { agree(runtime_, 0, work); }

  /// The report with all fields that do not depend on the command's work.
  Report new_report(const std::string& command) const;

  /// The common options, with the actual workers and scheduling policy.
  CommonOptions used_options() const;

  /// Starts a measured run on all ranks at once.
  void begin_run();
  /// The record of the run that just ended, from the statistics of its sequence and the wall clock
  /// time. Without statistics (of a run with several sequences) it has no stages, and the tasks are
  /// those that the workers have executed.
  RunRecord end_run(const SequenceStatistics& statistics);

  /// Stores the current memory use, before the matrices are created. `peak_matrices` counts memory
  /// beyond it, in units of `matrix_bytes`.
  void set_memory_unit(double matrix_bytes);

  /// Prints and writes the report. Returns the exit code that follows from its checks.
  int finish(const Report& report);

 private:
  CommonOptions options_;
  Runtime runtime_;
  Progress progress_;
  double start_ = 0, base_bytes_ = 0, matrix_bytes_ = 0;
};

Json machine_json(const RuntimeInfo& info);
/// `8 CPU workers, AMD EPYC ..., lws`
std::string machine_line(const RuntimeInfo& info);

/// Writes a JSON document to FILE, or to stdout for "-". @throws InputError
void write_json(const std::string& target, const Json& document);

/// Summarises the trace that a finished session left in `directory`. Prints the summary on stdout
/// if `print` is set.
void summarise_trace(const std::string& directory, bool print);

/// Prints an error message of one line on stderr, from one process only. @return exit_bad_input
int complain(const std::string& message);
/// Returns the exit code of `work`. If it throws, prints an error message instead.
int complaining(const std::function<int()>& work);

/// Removes the progress line when it is destroyed.
struct ClearedLine {
  Progress& progress;
  ~ClearedLine() { progress.done(); }
};

/// One line for the user. If the argument was given by a command-line option, the message has the
/// form of the parser's messages.
std::string complaint_about(const std::exception_ptr& caught);

/// Ends the program on all ranks, after a GPU failure or a failure that the ranks could not agree
/// on.
/// @param complaint  error message, printed by the rank that failed
[[noreturn]] void end_poisoned(const Runtime& runtime, const std::string& complaint);

/// Calls work(session), which returns the exit code. If a trace was recorded, summarises it after
/// the session has ended. Error messages are printed before the session ends.
template <class Work>
int in_session(const CommonOptions& common, const Work& work) {
  int code = exit_good;
  {
    Session session(common);
    code = complaining([&] {
      const ClearedLine line{session.progress()};
      try {
        return guarded(session.runtime(), [&] { return work(session); });
      } catch (...) {
        if (session.runtime().poisoned())
          end_poisoned(session.runtime(), complaint_about(std::current_exception()));
        throw;
      }
    });
  }
  if (code == exit_bad_input) return code;
  if (!common.trace.empty() && speaks()) summarise_trace(common.trace, !common.quiet && !common.json_alone());
  return code;
}

}  // namespace tessera::program
