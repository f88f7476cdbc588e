// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase_device.cuh>

/// The places where a thread of the chase's kernel (chase_sweeps_cuda.cu) holds its elements of D and B.
namespace tessera::kernels {
namespace {

/// Where a warp keeps its part of D or B between the passes of a step.
enum class Keep { registers, shared, global };

/// A thread's elements of D or B (number (k, c): row lane + 32 k, column warp + W c).
template <class S, int K, int C, Keep keep>
struct Part;
template <class S, int K, int C>
struct Part<S, K, C, Keep::registers> {
  S value[K][C];
  __device__ S get(int k, int c) const { return value[k][c]; }
  __device__ void set(int k, int c, S x) { value[k][c] = x; }
};
template <class S, int K, int C>
struct Part<S, K, C, Keep::shared> {
  S* value;
  __device__ S get(int k, int c) const { return value[(k * C + c) * static_cast<int>(blockDim.x)]; }
  __device__ void set(int k, int c, S x) { value[(k * C + c) * static_cast<int>(blockDim.x)] = x; }
};
/// In the band itself, as far as an element exists; the column that is sent is not written.
template <class S, int K, int C>
struct Part<S, K, C, Keep::global> {
  S* corner;  ///< the thread's element (0, 0), were it in the band
  Index down, right;
  unsigned readable[C], writable[C];
  __device__ S get(int k, int c) const {
    return readable[c] >> k & 1 ? load(corner + k * down + c * right) : S(Real<S>(0));
  }
  __device__ void set(int k, int c, S x) {
    if (writable[c] >> k & 1) store(corner + k * down + c * right, x);
  }
};

}  // namespace
}  // namespace tessera::kernels
