// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks on the values of one panel of a block-sparse matrix, for CPUs and GPUs: with the same bits on both
/// but for sums. The cost of their bytes predicts their time; no flops are counted.
namespace tessera {

/// Every value := `value`.
/// | operand | mode  | shape |
/// |---------|-------|-------|
/// | values  | write | array |
template <class T>
struct FillValues {
  static constexpr const char* name = "fill_values";
  Write<Array<T>> values;
  T value;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// One block, or a part of it, on its way from one panel to another; rows and cols as in the destination.
struct BlockMove {
  Index source, destination;  ///< elements of the panels' data at which the parts begin
  std::int32_t rows, cols;
  std::int32_t source_ld, destination_ld;
};

/// For each move, destination := factor op(source) (+ destination if `add`).
/// | operand     | mode       | shape              | what                                          |
/// |-------------|------------|--------------------|-----------------------------------------------|
/// | moves       | read       | array of BlockMove | the moves between these two panels            |
/// | source      | read       | array              | values of a panel                             |
/// | destination | read-write | array              | values of a panel; what no move reaches stays |
template <class T>
struct MoveBlocks {
  static constexpr const char* name = "move_blocks";
  Read<Array<BlockMove>> moves;
  Read<Array<T>> source;
  ReadWrite<Array<T>> destination;
  T factor;
  Op op = Op::none;
  bool conjugated = false;  ///< the elements, after op
  bool add = false;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// destination := factor source, or destination := factor source + destination, all of it.
/// | operand     | mode         | shape | what               |
/// |-------------|--------------|-------|--------------------|
/// | source      | read         | array | values of a panel  |
/// | destination | write or add | array | as large as source |
template <class T>
struct CopyValues {
  static constexpr const char* name = "copy_values";
  Read<Array<T>> source;
  WriteOrAdd<Array<T>> destination;
  T factor;
  bool conjugated = false;  ///< the elements
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Squares of the blocks' Frobenius norms, in double.
/// | operand | mode  | shape               | what               |
/// |---------|-------|---------------------|--------------------|
/// | blocks  | read  | array of PanelBlock | the panel's        |
/// | values  | read  | array               | the panel's        |
/// | norms   | write | array of double     | one for each block |
template <class T>
struct BlockNorms {
  static constexpr const char* name = "block_norms";
  Read<Array<PanelBlock>> blocks;
  Read<Array<T>> values;
  Write<Array<double>> norms;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera
