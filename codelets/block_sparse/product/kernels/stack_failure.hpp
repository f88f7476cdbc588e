// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_program.hpp>

namespace tessera::device {

/// @throws PassingFailure if there is no memory, else RuntimeError, that say what failed and why
inline void require_success(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // a task of this thread must not find it
  const std::string text = fmt::format("{}: {}", what, cudaGetErrorString(error));
  if (error == cudaErrorMemoryAllocation) throw PassingFailure(text);
  throw RuntimeError(text);
}

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
