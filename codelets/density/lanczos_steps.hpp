// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/task.hpp>
#include <tessera/types.hpp>

namespace tessera::detail {

/// Steps first, ..., first + steps - 1 of the Lanczos iteration with full reorthogonalisation of a Hermitian matrix in one
/// piece; column k of the basis is v_k, the columns up to `first` are there.           [2 n^2 a step and more]
/// | operand      | mode       | shape           | what                                                       |
/// |--------------|------------|-----------------|------------------------------------------------------------|
/// | a            | read       | n x n           | both triangles                                             |
/// | basis        | read-write | matrix, n rows  | first + steps + 1 columns at least; the next ones are made |
/// | coefficients | write      | array of double | of each step v_k^H A v_k, and the norm of what is v_{k+1}  |
/// | work         | scratch    | array           | lanczos_work(first + steps) elements                       |
/// Where that norm is zero, v_{k+1} is zero, too.
template <class T>
struct LanczosSteps {
  static constexpr const char* name = "lanczos_steps";
  Read<Matrix<T>> a;
  ReadWrite<Matrix<T>> basis;
  Write<Array<double>> coefficients;
  Scratch<Array<T>> work;
  Index n = 0, first = 0, steps = 0;
  double flops() const noexcept { return 2.0 * double(n) * double(n) * double(steps) * flop_factor<T>; }
  std::uint32_t footprint() const noexcept { return static_cast<std::uint32_t>(steps); }
};

/// Elements of the work space of steps up to number `end`: the components along the basis, of two passes.
constexpr Index lanczos_work(Index end) noexcept {
  return 2 * end;
}

/// h := V^H w, w := w - V h.
template <class T>
void orthogonalise(const HostContext& on, MatrixView<const T> v, MatrixView<T> w, T* h);
template <class T>
void orthogonalise(const CudaContext& on, MatrixView<const T> v, MatrixView<T> w, T* h);

/// The end of step k: its coefficients from the last components of the two passes, next := next / ||next||.
template <class T>
void end_lanczos_step(const HostContext& on, const T* first_pass, const T* second_pass, MatrixView<T> next,
                      double* coefficients);
template <class T>
void end_lanczos_step(const CudaContext& on, const T* first_pass, const T* second_pass, MatrixView<T> next,
                      double* coefficients);

}  // namespace tessera::detail
