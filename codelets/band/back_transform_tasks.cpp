// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/back_transform_tasks.hpp>

namespace tessera::detail {

template <class T>
void run(const HostContext&, const FormChaseT<T>& task) {
  kernels::form_chase_t<T>(task.piece, task.reflectors.view().data(), task.blocks.view().data());
}

template <class T>
void run(const HostContext&, const ApplyChase<T>& task) {
  const auto c = *task.c;
  kernels::apply_chase<T>(task.piece, task.blocks.view().data(), c.data, c.cols, c.ld);
}

template <class T>
void run(const HostContext&, const ApplyOneByOne<T>& task) {
  const auto c = *task.c;
  kernels::apply_one_by_one<T>(task.piece, task.reflectors.view().data(), c.data, c.cols, c.ld);
}

template <class T>
void run(const HostContext&, const FormWy<T>& task) {
  auto pieces = task.pieces;
  for (int i = 0; i < task.kept.size(); ++i)
    pieces[static_cast<std::size_t>(i)].data = const_cast<T*>(task.kept[i].data());  // only read
  kernels::form_wy<T>(task.n, task.bandwidth, pieces.data(), task.kept.size(),
                      {task.blocks.view().data(), task.first_sweep, task.sweeps}, task.first_hop,
                      task.last_hop, task.workspace.view().data());
}

template <class T>
void run(const HostContext&, const ApplyWy<T>& task) {
  kernels::WyGroup<T> groups[ApplyWy<T>::max_groups];
  const int count = task.blocks.size();
  for (int i = 0; i < count; ++i)
    groups[i] = {const_cast<T*>(task.blocks[i].data()), task.first_sweep + i * task.sweeps,  // only read
                 i + 1 < count ? task.sweeps : task.last_sweeps};
  const auto c = *task.c;
  kernels::apply_wy<T>(task.n, task.bandwidth, groups, count, 0,
                       kernels::hop_count(task.n, task.bandwidth, task.first_sweep), c.data, c.cols, c.ld,
                       task.workspace.view().data());
}

#define TESSERA_DEFINE(T)            \
  TESSERA_DEFINE_TASK(FormWy<T>)     \
  TESSERA_DEFINE_TASK(ApplyWy<T>)    \
  TESSERA_DEFINE_TASK(FormChaseT<T>) \
  TESSERA_DEFINE_TASK(ApplyChase<T>) \
  TESSERA_DEFINE_TASK(ApplyOneByOne<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
