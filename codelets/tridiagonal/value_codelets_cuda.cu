// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <tessera/codelets/tridiagonal/leaf_cuda.hpp>
#include <tessera/codelets/tridiagonal/merge_cuda.hpp>
#include <tessera/codelets/tridiagonal/value_arguments.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace value_codelets;
using tridiagonal::MergeBatch;

template <class R>
void scale_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                const RangeArguments& arguments) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 2), arguments.n);
  DeviceFailure failure(task, StatusCode::not_finite);
  kernels::launch_scale_and_cut(context.stream, arguments.n, buffers.array<const R>(0).data(),
                                buffers.array<const R>(1).data(), arguments.m, scaled.d, scaled.e,
                                scaled.exponent, failure.index());
  failure.report();
}

template <class R>
void leaf_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
               const LeafArguments& arguments) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 0), arguments.n);
  std::array<double*, kernels::most_leaves> spectra;
  std::array<R*, kernels::most_leaves> vectors;
  std::array<Index, kernels::most_leaves> ld;
  for (Index tree = 0; tree < arguments.forest.trees(); ++tree) {
    const auto i = static_cast<std::size_t>(tree);
    const auto q = buffers.matrix<R>(static_cast<int>(2 + 2 * tree));
    vectors[i] = q.data;
    ld[i] = q.ld;
    spectra[i] = buffers.array<double>(static_cast<int>(3 + 2 * tree)).data();
  }
  DeviceFailure failure(task, StatusCode::no_convergence);
  kernels::launch_leaf_vectors(context.stream,
                               {arguments.forest, scaled.d + arguments.start, scaled.e + arguments.start,
                                arguments.epsilon, failure.index()},
                               spectra.data(), vectors.data(), ld.data(), bytes_of(buffers, 1));
  failure.report(arguments.start);
}

void subtree_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                  const RangeArguments& arguments) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 0), arguments.n);
  const Index m = arguments.m;
  DeviceFailure failure(task, StatusCode::no_convergence);
  kernels::launch_leaf_values(
      context.stream,
      {{m, m, m}, scaled.d + arguments.start, scaled.e + arguments.start, arguments.epsilon, failure.index()},
      arguments.rows, buffers.array<double>(1).data(), bytes_of(buffers, 2));
  failure.report(arguments.start);
}

void merge_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                const MergeShape& shape) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 0), shape.n);
  const Index m = shape.order();
  DeviceFailure failure(task, StatusCode::no_convergence);
  const MergeBatch batch{.forest = {m, m, m},
                         .cut = shape.left,
                         .e = scaled.e + shape.cut - shape.left,
                         .left = buffers.array<double>(1).data(),
                         .right = buffers.array<double>(2).data() - 3 * shape.left,
                         .merged = buffers.array<double>(4).data(),
                         .records = buffers.array<char>(3).data(),
                         .scratch = buffers.array<double>(5).data(),
                         .epsilon = shape.epsilon,
                         .failure = failure.index()};
  kernels::launch_merge(context.stream, batch, shape.weights, shape.rows);
  failure.report(shape.cut);
}

template <class R>
void unscale_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                  const RangeArguments& arguments) {
  const ScaledTridiagonal scaled(bytes_of(buffers, 0), arguments.n);
  kernels::launch_unscale(context.stream, arguments.n, buffers.array<const double>(1).data(), scaled.exponent,
                          buffers.array<R>(2).data());
}

// The sizes of these tasks are chosen for GPUs: see value_tasks.hpp.
constexpr CudaOptions gpus_only{.instead_of_cpu = true};
#define TESSERA_REGISTER(R)                                                                      \
  register_cuda<RangeArguments, scale_cuda<R>>("tridiagonal_scale", type_letter<R>),             \
      register_cuda<LeafArguments, leaf_cuda<R>>("tridiagonal_leaf", type_letter<R>, gpus_only), \
      register_cuda<RangeArguments, unscale_cuda<R>>("tridiagonal_unscale", type_letter<R>),
const bool registered[] = {register_cuda<RangeArguments, subtree_cuda>("tridiagonal_subtree", 0, gpus_only),
                           register_cuda<MergeShape, merge_cuda>("tridiagonal_merge", 0, gpus_only),
                           TESSERA_FOR_REALS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
