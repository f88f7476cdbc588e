// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/runtime/matrix/column_groups.hpp>
#include <tessera/runtime/sequence.hpp>

/// Tasks of reduce_to_band for a matrix in column groups, each of which has a GPU. They split the work of
/// panel_step.hpp and of the rank-2k update of two_sided.hpp into steps in which the groups work at the same
/// time. The groups share the columns in blocks of kb in turn, so that one group, the owner, holds an outer
/// block and its panels. Both triangles of the trailing matrix A0 are valid: a group's rows of A0 V are the
/// adjoint of its columns times V, and no partial sums are needed.
///
///   panel of the owner:  V, T, W = V T              GroupPanel
///   every group:         its rows of A0 V           GroupProduct
///   the owner:           Y = (A0 V) T, Z            GroupFormZ
///   after kb columns, every group: A0 - V Z^H - Z V^H in its columns    GroupUpdate
///
/// V and Z of a panel are separate pieces beside the owner's accumulator VZ: V goes to all groups at once,
/// which do not need W, and Z follows while the owner factors the next panel.
///
/// Each task is inserted for the GPU of its group (TaskOptions::gpu). Operands that several tasks have:
/// | operand      | shape                                                                                     |
/// |--------------|-------------------------------------------------------------------------------------------|
/// | group        | n x its columns, of A0                                                                    |
/// | vz, gathered | n x 2 kb, as in two_sided.hpp, one for each group                                         |
/// | v, z         | array of m x b elements (ld = m): the rows of V and Z from panel.row() on                 |
/// | y            | array of at least columns.from(group, panel.row()) x b elements (ld = the rows)           |
/// | workspace    | bytes, panel_step_workspace_bytes                                                         |
/// `columns` describes how the groups share the columns, in blocks of kb. All tasks run on CPUs and GPUs.
/// Flops in brackets (complex: x 4). Sources: those of panel_qr.hpp and two_sided.hpp; ELPA's and MAGMA's
/// distribution of columns over GPUs.
namespace tessera::detail {

/// A kernel gets the pieces of at most this many groups as an argument.
inline constexpr int max_column_groups = 32;

/// The columns of group `number` from column `row` of the matrix on; also the group's rows of A0 V.
struct GroupPart {
  CyclicColumns columns;
  int number = 0;
  Index row = 0;
  Index first() const noexcept { return columns.before(number, row); }  ///< of the group's own columns
  Index count() const noexcept { return columns.from(number, row); }
  Index rows() const noexcept { return columns.n - row; }  ///< from number `row` on
};

/// Updates the panel's columns, copies its diagonal block to the band and factors the rows below: V into VZ,
/// into P's place and into its piece, T, and W = V T.
///                                                      [with m = n - column - b: 4 m done b + 5 m b^2]
/// | operand   | mode         | shape        | what                                                            |
/// |-----------|--------------|--------------|-----------------------------------------------------------------|
/// | group     | read-write   |              | of the owner                                                    |
/// | vz        | write or add |              | of the owner; the outer block's first panel overwrites it       |
/// | segment   | read-write   | ld x columns | band segment with the panel's columns, from first_column on      |
/// | workspace | scratch      |              |                                                                 |
/// | t         | write        | b x b        | T                                                               |
/// | w         | write        | n x b        | W, the rows from panel.row() on                                 |
/// | v         | write        |              | V                                                               |
/// t, w and v are absent if panel.last().
template <class T>
struct GroupPanel {
  static constexpr const char* name = "group_panel";
  ReadWrite<Matrix<T>> group;
  WriteOrAdd<Matrix<T>> vz;
  ReadWrite<Matrix<T>> segment;
  Scratch<Array<char>> workspace;
  Write<Matrix<T>> t{}, w{};
  Write<Array<T>> v{};
  PanelPosition panel;
  Index local_column = 0;  ///< number of the panel's first column in its group
  Index first_column = 0;  ///< of the segment

