// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <tessera/runtime/cuda_codelet.hpp>
#include <tessera/runtime/starpu_detail.hpp>

namespace tessera::internal {

CudaContext cuda_context() noexcept {
  return {starpu_cuda_get_local_stream(), starpu_cublas_get_local_handle(),
          starpu_cusolverDn_get_local_handle()};
}

}  // namespace tessera::internal

#endif  // TESSERA_WITH_CUDA
