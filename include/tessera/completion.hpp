// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <tessera/statistics.hpp>
#include <tessera/status.hpp>

/// @file
/// What a call returns that submits a computation.
namespace tessera {

class Sequence;

namespace detail {

/// What a Completion stands for.
class Work {
 public:
  virtual ~Work() = default;
  /// Whether finish() would find all of this rank's tasks ended.
  virtual bool ready() const = 0;
  /// Waits, and does what remains to be done; called again only after it has thrown.
  virtual Status finish() = 0;
  /// After finish().
  virtual SequenceStatistics statistics() const = 0;
};

/// The tasks of a sequence, and, if they have succeeded, what remains to be done then.
std::unique_ptr<Work> work_of(std::unique_ptr<Sequence> sequence, std::function<void()> then = {});

}  // namespace detail

/// A submitted computation and its result, which is there after wait(). Destroying it waits. It holds what
/// the computation needs of the library's own; what the caller's arrays must do is said with each problem.
///
///   auto first = submit_eigensolve(runtime, {.a = a}), second = submit_eigensolve(runtime, {.a = b});
///   while (!first.ready()) do_something_else();
///   if (!first.wait()) return fail(first.status().message());
///   const EigenResult<double> result = std::move(first).result();
template <class Result>
class [[nodiscard]] Completion {
 public:
  /// For the library: a result that `work` fills in.
  Completion(std::unique_ptr<detail::Work> work, std::shared_ptr<Result> result)
      : result_(std::move(result)), work_(std::move(work)) {}
  /// A result that the tasks of a sequence fill in.
  Completion(std::unique_ptr<Sequence> sequence, std::shared_ptr<Result> result)
      : Completion(detail::work_of(std::move(sequence)), std::move(result)) {}
  /// Takes over the computation.
  Completion(Completion&&) noexcept = default;
  /// Waits for what this one stood for, whose tasks may still write its result.
  Completion& operator=(Completion&& other) noexcept {
    work_.reset();
    result_ = std::move(other.result_);
    work_ = std::move(other.work_);
    status_ = std::move(other.status_);
    statistics_ = std::move(other.statistics_);
    return *this;
  }
  ~Completion() = default;

  /// Whether the computation is over on this rank; asks without waiting, and wait() then returns soon: with
  /// several ranks it may still wait for the others.
  bool ready() const { return !work_ || work_->ready(); }
  /// Blocks until the computation is over; collective over the ranks. The status, which the result has, too,
  /// tells whether the result is valid.
  /// @throws what a function of the user has thrown in a task, as Sequence::wait does
  const Status& wait() {
    if (work_) {
      status_ = {StatusCode::task_failed, {}, 0, "wait() has thrown"};
      status_ = work_->finish();
      statistics_ = work_->statistics();
      if constexpr (requires { result_->set_status(status_); }) result_->set_status(status_);
      work_.reset();
    }
    return status_;
  }
  /// After wait(); task_failed if that has thrown.
  const Status& status() const noexcept { return status_; }
  /// Waits, and gives the result.
  Result& result() & {
    wait();
    return *result_;
  }
  /// The same as a value.
  Result result() && {
    wait();
    return std::move(*result_);
  }
  /// Of the tasks of this rank, after wait().
  const SequenceStatistics& statistics() const noexcept { return statistics_; }

 private:
  // Destroyed in reverse order: the work waits before the result goes.
  std::shared_ptr<Result> result_;
  std::unique_ptr<detail::Work> work_;
  Status status_;
  SequenceStatistics statistics_;
};

}  // namespace tessera
