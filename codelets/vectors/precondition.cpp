// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/vectors/precondition.hpp>

namespace tessera::detail {

namespace {

/// The columns from `columns` on := 0.
template <class T>
void clear_rest(const HostContext& on, const MatrixView<T>& v, Index columns) {
  la::set_zero(on, v.block(columns, 0, v.rows - columns, v.cols));
}

}  // namespace

template <class T>
void run(const HostContext& on, const DivideRows<T>& task) {
  using R = RealOf<T>;
  const auto diagonal = *task.diagonal;
  const auto r = real_view(*task.r);
  const auto w = real_view(*task.w);
  const Index columns = reals_of<T> * task.columns;
  for (Index i = 0; i < w.cols; ++i) {
    const double x = diagonal[static_cast<std::size_t>(i)] - task.shift;
    const double sign = task.sign != 0 ? task.sign : std::copysign(1.0, x),
                 divisor = sign * std::max(sign * x, task.least);
    for (Index j = 0; j < columns; ++j) w(j, i) = R(double(r(j, i)) / divisor);
  }
  clear_rest(on, w, columns);
}

template <class T>
void run(const HostContext& on, const ChebyshevStart<T>& task) {
  using R = RealOf<T>;
  const auto r = real_view(*task.r);
  const auto q = real_view(*task.q), d = real_view(*task.d), w = real_view(*task.w);
  const Index columns = reals_of<T> * task.columns;
  for (Index i = 0; i < w.cols; ++i)
    for (Index j = 0; j < columns; ++j) {
      q(j, i) = r(j, i);
      d(j, i) = w(j, i) = R(task.factor * double(r(j, i)));
    }
  for (const MatrixView<R>& v : {q, d, w}) clear_rest(on, v, columns);
}

template <class T>
void run(const HostContext&, const ChebyshevStep<T>& task) {
  using R = RealOf<T>;
  const auto ad = real_view(*task.ad);
  const auto q = real_view(*task.q), d = real_view(*task.d), w = real_view(*task.w);
  const Index columns = reals_of<T> * task.columns;
  for (Index i = 0; i < w.cols; ++i)
    for (Index j = 0; j < columns; ++j) {
      const double residual = double(q(j, i)) - (double(ad(j, i)) - task.shift * double(d(j, i)));
      const double direction = task.old * double(d(j, i)) + task.residual * residual;
      q(j, i) = R(residual);
      d(j, i) = R(direction);
      w(j, i) = R(double(w(j, i)) + direction);
    }
}

#define TESSERA_DEFINE(T)                \
  TESSERA_DEFINE_TASK(DivideRows<T>)     \
  TESSERA_DEFINE_TASK(ChebyshevStart<T>) \
  TESSERA_DEFINE_TASK(ChebyshevStep<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
