// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/block_sparse/values/panel_values.hpp>

namespace tessera {

template <class T>
void run(const HostContext&, const ScalePanel<T>& task) {
  for (T& value : *task.values) value *= task.factor;
}

template <class T>
void run(const HostContext&, const AddPanel<T>& task) {
  const auto x = *task.x;
  const auto y = *task.y;
  const T alpha = task.alpha, beta = task.beta;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T added = alpha * (task.conjugated ? conjugate(x[i]) : x[i]);
    y[i] = beta == T(0) ? added : beta * y[i] + added;
  }
}

template <class T>
void run(const HostContext&, const MultiplyPanel<T>& task) {
  const auto x = *task.x;
  const auto y = *task.y;
  for (std::size_t i = 0; i < x.size(); ++i) y[i] *= x[i];
}

namespace {

template <class T>
T truncated(T x) {
  return x < T(-1) ? T(-1) : x > T(1) ? T(1) : x;
}

template <class T, class F>
void apply(std::span<T> values, T first, T second, const F& f) {
  for (T& value : values) value = f(first * value + second);
}

}  // namespace

template <class T>
void run(const HostContext&, const FunctionOfPanel<T>& task) {
  const auto over = [&](const auto& f) { apply(*task.values, task.first, task.second, f); };
  switch (task.f) {
    case ElementFunction::inverse:
      return over([](T x) { return T(1) / x; });
    case ElementFunction::tanh:
      return over([](T x) { return std::tanh(x); });
    case ElementFunction::tanh_derivative:
      return over([](T x) {
        const T t = std::tanh(x);
        return T(1) - t * t;
      });
    case ElementFunction::sin:
      return over([](T x) { return std::sin(x); });
    case ElementFunction::cos:
      return over([](T x) { return std::cos(x); });
    case ElementFunction::square_root:
      return over([](T x) { return std::sqrt(x); });
    case ElementFunction::absolute:
      return over([](T x) { return T(std::abs(x)); });
    default:
      break;
  }
  if constexpr (!is_complex<T>) {
    if (task.f == ElementFunction::artanh) over([](T x) { return std::atanh(x); });
    if (task.f == ElementFunction::asin) over([](T x) { return std::asin(x); });
    if (task.f == ElementFunction::truncate) over([](T x) { return truncated(x); });
  }
}

#define TESSERA_DEFINE(T)               \
  TESSERA_DEFINE_TASK(ScalePanel<T>)    \
  TESSERA_DEFINE_TASK(AddPanel<T>)      \
  TESSERA_DEFINE_TASK(MultiplyPanel<T>) \
  TESSERA_DEFINE_TASK(FunctionOfPanel<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
