// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/column_slabs.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera {

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
/// On a GPU, and where there are GPUs on nothing else, for the order may be one that LAPACK cannot take:
/// cuSOLVER's Xsyevd, Xsyevdx where only a part of the vectors is wanted (then only the values number
/// [lo, hi) are written, the others become NaN), and sygvd. cuSOLVER waits for its stream inside, so the
/// worker feeds no other task meanwhile, and its work space on the host is kept for the next call.
/// no_convergence: cuSOLVER's info, or n + 1 if it refuses the call. sygvd counts its work space in 32 bits,
/// the others do not.
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

/// Inserts it, on rank 0, for the tiles of A and, unless these are null, of B and the slabs of z.
template <class T>
void insert_lapack_eigensolve(Sequence& sequence, int priority, const TiledMatrix<T>& a,
                              const TiledMatrix<T>* b, Index lo, int threads, const Data& values,
                              const ColumnSlabs<T>* z, const Data& workspace);
/// Bytes of the scratch, enough for every worker that may run the task. [lo, hi): the vectors.
template <class T>
std::size_t lapack_eigensolve_workspace_bytes(const Runtime& runtime, Index n, bool generalized, bool vectors,
                                              Index lo, Index hi);

namespace detail {

/// A part of the work space starts at a multiple of this.
constexpr std::size_t aligned_part(std::size_t bytes) noexcept {
  return (bytes + 255) / 256 * 256;
}

}  // namespace detail
}  // namespace tessera
