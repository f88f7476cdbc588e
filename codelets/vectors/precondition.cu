// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/kernels/row_kernels.cuh>
#include <tessera/codelets/vectors/precondition.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace {

template <class T>
struct Divide {
  DivideRows<T> task;  // for its numbers
  const double* diagonal;
  MatrixView<const T> r;
  MatrixView<T> w;

  __device__ void operator()(int j, Index i) const {
    const double x = diagonal[i] - task.shift, sign = task.sign != 0 ? double(task.sign) : copysign(1.0, x),
                 largest = sign * x < task.least ? task.least : sign * x;
    w.data[i * w.ld + j] = j < task.columns ? T(double(r.data[i * r.ld + j]) / (sign * largest)) : T(0);
  }
};

template <class T>
struct Start {
  ChebyshevStart<T> task;
  MatrixView<const T> r;
  MatrixView<T> q, d, w;

  __device__ void operator()(int j, Index i) const {
    const T element = j < task.columns ? r.data[i * r.ld + j] : T(0),
            scaled = T(task.factor * double(element));
    if (j < q.rows) q.data[i * q.ld + j] = element;
    if (j < d.rows) d.data[i * d.ld + j] = j < task.columns ? scaled : T(0);
    if (j < w.rows) w.data[i * w.ld + j] = j < task.columns ? scaled : T(0);
  }
};

template <class T>
struct Step {
  ChebyshevStep<T> task;
  MatrixView<const T> ad;
  MatrixView<T> q, d, w;

  __device__ void operator()(int j, Index i) const {
    T &q_element = q.data[i * q.ld + j], &d_element = d.data[i * d.ld + j], &w_element = w.data[i * w.ld + j];
    const double residual =
        double(q_element) - (double(ad.data[i * ad.ld + j]) - task.shift * double(d_element));
    const double direction = task.old * double(d_element) + task.residual * residual;
    q_element = T(residual);
    d_element = T(direction);
    w_element = T(double(w_element) + direction);
  }
};

}  // namespace

template <class T>
void run(const DeviceContext& on, const DivideRows<T>& task) {
  const MatrixView<T> w = *task.w;
  device::for_elements_of_rows(on.stream, w.rows, w.cols,
                               Divide<T>{task, task.diagonal.view().data(), *task.r, w});
}

template <class T>
void run(const DeviceContext& on, const ChebyshevStart<T>& task) {
  const MatrixView<T> q = *task.q, d = *task.d, w = *task.w;
  device::for_elements_of_rows(on.stream, std::max({q.rows, d.rows, w.rows}), w.cols,
                               Start<T>{task, *task.r, q, d, w});
}

template <class T>
void run(const DeviceContext& on, const ChebyshevStep<T>& task) {
  const MatrixView<T> w = *task.w;
  device::for_elements_of_rows(on.stream, task.columns, w.cols, Step<T>{task, *task.ad, *task.q, *task.d, w});
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_ON_GPU(DivideRows<T>)     \
  TESSERA_DEFINE_ON_GPU(ChebyshevStart<T>) \
  TESSERA_DEFINE_ON_GPU(ChebyshevStep<T>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera::detail
