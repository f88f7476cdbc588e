// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/task.hpp>
#include <tessera/types.hpp>

/// The steps of a Lanczos iteration beside its products, for vectors that lie one beside the other.
namespace tessera::detail {

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
