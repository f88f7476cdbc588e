// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <tessera/codelets/band/kernels/chase_blocks.hpp>

/// The kernels of chase_blocks.hpp on a GPU, and the one of ELPA2 to compare with. All pointers are device
/// pointers; everything is enqueued.
namespace tessera::kernels {

/// form_chase_t.
template <class T>
void launch_form_chase_t(cudaStream_t stream, const DeviceReflectors& piece, const T* reflectors,
                         double* blocks) noexcept;

/// apply_chase by one persistent kernel on the FP64 tensor cores, for all four types (float is converted when
/// C is read and written).
///
/// A warp owns 16 columns and keeps their window of C in registers, in the layout that mma.m16n8k8 has for
/// its result and, up to the order of the summation index, for its first operand (D^T = C^T V, C^T += D^T
/// W^T), so that C goes from memory to registers and back once a bundle. V and W stream through shared
/// memory, shared by the 8 warps of a thread block. A thread block takes (bundle, 128 columns) items in order
/// from a counter; the next bundle of the same columns may start on another multiprocessor as soon as the
/// rows that it needs have left the registers of the one before: a flag for each 16 columns tells how far
/// that is. All multiprocessors are busy so for any number of columns, and bundles that follow one another
/// closely find C in the L2 cache.
///
/// What keeps this right: a row of C is read and written once a bundle, and read only after the flag says
/// that the bundle before has retired it; every lane fences between its stores and the flag, and acquires the
/// flag before its loads; bundles wait only for items taken before
/// theirs, so that the thread blocks need not all be resident; a slot of V and W is filled again after all
/// warps have given it back. Each column is summed in an order of its own: the result does not depend on the
/// others.
///
/// workspace: apply_chase_workspace(columns) bytes.
template <class T>
void launch_apply_chase(cudaStream_t stream, const DeviceReflectors& piece, const double* blocks, T* c,
                        Index columns, Index ldc, void* workspace) noexcept;

/// C := (product of the piece's reflectors) C as ELPA2 does it: one reflector at a time, a thread block an
/// eigenvector, a thread an element of the reflector. The bandwidth is a power of two, at most 128.
/// Source: Yu et al., GPU-acceleration of the ELPA2 distributed eigensolver, Comput. Phys. Commun. 262
/// (2021).
template <class T>
void launch_apply_elpa(cudaStream_t stream, const DeviceReflectors& piece, const T* reflectors, T* c,
                       Index columns, Index ldc) noexcept;

}  // namespace tessera::kernels
