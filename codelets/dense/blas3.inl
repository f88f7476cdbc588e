// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The bodies of blas3.hpp that CPUs and GPUs share.
#pragma once

#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

template <class T, class Context>
void run(const Context& on, const Gemm<T>& task) {
  la::gemm(on, task.op_a, task.op_b, task.alpha, task.part_a.of(*task.a), task.part_b.of(*task.b),
           task.c.beta(), task.part_c.of(*task.c));
}

template <class T, class Context>
void run(const Context& on, const GemmPairSubtract<T>& task) {
  la::gemm(on, Op::none, Op::adjoint, -1, *task.a1, *task.b1, 1, *task.c);
  la::gemm(on, Op::none, Op::adjoint, -1, *task.a2, *task.b2, 1, *task.c);
}

template <class T, class Context>
void run(const Context& on, const HemmRight<T>& task) {
  la::hemm(on, Side::right, Uplo::lower, task.alpha, *task.a, *task.b, 1, *task.c);
}

template <class T, class Context>
void run(const Context& on, const Trsm<T>& task) {
  la::trsm(on, task.side, Uplo::lower, task.op, Diag::non_unit, 1, *task.l, *task.b);
}

}  // namespace tessera::detail
