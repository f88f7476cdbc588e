// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/runtime/sequence.hpp>

/// Codelet sum_vectors: sums of segments of blocks of row-major vectors,
///   y := y + z_1 + z_2 + ... + z_k, from left to right; without y where it is overwritten.
///
/// Arguments: columns that are summed; overwrite: y is not read, and its other columns become zero.
/// Buffers:   y (read-write or write; width x rows), z_1, ..., z_k (read; at least `columns` x rows each). A
///            task takes at most sum_vectors_inputs of them; insert_sum_vectors makes several where there are
///            more.
/// Flops:     one an element (of rows x columns) and input.
/// Cost:      that of its bytes.
namespace tessera {

inline constexpr int sum_vectors_inputs = 7;

namespace kernels {

template <class T>
void sum_vectors(std::int64_t rows, int columns, int width, bool overwrite, int inputs, const T* const* z,
                 const std::int64_t* ldz, T* y, std::int64_t ldy) noexcept;

}  // namespace kernels

/// `rows`: of y and the inputs. k = 0 with `overwrite`: y := 0. `gpu`: see TaskOptions.
template <class T>
void insert_sum_vectors(Sequence& sequence, int priority, Index rows, int columns, bool overwrite,
                        std::span<const Data* const> inputs, const Data& y, int gpu = -1);

}  // namespace tessera
