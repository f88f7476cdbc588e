// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/block_sparse/panel_values_arguments.hpp>

namespace tessera {
namespace {

using namespace panel_values_codelets;

template <class T>
void scale_task(const TaskContext&, TaskBuffers buffers, const ScaleArguments<T>& arguments) {
  for (T& value : buffers.array<T>(0)) value *= arguments.factor;
}

template <class T>
Codelet scale_codelet = make_codelet<ScaleArguments<T>, scale_task<T>>("scale_panel", type_letter<T>);

template <class T>
void add_task(const TaskContext&, TaskBuffers buffers, const AddArguments<T>& arguments) {
  const auto x = buffers.array<const T>(0);
  const auto y = buffers.array<T>(1);
  const T alpha = arguments.alpha, beta = arguments.beta;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T added = alpha * (arguments.conjugated ? conjugate(x[i]) : x[i]);
    y[i] = beta == T(0) ? added : beta * y[i] + added;
  }
}

template <class T>
Codelet add_codelet = make_codelet<AddArguments<T>, add_task<T>>("add_panel", type_letter<T>);

template <class T>
void multiply_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const auto x = buffers.array<const T>(0);
  const auto y = buffers.array<T>(1);
  for (std::size_t i = 0; i < x.size(); ++i) y[i] *= x[i];
}

template <class T>
Codelet multiply_codelet = make_codelet<NoArguments, multiply_task<T>>("multiply_panel", type_letter<T>);

template <class T>
T truncated(T x) {
  return x < T(-1) ? T(-1) : x > T(1) ? T(1) : x;
}

template <class T, class F>
void apply(std::span<T> values, T first, T second, const F& f) {
  for (T& value : values) value = f(first * value + second);
}

template <class T>
void function_task(const TaskContext&, TaskBuffers buffers, const FunctionArguments<T>& arguments) {
  const auto over = [&](const auto& f) { apply(buffers.array<T>(0), arguments.first, arguments.second, f); };
  switch (arguments.f) {
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
    if (arguments.f == ElementFunction::artanh) over([](T x) { return std::atanh(x); });
    if (arguments.f == ElementFunction::asin) over([](T x) { return std::asin(x); });
    if (arguments.f == ElementFunction::truncate) over([](T x) { return truncated(x); });
  }
}

template <class T>
Codelet function_codelet = make_codelet<FunctionArguments<T>, function_task<T>>("function_of_panel",
                                                                                type_letter<T>);

}  // namespace

template <class T>
void insert_scale_panel(Sequence& sequence, int priority, T factor, const Data& values) {
  sequence.insert(scale_codelet<T>, ScaleArguments<T>{factor}, {.priority = priority}, {read_write(values)});
}

template <class T>
void insert_add_panel(Sequence& sequence, int priority, T alpha, bool conjugated, const Data& x, T beta,
                      const Data& y) {
  sequence.insert(add_codelet<T>, AddArguments<T>{alpha, beta, conjugated}, {.priority = priority},
                  {read(x), read_write(y)});
}

template <class T>
void insert_multiply_panel(Sequence& sequence, int priority, const Data& x, const Data& y) {
  sequence.insert(multiply_codelet<T>, NoArguments{}, {.priority = priority}, {read(x), read_write(y)});
}

template <class T>
void insert_function_of_panel(Sequence& sequence, int priority, ElementFunction f, T first, T second,
                              const Data& values) {
  sequence.insert(function_codelet<T>, FunctionArguments<T>{f, first, second}, {.priority = priority},
                  {read_write(values)});
}

#define TESSERA_INSTANTIATE(T)                                                             \
  template void insert_scale_panel<T>(Sequence&, int, T, const Data&);                     \
  template void insert_add_panel<T>(Sequence&, int, T, bool, const Data&, T, const Data&); \
  template void insert_multiply_panel<T>(Sequence&, int, const Data&, const Data&);        \
  template void insert_function_of_panel<T>(Sequence&, int, ElementFunction, T, T, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
