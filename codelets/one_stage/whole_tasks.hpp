// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime.hpp>
#include <tessera/runtime/task.hpp>

/// Tridiagonalization of a matrix in one piece, A = Q T Q^H, by the library at hand: LAPACK's hetrd and
/// unmtr, or on a GPU cuSOLVER's sytrd/hetrd and ormtr/unmtr. Both count sizes in 32 bits; cuSOLVER accepts
/// orders to 65536, but nothing says that it is right where n^2 is beyond 2^31 (n > 46340). Its reduction
/// does not wait for the stream, but enqueues several kernels a column, so that the worker is busy with it
/// nearly as long as the GPU. With GPUs no CPU runs these tasks: the reflectors are applied by the library
/// that made them. Source: LAPACK hetrd, unmtr.
namespace tessera {

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

}  // namespace tessera
