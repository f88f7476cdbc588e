// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/each_element.cuh>
#include <tessera/codelets/vectors/precondition.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

template <class T>
struct Divide {
  DivideRowsArguments a;
  const double* diagonal;
  MatrixView<const T> r;
  MatrixView<T> w;
  __device__ void operator()(int j, Index i) const {
    const double x = diagonal[i] - a.shift, sign = a.sign != 0 ? double(a.sign) : copysign(1.0, x),
                 largest = sign * x < a.least ? a.least : sign * x;
    w.data[i * w.ld + j] = j < a.columns ? T(double(r.data[i * r.ld + j]) / (sign * largest)) : T(0);
  }
};

template <class T>
struct Start {
  ChebyshevStartArguments a;
  MatrixView<const T> r;
  MatrixView<T> q, d, w;
  __device__ void operator()(int j, Index i) const {
    const T element = j < a.columns ? r.data[i * r.ld + j] : T(0), scaled = T(a.factor * double(element));
    if (j < q.rows) q.data[i * q.ld + j] = element;
    if (j < d.rows) d.data[i * d.ld + j] = j < a.columns ? scaled : T(0);
    if (j < w.rows) w.data[i * w.ld + j] = j < a.columns ? scaled : T(0);
  }
};

template <class T>
struct Step {
  ChebyshevStepArguments a;
  MatrixView<const T> ad;
  MatrixView<T> q, d, w;
  __device__ void operator()(int j, Index i) const {
    T &q_element = q.data[i * q.ld + j], &d_element = d.data[i * d.ld + j], &w_element = w.data[i * w.ld + j];
    const double residual =
        double(q_element) - (double(ad.data[i * ad.ld + j]) - a.shift * double(d_element));
    const double direction = a.old * double(d_element) + a.residual * residual;
    q_element = T(residual);
    d_element = T(direction);
    w_element = T(double(w_element) + direction);
  }
};

template <class T>
void divide_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                 const DivideRowsArguments& a) {
  const MatrixView<T> w = buffers.matrix<T>(2);
  device::for_elements_of_rows(
      context.stream, w.rows, w.cols,
      Divide<T>{a, buffers.array<const double>(0).data(), buffers.matrix<const T>(1), w});
}

template <class T>
void start_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                const ChebyshevStartArguments& a) {
  const MatrixView<T> q = buffers.matrix<T>(1), d = buffers.matrix<T>(2), w = buffers.matrix<T>(3);
  device::for_elements_of_rows(context.stream, std::max({q.rows, d.rows, w.rows}), w.cols,
                               Start<T>{a, buffers.matrix<const T>(0), q, d, w});
}

template <class T>
void step_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
               const ChebyshevStepArguments& a) {
  const MatrixView<T> w = buffers.matrix<T>(3);
  device::for_elements_of_rows(
      context.stream, a.columns, w.cols,
      Step<T>{a, buffers.matrix<const T>(0), buffers.matrix<T>(1), buffers.matrix<T>(2), w});
}

template <class T>
void call_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
               const CallPreconditionerArguments<T>& a) {
  const MatrixView<const T> r = buffers.matrix<const T>(0);
  const MatrixView<T> w = buffers.matrix<T>(1);
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(T); };
  cudaMemset2DAsync(w.data, bytes(w.ld), 0, bytes(w.rows), static_cast<std::size_t>(w.cols), context.stream);
  try {
    a.functions->device(a.first_row, w.cols, a.columns, r.data, r.ld, w.data, w.ld, context.stream);
  } catch (...) {
    task.fail_by_callback(std::current_exception());
  }
}

#define TESSERA_REGISTER(T)                                                                     \
  register_cuda<DivideRowsArguments, divide_cuda<T>>("divide_rows", type_letter<T>),            \
      register_cuda<ChebyshevStartArguments, start_cuda<T>>("chebyshev_start", type_letter<T>), \
      register_cuda<ChebyshevStepArguments, step_cuda<T>>("chebyshev_step", type_letter<T>,     \
                                                          {.instead_of_cpu = true}),            \
      register_cuda<CallPreconditionerArguments<T>, call_cuda<T>>("call_device_preconditioner", \
                                                                  type_letter<T>, {.instead_of_cpu = true}),
const bool registered[] = {TESSERA_FOR_REALS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
