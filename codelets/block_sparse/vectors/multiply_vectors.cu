// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/line_kernels.cuh>
#include <tessera/codelets/block_sparse/vectors/multiply_vectors.hpp>
#include <tessera/codelets/block_sparse/vectors/pointer_list.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

/// The product of an element of a block with the element of a vector that it meets, in one direction.
template <class S>
struct BlockTimesVector {
  VectorFactor factor;
  const S* __restrict__ values;
  const S* __restrict__ x;
  Index ldx;
  __device__ bool counts(const PanelBlock& block) const { return factor.takes(block); }
  __device__ S operator()(const PanelBlock& block, Index i, Index j, Index line, Index k) const {
    S element = values[block.offset + i + j * block.rows];
    if (factor.conjugated) element = device::conj(element);
    const S product = element * x[line + k * ldx];
    return factor.negative ? -product : product;
  }
};

/// y := alpha (the parts) + (y or beta y, unless `overwrite`).
template <class S>
__global__ void __launch_bounds__(panel_threads)
    sum_kernel(Pointers<const S> parts, S alpha, S beta, bool overwrite, Index count, S* y) {
  for (Index i = Index(blockIdx.x) * panel_threads + threadIdx.x; i < count;
       i += Index(gridDim.x) * panel_threads) {
    S sum = overwrite ? S(0) : beta * y[i];
    for (int p = 0; p < parts.count; ++p) sum += alpha * parts.pointer[p][i];
    y[i] = sum;
  }
}

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const PanelTimesVectors<T>& task) {
  using namespace device;
  using S = DeviceScalar<T>;
  const LinePanel panel{task.blocks.view().data(), task.lines.view().data(),
                        PanelOrder(task.order.view().data(), task.block_rows, task.block_cols),
                        task.block_rows, task.block_cols};
  const S* const values = device_cast(task.values.view().data());
  if (task.straight.active)
    sum_along_rows(on.stream, panel,
                   BlockTimesVector<S>{task.straight, values, device_cast(task.x.view().data()), task.cols},
                   task.rows, task.width, device_cast(task.y.view().data()));
  if (task.image.active)
    sum_along_cols(
        on.stream, panel,
        BlockTimesVector<S>{task.image, values, device_cast(task.x_image.view().data()), task.rows},
        task.cols, task.width, device_cast(task.y_image.view().data()));
}

template <class T>
void run(const DeviceContext& on, const SumParts<T>& task) {
  using namespace device;
  using S = DeviceScalar<T>;
  const auto y = *task.y;
  const auto count = static_cast<Index>(y.size());
  bool overwrite = task.y.first() || task.beta == T(0);
  T beta = task.beta;
  int p = 0;
  do {
    Pointers<const S> parts;
    for (; p < task.parts.size() && parts.count < max_pointers; ++p)
      parts.add(device_cast(task.parts[p].data()));
    sum_kernel<S><<<blocks_for(count, 2 * panel_threads, full_grid), panel_threads, 0, on.stream>>>(
        parts, device_scalar(task.alpha), device_scalar(beta), overwrite, count, device_cast(y.data()));
    overwrite = false;
    beta = T(1);
  } while (p < task.parts.size());
}

#define TESSERA_DEFINE(T)                     \
  TESSERA_DEFINE_ON_GPU(PanelTimesVectors<T>) \
  TESSERA_DEFINE_ON_GPU(SumParts<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
