// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "common.hpp"

namespace tessera::python {
namespace {

std::mutex gate_mutex;
std::condition_variable gate_free;
bool gate_taken = false;
thread_local bool in_callback = false;

std::mutex registry_mutex;  // of the two below
std::set<Matrix*> registry;
std::vector<Matrix::Any> dropped;

/// The Runtime that Python has made itself; null: none, or the implicit one.
std::unique_ptr<Runtime> own_runtime;

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

LogSink log_sink(nb::object function) {
  if (function.is_none()) return {};
  return [function = share(std::move(function))](LogLevel level, std::string_view message) {
    const Callback callback;
    try {
      (*function)(level_name(level), std::string(message));
    } catch (nb::python_error& error) {
      error.discard_as_unraisable(*function);
    }
  };
}

void set_exception(const char* type, nb::object exception) {
  PyErr_SetObject(nb::module_::import_("tessera._errors").attr(type).ptr(), exception.ptr());
}

void translate(const std::exception_ptr& caught, void*) {
  const nb::module_ errors = nb::module_::import_("tessera._errors");
  const auto raise = [&](const char* type, auto&&... arguments) {
    set_exception(type, errors.attr(type)(arguments...));
  };
  try {
    std::rethrow_exception(caught);
  } catch (const InvalidArgument& e) {
    raise("InvalidArgument", e.what(), e.name(), e.value(), e.expected());
  } catch (const InputError& e) {
    raise("InputError", e.what());
  } catch (const RemoteError& e) {
    raise("RemoteError", e.what());
  } catch (const RuntimeError& e) {
    raise("RuntimeFailure", e.what());
  } catch (const Error& e) {
    raise("Error", e.what());
  }
}

void start_runtime(int cores, int gpus, bool hybrid, const std::string& scheduler, bool synchronous,
                   nb::object log, std::optional<int> communicator, bool bind) {
  RuntimeOptions options{.cores = cores,
                         .gpus = gpus,
                         .hybrid = hybrid,
                         .scheduler = scheduler,
                         .synchronous = synchronous,
                         .bind = bind,
                         .log = log_sink(std::move(log))};
  const Call call;
  if (own_runtime) throw RuntimeError("a Runtime is open already; close it first");
  if (Matrix::alive() > 0)
    throw RuntimeError(
        "there are matrices of the implicit Runtime; delete them, or call tessera.close(), first");
  end_default_runtime();
  own_runtime = std::make_unique<Runtime>(
      options, communicator ? Communicator::from_fortran(*communicator) : Communicator());
}

void close_runtime() {
  const Call call;
  Matrix::close_all();
  own_runtime.reset();
  end_default_runtime();
}

nb::dict runtime_info() {
  RuntimeInfo info;
  int rank = 0, size = 1, workers = 0, gpus = 0;
  {
    const Call call;
    const Runtime& runtime = current_runtime();
    info = runtime.info();
    rank = runtime.rank(), size = runtime.size(), workers = runtime.workers(), gpus = runtime.gpus();
  }
  nb::dict d;
  d["version"] = info.version;
  d["commit"] = info.commit;
  d["starpu_version"] = info.starpu_version;
  d["mpi_version"] = info.mpi_version;
  d["blas"] = info.blas;
  d["scheduler"] = info.scheduler;
  d["host"] = info.host;
  d["cpu_model"] = info.cpu_model;
  d["cpu_workers"] = info.cpu_workers;
  d["cuda_workers"] = info.cuda_workers;
  d["memory_bytes"] = info.memory_bytes;
  d["gpu_model"] = info.gpu_model;
  d["gpu_memory_bytes"] = info.gpu_memory_bytes;
  d["rank"] = rank;
  d["size"] = size;
  d["workers"] = workers;
  d["gpus"] = gpus;
  return d;
}

}  // namespace

Gate gate;

void Gate::lock() {
  std::unique_lock lock(gate_mutex);
  gate_free.wait(lock, [] { return !gate_taken; });
  gate_taken = true;
}
bool Gate::try_lock() noexcept {
  const std::lock_guard lock(gate_mutex);
  return !std::exchange(gate_taken, true);
}
void Gate::unlock() noexcept {
  {
    const std::lock_guard lock(gate_mutex);
    gate_taken = false;
  }
  gate_free.notify_one();
}

Call::Call(const Matrix* matrix) {
  if (in_callback) throw RuntimeError("tessera cannot be called from a function that it has called");
  without_python_.emplace();
  gate.lock();
  Matrix::bury();
  if (matrix != nullptr && matrix->closed()) {
    gate.unlock();
    Matrix::refuse();
  }
}
Call::~Call() {
  gate.unlock();
}

Callback::Callback() : before_(std::exchange(in_callback, true)) {}
Callback::~Callback() {
  in_callback = before_;
}

SharedObject share(nb::object object) {
  return SharedObject(new nb::object(std::move(object)), [](nb::object* o) {
    const nb::gil_scoped_acquire with_python;
    delete o;
  });
}

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Runtime& current_runtime() {
  return own_runtime ? *own_runtime : default_runtime();
}

nb::object status_object(const Status& status) {
  return nb::module_::import_("tessera._errors")
      .attr("Status")(to_string(status.code), status.stage, status.index, status.reason, status.message());
}

Matrix::Matrix(Matrix&& other) noexcept : value_(std::exchange(other.value_, std::monostate())) {
  if (!closed()) enlist();
}
void Matrix::enlist() {
  const std::lock_guard lock(registry_mutex);
  registry.insert(this);
}
Matrix::~Matrix() {
  // Python drops objects anywhere, also while another thread is in a call: then the next call frees the values.
  const bool free = gate.try_lock();
  {
    const std::lock_guard lock(registry_mutex);
    registry.erase(this);
    if (!free && !closed()) dropped.push_back(std::move(value_));
  }
  if (free) {
    value_ = std::monostate();
    gate.unlock();
  }
}
void Matrix::close_all() noexcept {
  const std::lock_guard lock(registry_mutex);
  for (Matrix* const matrix : registry) matrix->value_ = std::monostate();
  registry.clear();
  dropped.clear();
}
std::size_t Matrix::alive() noexcept {
  const std::lock_guard lock(registry_mutex);
  return registry.size();
}
void Matrix::bury() noexcept {
  std::vector<Any> now;
  const std::lock_guard lock(registry_mutex);
  now.swap(dropped);
}
void Matrix::refuse() {
  throw RuntimeError("the matrix is gone: the Runtime that it belonged to has been closed");
}

Symmetry symmetry_of(const std::string& name) {
  if (name == "none") return Symmetry::none;
  if (name == "symmetric") return Symmetry::symmetric;
  if (name == "antisymmetric") return Symmetry::antisymmetric;
  if (name == "hermitian") return Symmetry::hermitian;
  throw InvalidArgument("symmetry", name, "none, symmetric, antisymmetric or hermitian");
}

void bind_runtime(nb::module_& module) {
  nb::register_exception_translator(translate);
  module.def("start_runtime", &start_runtime, nb::arg("cores"), nb::arg("gpus"), nb::arg("hybrid"),
             nb::arg("scheduler"), nb::arg("synchronous"), nb::arg("log").none(),
             nb::arg("communicator").none(), nb::arg("bind"));
  module.def("close_runtime", &close_runtime);
  module.def("runtime_info", &runtime_info);
  module.def("own_runtime_is_open", [] { return own_runtime != nullptr; });
#ifdef TESSERA_PYTHON_WITH_MPI
  module.attr("with_mpi") = true;
#else
  module.attr("with_mpi") = false;
#endif
}

}  // namespace tessera::python
