// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <tessera/codelets/block_sparse/memory_cost.hpp>
#include <tessera/codelets/vectors/gram.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets user_function and user_device_function: a function of the user makes one segment of rows of a
/// block of row-major vectors from all rows of another: Y(first_row : end_row, :) := f(X).
///
/// Arguments: pointer to the function (which outlives the task), first_row, end_row, columns <= 32.
/// Buffers:   X_0, ..., X_{k-1} (read; the segments of X in order, each width x rows elements of T,
/// column-major for
///            StarPU: row-major vectors), Y (write; the same for the segment; columns from `columns` on
///            become zero), W (scratch; rows of X x width elements of T: X in one piece, if k > 1).
/// Flops:     none counted.
/// Cost:      that of the vectors' bytes: what the function itself takes is not known.
/// What the function throws fails the sequence: Sequence::wait throws it again. user_function runs on CPUs;
/// user_device_function on GPUs, on device memory, and on CPUs where there are no GPUs and a function for the
/// host is given, too.
namespace tessera {

/// y(i, j), first_row <= i < end_row, from all of x, which has element (i, j) at x[i ldx + j]; row
/// `first_row` of y begins at y[0].
template <class T>
using UserFunction = std::function<void(Index first_row, Index end_row, Index columns, const T* x, Index ldx,
                                        T* y, Index ldy)>;
/// The same with device pointers: enqueues on `stream` (a cudaStream_t) and returns.
template <class T>
using UserDeviceFunction = std::function<void(Index first_row, Index end_row, Index columns, const T* x,
                                              Index ldx, T* y, Index ldy, void* stream)>;

template <class T>
struct UserFunctions {
  UserFunction<T> host;
  UserDeviceFunction<T> device;
};

template <class T>
struct UserFunctionArguments {
  const UserFunctions<T>* functions;
  Index first_row, end_row, columns;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

/// @param x the segments of X
/// @param gathered a scratch piece; not looked at if X has one segment
/// @param gpu see TaskOptions
template <class T>
void insert_user_function(Sequence& sequence, int priority, const UserFunctionArguments<T>& arguments,
                          bool on_device, std::span<const Data* const> x, const Data& y, const Data& gathered,
                          int gpu = -1);

}  // namespace tessera
