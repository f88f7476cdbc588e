// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <vector>

#include <tessera/codelets/batch/eigensolve_chunk.hpp>

namespace tessera::detail {

template <class T>
void run(const HostContext&, const EigensolveChunk<T>& task) {
  std::vector<char> work(kernels::eigen_batch_host_bytes<T>(task.n, static_cast<bool>(task.z)) + 64);
  void* aligned = work.data();
  std::size_t space = work.size();
  kernels::eigen_batch_on_host(batch_of(task), std::align(64, 1, aligned, space));
}

template <class T>
std::size_t eigensolve_chunk_work([[maybe_unused]] const Runtime& runtime, [[maybe_unused]] Index n,
                                  [[maybe_unused]] Index count, [[maybe_unused]] bool vectors) {
#if TESSERA_WITH_CUDA
  if (runtime.any_gpus()) return kernels::eigen_batch_bytes<T>(n, count, vectors);
#endif
  return 0;
}

#define TESSERA_DEFINE(T)                 \
  TESSERA_DEFINE_TASK(EigensolveChunk<T>) \
  template std::size_t eigensolve_chunk_work<T>(const Runtime&, Index, Index, bool);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
