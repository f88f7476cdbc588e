// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <tessera/codelets/vectors/user_function.hpp>

namespace tessera {
namespace {

template <class T>
void user_task(const TaskContext& task, TaskBuffers buffers, const UserFunctionArguments<T>& a) {
  const bool gathers = buffers.count() > 2;
  const int segments = gathers ? buffers.count() - 2 : 1;
  const auto y = buffers.matrix<T>(segments);
  const auto first = buffers.matrix<const T>(0);
  const T* x = first.data;
  Index ldx = first.ld;
  if (gathers) {
    T* const all = buffers.array<T>(segments + 1).data();
    ldx = a.columns;
    T* to = all;
    for (int s = 0; s < segments; ++s) {
      const auto part = buffers.matrix<const T>(s);
      for (Index i = 0; i < part.cols; ++i, to += ldx) std::copy_n(&part(0, i), a.columns, to);
    }
    x = all;
  }
  for (Index i = 0; i < y.cols; ++i) std::fill(&y(0, i), &y(0, i) + y.rows, T(0));
  try {
    a.functions->host(a.first_row, a.end_row, a.columns, x, ldx, y.data, y.ld);
  } catch (...) {
    task.fail_by_callback(std::current_exception());
  }
}

template <class T>
Codelet user_codelet = make_codelet<UserFunctionArguments<T>, user_task<T>>("user_function", type_letter<T>);
template <class T>
Codelet user_device_codelet = make_codelet<UserFunctionArguments<T>, user_task<T>>("user_device_function",
                                                                                   type_letter<T>);

}  // namespace

template <class T>
void insert_user_function(Sequence& sequence, int priority, const UserFunctionArguments<T>& arguments,
                          bool on_device, std::span<const Data* const> x, const Data& y, const Data& gathered,
                          int gpu) {
  std::vector<Access> accesses;
  for (const Data* segment : x) accesses.push_back(read(*segment));
  accesses.push_back(write(y));
  if (x.size() > 1) accesses.push_back(scratch(gathered));
  sequence.insert(on_device ? user_device_codelet<T> : user_codelet<T>, arguments,
                  {.priority = priority, .gpu = gpu}, accesses);
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template void insert_user_function<T>(Sequence&, int, const UserFunctionArguments<T>&, bool, \
                                        std::span<const Data* const>, const Data&, const Data&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera
