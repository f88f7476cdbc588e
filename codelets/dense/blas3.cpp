// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/kernels/blas3_cuda.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/runtime.hpp>

namespace tessera {

template <class T>
void run(const HostContext&, const HerkSubtract<T>& task) {
  const auto a = *task.a;
  const auto c = *task.c;
  blas::herk<T>(Uplo::lower, Op::none, c.rows, a.cols, -1, a.data, a.ld, 1, c.data, c.ld);
}

template <class T>
void run(const HostContext&, const Her2kSubtract<T>& task) {
  const auto a = *task.a, b = *task.b;
  const auto c = *task.c;
  blas::her2k<T>(Uplo::lower, Op::none, c.rows, a.cols, T(-1), a.data, a.ld, b.data, b.ld, 1, c.data, c.ld);
}

template <class T>
void run(const HostContext&, const GemmPairSubtract<T>& task) {
  const auto c = *task.c;
  const auto subtract = [&](MatrixView<const T> a, MatrixView<const T> b) {
    blas::gemm<T>(Op::none, Op::adjoint, c.rows, c.cols, a.cols, T(-1), a.data, a.ld, b.data, b.ld, T(1),
                  c.data, c.ld);
  };
  subtract(*task.a1, *task.b1);
  subtract(*task.a2, *task.b2);
}

template <class T>
void run(const HostContext&, const HemmRight<T>& task) {
  const auto a = *task.a, b = *task.b;
  const auto c = *task.c;
  blas::hemm<T>(Side::right, Uplo::lower, c.rows, c.cols, task.alpha, a.data, a.ld, b.data, b.ld, T(1),
                c.data, c.ld);
}

template <class T>
void run(const HostContext&, const Trsm<T>& task) {
  const auto l = *task.l;
  const auto b = *task.b;
  blas::trsm<T>(task.side, Uplo::lower, task.op, Diag::non_unit, b.rows, b.cols, T(1), l.data, l.ld, b.data,
                b.ld);
}

template <class T>
void run(const HostContext& on, const Potrf<T>& task) {
  const auto a = *task.a;
  const int info = blas::potrf<T>(Uplo::lower, a.rows, a.data, a.ld);
  if (info != 0) on.fail(StatusCode::not_positive_definite, task.first_row + info);
}

template <class T>
Data potrf_work([[maybe_unused]] Runtime& runtime, [[maybe_unused]] Index n) {
#if TESSERA_WITH_CUDA
  if (runtime.any_gpus()) return Data::scratch(runtime, potrf_bytes<T>(n));
#endif
  return {};
}

template <class T>
void run(const HostContext&, const Hegst<T>& task) {
  const auto a = *task.a;
  const auto l = *task.l;
  blas::hegst<T>(1, Uplo::lower, a.rows, a.data, a.ld, l.data, l.ld);
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_TASK(HerkSubtract<T>)     \
  TESSERA_DEFINE_TASK(Her2kSubtract<T>)    \
  TESSERA_DEFINE_TASK(GemmPairSubtract<T>) \
  TESSERA_DEFINE_TASK(HemmRight<T>)        \
  TESSERA_DEFINE_TASK(Trsm<T>)             \
  TESSERA_DEFINE_TASK(Potrf<T>)            \
  TESSERA_DEFINE_TASK(Hegst<T>)            \
  template Data potrf_work<T>(Runtime&, Index);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
