// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/back_transform_tasks.hpp>
#include <tessera/codelets/band/kernels/chase_blocks.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

template <class T>
void run(const DeviceContext& on, const FormChaseT<T>& task) {
  kernels::launch_form_chase_t<T>(on.stream, task.piece, task.reflectors.view().data(),
                                  task.blocks.view().data(), task.split);
}

template <class T>
void run(const DeviceContext& on, const ApplyChase<T>& task) {
  const auto c = *task.c;
  kernels::launch_apply_chase<T>(on.stream, task.piece, task.blocks.view().data(), c.data, c.cols, c.ld,
                                 task.workspace.view().data(), task.split);
}

template <class T>
void run(const DeviceContext& on, const ApplyOneByOne<T>& task) {
  const auto c = *task.c;
  kernels::launch_apply_elpa<T>(on.stream, task.piece, task.reflectors.view().data(), c.data, c.cols, c.ld);
}

#define TESSERA_DEFINE(T)              \
  TESSERA_DEFINE_ON_GPU(FormChaseT<T>) \
  TESSERA_DEFINE_ON_GPU(ApplyChase<T>) \
  TESSERA_DEFINE_ON_GPU(ApplyOneByOne<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
