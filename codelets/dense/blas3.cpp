// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/blas3.inl>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/runtime.hpp>

namespace tessera::detail {

// On a GPU the updates of large triangles are general products, and potrf and hegst work differently
// (blas3.cu).

template <class T>
void run(const HostContext& on, const HerkSubtract<T>& task) {
  la::herk(on, Uplo::lower, Op::none, -1, *task.a, 1, *task.c);
}

template <class T>
void run(const HostContext& on, const Her2kSubtract<T>& task) {
  la::her2k(on, Uplo::lower, Op::none, -1, *task.a, *task.b, 1, *task.c);
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
  TESSERA_DEFINE_TASK(Gemm<T>)             \
  TESSERA_DEFINE_TASK(HerkSubtract<T>)     \
  TESSERA_DEFINE_TASK(Her2kSubtract<T>)    \
  TESSERA_DEFINE_TASK(GemmPairSubtract<T>) \
  TESSERA_DEFINE_TASK(HemmRight<T>)        \
  TESSERA_DEFINE_TASK(Trsm<T>)             \
  TESSERA_DEFINE_TASK(Potrf<T>)            \
  TESSERA_DEFINE_TASK(Hegst<T>)            \
  template Data potrf_work<T>(Runtime&, Index);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
