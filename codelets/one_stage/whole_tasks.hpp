// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime.hpp>
#include <tessera/runtime/task.hpp>

struct CUstream_st;        // cudaStream_t points to it
struct cusolverDnContext;  // cusolverDnHandle_t points to it

/// Tridiagonalization of a matrix in one piece, A = Q T Q^H: LAPACK's hetrd and unmtr, or on a GPU, for small
/// orders, a kernel of our own (kernels/tridiagonalize_device.hpp), else cuSOLVER's sytrd/hetrd, and ormtr/unmtr.
/// Both libraries count sizes in 32 bits. cuSOLVER accepts orders up to 65536, but does not document that it is
/// right if n^2 is beyond 2^31 (n > 46340). Its reduction does not wait for the stream, but enqueues several kernels
/// for each column, so that the worker is busy nearly as long as the GPU. With GPUs no CPU runs these tasks, because
/// the library that made the reflectors must apply them. Source: LAPACK hetrd, unmtr.
namespace tessera::detail {

/// A := reflectors below the first subdiagonal, T := Q^H A Q.          [4/3 n^3 flops, complex x 4]
/// | operand   | mode       | shape                                       | what                      |
/// |-----------|------------|---------------------------------------------|---------------------------|
/// | a         | read-write | n x n                                       | the lower triangle        |
/// | tau       | write      | array: max(n - 1, 1)                        | factors of the reflectors |
/// | d         | write      | array of reals: n                           | diagonal of T             |
/// | e         | write      | array of reals: max(n - 1, 1)               | subdiagonal of T          |
/// | workspace | scratch    | array: tridiagonalize_whole_workspace_bytes |                           |
/// Errors on GPUs: no_convergence with index n + 1 if cuSOLVER refuses the call.
template <class T>
struct TridiagonalizeWhole {
  static constexpr const char* name = "tridiagonalize_whole";
  static constexpr bool gpu_instead_of_cpu = true;
  ReadWrite<Matrix<T>> a;
  Write<Array<T>> tau;
  Write<Array<RealOf<T>>> d, e;
  Scratch<Array<char>> workspace;
  Index n = 0;
  double flops() const noexcept {
    const double order = static_cast<double>(n);
    return flop_factor<T> * 4 / 3 * order * order * order;
  }
};
template <class T>
std::size_t tridiagonalize_whole_workspace_bytes(const Runtime& runtime, Index n);
/// The largest order that the kernel of our own takes on the calling thread's GPU; 0 if the runtime has none.
template <class T>
Index largest_whole_at_once(const Runtime& runtime);

/// Z := Q Z with the Q of TridiagonalizeWhole.                  [2 n^2 columns flops, complex x 4]
/// | operand   | mode       | shape                                             | what           |
/// |-----------|------------|---------------------------------------------------|----------------|
/// | a         | read       | n x n                                             | the reflectors |
/// | tau       | read       | array                                             | their factors  |
/// | z         | read-write | n x columns                                       |                |
/// | workspace | scratch    | array: apply_tridiagonalize_whole_workspace_bytes |                |
/// Errors as above.
template <class T>
struct ApplyTridiagonalizeWhole {
  static constexpr const char* name = "apply_tridiagonalize_whole";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Matrix<T>> a;
  Read<Array<T>> tau;
  ReadWrite<Matrix<T>> z;
  Scratch<Array<char>> workspace;
  Index n = 0, columns = 0;
  double flops() const noexcept { return flop_factor<T> * 2 * double(n) * double(n) * double(columns); }
};
template <class T>
std::size_t apply_tridiagonalize_whole_workspace_bytes(const Runtime& runtime, Index n, Index columns);

}  // namespace tessera::detail

/// The tasks on a GPU. All pointers are device memory.
namespace tessera::detail::device {

/// Sizes of the work spaces.
template <class T>
std::size_t hetrd_bytes(Index n);
template <class T>
std::size_t unmtr_bytes(Index n, Index columns);

/// They return false if cuSOLVER refuses the call. n >= 1.
template <class T>
bool launch_hetrd(cusolverDnContext* handle, CUstream_st* stream, MatrixView<T> a, RealOf<T>* d, RealOf<T>* e,
                  T* tau, char* work, std::size_t bytes);
template <class T>
bool launch_unmtr(cusolverDnContext* handle, MatrixView<const T> a, const T* tau, MatrixView<T> z, char* work,
                  std::size_t bytes);

}  // namespace tessera::detail::device
