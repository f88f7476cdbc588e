// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <type_traits>

#include <tessera/runtime/task.hpp>
#include <tessera/types.hpp>

/// BLAS and LAPACK for the four scalar types, one template for each routine (column-major, leading dimensions
/// as in the reference). The names `her*`, `he*`, `un*` also stand for the real routines (`sy*`, `or*`).
/// Sizes must fit into 32 bits (tiles are small). The functions check no arguments and allocate nothing;
/// LAPACK routines return `info`.
///
/// Tasks use tessera::detail::la below: BLAS as functions of a context and views.
namespace tessera::detail::blas {

template <class T>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb,
          T beta, T* c, Index ldc) noexcept;
/// C := alpha A A^H + beta C (op none) or alpha A^H A + beta C (op adjoint), one triangle.
template <class T>
void herk(Uplo uplo, Op op, Index n, Index k, RealOf<T> alpha, const T* a, Index lda, RealOf<T> beta, T* c,
          Index ldc) noexcept;
/// C := alpha A B^H + conj(alpha) B A^H + beta C (op none), one triangle.
template <class T>
void her2k(Uplo uplo, Op op, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb,
           RealOf<T> beta, T* c, Index ldc) noexcept;
template <class T>
void hemm(Side side, Uplo uplo, Index m, Index n, T alpha, const T* a, Index lda, const T* b, Index ldb,
          T beta, T* c, Index ldc) noexcept;
template <class T>
void trsm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* a, Index lda, T* b,
          Index ldb) noexcept;
template <class T>
void trmm(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* a, Index lda, T* b,
          Index ldb) noexcept;
template <class T>
void axpy(Index n, T alpha, const T* x, Index incx, T* y, Index incy) noexcept;

template <class T>
int potrf(Uplo uplo, Index n, T* a, Index lda) noexcept;
/// itype 1: A := inv(L) A inv(L)^H with the Cholesky factor in B (lower).
template <class T>
int hegst(int itype, Uplo uplo, Index n, T* a, Index lda, const T* b, Index ldb) noexcept;
template <class T>
int trtri(Uplo uplo, Diag diag, Index n, T* a, Index lda) noexcept;
/// A = P L U with partial pivoting, row i with row pivots[i] - 1; info > 0: that pivot is zero.
template <class T>
int getrf(Index m, Index n, T* a, Index lda, int* pivots) noexcept;
/// The inverse from getrf's factors; lwork at least n.
template <class T>
int getri(Index n, T* a, Index lda, const int* pivots, T* work, Index lwork) noexcept;
template <class T>
int geqrf(Index m, Index n, T* a, Index lda, T* tau, T* work, Index lwork) noexcept;
/// Q of the first k reflectors, m x n (orgqr/ungqr).
template <class T>
int ungqr(Index m, Index n, Index k, T* a, Index lda, const T* tau, T* work, Index lwork) noexcept;
/// Forward, columnwise block reflector factor (larft).
template <class T>
void larft(Index n, Index k, const T* v, Index ldv, const T* tau, T* t, Index ldt) noexcept;
/// Householder reflector H^H [alpha; x] = [beta; 0] with real beta; alpha becomes beta, x the tail of v.
template <class T>
void larfg(Index n, T* alpha, T* x, Index incx, T* tau) noexcept;
/// Copies a whole ('A'), lower or upper part.
template <class T>
void lacpy(Uplo uplo, Index m, Index n, const T* a, Index lda, T* b, Index ldb) noexcept;
template <class T>
void laset(Uplo uplo, Index m, Index n, T off_diagonal, T diagonal, T* a, Index lda) noexcept;
/// A := 0.
template <class T>
void set_zero(MatrixView<T> a) noexcept {
  for (Index j = 0; j < a.cols; ++j) std::fill_n(a.data + j * a.ld, a.rows, T(0));
}
/// Makes a square matrix upper triangular.
template <class T>
void zero_below_diagonal(MatrixView<T> a) noexcept {
  if (a.cols > 1) laset(Uplo::lower, a.cols - 1, a.cols - 1, T(0), T(0), &a(1, 0), a.ld);
}

