// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <tessera/error.hpp>
#include <tessera/runtime/caller_streams.hpp>

#if TESSERA_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tessera::detail {

#if TESSERA_WITH_CUDA

namespace {

void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw RuntimeError(std::string("the caller's ") + what + ": " + cudaGetErrorString(error));
}

}  // namespace

void wait_for_caller_stream(void* stream) {
  require(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), "stream");
}

void wait_for_caller_event(void* event) {
  require(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "event to wait for");
}

void record_caller_event(void* event, void* stream) {
  require(cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)),
          "event to record");
}

#else

namespace {

[[noreturn]] void refuse() {
  throw RuntimeError("a CUDA stream or event was given, but this build has no CUDA");
}

}  // namespace

void wait_for_caller_stream(void* /*stream*/) {
  refuse();
}
void wait_for_caller_event(void* /*event*/) {
  refuse();
}
void record_caller_event(void* /*event*/, void* /*stream*/) {
  refuse();
}

#endif

}  // namespace tessera::detail
