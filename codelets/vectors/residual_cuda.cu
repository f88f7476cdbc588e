// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/column_sums.cuh>
#include <tessera/codelets/vectors/partial_sums.cuh>
#include <tessera/codelets/vectors/vectors_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace device {
namespace {

template <class T>
struct ResidualProblem {
  ResidualArguments arguments;
  std::int64_t rows, ldax, ldbx, ldx, ldr;
  const T *ax, *bx, *x;
  T* r;
  int r_width, lanes;
  double* parts;
};

/// A part of norms for each thread block; every row is read once.
template <class T>
__global__ void __launch_bounds__(column_threads)
    residual_kernel(const __grid_constant__ ResidualProblem<T> p) {
  __shared__ double shared[column_threads];
  const ColumnPlace place(p.lanes);
  const ResidualArguments& a = p.arguments;
  const int j = place.column, kept = a.columns - a.first;
  const bool counts = j < a.columns;
  const double theta = counts ? a.theta[j] : 0;
  double sums[4] = {};
  const std::int64_t step = std::int64_t(gridDim.x) * place.groups;
#pragma unroll 4
  for (std::int64_t i = std::int64_t(blockIdx.x) * place.groups + place.group; i < p.rows; i += step) {
    if (counts) {
      const double product = __ldg(p.ax + i * p.ldax + j), mass = __ldg(p.bx + i * p.ldbx + j),
                   element = p.x == p.bx ? mass : double(__ldg(p.x + i * p.ldx + j));
      const double rest = product - theta * mass;
      sums[0] += rest * rest;
      sums[1] += element * element;
      sums[2] += product * product;
      sums[3] += mass * mass;
      if (j >= a.first) p.r[i * p.ldr + j - a.first] = T(rest);
    }
    for (int k = kept + j; k < p.r_width; k += place.lanes) p.r[i * p.ldr + k] = T(0);
  }
  double* const part = p.parts + std::int64_t(blockIdx.x) * residual_norms;
  if (threadIdx.x < residual_norms) part[threadIdx.x] = 0;
  for (int k = 0; k < 4; ++k) {
    const double sum = column_sum(sums[k], place, shared);  // begins with a barrier
    if (place.group == 0 && counts) part[k * most_block_columns + j] = sum;
  }
}

}  // namespace

template <class T>
void launch_residual(cudaStream_t stream, std::int64_t rows, const ResidualArguments& arguments, const T* ax,
                     std::int64_t ldax, const T* bx, std::int64_t ldbx, const T* x, std::int64_t ldx, T* r,
                     std::int64_t ldr, std::int64_t r_width, double* norms, double* parts) {
  const int lanes = threads_of_row(arguments.columns), groups = column_threads / lanes;
  const auto blocks =
      static_cast<int>(std::clamp<std::int64_t>((rows + 4 * groups - 1) / (4 * groups), 1, residual_parts));
  const ResidualProblem<T> problem{
      arguments, rows, ldax, ldbx, ldx, ldr, ax, bx, x, r, static_cast<int>(r_width), lanes, parts};
  residual_kernel<T><<<static_cast<unsigned>(blocks), column_threads, 0, stream>>>(problem);
  add_parts(stream, blocks, static_cast<int>(residual_norms), problem.parts, norms);
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void launch_residual<T>(cudaStream_t, std::int64_t, const ResidualArguments&, const T*,   \
                                   std::int64_t, const T*, std::int64_t, const T*, std::int64_t, T*, \
                                   std::int64_t, std::int64_t, double*, double*);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace device

namespace {

template <class T>
void residual_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                   const ResidualArguments& a) {
  const auto ax = buffers.matrix<const T>(0), bx = buffers.matrix<const T>(1);
  const auto x = a.generalized ? buffers.matrix<const T>(2) : bx;
  const int norms = a.generalized ? 4 : 3;
  const auto r = buffers.matrix<T>(norms - 1);
  device::launch_residual<T>(context.stream, ax.cols, a, ax.data, ax.ld, bx.data, bx.ld, x.data, x.ld, r.data,
                             r.ld, r.rows, buffers.array<double>(norms).data(),
                             buffers.array<double>(norms + 1).data());
}

#define TESSERA_REGISTER(T) \
  register_cuda<ResidualArguments, residual_cuda<T>>("residual", type_letter<T>, {.instead_of_cpu = true}),
const bool registered[] = {TESSERA_FOR_REALS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