/// Eigenvalues of a real symmetric tridiagonal matrix, ascending, in d (root-free QL); e is destroyed.
template <class R>
int sterf(Index n, R* d, R* e) noexcept;
/// Eigenpairs of a real symmetric tridiagonal matrix by implicit QL/QR; compz 'I' gives the vectors of that
/// matrix.
template <class R>
int steqr(char compz, Index n, R* d, R* e, R* z, Index ldz, R* work) noexcept;
/// Eigenpair number i (from 1) of a real symmetric tridiagonal matrix, by bisection and inverse iteration where n > 1;
/// d and e are destroyed. The value is w[0], of n elements; work: 20 n, iwork: 10 n + 2.
template <class R>
int stevr(Index n, R* d, R* e, Index i, R* w, R* z, R* work, int* iwork) noexcept;
/// Eigenpairs of a real symmetric tridiagonal matrix by divide and conquer (compz 'I').
template <class R>
int stedc(char compz, Index n, R* d, R* e, R* z, Index ldz, R* work, Index lwork, int* iwork,
          Index liwork) noexcept;

/// Dense Hermitian drivers, used as the vendor solver and as the peer. `rwork` is unused for real types.
template <class T>
int heevd(char jobz, Uplo uplo, Index n, T* a, Index lda, RealOf<T>* w, T* work, Index lwork,
          RealOf<T>* rwork, Index lrwork, int* iwork, Index liwork) noexcept;
/// range 'A', 'V' (vl, vu] or 'I' (il..iu from 1); m eigenvalues found.
template <class T>
int heevr(char jobz, char range, Uplo uplo, Index n, T* a, Index lda, RealOf<T> vl, RealOf<T> vu, Index il,
          Index iu, RealOf<T> abstol, Index* m, RealOf<T>* w, T* z, Index ldz, int* isuppz, T* work,
          Index lwork, RealOf<T>* rwork, Index lrwork, int* iwork, Index liwork) noexcept;
template <class T>
int hegvd(int itype, char jobz, Uplo uplo, Index n, T* a, Index lda, T* b, Index ldb, RealOf<T>* w, T* work,
          Index lwork, RealOf<T>* rwork, Index lrwork, int* iwork, Index liwork) noexcept;
/// Hermitian tridiagonal reduction (one stage): A = Q T Q^H.
template <class T>
int hetrd(Uplo uplo, Index n, T* a, Index lda, RealOf<T>* d, RealOf<T>* e, T* tau, T* work,
          Index lwork) noexcept;
/// C := Q C with hetrd's Q, n x n: C has n rows and `columns` columns.
template <class T>
void unmtr(Uplo uplo, Index n, Index columns, const T* a, Index lda, const T* tau, T* c, Index ldc, T* work,
           Index lwork) noexcept;

}  // namespace tessera::detail::blas

namespace tessera::detail {

/// Whether a body for this context runs on a CPU.
template <class Context>
inline constexpr bool on_host = std::is_same_v<Context, HostContext>;

}  // namespace tessera::detail

