// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tessera/tessera.hpp>

/// What the bindings have in common: calls without Python's lock, functions of Python's that the library calls,
/// arrays, and matrices that may outlive their Runtime.
namespace tessera::python {

namespace nb = nanobind;

/// Calls on a Runtime come from one thread at a time: whoever calls holds this.
class Gate {
 public:
  void lock();
  /// Takes it if it is free; never waits.
  bool try_lock() noexcept;
  void unlock() noexcept;
};
extern Gate gate;

class Matrix;

/// A call of the library: Python's lock is given back, the gate is held. @throws RuntimeError within a function that
/// the library has called
class Call {
 public:
  Call() : Call(nullptr) {}
  /// Of a matrix, which another thread may close meanwhile. @throws RuntimeError for one that is closed
  explicit Call(const Matrix* matrix);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  std::optional<nb::gil_scoped_release> without_python_;
};

/// A function of Python's that the library calls: Python's lock is held, and calls of the library are refused.
class Callback {
 public:
  Callback();
  ~Callback();
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

 private:
  nb::gil_scoped_acquire with_python_;
  bool before_;
};

/// An object of Python's that may be released on any thread.
using SharedObject = std::shared_ptr<nb::object>;
SharedObject share(nb::object object);

/// Throws what a signal has left for Python (KeyboardInterrupt). Python's lock is held.
void check_signals();

/// Waits for a Completion within a Call, and looks for signals meanwhile; after one `stop` is set, and the exception
/// is thrown when the computation is over.
template <class Result>
void wait_for(Completion<Result>& completion, std::atomic<bool>& stop) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::optional<nb::python_error> interrupt;
  while (!completion.ready()) {
    // What is slept too long is below 1 % of the whole.
    const auto pause = std::clamp<Clock::duration>((Clock::now() - start) / 128, 20us, 20ms);
    std::this_thread::sleep_for(pause);
    if (pause < 1ms || interrupt) continue;
    const nb::gil_scoped_acquire with_python;
    if (PyErr_CheckSignals() != 0) {
      interrupt.emplace();
      stop = true;
    }
  }
  completion.wait();
  if (interrupt) throw nb::python_error(*interrupt);
}

/// The Runtime that is alive, or the implicit one. Within a Call.
Runtime& current_runtime();

/// How a computation has ended, for Python.
nb::object status_object(const Status& status);

// ---- arrays ----------------------------------------------------------------------------------------------

/// An array of any scalar type that is read.
using AnyArray = nb::ndarray<nb::ro>;
/// A one-dimensional array of the host that is read.
template <class T>
using HostVector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Calls f.operator()<T>() with the scalar type of an array. @throws InvalidArgument for another one
template <class F>
auto with_scalar(nb::dlpack::dtype type, const F& f) {
  if (type == nb::dtype<float>()) return f.template operator()<float>();
  if (type == nb::dtype<double>()) return f.template operator()<double>();
  if (type == nb::dtype<std::complex<float>>()) return f.template operator()<std::complex<float>>();
  if (type == nb::dtype<std::complex<double>>()) return f.template operator()<std::complex<double>>();
  throw InvalidArgument("dtype", "another type", "float32, float64, complex64 or complex128");
}

/// The same with the type that a letter names.
template <class F>
auto with_letter(const std::string& letter, const F& f) {
  if (letter == "s") return f.template operator()<float>();
  if (letter == "d") return f.template operator()<double>();
  if (letter == "c") return f.template operator()<std::complex<float>>();
  if (letter == "z") return f.template operator()<std::complex<double>>();
  throw InvalidArgument("dtype", letter, "s, d, c or z");
}

/// Hands a vector over to NumPy.
template <class T>
nb::object to_numpy(std::vector<T> values, std::vector<std::size_t> shape = {},
                    std::vector<std::int64_t> strides = {}) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  if (shape.empty()) shape = {owned->size()};
  T* const data = owned->data();
  const nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  owned.release();
  return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner,
                                   strides.empty() ? nullptr : strides.data())
      .cast();
}

/// The same, column-major.
template <class T>
nb::object to_numpy_matrix(std::vector<T> values, Index rows, Index cols) {
  return to_numpy<T>(std::move(values), {static_cast<std::size_t>(rows), static_cast<std::size_t>(cols)},
                     {1, static_cast<std::int64_t>(rows)});
}

/// A two-dimensional array whose columns are without gaps, as LAPACK has it. @throws InvalidArgument
template <class T>
MatrixView<const T> column_major(const AnyArray& a, const char* name) {
  if (a.ndim() != 2) throw InvalidArgument(name, std::to_string(a.ndim()) + " dimensions", "two dimensions");
  const auto rows = static_cast<Index>(a.shape(0)), cols = static_cast<Index>(a.shape(1));
  const Index ld = cols > 1 ? a.stride(1) : std::max<Index>(rows, 1);
  if ((rows > 1 && a.stride(0) != 1) || ld < std::max<Index>(rows, 1))
    throw InvalidArgument(name, "other strides", "columns without gaps");
  return {static_cast<const T*>(a.data()), rows, cols, ld};
}

// ---- block-sparse matrices -------------------------------------------------------------------------------

/// A block-sparse matrix of any scalar type. When its Runtime ends its values go; it is closed then.
class Matrix {
 public:
  using Any = std::variant<std::monostate, BlockSparseMatrix<float>, BlockSparseMatrix<double>,
                           BlockSparseMatrix<std::complex<float>>, BlockSparseMatrix<std::complex<double>>>;
  /// Within a Call.
  template <class T>
  explicit Matrix(BlockSparseMatrix<T> matrix) : value_(std::move(matrix)) {
    enlist();
  }
  Matrix(Matrix&& other) noexcept;
  ~Matrix();
  /// f(BlockSparseMatrix<T>&). @throws RuntimeError if its Runtime has ended
  template <class F>
  auto visit(const F& f) {
    return std::visit(
        [&](auto& matrix) {
          using M = std::remove_reference_t<decltype(matrix)>;
          if constexpr (std::is_same_v<M, std::monostate>) {
            refuse();
            return f(std::get<BlockSparseMatrix<double>>(value_));  // for the type
          } else {
            return f(matrix);
          }
        },
        value_);
  }
  /// The same scalar type as another one's. @throws InvalidArgument
  template <class T>
  BlockSparseMatrix<T>& as(const char* name) {
    if (closed()) refuse();
    if (auto* const matrix = std::get_if<BlockSparseMatrix<T>>(&value_)) return *matrix;
    throw InvalidArgument(name, "another dtype", "the dtype of the other matrix");
  }
  bool closed() const noexcept { return value_.index() == 0; }
  [[noreturn]] static void refuse();
  /// Closes all matrices: their Runtime ends. Within a Call.
  static void close_all() noexcept;
  /// How many there are that are not closed.
  static std::size_t alive() noexcept;
  /// Frees what Python has dropped while the library was busy. Within a Call.
  static void bury() noexcept;

 private:
  void enlist();
  Any value_;
};

Symmetry symmetry_of(const std::string& name);

// ---- what each file adds to the module -------------------------------------------------------------------
void bind_runtime(nb::module_& module);
void bind_dense(nb::module_& module);
void bind_device(nb::module_& module);
void bind_blocks(nb::module_& module);
void bind_algebra(nb::module_& module);
void bind_density(nb::module_& module);
void bind_lobpcg(nb::module_& module);
void bind_matgen(nb::module_& module);

}  // namespace tessera::python
