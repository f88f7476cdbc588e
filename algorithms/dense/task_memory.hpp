// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <tessera/runtime/runtime.hpp>

namespace tessera {

/// Bytes that the buffers of one task, work space included, may take together: a quarter of the memory of the
/// smallest GPU. StarPU moves what no task needs to the host, but while a task runs the buffers of the next
/// ones are fetched, and the memory is cut up by what lies in it. Every stage chooses its sizes by this where
/// it binds; on a GPU that holds the whole problem it does not. The same on all ranks. Without GPUs there is
/// no limit.
inline Index task_memory(const Runtime& runtime) noexcept {
  const std::int64_t memory = runtime.info().gpu_memory_bytes;
  return memory > 0 ? memory / 4 : std::numeric_limits<Index>::max();
}

/// The largest order of a square matrix of at most so many elements.
inline Index square_of(Index elements) noexcept {
  return static_cast<Index>(std::sqrt(static_cast<double>(elements)));
}

}  // namespace tessera