/// BLAS 3 on views, by the context of a task's body: BLAS on a CPU, cuBLAS on a GPU (defined in cublas.hpp,
/// on device memory, enqueued on the stream). The written view gives the sizes and T; op(A) gives the inner
/// size of a product.
namespace tessera::detail::la {

template <class T>
using Scalar = std::type_identity_t<T>;
template <class T>
using Factor = std::type_identity_t<MatrixView<const T>>;

template <class T>
Index inner_size(Op op, const MatrixView<const T>& a) noexcept {
  return op == Op::none ? a.cols : a.rows;
}

/// C := alpha op(A) op(B) + beta C.
template <class T>
void gemm(const HostContext&, Op op_a, Op op_b, Scalar<T> alpha, Factor<T> a, Factor<T> b, Scalar<T> beta,
          MatrixView<T> c) noexcept {
  blas::gemm<T>(op_a, op_b, c.rows, c.cols, inner_size(op_a, a), alpha, a.data, a.ld, b.data, b.ld, beta,
                c.data, c.ld);
}
template <class T>
void gemm(const CudaContext& on, Op op_a, Op op_b, Scalar<T> alpha, Factor<T> a, Factor<T> b, Scalar<T> beta,
          MatrixView<T> c) noexcept;

/// C := alpha A A^H + beta C (op none) or alpha A^H A + beta C (op adjoint), one triangle.
template <class T>
void herk(const HostContext&, Uplo uplo, Op op, RealOf<T> alpha, Factor<T> a, RealOf<T> beta,
          MatrixView<T> c) noexcept {
  blas::herk<T>(uplo, op, c.rows, inner_size(op, a), alpha, a.data, a.ld, beta, c.data, c.ld);
}
template <class T>
void herk(const CudaContext& on, Uplo uplo, Op op, RealOf<T> alpha, Factor<T> a, RealOf<T> beta,
          MatrixView<T> c) noexcept;

/// C := alpha A B^H + conj(alpha) B A^H + beta C (op none), one triangle.
template <class T>
void her2k(const HostContext&, Uplo uplo, Op op, Scalar<T> alpha, Factor<T> a, Factor<T> b, RealOf<T> beta,
           MatrixView<T> c) noexcept {
  blas::her2k<T>(uplo, op, c.rows, inner_size(op, a), alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
}
template <class T>
void her2k(const CudaContext& on, Uplo uplo, Op op, Scalar<T> alpha, Factor<T> a, Factor<T> b, RealOf<T> beta,
           MatrixView<T> c) noexcept;

/// C := alpha A B + beta C (left) or alpha B A + beta C (right), A Hermitian, one triangle.
template <class T>
void hemm(const HostContext&, Side side, Uplo uplo, Scalar<T> alpha, Factor<T> a, Factor<T> b, Scalar<T> beta,
          MatrixView<T> c) noexcept {
  blas::hemm<T>(side, uplo, c.rows, c.cols, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
}
template <class T>
void hemm(const CudaContext& on, Side side, Uplo uplo, Scalar<T> alpha, Factor<T> a, Factor<T> b,
          Scalar<T> beta, MatrixView<T> c) noexcept;

/// B := alpha op(A)^-1 B (left) or alpha B op(A)^-1 (right), A triangular.
template <class T>
void trsm(const HostContext&, Side side, Uplo uplo, Op op, Diag diag, Scalar<T> alpha, Factor<T> a,
          MatrixView<T> b) noexcept {
  blas::trsm<T>(side, uplo, op, diag, b.rows, b.cols, alpha, a.data, a.ld, b.data, b.ld);
}
template <class T>
void trsm(const CudaContext& on, Side side, Uplo uplo, Op op, Diag diag, Scalar<T> alpha, Factor<T> a,
          MatrixView<T> b) noexcept;

/// B := alpha op(A) B (left) or alpha B op(A) (right), A triangular.
template <class T>
void trmm(const HostContext&, Side side, Uplo uplo, Op op, Diag diag, Scalar<T> alpha, Factor<T> a,
          MatrixView<T> b) noexcept {
  blas::trmm<T>(side, uplo, op, diag, b.rows, b.cols, alpha, a.data, a.ld, b.data, b.ld);
}
template <class T>
void trmm(const CudaContext& on, Side side, Uplo uplo, Op op, Diag diag, Scalar<T> alpha, Factor<T> a,
          MatrixView<T> b) noexcept;

/// B := A, with the sizes of A.
template <class T>
void copy(const HostContext&, Factor<T> a, MatrixView<T> b) noexcept {
  blas::lacpy<T>(Uplo::general, a.rows, a.cols, a.data, a.ld, b.data, b.ld);
}
template <class T>
void copy(const CudaContext& on, Factor<T> a, MatrixView<T> b) noexcept;

/// A := 0.
template <class T>
void set_zero(const HostContext&, MatrixView<T> a) noexcept {
  blas::set_zero(a);
}
template <class T>
void set_zero(const CudaContext& on, MatrixView<T> a) noexcept;

}  // namespace tessera::detail::la
