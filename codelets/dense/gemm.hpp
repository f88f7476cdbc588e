// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/tile_part.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelet gemm: C := alpha op(A) op(B) + beta C on parts of three tiles.
///
/// Arguments: op_a, op_b, alpha, beta, the parts of A, B and C (whole tiles by default).
/// Buffers:   A (read), B (read), C (write if beta = 0, then the rest of the tile is lost; else read-write).
/// Flops:     2 m n k (complex: x 4).
/// Footprint: buffer sizes, the operations and the parts' sizes.
/// Source:    BLAS gemm.
/// Runs on:   CPUs and GPUs.
namespace tessera {

template <class T>
void insert_gemm(Sequence& sequence, int priority, Op op_a, Op op_b, T alpha, const Data& a, TilePart part_a,
                 const Data& b, TilePart part_b, T beta, const Data& c, TilePart part_c);

}  // namespace tessera
