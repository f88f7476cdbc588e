// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks on all values of a panel alike, wherever they stand; panels of two matrices have the same blocks.
/// All run at the speed of memory, whose cost predicts their time: no flops are counted. On CPUs and GPUs
/// (but functions of complex elements, on CPUs alone), with the same bits but for functions.
namespace tessera {

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

/// y := alpha x + beta y, with conj(x) if `conjugated`. With beta = 0, y is not looked at.
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

}  // namespace tessera
