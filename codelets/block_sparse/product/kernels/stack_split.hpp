// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How stack_float.cuh divides a float into two numbers that the tensor cores take (TF32: the first 19 of its
/// 32 bits). No headers: also compiled at run time.
namespace tessera::detail {

/// The bits of the nearest TF32 number, ties away from zero. Infinities stay; from 2^-12 below the largest
/// number on it is an infinity; some NaN become 0.
#ifdef __CUDACC__
__host__ __device__
#endif
    constexpr unsigned
    stack_nearest_tf32(unsigned bits) {
  return (bits + 0x1000u) & 0xffffe000u;
}

}  // namespace tessera::detail
