// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/linalg/krylov_basis.hpp>

namespace tessera::detail {

template <class T>
void orthogonalise(const HostContext& on, MatrixView<const T> v, MatrixView<T> w, T* h) {
  const MatrixView<T> along{h, v.cols, 1, v.cols};
  la::gemm<T>(on, Op::adjoint, Op::none, 1, v, w, 0, along);
  la::gemm<T>(on, Op::none, Op::none, -1, v, along, 1, w);
}

template <class T>
void end_lanczos_step(const HostContext&, const T* first_pass, const T* second_pass, MatrixView<T> next,
                      double* coefficients) {
  double square = 0;
  for (Index i = 0; i < next.rows; ++i) square += static_cast<double>(std::norm(next(i, 0)));
  const double norm = std::sqrt(square);
  coefficients[0] =
      static_cast<double>(real_part(*first_pass)) + static_cast<double>(real_part(*second_pass));
  coefficients[1] = norm;
  const auto factor = static_cast<RealOf<T>>(norm > 0 ? 1 / norm : 0);
  for (Index i = 0; i < next.rows; ++i) next(i, 0) *= factor;
}

#define TESSERA_INSTANTIATE(T)                                                                \
  template void orthogonalise<T>(const HostContext&, MatrixView<const T>, MatrixView<T>, T*); \
  template void end_lanczos_step<T>(const HostContext&, const T*, const T*, MatrixView<T>, double*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
