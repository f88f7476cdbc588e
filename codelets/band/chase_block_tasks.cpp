// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/chase_block_tasks.hpp>

namespace tessera {

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

#define TESSERA_DEFINE(T)            \
  TESSERA_DEFINE_TASK(FormChaseT<T>) \
  TESSERA_DEFINE_TASK(ApplyChase<T>) \
  TESSERA_DEFINE_TASK(ApplyOneByOne<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
