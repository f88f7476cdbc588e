// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <tessera/types.hpp>

struct CUstream_st;    // cudaStream_t points to it
struct cublasContext;  // cublasHandle_t points to it

/// Eigenvalues and eigenvectors of many small Hermitian matrices of one order.
///
/// On a GPU A, scaled by a power of two, is made tridiagonal by Householder's reflectors: in shared memory,
/// and where it does not fit there by panels of columns. Small matrices: the implicit QL method, a lane a
/// matrix, which stores its rotations; then Q, the product of the reflectors, and the rotations on it, where
/// every row of Q is independent, so that a warp takes 32 rows through all of them. Larger ones: divide and
/// conquer of all matrices together, and the reflectors by blocks.
/// Flops of a matrix: 4/3 n^3, with vectors about 11 n^3 by QL, 14/3 n^3 by divide and conquer; complex: x 4, but for
/// the rotations x 2, and divide and conquer x 1.
/// Sources: Golub & Van Loan, Matrix Computations, 8.3; EISPACK imtql2 (Dubrulle, Martin & Wilkinson 1968); the
/// rotations in waves: Van Zee, van de Geijn & Quintana-Orti, ACM TOMS 40 (2014) 18; LAPACK latrd, larft.
namespace tessera::detail::kernels {

/// A batch. Matrix number k begins at a + k stride_a (column-major), and so on.
template <class T>
struct EigenBatch {
  Index n = 0, count = 0;
  Uplo uplo = Uplo::lower;  ///< the triangle of A that is read
  const T* a = nullptr;     ///< (R)
  Index lda = 0, stride_a = 0;
  RealOf<T>* w = nullptr;  ///< (W) n eigenvalues each, ascending; NaN of a matrix that has failed
  Index stride_w = 0;
  T* z =
      nullptr;  ///< (W) n x n orthonormal eigenvectors each; null: values alone. May be a, with its ld and stride
  Index ldz = 0, stride_z = 0;
  /// (W) one each: 0; -j: NaN or infinity in column j (from 1) of the triangle; i > 0: eigenvalue i did not converge.
  /// The vectors of a matrix that has failed mean nothing.
  int* info = nullptr;
};

/// Bytes of work space on a GPU for `count` matrices.
template <class T>
std::size_t eigen_batch_bytes(Index n, Index count, bool vectors) noexcept;

/// Enqueues on the stream, to which the handle is bound. All pointers are device memory; work:
/// eigen_batch_bytes, aligned to 256 bytes.
template <class T>
void launch_eigen_batch(CUstream_st* stream, cublasContext* cublas, const EigenBatch<T>& batch,
                        void* work) noexcept;

/// Bytes of work space on a CPU, whatever the count.
template <class T>
std::size_t eigen_batch_host_bytes(Index n, bool vectors) noexcept;

/// The same on a CPU, one after the other: LAPACK's heevd of each matrix scaled by a power of two.
/// work: eigen_batch_host_bytes, aligned to 64 bytes.
template <class T>
void eigen_batch_on_host(const EigenBatch<T>& batch, void* work) noexcept;

}  // namespace tessera::detail::kernels
