// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/dense_parts.hpp>
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int threads = panel_threads;

/// visit(part, i, j, place in the matrix) for the elements of all parts: blockIdx.x takes a part, blockIdx.y
/// some of its elements.
template <class Visit>
__global__ void __launch_bounds__(threads)
    parts_kernel(Index part_count, const DensePart* __restrict__ parts, Visit visit) {
  for (Index p = blockIdx.x; p < part_count; p += gridDim.x) {
    const DensePart part = parts[p];
    const Index count = Index(part.rows) * part.cols;
    for (Index e = Index(blockIdx.y) * threads + threadIdx.x; e < count; e += Index(gridDim.y) * threads) {
      const auto [i, j] = position(e, part.rows);
      visit(part.element + i + j * part.ld, place_of(part, i, j));
    }
  }
}

template <class Visit>
void for_parts(cudaStream_t stream, std::span<const DensePart> parts, const Visit& visit) {
  if (!parts.empty())
    parts_kernel<<<panel_grid(parts.size()), threads, 0, stream>>>(static_cast<Index>(parts.size()),
                                                                   parts.data(), visit);
}

template <class S>
struct GatherElement {
  Symmetry symmetry;
  const S* values;
  MatrixView<S> matrix;
  __device__ void operator()(Index element, const PartPlace& place) const {
    const S x = values[element];
    matrix.data[place.row + place.col * matrix.ld] = place.mirrored ? mirror_image(symmetry, x) : x;
  }
};

template <class S>
struct ScatterElement {
  Symmetry symmetry;
  MatrixView<const S> matrix;
  S* values;
  __device__ void operator()(Index element, const PartPlace& place) const {
    const S x = matrix.data[place.row + place.col * matrix.ld];
    values[element] = place.mirrored ? mirror_image(symmetry, x) : x;
  }
};

template <class R>
__device__ double modulus(R x) {
  return fabs(x);
}
template <class R>
__device__ double modulus(Complex<R> x) {
  return hypot(x.re, x.im);
}
/// The larger number, NaN if one is NaN.
__device__ double larger(double a, double b) {
  return a <= b || isnan(b) ? b : a;
}

/// A warp takes a part.
template <class S>
__global__ void __launch_bounds__(threads)
    largest_kernel(Uplo counted, Index part_count, const DensePart* __restrict__ parts,
                   MatrixView<const S> matrix, double* largest) {
  const Index stride = Index(gridDim.x) * (threads / 32);
  for (Index p = Index(blockIdx.x) * (threads / 32) + threadIdx.x / 32; p < part_count; p += stride) {
    const DensePart part = parts[p];
    const Index count = Index(part.rows) * part.cols;
    double of_lane = 0;
    for (Index e = threadIdx.x % 32; e < count; e += 32) {
      const auto [i, j] = position(e, part.rows);
      if (counts(counted, part.row + i, part.col + j))
        of_lane = larger(of_lane, modulus(matrix.data[part.row + i + (part.col + j) * matrix.ld]));
    }
    for (int mask = 16; mask > 0; mask /= 2) of_lane = larger(of_lane, __shfl_xor_sync(~0u, of_lane, mask));
    if (threadIdx.x % 32 == 0) largest[p] = of_lane;
  }
}

}  // namespace
}  // namespace device

using device::device_cast, device::device_view, device::DeviceScalar;

template <class T>
void run(const DeviceContext& on, const GatherBlocks<T>& task) {
  const MatrixView<T> matrix = *task.matrix;
  if (task.matrix.first() && matrix.rows > 0 && matrix.cols > 0)
    cudaMemset2DAsync(matrix.data, static_cast<std::size_t>(matrix.ld) * sizeof(T), 0,
                      static_cast<std::size_t>(matrix.rows) * sizeof(T),
                      static_cast<std::size_t>(matrix.cols), on.stream);
  device::for_parts(on.stream, *task.parts,
                    device::GatherElement<DeviceScalar<T>>{
                        task.symmetry, device_cast(task.values.view().data()), device_view(matrix)});
}

template <class T>
void run(const DeviceContext& on, const ScatterBlocks<T>& task) {
  device::for_parts(on.stream, *task.parts,
                    device::ScatterElement<DeviceScalar<T>>{task.symmetry, device_view(*task.matrix),
                                                            device_cast(task.values.view().data())});
}

template <class T>
void run(const DeviceContext& on, const LargestOfParts<T>& task) {
  using namespace device;
  const auto parts = *task.parts;
  const auto count = static_cast<Index>(parts.size());
  if (count > 0)
    largest_kernel<<<blocks_for(count, threads / 32, full_grid), threads, 0, on.stream>>>(
        task.counted, count, parts.data(), device_view(*task.matrix), task.largest.view().data());
}

#define TESSERA_DEFINE(T)                 \
  TESSERA_DEFINE_ON_GPU(GatherBlocks<T>)  \
  TESSERA_DEFINE_ON_GPU(ScatterBlocks<T>) \
  TESSERA_DEFINE_ON_GPU(LargestOfParts<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
