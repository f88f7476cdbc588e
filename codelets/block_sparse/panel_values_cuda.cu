// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/panel_values_arguments.hpp>
#include <tessera/codelets/block_sparse/unfused.cuh>
#include <tessera/codelets/device_launch.cuh>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace panel_values_codelets;
using namespace device;

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

template <class T>
void scale_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                const ScaleArguments<T>& a) {
  const auto values = buffers.array<T>(0);
  for_each(context.stream, values.size(),
           Scale<DeviceScalar<T>>{device_scalar(a.factor), device_cast(values.data())});
}

template <class T>
void add_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const AddArguments<T>& a) {
  const auto x = buffers.array<const T>(0);
  for_each(context.stream, x.size(),
           Add<DeviceScalar<T>>{device_scalar(a.alpha), device_scalar(a.beta), a.conjugated, a.beta == T(0),
                                device_cast(x.data()), device_cast(buffers.array<T>(1).data())});
}

template <class T>
void multiply_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  const auto x = buffers.array<const T>(0);
  for_each(context.stream, x.size(),
           Multiply<DeviceScalar<T>>{device_cast(x.data()), device_cast(buffers.array<T>(1).data())});
}

/// Of real numbers only: what a complex one takes is not worth a kernel.
template <class R>
void function_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                   const FunctionArguments<R>& a) {
  const auto values = buffers.array<R>(0);
  for_each(context.stream, values.size(), Function<R>{a.f, a.first, a.second, values.data()});
}

#define TESSERA_REGISTER(T)                                                       \
  register_cuda<ScaleArguments<T>, scale_cuda<T>>("scale_panel", type_letter<T>), \
      register_cuda<AddArguments<T>, add_cuda<T>>("add_panel", type_letter<T>),   \
      register_cuda<NoArguments, multiply_cuda<T>>("multiply_panel", type_letter<T>),
#define TESSERA_REGISTER_REAL(R) \
  register_cuda<FunctionArguments<R>, function_cuda<R>>("function_of_panel", type_letter<R>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER) TESSERA_FOR_REALS(TESSERA_REGISTER_REAL)};

}  // namespace
}  // namespace tessera
