// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include <tessera/runtime/gpu_messages.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::detail {

bool mpi_is_cuda_aware() noexcept {
#ifdef MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

bool sends_from_gpus(const Runtime& runtime) noexcept {
  const char* const wanted = std::getenv("STARPU_MPI_GPUDIRECT");
  return runtime.info().cuda_workers > 0 && mpi_is_cuda_aware() &&
         !(wanted && *wanted && std::atoi(wanted) == 0);
}

void receive_on_gpu(const Data& data, int gpu) {
  // No task writes it: StarPU only allocates the memory there.
  pass_on_node(starpu_handle(data), memory_node_of_gpu(gpu), STARPU_W);
}

}  // namespace tessera::detail
