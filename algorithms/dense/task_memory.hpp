// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// Bytes that the buffers of one task, work space included, may take together: a quarter of the memory of the
/// smallest GPU. StarPU moves what no task needs to the host, but while a task runs the buffers of the next
/// ones are fetched, and the memory is cut up by what lies in it. Every stage chooses its sizes by this where
/// it binds; on a GPU that holds the whole problem it does not. The same on all ranks. Without GPUs there is
/// no limit.
inline Index task_memory(const Runtime& runtime) noexcept {
  const std::int64_t memory = runtime.info().gpu_memory_bytes;
  return memory > 0 ? memory / 4 : std::numeric_limits<Index>::max();
}

/// The same in elements of type T.
template <class T>
Index task_elements(const Runtime& runtime) noexcept {
  return task_memory(runtime) / static_cast<Index>(sizeof(T));
}

/// An upper bound for the bytes of a problem of order n in one tile: the input, its copy, the vectors twice,
/// and the reflectors of the chase are five matrices.
inline double memory_of_one_tile(Index n, std::size_t element_bytes) noexcept {
  return 6 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(element_bytes);
}

/// Whether a GPU can hold the whole problem.
inline bool gpu_holds_problem(const Runtime& runtime, Index n, std::size_t element_bytes) noexcept {
  return runtime.gpus() > 0 &&
         memory_of_one_tile(n, element_bytes) <= static_cast<double>(runtime.info().gpu_memory_bytes);
}

/// Whether a problem in one tile fills at least a quarter of a GPU's memory, so that its tasks must save
/// memory; several GPUs share it. (For larger problems StarPU moves pieces to the host.)
inline bool memory_matters(const Runtime& runtime, Index n, std::size_t element_bytes) noexcept {
  const double memory = static_cast<double>(runtime.info().gpu_memory_bytes);
  return runtime.size() == 1 && gpu_holds_problem(runtime, n, element_bytes) &&
         memory_of_one_tile(n, element_bytes) > runtime.gpus() * memory / 4;
}

/// Bytes from which on a piece of such a problem gives its memory back when it is released (ReturnedMemory):
/// large enough that a few hundred pieces do, which costs little time. For smaller problems no piece does.
inline std::size_t returned_bytes(const Runtime& runtime, Index n, std::size_t element_bytes) noexcept {
  return memory_matters(runtime, n, element_bytes)
             ? static_cast<std::size_t>(runtime.info().gpu_memory_bytes / 4096)
             : std::numeric_limits<std::size_t>::max();
}

/// The largest order of a square matrix of at most `elements` elements.
inline Index square_of(Index elements) noexcept {
  return static_cast<Index>(std::sqrt(static_cast<double>(elements)));
}

}  // namespace tessera::detail
