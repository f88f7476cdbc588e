// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <span>
#include <string>
#include <vector>

#include <driver_types.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_choice.hpp>
#include <tessera/error.hpp>

/// Machine code of the kernel in stack_kernel.cuh for one shape and type: compiled at run time (NVRTC, which
/// needs no GPU), and kept on disk.
namespace tessera::detail::device {

/// A file as it is included, and its text.
struct SourceFile {
  const char* name;
  const char* text;
};

/// stack_kernel.cuh and what it includes, as they were when the library was built.
std::span<const SourceFile> stack_kernel_files() noexcept;

/// The version of the kernel: a hash of the files, as text.
std::string stack_source_version(std::span<const SourceFile> files);

/// What determines the machine code: files, compiler, driver, architecture (90 for sm_90), shape, plan.
std::string stack_binary_key(std::span<const SourceFile> files, int architecture, const StackShape& shape,
                             const StackPlan& plan);

/// Memory was short, of the compiler or of a device: what failed may succeed another time.
class PassingFailure : public RuntimeError {
  using RuntimeError::RuntimeError;
};
/// @throws PassingFailure if memory was short, RuntimeError for other errors; both say what failed and why
void require_success(cudaError_t error, const char* what);

/// Compiles the kernel of a shape with a valid plan; any number of threads may do so at once. @throws RuntimeError with the compiler's first lines
/// (PassingFailure if it had no memory)
StackBinary compile_stack(std::span<const SourceFile> files, int architecture, const StackShape& shape,
                          const StackPlan& plan);

/// The compiler's name and version.
std::string stack_compiler_version();

}  // namespace tessera::detail::device

#endif  // TESSERA_WITH_CUDA
