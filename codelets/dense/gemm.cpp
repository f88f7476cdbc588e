// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/gemm.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera {

template <class T>
void run(const HostContext&, const Gemm<T>& task) {
  const auto a = task.part_a.of(*task.a), b = task.part_b.of(*task.b);
  const auto c = task.result();
  blas::gemm(task.op_a, task.op_b, c.rows, c.cols, task.depth(), task.alpha, a.data, a.ld, b.data, b.ld,
             task.factor_of_result(), c.data, c.ld);
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(Gemm<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
