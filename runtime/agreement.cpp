// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/error_parts.hpp>
#include <tessera/runtime/fault_points.hpp>
#include <tessera/runtime/sequence_state.hpp>

namespace tessera::detail {

namespace {

std::exception_ptr failure_of(const std::function<void()>& check) {
  try {
    check();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// @param all_reduce_max of a few numbers over the ranks
template <class Reduce>
Votes vote_of(int rank, int ranks, bool failed, std::uint64_t arguments, const Reduce& all_reduce_max) {
  const auto high = double(arguments >> 32), low = double(arguments & 0xFFFFFFFFU);
  double votes[] = {-double(failed ? rank : ranks), high, -high, low, -low};
  all_reduce_max(votes, 5);
  return {static_cast<int>(-votes[0]), votes[1] == -votes[2] && votes[3] == -votes[4]};
}

/// What `caught` holds on `root`, on every rank. @param broadcast(bytes, count) from the root
template <class Broadcast>
std::exception_ptr failure_of_root(int rank, int root, const std::exception_ptr& caught,
                                   const Broadcast& broadcast) {
  const bool here = rank == root;
  ErrorParts parts;
  if (here) parts = parts_of(caught, root);
  broadcast(&parts.kind, sizeof parts.kind);
  broadcast(&parts.rank, sizeof parts.rank);
  broadcast(&parts.line, sizeof parts.line);
  for (std::string& text : parts.texts) {
    auto size = static_cast<Index>(text.size());
    broadcast(&size, sizeof size);
    text.resize(static_cast<std::size_t>(size));
    broadcast(text.data(), size);
  }
  return here ? caught : failure_of([&] { throw_parts(parts); });
}

std::exception_ptr differing_arguments() {
  return failure_of([] { throw InvalidArgument("arguments", "not the same on all ranks", "equal ones"); });
}

}  // namespace

Votes vote(const Runtime& runtime, bool failed, std::uint64_t arguments) {
  return vote_of(runtime.rank(), runtime.size(), failed, arguments,
                 [&](double* values, Index count) { runtime.all_reduce_max(values, count); });
}

void throw_different(const Runtime& runtime) {
  throw_agreed(runtime, differing_arguments());
}

void throw_agreed(const Runtime& runtime, const std::exception_ptr& caught) {
  // On one rank nobody asks, and several threads may throw.
  if (runtime.size() > 1) runtime.detail().agreed = caught;
  std::rethrow_exception(caught);
}

void throw_everywhere(const Runtime& runtime, int root, const std::exception_ptr& caught) {
  throw_agreed(runtime, failure_of_root(runtime.rank(), root, caught, [&](void* bytes, Index count) {
                 runtime.broadcast(bytes, count, root);
               }));
}

void agree(const Runtime& runtime, std::uint64_t arguments, const std::function<void()>& check) {
  if (runtime.size() == 1) return check();
  guarded(runtime, [&] {
    Runtime::Detail& detail = runtime.detail();
    ++detail.checks;
    const std::exception_ptr caught = failure_of([&] {
      fault_point();
      check();
    });
    --detail.checks;
    // No vote if all ranks have thrown it together, or if the others may wait inside the check.
    if (caught && (caught == detail.agreed || caught == detail.broken)) std::rethrow_exception(caught);
    const Votes votes = vote(runtime, caught != nullptr, arguments);
    if (votes.failed < runtime.size()) throw_everywhere(runtime, votes.failed, caught);
    if (!votes.equal) throw_different(runtime);
  });
}

void agree(Communicator communicator, std::uint64_t arguments, const std::function<void()>& check) {
  if (communicator.alone()) return check();
  MPI_Comm comm = MPI_Comm_f2c(communicator.fortran_handle());
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const std::exception_ptr caught = failure_of(check);
  const Votes votes = vote_of(rank, size, caught != nullptr, arguments, [&](double* values, int count) {
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, comm);
  });
  if (votes.failed < size)
    std::rethrow_exception(failure_of_root(rank, votes.failed, caught, [&](void* bytes, Index count) {
      MPI_Bcast(bytes, static_cast<int>(count), MPI_BYTE, votes.failed, comm);
    }));
  if (!votes.equal) std::rethrow_exception(differing_arguments());
}

std::atomic<FaultHook> fault_hook = nullptr;

Guard::Guard(const Runtime& runtime) noexcept : runtime_(runtime) {
  ++runtime.detail().guards;
}

Guard::~Guard() {
  --runtime_.detail().guards;
}

void Guard::failed() noexcept {
  Runtime::Detail& detail = runtime_.detail();
  if (runtime_.size() == 1 || detail.alarm.raised()) return;
  const std::exception_ptr caught = std::current_exception();
  if (caught == detail.agreed) {
    if (detail.guards == 1) finish_abandoned(runtime_);
    return;
  }
  if (detail.checks > 0) {
    detail.broken = caught;
    return;
  }
  // At once, not when it leaves the outermost guard: code that catches it before that may make other calls.
  try {
    detail.alarm.raise(parts_of(caught, runtime_.rank()));
  } catch (...) {  // no memory for its text
    detail.alarm.raise({ErrorKind::other, runtime_.rank(), 0, {}});
  }
  detail.stop_kernels();
}

CollectiveCall::CollectiveCall(const Runtime& runtime) noexcept : Guard(runtime) {
  ++runtime.detail().calls;
}

CollectiveCall::~CollectiveCall() {
  --runtime_.detail().calls;
}

void CollectiveCall::enter(std::string_view name, std::uint64_t arguments,
                           const std::function<void()>& check) {
  Runtime::Detail& detail = runtime_.detail();
  detail.require_no_alarm();
  if (detail.calls > 1) return check();
  agree(runtime_, argument_hash(hash_of(name), arguments), check);
}

ComingAgreement::~ComingAgreement() {
  if (!runtime_ || runtime_->size() == 1 || std::uncaught_exceptions() <= exceptions_) return;
  if (runtime_->detail().calls > 0)
    return;  // the other ranks do not vote within a call: its guard raises the alarm
  const std::exception_ptr caught = caught_;
  failure_of([&] {
    agree(*runtime_, 0, [&] {
      if (caught) std::rethrow_exception(caught);
      throw RuntimeError("another rank has given up");
    });
  });
}

}  // namespace tessera::detail
