// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/block_sparse/values/panel_values.hpp>

namespace tessera::detail {

namespace {

/// to := factor from (+ to) on `count` contiguous elements that lie `step` apart in `from`.
template <bool conjugated, bool add, class T>
void move_column(T factor, Index count, const T* from, Index step, T* to) {
  const auto move = [&](Index i, const T& element) {
    const T moved = factor * (conjugated ? conjugate(element) : element);
    to[i] = add ? to[i] + moved : moved;
  };
  if (step == 1)
    for (Index i = 0; i < count; ++i) move(i, from[i]);
  else
    for (Index i = 0; i < count; ++i) move(i, from[i * step]);
}

/// move_column for what a task asks.
template <class T>
auto column_mover(bool conjugated, bool add) {
  if constexpr (is_complex<T>)
    if (conjugated) return add ? &move_column<true, true, T> : &move_column<true, false, T>;
  return add ? &move_column<false, true, T> : &move_column<false, false, T>;
}

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

template <class T>
void run(const HostContext&, const FillValues<T>& task) {
  const auto values = *task.values;
  std::fill(values.begin(), values.end(), task.value);
}

template <class T>
void run(const HostContext&, const MoveBlocks<T>& task) {
  const T* const source = task.source.view().data();
  T* const destination = task.destination.view().data();
  const bool transposed = task.op != Op::none;
  const auto move_column = column_mover<T>(task.conjugated != (task.op == Op::adjoint), task.add);
  for (const BlockMove& move : *task.moves) {
    const Index row_step = transposed ? move.source_ld : 1, col_step = transposed ? 1 : move.source_ld;
    for (Index j = 0; j < move.cols; ++j)
      move_column(task.factor, move.rows, source + move.source + j * col_step, row_step,
                  destination + move.destination + j * move.destination_ld);
  }
}

template <class T>
void run(const HostContext&, const CopyValues<T>& task) {
  const auto source = *task.source;
  const bool add = !task.destination.first();
  const auto destination = *task.destination;
  column_mover<T>(task.conjugated, add)(task.factor, static_cast<Index>(source.size()), source.data(), 1,
                                        destination.data());
}

template <class From, class To>
void run(const HostContext&, const ConvertValues<From, To>& task) {
  const auto source = *task.source;
  std::transform(source.begin(), source.end(), task.destination.view().begin(),
                 [](const From& x) { return static_cast<To>(x); });
}

template <class T>
void run(const HostContext&, const CopyMatching<T>& task) {
  const PackedPattern to_pattern(task.to.view().data());
  const PackedPanel from = PackedPattern(task.from.view().data()).panel(task.row_panel, task.col_panel),
                    to = to_pattern.panel(task.row_panel, task.col_panel);
  const T* const source = task.source.view().data();
  const std::span<T> destination = *task.destination;
  const bool first = task.destination.first();
  const auto move_column = column_mover<T>(task.conjugated, task.add && !first);
  const std::int32_t rows = to.blocks > 0 ? to_pattern.rows().blocks(task.row_panel) : 0;
  for (std::int32_t row = 0; row < rows; ++row) {
    std::int32_t b = from.blocks > 0 ? from.row_begin[row] : 0;
    const std::int32_t end = from.blocks > 0 ? from.row_begin[row + 1] : 0;
    for (std::int32_t c = to.row_begin[row]; c < to.row_begin[row + 1]; ++c) {
      while (b < end && from.column[b] < to.column[c]) ++b;
      const Index at = to.offset[c], count = (c + 1 < to.blocks ? Index(to.offset[c + 1])
                                                                : static_cast<Index>(destination.size())) -
                                             at;
      if (b < end && from.column[b] == to.column[c])
        move_column(task.factor, count, source + from.offset[b], 1, destination.data() + at);
      else if (first)
        std::fill_n(destination.data() + at, count, T(0));
    }
  }
}

template <class T>
void run(const HostContext&, const BlockNorms<T>& task) {
  const PackedPattern pattern(task.pattern.view().data());
  const std::int32_t row_panels = pattern.header().row_panels;
  for (std::int32_t p = 0; p < task.panels.count; ++p) {
    const std::int32_t number = task.panels.number[p];
    const PackedPanel panel = pattern.panel(number % row_panels, number / row_panels);
    const std::span<const T> values = task.values[p];
    double* const norms = task.norms.view().data() + (panel.before - task.panels.before);
    for (std::int32_t b = 0; b < panel.blocks; ++b) {
      const auto begin = static_cast<std::size_t>(panel.offset[b]),
                 end = b + 1 < panel.blocks ? static_cast<std::size_t>(panel.offset[b + 1]) : values.size();
      norms[b] = sum_of_squares(values.subspan(begin, end - begin));
    }
  }
}

#define TESSERA_DEFINE(T)                 \
  TESSERA_DEFINE_TASK(ScalePanel<T>)      \
  TESSERA_DEFINE_TASK(AddPanel<T>)        \
  TESSERA_DEFINE_TASK(MultiplyPanel<T>)   \
  TESSERA_DEFINE_TASK(FunctionOfPanel<T>) \
  TESSERA_DEFINE_TASK(FillValues<T>)      \
  TESSERA_DEFINE_TASK(MoveBlocks<T>)      \
  TESSERA_DEFINE_TASK(CopyValues<T>)      \
  TESSERA_DEFINE_TASK(CopyMatching<T>)    \
  TESSERA_DEFINE_TASK(BlockNorms<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
#define TESSERA_DEFINE_CONVERSION(From, To) TESSERA_DEFINE_TASK(ConvertValues<From, To>)
TESSERA_FOR_CONVERSIONS(TESSERA_DEFINE_CONVERSION)

}  // namespace tessera::detail
