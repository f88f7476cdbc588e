// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_fp16.h>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/linalg/split_products.hpp>

/// What split_products.cu and split_hermitian.cu share.
namespace tessera::detail::split_products {

/// Real rows and columns of a thread block of the kernels that read an operand; a thread has four rows.
inline constexpr int lanes = 64, block_columns = 4, rows_of_thread = 4;

/// The exponent of the power of two that scales an operand whose largest element has these bits, as a float's:
/// their order is that of positive numbers.
__device__ inline int scale_exponent(unsigned largest) {
  return min(max(13 - (static_cast<int>(largest >> 23 & 0xff) - 127), -126), 127);
}
__device__ inline float power_of_two(int exponent) {
  return __int_as_float((exponent + 127) << 23);
}
/// What undoes the scales of two operands, times alpha; NaN if an element of them is not finite.
__device__ inline float unscaling(unsigned largest_a, unsigned largest_b, float alpha) {
  constexpr unsigned infinity = 0x7f800000u;
  if (max(largest_a, largest_b) >= infinity) return nanf("");
  const int exponent = -scale_exponent(largest_a) - scale_exponent(largest_b);
  return alpha * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
}

__device__ inline float4 load_rows(const float* column, int row, int rows, bool aligned) {
  if (aligned && row + 3 < rows) return *reinterpret_cast<const float4*>(column + row);
  const auto at = [&](int r) { return row + r < rows ? column[row + r] : 0.f; };
  return {at(0), at(1), at(2), at(3)};
}
/// The halves of a scaled number pair: x = high + low.
__device__ inline void split_pair(float a, float b, __half2& high, __half2& low) {
  high = __floats2half2_rn(a, b);
  const float2 h = __half22float2(high);
  low = __floats2half2_rn(a - h.x, b - h.y);
}

/// A matrix as reals.
struct Reals {
  const float* data;
  int rows, cols;
  Index ld;
  bool aligned;

  template <class T>
  explicit Reals(const MatrixView<const T>& a)
      : data(reinterpret_cast<const float*>(a.data)),
        rows(static_cast<int>(reals<T> * a.rows)),
        cols(static_cast<int>(a.cols)),
        ld(reals<T> * a.ld),
        aligned(ld % 4 == 0 && reinterpret_cast<std::uintptr_t>(a.data) % 16 == 0) {}
};

inline dim3 grid_of(Index rows, Index cols) noexcept {
  const unsigned along = device::blocks_for(rows, lanes * rows_of_thread, device::full_grid);
  return {along, device::blocks_for(cols, block_columns, std::max<Index>(device::full_grid / along, 1))};
}

/// *largest := max(*largest, the bits of the largest absolute value).
void find_largest(const CudaContext& on, const Reals& x, unsigned* largest) noexcept;

}  // namespace tessera::detail::split_products
