// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/sparse/multiply_csb.hpp>

namespace tessera {

/// What a piece of a half-stored symmetric matrix adds to the sums of magnitudes of the rows:
///   s_I += |A_IJ| 1,  s_J += |A_IJ|^T 1    (I = J: entries off the diagonal count for both, those on it
///   once),
/// or only one of these (CsbSides).                                                        [2 an entry]
/// | operand | mode         | shape                  | what                                                |
/// |---------|--------------|------------------------|-----------------------------------------------------|
/// | piece   | read         | bytes: csb_layout.hpp  | A_IJ                                                |
/// | rows    | write or add | 1 x rows of doubles    | s_I; absent if the shape adds to s_J alone          |
/// | columns | write or add | 1 x columns of doubles | s_J; absent if I = J or the shape adds to s_I alone |
/// Predicted by the bytes; CPUs only, once for a matrix.
template <class V>
struct CsbMagnitudes {
  static constexpr const char* name = "csb_magnitudes";
  Read<Array<char>> piece;
  WriteOrAdd<Matrix<double>> rows{}, columns{};
  CsbPieceShape shape;

  double flops() const noexcept { return 2.0 * static_cast<double>(shape.entry_count); }
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

namespace kernels {

/// Null: sums that are not asked for. On the diagonal both are the same.
template <class V>
void add_csb_magnitudes(const CsbPieceView<V>& piece, double* rows, double* columns) noexcept;

}  // namespace kernels
}  // namespace tessera
