// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/density/triangular_steps.inl>

namespace tessera::detail {

/// LAPACK's; on a GPU the algorithm is another one.
template <class T>
void run(const HostContext&, const InvertTriangle<T>& task) {
  const MatrixView<const T> l = *task.l;
  const MatrixView<T> z = *task.z;
  for (Index j = 0; j < task.n; ++j) {
    std::fill_n(z.data + j * z.ld, j, T(0));
    std::copy_n(l.data + j + j * l.ld, task.n - j, z.data + j + j * z.ld);
  }
  blas::trtri<T>(Uplo::lower, Diag::non_unit, task.n, z.data, z.ld);
}

#define TESSERA_DEFINE(T)                   \
  TESSERA_DEFINE_TASK(InvertTriangle<T>)    \
  TESSERA_DEFINE_TASK(TriangularProduct<T>) \
  TESSERA_DEFINE_TASK(LowerTriangularProduct<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
