// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The body of dense_panels.hpp that CPUs and GPUs share.
#pragma once

#include <tessera/codelets/block_sparse/product/dense_panels.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

template <class T, class Context>
void run(const Context& on, const MultiplyDense<T>& task) {
  la::gemm(on, Op::none, Op::none, 1, *task.a, *task.b, task.c.beta(), *task.c);
  *task.ran_on = on_host<Context> ? ProductWorker::cpu : ProductWorker::gpu;
}

}  // namespace tessera::detail
