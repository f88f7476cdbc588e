// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <mutex>

#include <tessera/error.hpp>
#include <tessera/runtime/default_runtime.hpp>
#include <tessera/runtime/mpi_headers.hpp>

namespace tessera::detail {

namespace {

std::mutex default_mutex;
std::atomic<bool> made_by_default = false;

std::unique_ptr<Runtime> make_default(Communicator communicator) {
  made_by_default = true;
  try {
    return std::make_unique<Runtime>(RuntimeOptions{}, communicator);
  } catch (...) {
    made_by_default = false;
    throw;
  }
}

void end_default(std::unique_ptr<Runtime>& runtime) noexcept {
  runtime.reset();
  made_by_default = false;
}

/// The Runtime that was made for callers without one; null when it has been ended. The object that ends it at
/// exit is made when the first one has started: what StarPU and CUDA have registered by then runs after it.
std::unique_ptr<Runtime>* holder = nullptr;
bool ended_at_exit = false;

void begin_default(Communicator communicator = {}) {
  if (ended_at_exit) throw RuntimeError("no Runtime can be made while the process ends");
  if (holder) {
    *holder = make_default(communicator);
    return;
  }
  struct Holder {
    std::unique_ptr<Runtime> runtime;
    ~Holder() {
      end_default(runtime);
      holder = nullptr;
      ended_at_exit = true;
    }
  };
  std::unique_ptr<Runtime> first = make_default(communicator);
  static Holder kept;
  kept.runtime = std::move(first);
  holder = &kept.runtime;
}

#if TESSERA_WITH_MPI

/// MPI_Finalize begins with the attributes of MPI_COMM_SELF: messages still go then.
int end_with_mpi(MPI_Comm, int, void*, void*) {
  end_default_runtime();
  return MPI_SUCCESS;
}

/// Once in a process: to set the attribute again would end the Runtime.
void end_default_with_mpi() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_with_mpi, &made, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, made, nullptr);
    return made;
  }();
  (void)key;
}

#endif

}  // namespace

std::atomic<Runtime*> alive_runtime = nullptr;

bool default_runtime_alive() noexcept {
  return made_by_default;
}

Runtime& default_runtime_on(Communicator communicator) {
  const std::lock_guard lock(default_mutex);
  if (alive_runtime && !made_by_default)
    throw RuntimeError("the Runtime that is alive is on other processes; end it first");
  if (holder) end_default(*holder);
  begin_default(communicator);
#if TESSERA_WITH_MPI
  if (!communicator.alone()) end_default_with_mpi();
#endif
  return *alive_runtime;
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

Runtime& default_runtime() {
  const std::lock_guard lock(default_mutex);
  if (!detail::alive_runtime) begin_default();
  return *detail::alive_runtime;
}

void end_default_runtime() {
  const std::lock_guard lock(default_mutex);
  if (holder) end_default(*holder);
}

}  // namespace tessera
