// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <exception>
#include <thread>

#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/lobpcg.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// A solve on a thread of its own, in a process of one rank.
template <class T>
class LobpcgThread final : public Work {
 public:
  LobpcgThread(Runtime& runtime, LobpcgProblem<T> problem, LobpcgOptions resolved,
               std::shared_ptr<LobpcgResult<T>> result)
      : problem_(std::move(problem)),
        options_(std::move(resolved)),
        result_(std::move(result)),
        in_flight_(runtime) {
    thread_ = std::thread([this, &runtime] {
      try {
        *result_ = guarded(runtime, [&] { return solve_lobpcg(runtime, problem_, options_); });
      } catch (...) {
        thrown_ = std::current_exception();
      }
      over_.store(true, std::memory_order_release);
    });
  }
  ~LobpcgThread() override { join(); }

  bool ready() const override { return over_.load(std::memory_order_acquire); }
  Status finish() override {
    join();
    if (thrown_) std::rethrow_exception(thrown_);
    return result_->status();
  }
  SequenceStatistics statistics() const override { return result_->statistics; }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  const LobpcgProblem<T> problem_;
  const LobpcgOptions options_;
  const std::shared_ptr<LobpcgResult<T>> result_;
  const Sequence in_flight_;  ///< from the call on, not from when the thread has begun
  std::exception_ptr thrown_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// A solve that is over.
template <class T>
class FinishedLobpcg final : public Work {
 public:
  explicit FinishedLobpcg(std::shared_ptr<const LobpcgResult<T>> result) : result_(std::move(result)) {}
  bool ready() const override { return true; }
  Status finish() override { return result_->status(); }
  SequenceStatistics statistics() const override { return result_->statistics; }

 private:
  const std::shared_ptr<const LobpcgResult<T>> result_;
};

/// The options with nothing left to choose, and the cut of the rows.
template <class T>
auto checked(const Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& options,
             LobpcgOptions& resolved, std::uint64_t& cut) {
  return [&] {
    resolved = checked_options(runtime, problem, options);
    cut = problem.a->segments()->hash();
  };
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
LobpcgResult<T> lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& options) {
  LobpcgOptions resolved;
  std::uint64_t cut = 0;
  return collectively(runtime, "lobpcg", problem_hash(problem, options),
                      checked(runtime, problem, options, resolved, cut), [&] {
                        agree(runtime, cut, [] {});  // an operator of the user's could tell it only now
                        return solve_lobpcg(runtime, problem, resolved);
                      });
}

template <class T>
Completion<LobpcgResult<T>> submit_lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem,
                                          const LobpcgOptions& options) {
  if (runtime.size() > 1) {
    auto result = std::make_shared<LobpcgResult<T>>(lobpcg<T>(runtime, problem, options));
    return {std::make_unique<FinishedLobpcg<T>>(result), result};
  }
  LobpcgOptions resolved;
  std::uint64_t cut = 0;
  const auto check = checked(runtime, problem, options, resolved, cut);
  return collectively(runtime, "submit_lobpcg", problem_hash(problem, options), check, [&] {
    auto result = std::make_shared<LobpcgResult<T>>();
    auto work = std::make_unique<LobpcgThread<T>>(runtime, problem, std::move(resolved), result);
    return Completion<LobpcgResult<T>>(std::move(work), std::move(result));
  });
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template LobpcgResult<T> lobpcg<T>(Runtime&, const LobpcgProblem<T>&, const LobpcgOptions&); \
  template Completion<LobpcgResult<T>> submit_lobpcg<T>(Runtime&, const LobpcgProblem<T>&,     \
                                                        const LobpcgOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
