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

/// What every command does around its work: start the runtime, agree on errors, print and write the record.
namespace tessera::program {
using namespace detail;

/// Exit codes of every executable.
inline constexpr int exit_good = 0, exit_check_failed = 1, exit_bad_input = 2;

/// The words of the command line, for the record.
std::vector<std::string>& command_line();

/// What complaints begin with: the name of the executable, and the command when it is known.
std::string& complaint_prefix();

/// The beginning of a command's record, without machine and options.
Report new_record(const std::string& command);

/// This process prints: the only one, or rank 0.
bool speaks();

/// All processes of the launcher, or this one alone.
Communicator communicator();

/// agree() over them, outside of sessions: each begins with one, and the program ends with one, so that a
/// rank that fails between them leaves none waiting. After one that throws there is no other.
void agree_outside_sessions(std::uint64_t arguments, const std::function<void()>& check);

/// command(), and what it throws on one rank on all.
int run_on_all_ranks(const std::function<int()>& command);

class Session {
 public:
  /// @throws InvalidArgument, InputError (files that cannot be written), RuntimeError
  explicit Session(const CommonOptions& options);

  Runtime& runtime() noexcept { return runtime_; }
  Progress& progress() noexcept { return progress_; }
  const CommonOptions& options() const noexcept { return options_; }

  /// Runs `work` on every rank; if it throws on any, all ranks throw what the first one has thrown.
  void together(const std::function<void()>& work) { agree(runtime_, 0, work); }

  /// The report with what does not depend on the command's work.
  Report new_report(const std::string& command) const;

  /// The common options with the workers and the policy that there are.
  CommonOptions used_options() const;

  /// Starts a measured run on all ranks at once.
  void begin_run();
  /// The record of the run that has just ended, from the statistics of its sequence and the wall clock.
  RunRecord end_run(const SequenceStatistics& statistics);

  /// Memory before the matrices are made; `peak_matrices` counts from there in units of `matrix_bytes`.
  void set_memory_unit(double matrix_bytes);

  /// Prints and writes the report; the exit code that it deserves.
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

/// Summarises the trace that a finished session left in `directory` on stdout (unless quiet).
void summarise_trace(const std::string& directory, bool print);

/// One line on stderr, from one process only. @return exit_bad_input
int complain(const std::string& message);
/// The exit code that `work` returns; a complaint about what it throws.
int complaining(const std::function<int()>& work);

/// The line of progress is gone when this is.
struct ClearedLine {
  Progress& progress;
  ~ClearedLine() { progress.done(); }
};

/// One line for a person: what an option of the command line cannot be, in the form of the parser.
std::string complaint_about(const std::exception_ptr& caught);

/// Ends the program, on all ranks, after a failure that not all of them could agree on, or of a GPU.
/// @param complaint said by the rank that has failed
[[noreturn]] void end_poisoned(const Runtime& runtime, const std::string& complaint);

/// work(session), which returns the exit code; when the session has ended, the summary of its trace, if one
/// was recorded. What fails is said before the session ends.
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
