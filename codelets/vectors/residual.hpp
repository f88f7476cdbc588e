// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/vectors/gram.hpp>

/// Codelet residual: of one segment of rows, in one pass,
///   R(:, 0 : columns - first) := AX(:, first : columns) - BX(:, first : columns) diag(theta(first :
///   columns))
/// and, for all columns 0 <= j < columns, squared norms of this segment's rows of
///   r_j = ax_j - theta_j bx_j,  x_j,  ax_j,  bx_j.
///
/// Arguments: columns <= 32, 0 <= first <= columns, theta(0 : columns) in double, generalized (whether X is a
/// buffer of
///            its own; else BX stands for X).
/// Buffers:   AX, BX (read; width x rows elements of T each, column-major for StarPU: row-major vectors with
///            ld = width), [generalized: X (read; the same)], R (write; the same; its columns from columns -
///            first on become zero), norms (write; bytes: an array of 128 doubles: norms[32 k + j] for k = 0:
///            r, 1: x, 2: ax, 3: bx; those of j >= columns are zero), [W (scratch; at least residual_parts
///            128 doubles), where GPUs take part].
/// Flops:     10 columns a row. Norms in double; r_j is rounded to T after it is computed, and its norm
/// taken, in double. Footprint: predicted by the bytes. Order:     rows ascend: the same bits in every run on
/// the same kind of worker.
namespace tessera {

struct ResidualArguments {
  std::int32_t columns = 0, first = 0, generalized = 0;
  double theta[most_block_columns] = {};
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

inline constexpr Index residual_norms = 4 * most_block_columns;
/// The most thread blocks of the kernel for GPUs; each leaves sums of its own, which are added up then.
inline constexpr Index residual_parts = 4 * 132;

namespace kernels {

/// norms: 128 numbers. bx may be x.
template <class T>
void residual(std::int64_t rows, const ResidualArguments& arguments, const T* ax, std::int64_t ldax,
              const T* bx, std::int64_t ldbx, const T* x, std::int64_t ldx, T* r, std::int64_t ldr,
              std::int64_t r_width, double* norms) noexcept;

}  // namespace kernels

/// @param b_x null for a standard problem (B = I)
/// @param work scratch, which only GPUs use
/// @param gpu see TaskOptions
template <class T>
void insert_residual(Sequence& sequence, int priority, const ResidualArguments& arguments, Index rows,
                     const Data& x, const Data& a_x, const Data* b_x, const Data& r, const Data& norms,
                     const Data& work, int gpu = -1);

}  // namespace tessera
