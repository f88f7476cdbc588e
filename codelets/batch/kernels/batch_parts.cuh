// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/codelets/batch/kernels/batch_eigen.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/common/tridiagonal_ql.cuh>

struct cublasContext;  // cublasHandle_t points to it

/// The stages of launch_eigen_batch and what they leave for each other. S: a scalar type of the device.
namespace tessera::detail::kernels::batch {

using namespace device;

inline constexpr int rounds = 3;

/// Up to this order a group of lanes has a matrix from the beginning to the end, a row each in registers: apart,
/// kernels of the stages wait for their loads and stores.
inline constexpr int small_order = 16;

/// The work space of a batch with the QL method.
template <class S>
struct Work {
  using R = Real<S>;
  S* x;      ///< n x n each: Q; without vectors A, if it does not fit into shared memory
  S* tau;    ///< n each
  R *d, *e;  ///< n each: the tridiagonal matrix
  Rotation<R>* rotations;
  Sweep* sweeps;
  int* place;     ///< n each: the number of an eigenvalue in ascending order
  int* exponent;  ///< A = 2^exponent scaled A
  Progress* progress;
  std::size_t bytes;

  Work(void* memory, Index n, Index count, bool vectors, bool matrices) {
    std::size_t at = 0;
    const auto take = [&]<class X>(X*& pointer, Index each) {
      pointer = reinterpret_cast<X*>(static_cast<char*>(memory) + at);
      at += (static_cast<std::size_t>(each * count) * sizeof(X) + 255) / 256 * 256;
    };
    take(x, matrices ? n * n : 0);
    take(tau, n);
    take(d, n);
    take(e, n);
    take(rotations, vectors ? rotation_space(n) : 0);
    take(sweeps, vectors ? sweep_space(n) : 0);
    take(place, n);
    take(exponent, 1);
    take(progress, 1);
    bytes = at;
  }
};

/// A matrix of this order lies in shared memory while it is reduced.
template <class S>
constexpr std::size_t reduction_shared_bytes(Index n, bool in_shared) {
  return static_cast<std::size_t>((in_shared ? n * (n | 1) : 0) + 4 * n) * sizeof(S);
}
template <class S>
constexpr bool reduced_in_shared(Index n) {
  return reduction_shared_bytes<S>(n, true) <= 224 * 1024;
}

/// Where the reduction works.
template <class S>
struct Reduction {
  int n;
  bool upper;
  const S* a;
  Index lda, stride_a;
  S* v;  ///< the matrix on the way, and at last the reflectors below the diagonal; null: in shared memory alone
  Index ldv, stride_v;
  S* tau;
  Real<S>*d, *e;
  int *exponent, *info;
  Progress* progress;  ///< (W) or null
  int first =
      0;  ///< columns before are reduced, the rest of A is in v, and n - first rows fit into shared memory
};
/// A = 2^exponent Q T Q^H with Q = H_0 H_1 ..., H_j = I - tau_j v_j v_j^H, v_j zero above row j + 1 and 1
/// there (both are stored). d and e: T, zeros where A is not finite.
template <class S>
void launch_reduction(cudaStream_t stream, const Reduction<S>& reduction, Index count);

/// The same by panels of columns with A in reduction.v: for matrices that do not fit into shared memory, it
/// reads one triangle where the other reads and writes the whole matrix for each column. Not for those so
/// large that not even two columns fit.
template <class S>
bool reduced_by_panels(Index n);
template <class T>
std::size_t panels_bytes(Index n, Index count);
template <class T>
void launch_reduction_by_panels(cudaStream_t stream, cublasContext* cublas,
                                const Reduction<DeviceScalar<T>>& reduction, Index count, void* work);

template <class R>
struct Iteration {
  int n, lanes;
  Index count;
  R *d, *e, *w;
  Index stride_w;
  Rotation<R>* rotations;  ///< null: none are stored
  Sweep* sweeps;
  int *place, *info;
  const int* exponent;
  Progress* progress;
};
/// A round of the QL method on all matrices that are not finished; in the last one those that are not yet
/// have failed.
template <class R>
void launch_iteration(cudaStream_t stream, const Iteration<R>& iteration, int round);

/// x := Q.
template <class S>
void launch_form_q(cudaStream_t stream, int n, Index count, const S* v, Index ldv, Index stride_v,
                   const S* tau, S* x);

template <class R>
struct Rotating {
  int n, rows;  ///< order of T, and real rows of Q: of a complex matrix 2 n
  Index count;
  R *x, *z;  ///< real rows
  Index ldz, stride_z;
  const Rotation<R>* rotations;
  const Sweep* sweeps;
  const int* place;
  const Progress* progress;
};
/// The rotations of a round on the columns of x; of matrices that are finished in it, the columns in
/// ascending order go to z.
template <class R>
void launch_rotations(cudaStream_t stream, const Rotating<R>& rotating, int round);

/// Matrices of order up to small_order.
template <class S>
struct SmallEigen {
  Reduction<S> reduction;  ///< n, upper, a, lda, stride_a and info
  Index count;
  Real<S>* w;
  Index stride_w;
  S* z;  ///< may be a
  Index ldz, stride_z;
};
/// Values and vectors in one kernel: the reduction, Q and the QL method.
template <class S>
void launch_small_eigen(cudaStream_t stream, const SmallEigen<S>& problem);

/// Lets a kernel have so much dynamic shared memory beside at most 2 KB of its own.
template <class Kernel>
void allow_dynamic_memory(Kernel* kernel, std::size_t bytes) {
  if (bytes > 46 * 1024)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

/// Takes parts of a work space, one after the other.
struct Taker {
  char* memory;
  std::size_t at = 0;
  template <class X>
  X* take(Index elements) {
    X* const pointer = reinterpret_cast<X*>(memory + at);
    at += (static_cast<std::size_t>(elements) * sizeof(X) + 255) / 256 * 256;
    return pointer;
  }
};

/// Reflectors of a block in launch_back.
inline constexpr int back_width = 32;

/// T = S diag(w) S^T of `count` matrices by divide and conquer in double, S to the real parts of z; without z
/// the values alone. w: scaled by 2^exponent; NaN where *info is not 0, which becomes n of a matrix that did
/// not converge.
template <class S>
struct DivideAndConquer {
  int n;
  Index count;
  const Real<S>*d, *e;
  const int* exponent;
  int* info;
  Real<S>* w;
  Index stride_w;
  S* z;
  Index ldz, stride_z;
};
template <class S>
std::size_t divide_bytes(Index n, Index count, bool vectors);
template <class S>
void launch_divide(cudaStream_t stream, const DivideAndConquer<S>& problem, void* work);

/// z := H_0 H_1 ... z, by blocks. T: a scalar type of the library.
template <class T>
std::size_t back_bytes(Index n, Index count);
template <class T>
void launch_back(cudaStream_t stream, cublasContext* cublas, Index n, Index count, const T* v, Index ldv,
                 Index stride_v, const T* tau, T* z, Index ldz, Index stride_z, void* work);

}  // namespace tessera::detail::kernels::batch
