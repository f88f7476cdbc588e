// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <tessera/codelets/block_sparse/memory_cost.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets of the simple preconditioners, on one segment of rows of row-major vectors (each buffer of
/// vectors: width x rows elements of T, column-major for StarPU). Of what is written, columns m, ..., width -
/// 1 become zero. The cost of their bytes predicts their time; float and double vectors. `gpu`: see
/// TaskOptions.
namespace tessera {

/// Codelet divide_rows: w_i := r_i / g(d_i - shift), where g keeps away from zero: with sign != 0 the
/// operator is known to be definite with that sign, and g(x) = sign max(sign x, least); with sign = 0, |g(x)|
/// = max(|x|, least).
///
/// Arguments: m, sign, shift, least > 0.
/// Buffers:   d (read; array of double), R (read), W (write). Flops: m a row.
struct DivideRowsArguments {
  int columns = 0, sign = 0;
  double shift = 0, least = 0;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};
template <class T>
void insert_divide_rows(Sequence& sequence, int priority, const DivideRowsArguments& arguments,
                        const Data& diagonal, const Data& r, const Data& w, int gpu = -1);

/// Codelet chebyshev_start: Q := R, D := factor R, W := D.
///
/// Arguments: m, factor. Buffers: R (read), Q, D, W (write). Flops: m a row.
struct ChebyshevStartArguments {
  int columns = 0;
  double factor = 0;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};
template <class T>
void insert_chebyshev_start(Sequence& sequence, int priority, const ChebyshevStartArguments& arguments,
                            const Data& r, const Data& q, const Data& d, const Data& w, int gpu = -1);

/// Codelet chebyshev_step: with AD = A D,
///   Q := Q - (AD - shift D),  D := old D + residual Q,  W := W + D.
///
/// Arguments: m, shift, old, residual. Buffers: AD (read), Q, D, W (read-write; their columns m, ...,
/// width - 1 are left alone). Flops: 8 m a row. Source:    Saad, Iterative Methods for Sparse Linear Systems,
/// 2nd ed., Algorithm 12.1.
struct ChebyshevStepArguments {
  int columns = 0;
  double shift = 0, old = 0, residual = 0;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};
template <class T>
void insert_chebyshev_step(Sequence& sequence, int priority, const ChebyshevStepArguments& arguments,
                           const Data& ad, const Data& q, const Data& d, const Data& w, int gpu = -1);

/// A function of the user's: rows first_row, ..., first_row + rows - 1 of w := T r, on host memory, element j
/// of row i at [i * ld + j].
template <class T>
using PreconditionRows =
    std::function<void(Index first_row, Index rows, Index columns, const T* r, Index ldr, T* w, Index ldw)>;

/// The same on device memory: enqueues on `stream` (a cudaStream_t) and returns.
template <class T>
using DevicePreconditionRows = std::function<void(Index first_row, Index rows, Index columns, const T* r,
                                                  Index ldr, T* w, Index ldw, void* stream)>;

template <class T>
struct PreconditionFunctions {
  PreconditionRows<T> host;
  DevicePreconditionRows<T> device;
};

/// Codelets call_preconditioner and call_device_preconditioner: call it, on a CPU; on a GPU, or on a CPU
/// where there are no GPUs and a function for the host is given, too. An exception that leaves it ends the
/// sequence: Sequence::wait throws it again.
///
/// Arguments: m, first row, the functions (they must outlive the task). Buffers: R (read), W (write). Flops:
/// none counted.
template <class T>
struct CallPreconditionerArguments {
  int columns = 0;
  Index first_row = 0;
  const PreconditionFunctions<T>* functions = nullptr;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};
template <class T>
void insert_call_preconditioner(Sequence& sequence, int priority,
                                const CallPreconditionerArguments<T>& arguments, bool on_device,
                                const Data& r, const Data& w, int gpu = -1);

}  // namespace tessera
