// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/vectors/precondition.hpp>

namespace tessera {
namespace {

/// Columns from `columns` on of row i := 0.
template <class T>
void clear_rest(MatrixView<T> v, Index i, Index columns) {
  std::fill_n(&v.data[i * v.ld] + columns, v.rows - columns, T(0));
}

template <class T>
void divide_task(const TaskContext&, TaskBuffers buffers, const DivideRowsArguments& a) {
  const auto diagonal = buffers.array<const double>(0);
  const auto r = buffers.matrix<const T>(1);
  const auto w = buffers.matrix<T>(2);
  for (Index i = 0; i < w.cols; ++i) {
    const double x = diagonal[static_cast<std::size_t>(i)] - a.shift;
    const double sign = a.sign != 0 ? a.sign : std::copysign(1.0, x),
                 divisor = sign * std::max(sign * x, a.least);
    for (Index j = 0; j < a.columns; ++j) w(j, i) = T(double(r(j, i)) / divisor);
    clear_rest(w, i, a.columns);
  }
}

template <class T>
void start_task(const TaskContext&, TaskBuffers buffers, const ChebyshevStartArguments& a) {
  const auto r = buffers.matrix<const T>(0);
  const MatrixView<T> q = buffers.matrix<T>(1), d = buffers.matrix<T>(2), w = buffers.matrix<T>(3);
  for (Index i = 0; i < w.cols; ++i) {
    for (Index j = 0; j < a.columns; ++j) {
      q(j, i) = r(j, i);
      d(j, i) = w(j, i) = T(a.factor * double(r(j, i)));
    }
    for (const MatrixView<T>& v : {q, d, w}) clear_rest(v, i, a.columns);
  }
}

template <class T>
void step_task(const TaskContext&, TaskBuffers buffers, const ChebyshevStepArguments& a) {
  const auto ad = buffers.matrix<const T>(0);
  const MatrixView<T> q = buffers.matrix<T>(1), d = buffers.matrix<T>(2), w = buffers.matrix<T>(3);
  for (Index i = 0; i < w.cols; ++i)
    for (Index j = 0; j < a.columns; ++j) {
      const double residual = double(q(j, i)) - (double(ad(j, i)) - a.shift * double(d(j, i)));
      const double direction = a.old * double(d(j, i)) + a.residual * residual;
      q(j, i) = T(residual);
      d(j, i) = T(direction);
      w(j, i) = T(double(w(j, i)) + direction);
    }
}

template <class T>
void call_task(const TaskContext& task, TaskBuffers buffers, const CallPreconditionerArguments<T>& a) {
  const auto r = buffers.matrix<const T>(0);
  const auto w = buffers.matrix<T>(1);
  for (Index i = 0; i < w.cols; ++i) clear_rest(w, i, 0);
  try {
    a.functions->host(a.first_row, w.cols, a.columns, r.data, r.ld, w.data, w.ld);
  } catch (...) {
    task.fail_by_callback(std::current_exception());
  }
}

template <class T>
Codelet divide_codelet = make_codelet<DivideRowsArguments, divide_task<T>>("divide_rows", type_letter<T>);
template <class T>
Codelet start_codelet = make_codelet<ChebyshevStartArguments, start_task<T>>("chebyshev_start",
                                                                             type_letter<T>);
template <class T>
Codelet step_codelet = make_codelet<ChebyshevStepArguments, step_task<T>>("chebyshev_step", type_letter<T>);
template <class T>
Codelet call_codelet = make_codelet<CallPreconditionerArguments<T>, call_task<T>>("call_preconditioner",
                                                                                  type_letter<T>);
template <class T>
Codelet call_device_codelet =
    make_codelet<CallPreconditionerArguments<T>, call_task<T>>("call_device_preconditioner", type_letter<T>);

}  // namespace

template <class T>
void insert_divide_rows(Sequence& sequence, int priority, const DivideRowsArguments& arguments,
                        const Data& diagonal, const Data& r, const Data& w, int gpu) {
  sequence.insert(divide_codelet<T>, arguments, {.priority = priority, .gpu = gpu},
                  {read(diagonal), read(r), write(w)});
}

template <class T>
void insert_chebyshev_start(Sequence& sequence, int priority, const ChebyshevStartArguments& arguments,
                            const Data& r, const Data& q, const Data& d, const Data& w, int gpu) {
  sequence.insert(start_codelet<T>, arguments, {.priority = priority, .gpu = gpu},
                  {read(r), write(q), write(d), write(w)});
}

template <class T>
void insert_chebyshev_step(Sequence& sequence, int priority, const ChebyshevStepArguments& arguments,
                           const Data& ad, const Data& q, const Data& d, const Data& w, int gpu) {
  sequence.insert(step_codelet<T>, arguments, {.priority = priority, .gpu = gpu},
                  {read(ad), read_write(q), read_write(d), read_write(w)});
}

template <class T>
void insert_call_preconditioner(Sequence& sequence, int priority,
                                const CallPreconditionerArguments<T>& arguments, bool on_device,
                                const Data& r, const Data& w, int gpu) {
  sequence.insert(on_device ? call_device_codelet<T> : call_codelet<T>, arguments,
                  {.priority = priority, .gpu = gpu}, {read(r), write(w)});
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template void insert_divide_rows<T>(Sequence&, int, const DivideRowsArguments&, const Data&, const Data&, \
                                      const Data&, int);                                                    \
  template void insert_chebyshev_start<T>(Sequence&, int, const ChebyshevStartArguments&, const Data&,      \
                                          const Data&, const Data&, const Data&, int);                      \
  template void insert_chebyshev_step<T>(Sequence&, int, const ChebyshevStepArguments&, const Data&,        \
                                         const Data&, const Data&, const Data&, int);                       \
  template void insert_call_preconditioner<T>(Sequence&, int, const CallPreconditionerArguments<T>&, bool,  \
                                              const Data&, const Data&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera
