// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks of the simple preconditioners, on one segment of rows of row-major vectors. Of what is written,
/// columns from `columns` on become zero. The bytes predict the time.
namespace tessera::detail {

/// w_i := r_i / g(d_i - shift), where g keeps away from zero: with sign != 0 the operator is
/// definite with that sign, and g(x) = sign max(sign x, least); with sign = 0, |g(x)| = max(|x|, least) > 0.
/// | operand  | mode  | shape            |
/// |----------|-------|------------------|
/// | diagonal | read  | array of double  |
/// | r        | read  | block of vectors |
/// | w        | write | block of vectors |
template <class T>
struct DivideRows {
  static constexpr const char* name = "divide_rows";
  Read<Array<double>> diagonal;
  Read<Matrix<T>> r;
  Write<Matrix<T>> w;
  int columns = 0, sign = 0;
  double shift = 0, least = 0;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Q := R, D := factor R, W := D.
/// | operand | mode  | shape             |
/// |---------|-------|-------------------|
/// | r       | read  | block of vectors  |
/// | q, d, w | write | blocks of vectors |
template <class T>
struct ChebyshevStart {
  static constexpr const char* name = "chebyshev_start";
  Read<Matrix<T>> r;
  Write<Matrix<T>> q, d, w;
  int columns = 0;
  double factor = 0;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// With AD = A D: Q := Q - (AD - shift D), D := old D + residual Q, W := W + D (Saad, Iterative Methods for
/// Sparse Linear Systems, 2nd ed., Algorithm 12.1).
/// | operand | mode       | shape                                       |
/// |---------|------------|---------------------------------------------|
/// | ad      | read       | block of vectors                            |
/// | q, d, w | read-write | blocks of vectors; their other columns stay |
template <class T>
struct ChebyshevStep {
  static constexpr const char* name = "chebyshev_step";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Matrix<T>> ad;
  ReadWrite<Matrix<T>> q, d, w;
  int columns = 0;
  double shift = 0, old = 0, residual = 0;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::detail
