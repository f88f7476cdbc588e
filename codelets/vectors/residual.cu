// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/kernels/row_kernels.cuh>
#include <tessera/codelets/vectors/residual.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

template <class R>
struct ResidualProblem {
  MatrixView<const R> ax, bx, x;
  MatrixView<R> r;
  int columns, first, lanes;  ///< real columns
  double theta[max_block_columns];
  double* parts;
};

/// A part of norms for each thread block; every row is read once.
template <class R, int reals>
__global__ void __launch_bounds__(column_threads)
    residual_kernel(const __grid_constant__ ResidualProblem<R> p) {
  __shared__ double shared[column_threads];
  const ColumnPlace place(p.lanes);
  const int j = place.column, kept = p.columns - p.first;
  const bool counts = j < p.columns;
  const double theta = counts ? p.theta[j / reals] : 0;
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
      if (j >= p.first) p.r.data[i * p.r.ld + j - p.first] = R(rest);
    }
    for (int k = kept + j; k < p.r.rows; k += place.lanes) p.r.data[i * p.r.ld + k] = R(0);
  }
  double* const part = p.parts + std::int64_t(blockIdx.x) * residual_norms;
  if (threadIdx.x < residual_norms) part[threadIdx.x] = 0;
  for (int k = 0; k < 4; ++k) {
    double sum = column_sum(sums[k], place, shared);  // begins with a barrier
    // shared[j] has the sum of each real column j.
    if (reals == 2) sum += shared[j ^ 1];
    if (place.group == 0 && counts && j % reals == 0) part[k * max_block_columns + j / reals] = sum;
  }
}

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const Residual<T>& task) {
  using namespace device;
  using R = RealOf<T>;
  constexpr int reals = reals_of<T>;
  const auto ax = real_view(*task.ax), x = real_view(*task.x), bx = task.bx ? real_view(*task.bx) : x;
  const int columns = reals * task.columns, lanes = threads_of_row(columns), groups = column_threads / lanes;
  const auto blocks =
      static_cast<int>(std::clamp<Index>((ax.cols + 4 * groups - 1) / (4 * groups), 1, residual_parts));
  ResidualProblem<R> problem{
      ax, bx, x, real_view(*task.r), columns, reals * task.first, lanes, {}, task.work.view().data()};
  std::copy(task.theta.begin(), task.theta.end(), problem.theta);
  residual_kernel<R, reals><<<static_cast<unsigned>(blocks), column_threads, 0, on.stream>>>(problem);
  add_parts(on.stream, blocks, static_cast<int>(residual_norms), problem.parts, task.norms.view().data());
}

#define TESSERA_DEFINE(T)            \
  TESSERA_DEFINE_ON_GPU(Residual<T>) \
  template void run<T>(const DeviceContext&, const Residual<T>&);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