  double flops() const noexcept {
    const double m = double(panel.rows()), b = double(panel.b);
    return flop_factor<T> * m * b * (4 * double(panel.done) + 5 * b);
  }
  std::uint32_t footprint() const noexcept { return panel.footprint(); }
};

/// Y piece := A0(r:n, the group's columns from r on)^H V, r = panel.row().          [2 m b times the columns]
/// | operand | mode  |
/// |---------|-------|
/// | group   | read  |
/// | v       | read  |
/// | y       | write |
template <class T>
struct GroupProduct {
  static constexpr const char* name = "group_product";
  Read<Matrix<T>> group;
  Read<Array<T>> v;
  Write<Array<T>> y;
  GroupPart part;  ///< from r on
  Index b = 0;

  double flops() const noexcept {
    return flop_factor<T> * 2 * double(part.rows()) * double(b) * double(part.count());
  }
  std::uint32_t footprint() const noexcept { return footprint_of(part.row, part.first()); }
};

/// Z into VZ and into its piece, from W, T and the Y pieces.                        [8 m done b + 6 m b^2]
/// | operand   | mode       | shape | what                                                                     |
/// |-----------|------------|-------|--------------------------------------------------------------------------|
/// | w         | read       | n x b | W                                                                        |
/// | t         | read       | b x b | T                                                                        |
/// | vz        | read-write |       | of the owner                                                             |
/// | z         | write      |       | Z                                                                        |
/// | workspace | scratch    |       |                                                                          |
/// | y         | read       |       | of the groups that have columns from panel.row() on, in their order      |
template <class T>
struct GroupFormZ {
  static constexpr const char* name = "group_form_z";
  Read<Matrix<T>> w, t;
  ReadWrite<Matrix<T>> vz;
  Write<Array<T>> z;
  Scratch<Array<char>> workspace;
  ReadAll<Array<T>> y;
  PanelPosition panel;
  CyclicColumns columns;

  double flops() const noexcept {
    const double m = double(panel.rows()), b = double(panel.b);
    return flop_factor<T> * m * b * (8 * double(panel.done) + 6 * b);
  }
  std::uint32_t footprint() const noexcept { return panel.footprint(); }
};

/// A0 := A0 - V Z^H - Z V^H in the group's columns from part.row on, rows from part.row on, after kb columns of
/// panels, part.row = the last of them + 1.                               [4 kb times rows times columns]
/// | operand   | mode       | shape | what                                                                     |
/// |-----------|------------|-------|--------------------------------------------------------------------------|
/// | group     | read-write |       |                                                                          |
/// | vz        | read       |       | of the owner, which holds all                                            |
/// | gathered  | write      |       | of another group: V and Z are gathered in it                             |
/// | workspace | scratch    | array | update_workspace_bytes(columns of the group, kb)                         |
/// | split     | scratch    | array | GPUs: split_update_bytes(n, columns of the group, kb); absent: plain     |
/// | v, z      | read       |       | V and Z, panel by panel; none for the owner                              |
template <class T>
struct GroupUpdate {
  static constexpr const char* name = "group_update";
  ReadWrite<Matrix<T>> group;
  Read<Matrix<T>> vz{};
  Write<Matrix<T>> gathered{};
  Scratch<Array<T>> workspace;
  GpuScratch<Array<char>> split{};
  ReadAll<Array<T>> v{}, z{};
  GroupPart part;
  Index b = 0;

  double flops() const noexcept {
    return flop_factor<T> * 4 * double(part.columns.block) * double(part.rows()) * double(part.count());
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(part.columns.block, part.row, part.number, v.size());
  }
};

/// The matrix in an array: ld = rows.
template <class T>
MatrixView<T> matrix_in(std::span<T> array, Index rows, Index cols) noexcept {
  return {array.data(), rows, cols, rows};
}

/// The rows of V of panel number p from part.row on, in its piece.
template <class T>
MatrixView<const T> rows_of_panel(const GroupUpdate<T>& task, std::span<const T> piece, int p) noexcept {
  const Index top = task.part.row - task.part.columns.block + (p + 1) * task.b;
  return matrix_in(piece, task.part.columns.n - top, task.b)
      .block(task.part.row - top, 0, task.part.rows(), task.b);
}

}  // namespace tessera::detail
