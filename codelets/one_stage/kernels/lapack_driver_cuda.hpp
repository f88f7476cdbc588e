// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cusolverDn.h>

#include <tessera/data.hpp>

/// What the task of lapack_driver.hpp does on a GPU: cuSOLVER's drivers on the whole matrix.
namespace tessera::device {

/// One problem for a driver: the vectors number [lo, hi) from 0 of n, or none.
struct EigenDriver {
  Index n;
  bool generalized, vectors;
  Index lo, hi;
  /// Only Xsyevdx computes less than everything.
  bool partial() const noexcept { return vectors && !generalized && hi - lo < n; }
};

/// Where the parts of a work space lie that begins at `memory`.
template <class T>
struct EigenDriverSpace {
  T *a, *b;           ///< n x n each, leading dimension n; b only if generalized
  RealOf<T>* values;  ///< n
  char* work;         ///< cuSOLVER's own
  std::size_t work_bytes, host_bytes;
  int* info;
  std::size_t bytes;  ///< of the whole
  EigenDriverSpace(cusolverDnHandle_t handle, const EigenDriver& driver, char* memory);
};

/// Size of the work space.
template <class T>
std::size_t eigen_driver_bytes(const EigenDriver& driver);

/// Solves with the matrix in space.a (and space.b), lower triangles, which are destroyed. `values`: all n
/// eigenvalues; of a partial problem those number [lo, hi), the others NaN. The vectors number lo to hi - 1
/// are in space.a from column 0 on if partial, else from column lo on.
///
/// cuSOLVER waits for the stream inside; its work space on the host is kept for the next call.
/// *no_convergence and *not_positive_definite (device or host memory) receive cuSOLVER's info and the order
/// of the leading minor of B, if they are not zero; a call that cuSOLVER refuses counts as no convergence, n
/// + 1.
template <class T>
void launch_eigen_driver(cusolverDnHandle_t handle, cudaStream_t stream, const EigenDriver& driver,
                         const EigenDriverSpace<T>& space, RealOf<T>* values, long long* no_convergence,
                         long long* not_positive_definite);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
