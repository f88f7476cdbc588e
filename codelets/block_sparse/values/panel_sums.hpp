// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/task.hpp>

/// The task that sums over the blocks of many panels: traces, squares, scalar products of matrices. Like the
/// norms it reads patterns as tasks write them, so that none of it needs the host.
namespace tessera::detail {

/// What is summed for a panel: sum of |a_ij|^2; sum of a_ii (real and imaginary part); sum of
/// conj(a_ij) b_ij (likewise).
struct SumLayout {
  static constexpr int squares = 0, trace = 1, dot = 3, size = 5;
};

/// The panels that a task of sums takes, and what it sums.
struct SummedPanels {
  static constexpr int most = 32;
  std::int32_t count = 0;
  std::int32_t number[most] = {};
  std::int32_t values[most] = {};  ///< which operand of SumPanels::values has the panel's; -1: none is needed
  std::int32_t others[most] = {};  ///< which has the other matrix'; -1: no scalar product
  bool trace = false;
  double eps = 0;  ///< blocks with a norm below it do not count
};

/// Thread blocks on a GPU for each panel; each has a partial result.
inline constexpr int panel_sum_parts = 256;
/// Bytes of SumPanels::work for so many panels.
constexpr std::size_t panel_sum_bytes(std::size_t panels) noexcept {
  return sizeof(double) * SumLayout::size * panel_sum_parts * panels;
}

/// Sums over the blocks of panels, block by block in their order, in double. With a symmetry the mirror images
/// of the blocks off the diagonal count, too (in scalar products if both matrices have one). On GPUs blocks
/// are added in another order, the same for the same panel. Norms are those of BlockNorms, bit by bit.
/// | operand       | mode    | shape                               | what                                     |
/// |---------------|---------|-------------------------------------|------------------------------------------|
/// | pattern       | read    | packed pattern                      | the matrix'                              |
/// | other_pattern | read    | packed pattern                      | of the other matrix; for scalar products |
/// | norms         | write or add | array of double, for each block | squares of the panels' blocks' norms; for squares and eps |
/// | values        | read    | arrays                              | panels of both matrices                  |
/// | sums          | write   | SumLayout::size doubles a panel     | the sums                                 |
/// | work          | scratch | array of double, of panel_sum_bytes | partial results, on GPUs                 |
template <class T>
struct SumPanels {
  static constexpr const char* name = "sum_panels";
  Read<Array<std::int32_t>> pattern, other_pattern{};
  WriteOrAdd<Array<double>> norms{};
  ReadAll<Array<T>> values;
  Write<Array<double>> sums;
  GpuScratch<Array<double>> work{};
  SummedPanels panels;
  Symmetry symmetry, other_symmetry = Symmetry::none;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::detail
