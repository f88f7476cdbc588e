// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <starpu.h>

#include <tessera/runtime/gpu_memory.hpp>

namespace tessera::detail {

std::size_t gpu_bytes_held() noexcept {
  std::size_t bytes = 0;
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node)
    if (starpu_node_get_kind(node) == STARPU_CUDA_RAM) bytes += starpu_memory_get_used(node);
  return bytes;
}

}  // namespace tessera::detail
