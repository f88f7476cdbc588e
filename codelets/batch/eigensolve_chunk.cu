// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/batch/eigensolve_chunk.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

template <class T>
void run(const DeviceContext& on, const EigensolveChunk<T>& task) {
  kernels::launch_eigen_batch(on.stream, on.cublas, batch_of(task), task.work.view().data());
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(EigensolveChunk<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
