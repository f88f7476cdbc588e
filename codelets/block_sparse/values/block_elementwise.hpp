// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks on the values of one panel that need to know where in the matrix they stand. In all of them but
/// the first `blocks` has the panel's blocks, `values` all their elements. They run at the speed of memory, whose cost
/// predicts their time: no flops are counted. On CPUs and GPUs, with the same bits.
namespace tessera::detail {

/// In the diagonal blocks (equal block numbers; square) the strict upper triangle := the mirror image of the
/// lower one; the diagonal := its real part (hermitian), zero (antisymmetric).
/// | operand | mode       | shape          | what         |
/// |---------|------------|----------------|--------------|
/// | pattern | read       | packed pattern | the matrix'  |
/// | values  | read-write | array          | the panel's  |
template <class T>
struct ImposeSymmetry {
  static constexpr const char* name = "impose_symmetry";
  Read<Array<std::int32_t>> pattern;
  ReadWrite<Array<T>> values;
  std::int32_t row_panel, col_panel;
  Symmetry symmetry;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Elements (i, j) of the matrix with i > j := 0.
/// | operand | mode       | shape               | what        |
/// |---------|------------|---------------------|-------------|
/// | blocks  | read       | array of PanelBlock | the panel's |
/// | values  | read-write | array               | the panel's |
template <class T>
struct CutBelowDiagonal {
  static constexpr const char* name = "cut_below_diagonal";
  Read<Array<PanelBlock>> blocks;
  ReadWrite<Array<T>> values;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Element (i, j) := v_i (left) or v_j (right) times it.
/// | operand | mode       | shape               | what                                 |
/// |---------|------------|---------------------|--------------------------------------|
/// | blocks  | read       | array of PanelBlock | the panel's                          |
/// | v       | read       | array               | of all rows or columns of the matrix |
/// | values  | read-write | array               | the panel's                          |
template <class T>
struct ScaleByVector {
  static constexpr const char* name = "scale_by_vector";
  Read<Array<PanelBlock>> blocks;
  Read<Array<T>> v;
  ReadWrite<Array<T>> values;
  Side side;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Element (i, i) := alpha + it.
/// | operand | mode       | shape               | what        |
/// |---------|------------|---------------------|-------------|
/// | blocks  | read       | array of PanelBlock | the panel's |
/// | values  | read-write | array               | the panel's |
template <class T>
struct AddOnDiagonal {
  static constexpr const char* name = "add_on_diagonal";
  Read<Array<PanelBlock>> blocks;
  ReadWrite<Array<T>> values;
  T alpha;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Element (i, i) := v_i.
/// | operand | mode       | shape               | what                                     |
/// |---------|------------|---------------------|------------------------------------------|
/// | blocks  | read       | array of PanelBlock | the panel's                              |
/// | v       | read       | array               | of all elements on the matrix's diagonal |
/// | values  | read-write | array               | the panel's                              |
template <class T>
struct SetDiagonal {
  static constexpr const char* name = "set_diagonal";
  Read<Array<PanelBlock>> blocks;
  Read<Array<T>> v;
  ReadWrite<Array<T>> values;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// The elements (i, i), in the order of the blocks.
/// | operand  | mode  | shape                           | what         |
/// |----------|-------|---------------------------------|--------------|
/// | blocks   | read  | array of PanelBlock             | the panel's  |
/// | values   | read  | array                           | the panel's  |
/// | diagonal | write | array, as many as the panel has | the elements |
template <class T>
struct GetDiagonal {
  static constexpr const char* name = "get_diagonal";
  Read<Array<PanelBlock>> blocks;
  Read<Array<T>> values;
  Write<Array<T>> diagonal;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Elements [first_row, end_row) x [first_col, end_col) of a matrix.
struct ScaledWindow {
  Index first_row, end_row, first_col, end_col;
};

/// The elements of a panel within a window of the matrix := factor times themselves, or zero, whatever they
/// were, if factor is zero. On CPUs and GPUs, with the same bits. No flops counted; predicted by the bytes.
/// | operand | mode       | shape               | what                           |
/// |---------|------------|---------------------|--------------------------------|
/// | blocks  | read       | array of PanelBlock | the panel's                    |
/// | values  | read-write | array               | the panel's; outside they stay |
template <class T>
struct ScaleWindow {
  static constexpr const char* name = "scale_window";
  Read<Array<PanelBlock>> blocks;
  ReadWrite<Array<T>> values;
  T factor;
  ScaledWindow window;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// The elements (i, i), first <= i < end, of the matrix that a block holds; none if end <= first.
struct DiagonalPart {
  Index first, end;
};
constexpr DiagonalPart diagonal_part(const PanelBlock& block) noexcept {
  return {std::max(block.first_row, block.first_col),
          std::min(block.first_row + block.rows, block.first_col + block.cols)};
}
/// Where element (i, i) of the matrix lies in the panel's data.
constexpr Index diagonal_place(const PanelBlock& block, Index i) noexcept {
  return block.offset + (i - block.first_row) + (i - block.first_col) * block.rows;
}

}  // namespace tessera::detail
