// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// Waits on the host until what was enqueued on a CUDA stream of the caller's, or before its event was recorded, is over.
/// @param stream a cudaStream_t; null is the default stream
/// @param event a cudaEvent_t
/// @throws RuntimeError in a build without CUDA, and if the GPU reports an error
void wait_for_caller_stream(void* stream);
void wait_for_caller_event(void* event);
/// Records the caller's event in its stream. @throws RuntimeError likewise
void record_caller_event(void* event, void* stream);

/// Whether memory is of a GPU in use; otherwise it is the host's.
/// @throws InvalidArgument for memory of another GPU
bool in_gpu_memory(const Runtime& runtime, const void* memory);

}  // namespace tessera::detail
