// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cusolverDn.h>

#include <tessera/data.hpp>

/// What the tasks of whole_tasks.hpp do on a GPU. Everything is device memory.
namespace tessera::device {

/// Sizes of the work spaces.
template <class T>
std::size_t hetrd_bytes(Index n);
template <class T>
std::size_t unmtr_bytes(Index n, Index columns);

/// False if cuSOLVER refuses the call. n >= 1.
template <class T>
bool launch_hetrd(cusolverDnHandle_t handle, cudaStream_t stream, MatrixView<T> a, RealOf<T>* d, RealOf<T>* e,
                  T* tau, char* work, std::size_t bytes);
template <class T>
bool launch_unmtr(cusolverDnHandle_t handle, MatrixView<const T> a, const T* tau, MatrixView<T> z, char* work,
                  std::size_t bytes);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
