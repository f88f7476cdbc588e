// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail::kernels {

template <class T>
bool gram_cholesky(MatrixView<const T> g, MatrixView<T> r) noexcept {
  blas::laset(Uplo::lower, r.rows, r.cols, T(0), T(0), r.data, r.ld);
  blas::lacpy(Uplo::upper, g.rows, g.cols, g.data, g.ld, r.data, r.ld);
  for (Index j = 0; j < r.cols; ++j)
    if (!std::isfinite(real_part(r(j, j)))) return false;
  if (blas::potrf(Uplo::upper, r.rows, r.data, r.ld) != 0) return false;
  // Not every potrf notices a NaN beside the diagonal; the NaN ends up in a pivot.
  for (Index j = 0; j < r.cols; ++j)
    if (!std::isfinite(real_part(r(j, j)))) return false;
  return true;
}

template <class T>
RealOf<T> distance_from_identity(MatrixView<const T> g) noexcept {
  RealOf<T> sum = 0;
  for (Index j = 0; j < g.cols; ++j) {
    for (Index i = 0; i < j; ++i) sum += 2 * std::norm(g(i, j));
    sum += std::norm(g(j, j) - T(1));
  }
  return std::sqrt(sum);
}

template <class T>
void reconstruct_householder(MatrixView<T> q1, MatrixView<const T> r, MatrixView<T> v1, MatrixView<T> x,
                             MatrixView<T> t, MatrixView<T> band) noexcept {
  using R = RealOf<T>;
  const Index b = q1.cols;
  blas::laset(Uplo::general, b, b, T(0), T(1), v1.data, v1.ld);
  for (const auto& part : {x, t, band}) blas::set_zero(part);
  // LU by columns (left-looking in the rows above, so that every pivot is final when its sign is chosen).
  for (Index j = 0; j < b; ++j) {
    for (Index k = 0; k < j; ++k) {
      const T u = q1(k, j);
      for (Index i = k + 1; i < b; ++i) q1(i, j) -= v1(i, k) * u;
    }
    const R sign = real_part(q1(j, j)) >= 0 ? R(-1) : R(1);
    q1(j, j) -= sign;
    const T inverse = T(1) / q1(j, j);
    for (Index i = j + 1; i < b; ++i) v1(i, j) = q1(i, j) * inverse;
    for (Index i = 0; i <= j; ++i) {
      x(i, j) = q1(i, j);
      t(i, j) = -q1(i, j) * sign;
    }
    for (Index k = j; k < b; ++k) band(j, k) = sign * r(j, k);
  }
  blas::trsm(Side::right, Uplo::lower, Op::adjoint, Diag::unit, b, b, T(1), v1.data, v1.ld, t.data, t.ld);
  // The product is upper triangular; the solve leaves rounding errors below the diagonal.
  blas::zero_below_diagonal(t);
  blas::trtri(Uplo::upper, Diag::non_unit, b, x.data, x.ld);
}

template <class T>
void householder_panel(MatrixView<T> v, MatrixView<T> t, MatrixView<T> r, T* tau, T* work) noexcept {
  const Index m = v.rows, n = v.cols, k = std::min(m, n);
  blas::geqrf(m, n, v.data, v.ld, tau, work, 64 * n);
  blas::set_zero(r);
  blas::lacpy(Uplo::upper, k, n, v.data, v.ld, r.data, r.ld);
  blas::set_zero(t);
  blas::laset(Uplo::upper, m, n, T(0), T(1), v.data, v.ld);
  blas::set_zero(v.block(0, k, m, n - k));
  blas::larft(m, k, v.data, v.ld, tau, t.data, t.ld);
  blas::zero_below_diagonal(t.block(0, 0, k, k));
}

template <class T>
void thin_qr(MatrixView<T> a, MatrixView<T> r, T* tau, T* work) noexcept {
  const Index k = std::min(a.rows, a.cols);
  blas::geqrf(a.rows, a.cols, a.data, a.ld, tau, work, 64 * a.cols);
  blas::set_zero(r);
  blas::lacpy(Uplo::upper, k, a.cols, a.data, a.ld, r.data, r.ld);
  blas::ungqr(a.rows, k, k, a.data, a.ld, tau, work, 64 * a.cols);
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template bool gram_cholesky<T>(MatrixView<const T>, MatrixView<T>) noexcept;                               \
  template RealOf<T> distance_from_identity<T>(MatrixView<const T>) noexcept;                                \
  template void reconstruct_householder<T>(MatrixView<T>, MatrixView<const T>, MatrixView<T>, MatrixView<T>, \
                                           MatrixView<T>, MatrixView<T>) noexcept;                           \
  template void householder_panel<T>(MatrixView<T>, MatrixView<T>, MatrixView<T>, T*, T*) noexcept;          \
  template void thin_qr<T>(MatrixView<T>, MatrixView<T>, T*, T*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
