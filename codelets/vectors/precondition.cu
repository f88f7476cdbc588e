// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/kernels/row_kernels.cuh>
#include <tessera/codelets/vectors/precondition.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace {

template <class R>
struct Divide {
  int columns, sign;  ///< real columns
  double shift, least;
  const double* diagonal;
  MatrixView<const R> r;
  MatrixView<R> w;

  __device__ void operator()(int j, Index i) const {
    const double x = diagonal[i] - shift, of_x = sign != 0 ? double(sign) : copysign(1.0, x),
                 largest = of_x * x < least ? least : of_x * x;
    w.data[i * w.ld + j] = j < columns ? R(double(r.data[i * r.ld + j]) / (of_x * largest)) : R(0);
  }
};

template <class R>
struct Start {
  int columns;
  double factor;
  MatrixView<const R> r;
  MatrixView<R> q, d, w;

  __device__ void operator()(int j, Index i) const {
    const R element = j < columns ? r.data[i * r.ld + j] : R(0), scaled = R(factor * double(element));
    if (j < q.rows) q.data[i * q.ld + j] = element;
    if (j < d.rows) d.data[i * d.ld + j] = j < columns ? scaled : R(0);
    if (j < w.rows) w.data[i * w.ld + j] = j < columns ? scaled : R(0);
  }
};

template <class R>
struct Step {
  double shift, old, factor;
  MatrixView<const R> ad;
  MatrixView<R> q, d, w;

  __device__ void operator()(int j, Index i) const {
    R &q_element = q.data[i * q.ld + j], &d_element = d.data[i * d.ld + j], &w_element = w.data[i * w.ld + j];
    const double residual = double(q_element) - (double(ad.data[i * ad.ld + j]) - shift * double(d_element));
    const double direction = old * double(d_element) + factor * residual;
    q_element = R(residual);
    d_element = R(direction);
    w_element = R(double(w_element) + direction);
  }
};

}  // namespace

template <class T>
void run(const DeviceContext& on, const DivideRows<T>& task) {
  const auto w = real_view(*task.w);
  device::for_elements_of_rows(
      on.stream, w.rows, w.cols,
      Divide<RealOf<T>>{reals_of<T> * task.columns, task.sign, task.shift, task.least,
                        task.diagonal.view().data(), real_view(*task.r), w});
}

template <class T>
void run(const DeviceContext& on, const ChebyshevStart<T>& task) {
  const auto q = real_view(*task.q), d = real_view(*task.d), w = real_view(*task.w);
  device::for_elements_of_rows(
      on.stream, std::max({q.rows, d.rows, w.rows}), w.cols,
      Start<RealOf<T>>{reals_of<T> * task.columns, task.factor, real_view(*task.r), q, d, w});
}

template <class T>
void run(const DeviceContext& on, const ChebyshevStep<T>& task) {
  const auto w = real_view(*task.w);
  device::for_elements_of_rows(on.stream, reals_of<T> * task.columns, w.cols,
                               Step<RealOf<T>>{task.shift, task.old, task.residual, real_view(*task.ad),
                                               real_view(*task.q), real_view(*task.d), w});
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_ON_GPU(DivideRows<T>)     \
  TESSERA_DEFINE_ON_GPU(ChebyshevStart<T>) \
  TESSERA_DEFINE_ON_GPU(ChebyshevStep<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
