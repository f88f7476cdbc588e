// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <tessera/types.hpp>

/// @file
/// Functions of the user that tasks call (UserOperator, UserPreconditioner). Blocks of vectors are row-major
/// there: the elements of one row are neighbours.
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

/// A function of the user's: rows first_row, ..., first_row + rows - 1 of w := T r, on host memory, element j
/// of row i at [i * ld + j].
template <class T>
using PreconditionRows =
    std::function<void(Index first_row, Index rows, Index columns, const T* r, Index ldr, T* w, Index ldw)>;

/// The same on device memory: enqueues on `stream` (a cudaStream_t) and returns.
template <class T>
using DevicePreconditionRows = std::function<void(Index first_row, Index rows, Index columns, const T* r,
                                                  Index ldr, T* w, Index ldw, void* stream)>;

}  // namespace tessera
