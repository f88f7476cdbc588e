// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/density/lanczos_steps.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

/// Classical Gram-Schmidt, twice: orthogonal to rounding (Giraud, Langou, Rozloznik, van den Eshof, Numer. Math. 101
/// (2005) 87).
template <class T, class Context>
void run(const Context& on, const LanczosSteps<T>& task) {
  const MatrixView<T> basis = *task.basis;
  for (Index k = task.first; k < task.first + task.steps; ++k) {
    const MatrixView<T> v = basis.block(0, 0, task.n, k + 1), next = basis.block(0, k + 1, task.n, 1);
    la::gemm<T>(on, Op::none, Op::none, 1, *task.a, basis.block(0, k, task.n, 1), 0, next);
    T* const passes = task.work.view().data();
    for (int pass = 0; pass < 2; ++pass) orthogonalise<T>(on, v, next, passes + pass * (k + 1));
    end_lanczos_step<T>(on, passes + k, passes + 2 * k + 1, next,
                        task.coefficients.view().data() + 2 * (k - task.first));
  }
}

}  // namespace tessera::detail
