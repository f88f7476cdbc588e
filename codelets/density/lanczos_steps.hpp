// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/linalg/krylov_basis.hpp>
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

}  // namespace tessera::detail
