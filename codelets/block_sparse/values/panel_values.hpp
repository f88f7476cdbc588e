// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks on the values of a panel that need not know where in the matrix they stand. Panels of two matrices
/// that a task takes have the same blocks, except for MoveBlocks. All run at the speed of memory, whose cost
/// predicts their time: no flops are counted. They run on CPUs and GPUs (functions of complex elements on
/// CPUs alone) and give the same bits on both, except for functions and for sums.
namespace tessera::detail {

/// values := factor values.
/// | operand | mode       | shape |
/// |---------|------------|-------|
/// | values  | read-write | array |
template <class T>
struct ScalePanel {
  static constexpr const char* name = "scale_panel";
  ReadWrite<Array<T>> values;
  T factor;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// y := alpha x + beta y, with conj(x) if `conjugated`. With beta = 0, y is not read.
/// | operand | mode       | shape |
/// |---------|------------|-------|
/// | x       | read       | array |
/// | y       | read-write | array |
template <class T>
struct AddPanel {
  static constexpr const char* name = "add_panel";
  Read<Array<T>> x;
  ReadWrite<Array<T>> y;
  T alpha, beta;
  bool conjugated = false;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// y_i := x_i y_i.
/// | operand | mode       | shape |
/// |---------|------------|-------|
/// | x       | read       | array |
/// | y       | read-write | array |
template <class T>
struct MultiplyPanel {
  static constexpr const char* name = "multiply_panel";
  Read<Array<T>> x;
  ReadWrite<Array<T>> y;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// values_i := f(first values_i + second). artanh, asin and truncate: real T only.
/// | operand | mode       | shape |
/// |---------|------------|-------|
/// | values  | read-write | array |
template <class T>
struct FunctionOfPanel {
  static constexpr const char* name = "function_of_panel";
  ReadWrite<Array<T>> values;
  ElementFunction f;
  T first, second;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

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

/// A move of a block, or a part of it, from one panel to another; rows and cols as in the destination.
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

/// destination := source, in another precision.
/// | operand     | mode  | shape | what               |
/// |-------------|-------|-------|--------------------|
/// | source      | read  | array | values of a panel  |
/// | destination | write | array | as large as source |
template <class From, class To>
struct ConvertValues {
  static constexpr const char* name = "convert_values";
  Read<Array<From>> source;
  Write<Array<To>> destination;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// The pairs of types between which matrices are converted.
#define TESSERA_FOR_CONVERSIONS(MACRO)             \
  MACRO(double, float)                             \
  MACRO(float, double)                             \
  MACRO(std::complex<double>, std::complex<float>) \
  MACRO(std::complex<float>, std::complex<double>)

/// Block by block, destination := factor source, or destination += factor source, where both panels have the
/// block. The panels have the same rows and columns of blocks.
/// | operand     | mode         | shape           | what                                                  |
/// |-------------|--------------|-----------------|-------------------------------------------------------|
/// | from, to    | read         | packed patterns | the matrices'; may be one                             |
/// | source      | read         | array           | values of a panel                                     |
/// | destination | write or add | array           | values of a panel                                     |
/// What is written first becomes zero where the source has no block.
template <class T>
struct CopyMatching {
  static constexpr const char* name = "copy_matching";
  Read<Array<std::int32_t>> from, to;
  Read<Array<T>> source;
  WriteOrAdd<Array<T>> destination;
  std::int32_t row_panel, col_panel;
  T factor;
  bool conjugated = false;  ///< the elements
  bool add = false;         ///< to blocks that both have; else these are replaced
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// The sum of |x|^2 over some elements, in double.
template <class T>
double sum_of_squares(std::span<const T> values) noexcept {
  double sum = 0;
  for (const T& x : values) {
    const double re = real_part(x), im = imag_part(x);
    sum += re * re + im * im;
  }
  return sum;
}

/// The panels that a task of norms takes.
struct NormedPanels {
  static constexpr int most = 64;
  std::int32_t count = 0;
  std::int32_t number[most] = {};
  std::int32_t before = 0;  ///< blocks of the pattern before the first number in BlockNorms::norms
};

/// Squares of the blocks' Frobenius norms, in double.
/// | operand | mode         | shape           | what                                             |
/// |---------|--------------|-----------------|--------------------------------------------------|
/// | pattern | read         | packed pattern  | the matrix'                                      |
/// | norms   | write or add | array of double | of the blocks in their order; of panels not taken they stay |
/// | values  | read         | arrays          | of the panels in turn                            |
template <class T>
struct BlockNorms {
  static constexpr const char* name = "block_norms";
  Read<Array<std::int32_t>> pattern;
  WriteOrAdd<Array<double>> norms;
  ReadAll<Array<T>> values;
  NormedPanels panels;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::detail
