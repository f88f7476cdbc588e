// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

inline constexpr Index residual_norms = 4 * max_block_columns;
/// The most thread blocks of the kernel for GPUs; each leaves its sums, which a second kernel adds up.
inline constexpr Index residual_parts = 4 * 132;

/// Of one segment of rows, in one pass,
///   R(:, 0 : columns - first) := (AX - BX diag(theta))(:, first : columns)
/// and, for all columns 0 <= j < columns, squared norms of this segment's rows of
///   r_j = ax_j - theta_j bx_j,  x_j,  ax_j,  bx_j.                              [10 columns a row]
/// | operand | mode    | shape                      | what                                               |
/// |---------|---------|----------------------------|----------------------------------------------------|
/// | ax      | read    | block of vectors           | A X                                                |
/// | bx      | read    | the same                   | B X; absent: X (B = I)                             |
/// | x       | read    | the same                   | X                                                  |
/// | r       | write   | the same                   | R; its columns from columns - first on become zero |
/// | norms   | write   | array of 128 doubles       | at 32 k + j, k: r, x, ax, bx; 0 for j >= columns   |
/// | work    | scratch | 128 residual_parts doubles | sums of thread blocks                              |
/// Norms in double; r_j is rounded to T after it is computed, and its norm taken, in double. Rows ascend: the
/// same bits in every run on the same kind of worker. Predicted by the bytes.
template <class T>
struct Residual {
  static constexpr const char* name = "residual";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Matrix<T>> ax;
  Read<Matrix<T>> bx{};
  Read<Matrix<T>> x;
  Write<Matrix<T>> r;
  Write<Array<double>> norms;
  GpuScratch<Array<double>> work{};
  std::int32_t columns = 0, first = 0;  ///< 0 <= first <= columns <= 32
  std::array<double, max_block_columns> theta{};
  Index rows = 0;

  double flops() const noexcept { return 10. * reals_of<T> * columns * static_cast<double>(rows); }
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

template <class T>
void run(const HostContext& on, const Residual<T>& task);
template <class T>
void run(const DeviceContext& on, const Residual<T>& task);

}  // namespace tessera::detail
