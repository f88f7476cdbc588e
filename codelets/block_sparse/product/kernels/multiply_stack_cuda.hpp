// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <span>

#include <cuda_runtime.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>
#include <tessera/codelets/block_sparse/symbolic/stack.hpp>

/// The kernels behind MultiplyStack on a GPU. All pointers but `classes` are device memory,
/// everything is enqueued on the stream. A block of C is computed by one block of threads, its products in
/// the order of its run: the bits of a result depend on the shape, the kernel and the run alone.
namespace tessera::device {

/// The products of all classes, each class by the kernel of its shape if it should have one (has_own_kernel)
/// and has, else by the generic kernel. Compiles what has not been prepared.
template <class T>
void launch_stack(cudaStream_t stream, StackCompiler& compiler, std::span<const StackClass> classes,
                  const StackEntry* entries, const StackRun* runs, const T* a, const T* b, T* c);

/// The products of one class by any kernel; `runs` are those of the class.
template <class T>
void launch_stack_kernel(cudaStream_t stream, const StackKernel& kernel, const StackClass& shape,
                         const StackEntry* entries, const StackRun* runs, const T* a, const T* b, T* c);

/// The same for sizes that are known at run time only, of any size: tiles of C of up to 64 x 64 in registers,
/// A and B in steps of 16 through shared memory.
template <class T>
void launch_generic_stack(cudaStream_t stream, const StackClass& shape, const StackEntry* entries,
                          const StackRun* runs, const T* a, const T* b, T* c);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
