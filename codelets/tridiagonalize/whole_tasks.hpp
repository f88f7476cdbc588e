// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/sequence.hpp>

/// Tridiagonalization of a matrix in one piece, A = Q T Q^H, by the library at hand: LAPACK's hetrd and
/// unmtr, or on a GPU cuSOLVER's sytrd/hetrd and ormtr/unmtr. Both count sizes in 32 bits; cuSOLVER accepts
/// orders to 65536, but nothing says that it is right where n^2 is beyond 2^31 (n > 46340). Its reduction
/// does not wait for the stream, but enqueues several kernels a column, so that the worker is busy with it
/// nearly as long as the GPU. Footprint: buffer sizes. On CPUs only where there are no GPUs (not with
/// RuntimeOptions::hybrid either): the reflectors are applied by the library that made them. Source: LAPACK
/// hetrd, unmtr.
namespace tessera {

/// A := reflectors below the first subdiagonal, d := diagonal and e := subdiagonal of T (real). Buffers: A
/// (n x n, lower triangle, read-write), tau (write, max(n - 1, 1) elements), d (write, n reals), e (write,
/// max(n - 1, 1) reals), scratch. Flops: 4/3 n^3 (complex: x 4).
template <class T>
void insert_tridiagonalize_whole(Sequence& sequence, int priority, const Data& a, Index n, const Data& tau,
                                 const Data& d, const Data& e, const Data& workspace);
template <class T>
std::size_t tridiagonalize_whole_workspace_bytes(const Runtime& runtime, Index n);

/// Z := Q Z for a slab of columns. Buffers: A (n x n, read), tau (read), Z (n x columns, read-write),
/// scratch. Flops: 2 n^2 columns (complex: x 4).
template <class T>
void insert_apply_tridiagonalize_whole(Sequence& sequence, int priority, const Data& a, Index n,
                                       const Data& tau, const Data& z, Index columns, const Data& workspace);
template <class T>
std::size_t apply_tridiagonalize_whole_workspace_bytes(const Runtime& runtime, Index n, Index columns);

}  // namespace tessera
