// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>

#include <tessera/runtime.hpp>
#include <tessera/runtime/cache_directory.hpp>

/// Errors of calls that all ranks make together. A rank that alone throws would leave the others waiting for
/// it, so all throw the exception of the one, in one of two ways:
///
/// - Where all ranks pass, they vote (`agree`): the same exception leaves the call on every rank, and the
///   Runtime stays usable.
/// - Anywhere else in a public call (`collectively`) the rank raises an alarm, which the others poll wherever
///   they wait for each other. They throw the same exception, and the Runtime is poisoned on all ranks: every
///   later call throws it again, destructors neither wait nor communicate, and the memory that StarPU still
///   holds is not freed. Such a process cannot start another Runtime, nor reach the end of MPI_Finalize: it
///   ends by Runtime::abort_ranks, as the program does, or by MPI_Abort.
///
/// In both ways an exception that is not of this library (of a callback, std::bad_alloc) leaves the call
/// unchanged on its rank and as a RemoteError on the others.
namespace tessera::detail {

/// Runs `check`, which may throw. If it has thrown on any rank, every rank throws the exception of the lowest
/// such rank. `arguments`: a hash of the arguments that must be equal on all ranks (argument_hash).
/// Collective; on one rank it only runs the check.
/// @throws InvalidArgument if the arguments differ, beside what the check throws
void agree(const Runtime& runtime, std::uint64_t arguments, const std::function<void()>& check);

/// The same before there is a Runtime, over the ranks of a communicator.
void agree(Communicator communicator, std::uint64_t arguments, const std::function<void()>& check);

/// Throws the exception `caught` of `root` on every rank. The other ranks know already that the root has
/// failed. Collective.
[[noreturn]] void throw_everywhere(const Runtime& runtime, int root, const std::exception_ptr& caught);

/// Throws an exception that the other ranks throw, too, at the same place.
[[noreturn]] void throw_agreed(const Runtime& runtime, const std::exception_ptr& caught);

/// Of numbers and enumerations, for agree.
template <class... Values>
std::uint64_t argument_hash(const Values&... values) {
  static_assert((std::is_trivially_copyable_v<Values> && ...));
  char bytes[(sizeof(Values) + ... + 1)] = {};
  std::size_t used = 0;
  ((std::memcpy(bytes + used, &values, sizeof values), used += sizeof values), ...);
  return hash_of({bytes, used});
}

/// The lowest rank with a failure, or size() if there is none, and whether the hashes are equal.
struct Votes {
  int failed;
  bool equal;
};
/// Collective: what calls of all ranks that meet begin with, so that different ones notice each other.
Votes vote(const Runtime& runtime, bool failed, std::uint64_t arguments);
/// After a vote that has found the hashes to differ.
[[noreturn]] void throw_different(const Runtime& runtime);

/// A public call. Only the outermost votes: what it calls follows from its arguments.
class CollectiveCall : public Guard {
 public:
  explicit CollectiveCall(const Runtime& runtime) noexcept;
  ~CollectiveCall();
  void enter(std::string_view name, std::uint64_t arguments, const std::function<void()>& check);
};

/// A public call that all ranks make together: `check` looks at the arguments (agree), then `work` does it.
/// Whatever it throws on a rank, no other rank waits for that one. Every public function and constructor that
/// communicates, or inserts tasks, enters through this. Within another one it just runs both.
/// @param name of the call, for ranks that call different ones
/// @param arguments a hash of what must be equal on all ranks
/// @throws InvalidArgument if calls or arguments differ, beside what check and work throw
template <class Check, class Work>
auto collectively(const Runtime& runtime, std::string_view name, std::uint64_t arguments, const Check& check,
                  const Work& work) {
  CollectiveCall call(runtime);
  try {
    call.enter(name, arguments, check);
    return work();
  } catch (...) {
    call.failed();
    throw;
  }
}

/// The same for a call whose arguments the work looks at by itself.
template <class Work>
auto collectively(const Runtime& runtime, std::string_view name, std::uint64_t arguments, const Work& work) {
  return collectively(
      runtime, name, arguments, [] {}, work);
}

/// A rank's part in a call of `agree` that is still to come, while the rank works by itself towards it. If an
/// exception ends that work, the destructor takes part in the call as the rank that has failed.
class ComingAgreement {
 public:
  explicit ComingAgreement(const Runtime& runtime)
      : runtime_(&runtime), exceptions_(std::uncaught_exceptions()) {}
  ~ComingAgreement();
  ComingAgreement(ComingAgreement&& other) noexcept
      : runtime_(std::exchange(other.runtime_, nullptr)),
        exceptions_(other.exceptions_),
        caught_(std::move(other.caught_)) {}
  ComingAgreement& operator=(ComingAgreement&&) = delete;

  /// An exception of `work` reaches the other ranks.
  template <class Work>
  auto watch(const Work& work) {
    try {
      return work();
    } catch (...) {
      caught_ = std::current_exception();
      throw;
    }
  }
  /// The call comes next: nothing to do any more.
  void conclude() noexcept { runtime_ = nullptr; }

 private:
  const Runtime* runtime_;
  int exceptions_;  ///< in flight when it was made
  std::exception_ptr caught_;
};

}  // namespace tessera::detail
