// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include <tessera/completion.hpp>
#include <tessera/runtime.hpp>
#include <tessera/sequence.hpp>

/// Computations that wait in the middle, as Completions.
namespace tessera::detail {

/// A computation on a thread of its own, in a process of one rank: it waits for its numbers while the caller
/// goes on.
template <class Result>
class ThreadWork final : public Work {
 public:
  /// `solve` gives the result; what it uses must stay until this is destroyed.
  ThreadWork(Runtime& runtime, std::function<Result()> solve, std::shared_ptr<Result> result)
      : solve_(std::move(solve)), result_(std::move(result)), in_flight_(runtime) {
    thread_ = std::thread([this, &runtime] {
      try {
        *result_ = guarded(runtime, solve_);
      } catch (...) {
        thrown_ = std::current_exception();
      }
      over_.store(true, std::memory_order_release);
    });
  }
  ~ThreadWork() override { join(); }

  bool ready() const override { return over_.load(std::memory_order_acquire); }
  Status finish() override {
    join();
    if (thrown_) std::rethrow_exception(thrown_);
    return result_->status();
  }
  SequenceStatistics statistics() const override { return {}; }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  const std::function<Result()> solve_;
  const std::shared_ptr<Result> result_;
  const Sequence in_flight_;  ///< from the call on, not from when the thread has begun
  std::exception_ptr thrown_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// A computation that is over.
template <class Result>
class FinishedWork final : public Work {
 public:
  explicit FinishedWork(std::shared_ptr<const Result> result) : result_(std::move(result)) {}
  bool ready() const override { return true; }
  Status finish() override { return result_->status(); }
  SequenceStatistics statistics() const override { return {}; }

 private:
  const std::shared_ptr<const Result> result_;
};

}  // namespace tessera::detail
