// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <exception>
#include <functional>
#include <utility>

#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/runtime.hpp>

/// Errors of calls that all ranks make together: a rank that alone found something wrong and threw would
/// leave the others waiting for it, so all throw what one has found.
namespace tessera {

/// Runs `check`, which may throw, and throws on every rank what it has thrown on any: the failure of the
/// lowest rank, of the same kind with the same text (what is no Error of this library becomes one on the
/// other ranks). `arguments`: a hash of what must be equal on all ranks (argument_hash). Collective; alone
/// just the check.
/// @throws InvalidArgument if the arguments differ, beside what the check throws
void agree(const Runtime& runtime, std::uint64_t arguments, const std::function<void()>& check);

/// Throws on every rank what `caught` holds on `root`, for a root that the others know to have failed.
/// Collective.
[[noreturn]] void throw_everywhere(const Runtime& runtime, int root, const std::exception_ptr& caught);

/// Of numbers and enumerations, for agree.
template <class... Values>
std::uint64_t argument_hash(const Values&... values) {
  static_assert((std::is_trivially_copyable_v<Values> && ...));
  char bytes[(sizeof(Values) + ...)];
  std::size_t used = 0;
  ((std::memcpy(bytes + used, &values, sizeof values), used += sizeof values), ...);
  return hash_of({bytes, used});
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

  /// What `work` throws is what the others will hear of.
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

}  // namespace tessera
