// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/column_slabs.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

struct CUstream_st;        // cudaStream_t points to it
struct cusolverDnContext;  // cusolverDnHandle_t points to it

namespace tessera::detail {

/// A x = lambda x by heevd, or A x = lambda B x by hegvd, as one task.
///                                  [4/3 n^3 flops, with vectors 9 n^3, complex x 4, as LAPACK's own counts]
/// | operand   | mode    | shape                                    | what                                          |
/// |-----------|---------|------------------------------------------|-----------------------------------------------|
/// | values    | write   | array of reals: n                        | the eigenvalues                               |
/// | workspace | scratch | array: lapack_eigensolve_workspace_bytes | the whole problem                             |
/// | a, b      | read    | tiles                                    | of the lower triangles, by columns; b or none |
/// | z         | write   | slabs of n rows                          | eigenvectors number lo to hi - 1; or none     |
/// BLAS runs with `threads` threads while the task lasts, and with one again afterwards. Errors:
/// not_positive_definite (index: leading minor of B), no_convergence (index: LAPACK's info). Source: LAPACK
/// heevd, hegvd.
///
/// With GPUs the task runs on a GPU only, because LAPACK cannot take every order: cuSOLVER's Xsyevd, Xsyevdx
/// for a part of the vectors (it writes only the values number [lo, hi), and the others become NaN), and
/// sygvd. cuSOLVER waits for its stream inside, so the worker starts no other task meanwhile. Its work space
/// on the host is kept for the next call. no_convergence: cuSOLVER's info, or n + 1 if it refuses the call.
/// sygvd counts its work space in 32 bits, the others do not.
template <class T>
struct LapackEigensolve {
  static constexpr const char* name = "lapack_eigensolve";
  static constexpr bool gpu_instead_of_cpu = true;
  Write<Array<RealOf<T>>> values;
  Scratch<Array<char>> workspace;
  ReadAll<Matrix<T>> a, b{};
  WriteAll<Matrix<T>> z{};
  Index n = 0, tile_a = 1, tile_b = 1, lo = 0, hi = 0;
  int threads = 1;

  bool generalized() const noexcept { return b.size() > 0; }
  bool vectors() const noexcept { return z.size() > 0; }
  double flops() const noexcept {
    return (vectors() ? 9.0 : 4.0 / 3.0) * double(n) * double(n) * double(n) * flop_factor<T>;
  }
  std::uint32_t footprint() const noexcept { return footprint_of(n, vectors(), generalized()); }
};

/// Inserts LapackEigensolve on rank 0 for the tiles of A and, unless they are null, the tiles of B and the
/// slabs of z.
template <class T>
void insert_lapack_eigensolve(Sequence& sequence, int priority, const TiledMatrix<T>& a,
                              const TiledMatrix<T>* b, Index lo, int threads, const Data& values,
                              const ColumnSlabs<T>* z, const Data& workspace);
/// Bytes of the work space, enough for every worker that may run the task. [lo, hi): the vectors.
template <class T>
std::size_t lapack_eigensolve_workspace_bytes(const Runtime& runtime, Index n, bool generalized, bool vectors,
                                              Index lo, Index hi);

/// A part of the work space starts at a multiple of this.
constexpr std::size_t aligned_part(std::size_t bytes) noexcept {
  return (bytes + 255) / 256 * 256;
}

}  // namespace tessera::detail

/// LapackEigensolve on a GPU: cuSOLVER's drivers on the whole matrix.
namespace tessera::detail::device {

/// One problem for a driver, with the vectors number [lo, hi) from 0 of n or without vectors.
struct EigenDriver {
  Index n;
  bool generalized, vectors;
  Index lo, hi;
  /// Only Xsyevdx computes a part of the vectors.
  bool partial() const noexcept { return vectors && !generalized && hi - lo < n; }
};

/// The layout of a work space that begins at `memory`.
template <class T>
struct EigenDriverSpace {
  T *a, *b;           ///< n x n each, leading dimension n; b only if generalized
  RealOf<T>* values;  ///< n
  char* work;         ///< cuSOLVER's own
  std::size_t work_bytes, host_bytes;
  int* info;
  std::size_t bytes;  ///< of the whole
  EigenDriverSpace(cusolverDnContext* handle, const EigenDriver& driver, char* memory);
};

/// Size of the work space.
template <class T>
std::size_t eigen_driver_bytes(const EigenDriver& driver);

/// Solves the problem with the lower triangles in space.a (and space.b), which it destroys. `values`: all n
/// eigenvalues; for a partial problem those number [lo, hi), the others become NaN. The vectors number lo to
/// hi - 1 are in space.a from column 0 on if partial, else from column lo on.
///
/// *no_convergence and *not_positive_definite (device or host memory) receive cuSOLVER's info and the order
/// of the leading minor of B, if they are not zero. A call that cuSOLVER refuses sets no_convergence to n +
/// 1.
template <class T>
void launch_eigen_driver(cusolverDnContext* handle, CUstream_st* stream, const EigenDriver& driver,
                         const EigenDriverSpace<T>& space, RealOf<T>* values, long long* no_convergence,
                         long long* not_positive_definite);

}  // namespace tessera::detail::device
