// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>

namespace tessera::device {

/// Computes a small stack of small integers, which no rounding touches, by the kernel and by the generic one
/// on the current device, and waits. Blocks lie at odd offsets. @throws RuntimeError where the results differ
/// anywhere, also beside the blocks of C, or the device fails
void require_same_as_generic(const StackKernel& kernel, const StackShape& shape);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
