// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/sparse/csb_layout.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/types.hpp>

namespace tessera::detail {

/// One piece A_IJ of a half-stored symmetric or Hermitian matrix times blocks of row-major vectors, both it and its
/// adjoint in one pass over its entries:
///   Y_I += A_IJ X_J,  Y_J += A_IJ^H X_I    (I = J: entries off the diagonal count for both, those on it
///   once),
/// or, on GPUs, only one of these (CsbSides).       [4 m an entry of the piece, or of the index where it has
/// more (2 m on the diagonal; counted as 4); 2 m of one side; m = columns]
/// | operand   | mode         | shape                    | what                                        |
/// |-----------|--------------|--------------------------|---------------------------------------------|
/// | piece     | read         | bytes: csb_layout.hpp    | A_IJ; absent where every rank has GPUs      |
/// | index     | read         | bytes: csb_index.hpp     | the same, where some rank has GPUs          |
/// | x_columns | read         | block, rows: A's columns | X_J; absent if only Y_J is written          |
/// | y_rows    | write or add | block of vectors         | Y_I; absent if only Y_J is written          |
/// | x_rows    | read         | block of vectors         | X_I; absent if I = J or only Y_I is written |
/// | y_columns | write or add | block, rows: A's columns | Y_J; absent with x_rows                     |
/// Columns m, ..., width - 1 become zero in blocks that are written, and stay in blocks that are added to.
/// Cells in the order of the piece, rows ascending: the same bits in every run on the same kind of worker.
/// Predicted by the bytes (4 and a value an entry, and the vectors'). V: the values' type, T: the vectors'
/// (TESSERA_FOR_STORED).
/// Source: Aktulga, Buluc, Williams, Yang, IPDPS 2014; Maris et al. 2022, Algorithm 2.
template <class V, class T>
struct MultiplyCsb {
  static constexpr const char* name = std::is_same_v<V, T> ? "multiply_csb" : "multiply_csb_mixed";
  // A CPU could run the task, too, from the piece, but in another order of sums.
  static constexpr bool gpu_instead_of_cpu = true;
  using Scalar = T;
  Read<Array<char>> piece{}, index{};
  Read<Matrix<T>> x_columns{};
  WriteOrAdd<Matrix<T>> y_rows{};
  Read<Matrix<T>> x_rows{};
  WriteOrAdd<Matrix<T>> y_columns{};
  CsbPieceShape shape;
  int columns = 0;  ///< 1 to 32 that take part

  double flops() const noexcept {
    return (shape.sides == CsbSides::both ? 4.0 : 2.0) * flop_factor<T> * columns *
           static_cast<double>(shape.entry_count + shape.more_entries);
  }
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Inserts a task that has all operands, and an index where GPUs take part. It leaves out the operands that
/// the task does not need: those of a side that the shape leaves out, and the piece where no CPU multiplies.
/// @throws InvalidArgument for a missing index, and where CPUs multiply for a shape with one side or more
/// entries in the index
template <class V, class T>
void insert_multiply_csb(Sequence& sequence, MultiplyCsb<V, T> task, const TaskOptions& options = {});

/// What a piece of a half-stored symmetric or Hermitian matrix adds to the sums of magnitudes of the rows:
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

}  // namespace tessera::detail
