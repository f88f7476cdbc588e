// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/codelets/block_sparse/values/unfused.cuh>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera {
namespace device {
namespace {

constexpr int threads = 256;

/// change(i) for all i < count.
template <class Change>
__global__ void __launch_bounds__(threads) each_kernel(Index count, Change change) {
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads)
    change(i);
}

template <class Change>
void for_each(cudaStream_t stream, std::size_t count, const Change& change) {
  if (count > 0)
    each_kernel<<<blocks_for(static_cast<Index>(count), 4 * threads, full_grid), threads, 0, stream>>>(
        static_cast<Index>(count), change);
}

template <class S>
struct Scale {
  S factor;
  S* values;
  __device__ void operator()(Index i) const { values[i] = times(values[i], factor); }
};

template <class S>
struct Add {
  S alpha, beta;
  bool conjugated, replace;
  const S* x;
  S* y;
  __device__ void operator()(Index i) const {
    const S added = times(alpha, conjugated ? device::conj(x[i]) : x[i]);
    y[i] = replace ? added : plus(times(beta, y[i]), added);
  }
};

template <class S>
struct Multiply {
  const S* x;
  S* y;
  __device__ void operator()(Index i) const { y[i] = times(y[i], x[i]); }
};

template <class R>
struct Function {
  ElementFunction f;
  R first, second;
  R* values;
  __device__ void operator()(Index i) const { values[i] = of(plus(times(first, values[i]), second)); }
  __device__ R of(R x) const {
    switch (f) {
      case ElementFunction::inverse:
        return R(1) / x;
      case ElementFunction::tanh:
        return tanh(x);
      case ElementFunction::tanh_derivative: {
        const R t = tanh(x);
        return plus(R(1), -times(t, t));
      }
      case ElementFunction::artanh:
        return atanh(x);
      case ElementFunction::sin:
        return sin(x);
      case ElementFunction::cos:
        return cos(x);
      case ElementFunction::asin:
        return asin(x);
      case ElementFunction::square_root:
        return sqrt(x);
      case ElementFunction::absolute:
        return fabs(x);
      case ElementFunction::truncate:
        return x < R(-1) ? R(-1) : x > R(1) ? R(1) : x;
    }
    return x;
  }
};

}  // namespace
}  // namespace device

using device::device_cast, device::device_scalar, device::DeviceScalar;

template <class T>
void run(const DeviceContext& on, const ScalePanel<T>& task) {
  const auto values = *task.values;
  device::for_each(on.stream, values.size(),
                   device::Scale<DeviceScalar<T>>{device_scalar(task.factor), device_cast(values.data())});
}

template <class T>
void run(const DeviceContext& on, const AddPanel<T>& task) {
  const auto x = *task.x;
  device::for_each(on.stream, x.size(),
                   device::Add<DeviceScalar<T>>{device_scalar(task.alpha), device_scalar(task.beta),
                                                task.conjugated, task.beta == T(0), device_cast(x.data()),
                                                device_cast(task.y.view().data())});
}

template <class T>
void run(const DeviceContext& on, const MultiplyPanel<T>& task) {
  const auto x = *task.x;
  device::for_each(
      on.stream, x.size(),
      device::Multiply<DeviceScalar<T>>{device_cast(x.data()), device_cast(task.y.view().data())});
}

/// Of real numbers only: what a complex one takes is not worth a kernel.
template <class R>
void run(const DeviceContext& on, const FunctionOfPanel<R>& task) {
  const auto values = *task.values;
  device::for_each(on.stream, values.size(),
                   device::Function<R>{task.f, task.first, task.second, values.data()});
}

#define TESSERA_DEFINE(T)              \
  TESSERA_DEFINE_ON_GPU(ScalePanel<T>) \
  TESSERA_DEFINE_ON_GPU(AddPanel<T>)   \
  TESSERA_DEFINE_ON_GPU(MultiplyPanel<T>)
#define TESSERA_DEFINE_REAL(R) TESSERA_DEFINE_ON_GPU(FunctionOfPanel<R>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
TESSERA_FOR_REALS(TESSERA_DEFINE_REAL)

}  // namespace tessera
