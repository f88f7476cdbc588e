// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/kernels/row_kernels.cuh>
#include <tessera/codelets/vectors/residual.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

template <class T>
struct ResidualProblem {
  MatrixView<const T> ax, bx, x;
  MatrixView<T> r;
  int columns, first, lanes;
  double theta[max_block_columns];
  double* parts;
};

/// A part of norms for each thread block; every row is read once.
template <class T>
__global__ void __launch_bounds__(column_threads)
    residual_kernel(const __grid_constant__ ResidualProblem<T> p) {
  __shared__ double shared[column_threads];
  const ColumnPlace place(p.lanes);
  const int j = place.column, kept = p.columns - p.first;
  const bool counts = j < p.columns;
  const double theta = counts ? p.theta[j] : 0;
  double sums[4] = {};
  const std::int64_t step = std::int64_t(gridDim.x) * place.groups;
#pragma unroll 4
  for (std::int64_t i = std::int64_t(blockIdx.x) * place.groups + place.group; i < p.ax.cols; i += step) {
    if (counts) {
      const double product = __ldg(p.ax.data + i * p.ax.ld + j), mass = __ldg(p.bx.data + i * p.bx.ld + j),
                   element = p.x.data == p.bx.data ? mass : double(__ldg(p.x.data + i * p.x.ld + j));
      const double rest = product - theta * mass;
      sums[0] += rest * rest;
      sums[1] += element * element;
      sums[2] += product * product;
      sums[3] += mass * mass;
      if (j >= p.first) p.r.data[i * p.r.ld + j - p.first] = T(rest);
    }
    for (int k = kept + j; k < p.r.rows; k += place.lanes) p.r.data[i * p.r.ld + k] = T(0);
  }
  double* const part = p.parts + std::int64_t(blockIdx.x) * residual_norms;
  if (threadIdx.x < residual_norms) part[threadIdx.x] = 0;
  for (int k = 0; k < 4; ++k) {
    const double sum = column_sum(sums[k], place, shared);  // begins with a barrier
    if (place.group == 0 && counts) part[k * max_block_columns + j] = sum;
  }
}

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const Residual<T>& task) {
  using namespace device;
  const auto ax = *task.ax, x = *task.x, bx = task.bx ? *task.bx : x;
  const int lanes = threads_of_row(task.columns), groups = column_threads / lanes;
  const auto blocks =
      static_cast<int>(std::clamp<Index>((ax.cols + 4 * groups - 1) / (4 * groups), 1, residual_parts));
  ResidualProblem<T> problem{
      ax, bx, x, *task.r, task.columns, task.first, lanes, {}, task.work.view().data()};
  std::copy(task.theta.begin(), task.theta.end(), problem.theta);
  residual_kernel<T><<<static_cast<unsigned>(blocks), column_threads, 0, on.stream>>>(problem);
  add_parts(on.stream, blocks, static_cast<int>(residual_norms), problem.parts, task.norms.view().data());
}

#define TESSERA_DEFINE(T)            \
  TESSERA_DEFINE_ON_GPU(Residual<T>) \
  template void run<T>(const DeviceContext&, const Residual<T>&);
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera::detail
