// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/cublas.hpp>
#include <tessera/codelets/dense/blas3_arguments.hpp>
#include <tessera/codelets/dense/blas3_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace blas3_codelets;

template <class T>
void herk_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  launch_herk_subtract<T>(context.cublas, buffers.matrix<const T>(0), buffers.matrix<T>(1));
}

template <class T>
void her2k_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  launch_her2k_subtract<T>(context.cublas, buffers.matrix<const T>(0), buffers.matrix<const T>(1),
                           buffers.matrix<T>(2));
}

template <class T>
void gemm_pair_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  const auto c = buffers.matrix<T>(4);
  for (int pair = 0; pair < 2; ++pair) {
    const auto a = buffers.matrix<const T>(2 * pair), b = buffers.matrix<const T>(2 * pair + 1);
    cublas::gemm<T>(context.cublas, Op::none, Op::adjoint, c.rows, c.cols, a.cols, T(-1), a.data, a.ld,
                    b.data, b.ld, T(1), c.data, c.ld);
  }
}

template <class T>
void hemm_right_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                     const HemmArguments<T>& arguments) {
  const auto a = buffers.matrix<const T>(0), b = buffers.matrix<const T>(1);
  const auto c = buffers.matrix<T>(2);
  cublas::hemm<T>(context.cublas, Side::right, Uplo::lower, c.rows, c.cols, arguments.alpha, a.data, a.ld,
                  b.data, b.ld, T(1), c.data, c.ld);
}

template <class T>
void trsm_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
               const TrsmArguments& arguments) {
  const auto l = buffers.matrix<const T>(0);
  const auto b = buffers.matrix<T>(1);
  cublas::trsm<T>(context.cublas, arguments.side, Uplo::lower, arguments.op, Diag::non_unit, b.rows, b.cols,
                  T(1), l.data, l.ld, b.data, b.ld);
}

template <class T>
void potrf_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                const PotrfArguments& arguments) {
  DeviceFailure failure(task, StatusCode::not_positive_definite);
  const auto work = buffers.array<char>(1);
  if (!launch_potrf<T>(context.cusolver, context.stream, buffers.matrix<T>(0), work.data(), work.size(),
                       failure.index()))
    task.fail(StatusCode::no_convergence, arguments.first_row + 1);
  failure.report(arguments.first_row);
}

template <class T>
void hegst_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  launch_hegst<T>(context.cublas, buffers.matrix<T>(0), buffers.matrix<const T>(1));
}

#define TESSERA_REGISTER(T)                                                              \
  register_cuda<NoArguments, herk_cuda<T>>("herk", type_letter<T>),                      \
      register_cuda<NoArguments, her2k_cuda<T>>("her2k", type_letter<T>),                \
      register_cuda<NoArguments, gemm_pair_cuda<T>>("gemm_pair", type_letter<T>),        \
      register_cuda<HemmArguments<T>, hemm_right_cuda<T>>("hemm_right", type_letter<T>), \
      register_cuda<TrsmArguments, trsm_cuda<T>>("trsm", type_letter<T>),                \
      register_cuda<PotrfArguments, potrf_cuda<T>>("potrf", type_letter<T>),             \
      register_cuda<NoArguments, hegst_cuda<T>>("hegst", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
