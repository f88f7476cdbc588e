// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <tessera/data.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// Tridiagonalization of a small matrix by one kernel, all of whose thread blocks are on the GPU together.
namespace tessera::detail::device {

/// The largest order that the current GPU takes so; 0: none.
template <class T>
Index largest_tridiagonalized_at_once();
/// Bytes of work space.
template <class T>
std::size_t tridiagonalize_at_once_bytes(Index n) noexcept;

/// T := Q^H A Q as LAPACK's hetrd makes it, but with ones at the head of each reflector, on A's first subdiagonal.
/// @param a     n x n, the lower triangle, n from 2 to largest_tridiagonalized_at_once; reflectors below the diagonal
/// @param d, e  n and n - 1
/// @param tau   n - 1
/// @return false if the kernel could not be started; nothing was changed
/// [4/3 n^3; complex: x 4]
template <class T>
bool launch_tridiagonalize_at_once(CUstream_st* stream, MatrixView<T> a, RealOf<T>* d, RealOf<T>* e, T* tau,
                                   void* work) noexcept;

}  // namespace tessera::detail::device
