// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/column_slabs.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/tiled_matrix.hpp>

/// Codelet lapack_eigensolve: A x = lambda x by heevd, or A x = lambda B x by hegvd, as one task on rank 0.
///
/// Buffers: values (write, n reals), scratch for the whole problem, lower tiles of A and of B if there is one
/// (read), slabs (write) of the eigenvectors [lo, lo + cols of the slabs). BLAS runs with `threads` threads
/// while the task lasts, and with one again afterwards. Flops: 4/3 n^3, with vectors 9 n^3 (complex: x 4), as
/// LAPACK's own counts. Footprint: buffer sizes, n, with or without vectors and B. Errors:
/// not_positive_definite (index: leading minor of B), no_convergence (index: LAPACK's info). Source: LAPACK
/// heevd, hegvd.
///
/// On a GPU, and where there are GPUs on nothing else (not with RuntimeOptions::hybrid either, for the order
/// may be one that LAPACK cannot take): cuSOLVER's Xsyevd, Xsyevdx where only a part of the vectors is wanted
/// (then only the values number [lo, hi) are written, the others become NaN), and sygvd. cuSOLVER waits for
/// its stream inside, so the worker feeds no other task meanwhile, and its work space on the host is
/// kept for the next call. no_convergence: cuSOLVER's info, or n + 1 if it refuses the call. sygvd counts its
/// work space in 32 bits, the others do not.
namespace tessera {

template <class T>
void insert_lapack_eigensolve(Sequence& sequence, int priority, const TiledMatrix<T>& a,
                              const TiledMatrix<T>* b, Index lo, int threads, const Data& values,
                              const ColumnSlabs<T>* z, const Data& workspace);
/// Bytes of the scratch, enough for every worker that may run the task. [lo, hi): the vectors.
template <class T>
std::size_t lapack_eigensolve_workspace_bytes(const Runtime& runtime, Index n, bool generalized, bool vectors,
                                              Index lo, Index hi);

}  // namespace tessera
