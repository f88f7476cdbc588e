// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/product/kernels/stack_instructions.cuh>
#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>
#include <tessera/codelets/block_sparse/product/kernels/stack_split.hpp>

/// Sums in single precision for the kernel of stack_kernel.cuh, by the tensor cores' TF32 (11 bits): "3xTF32",
/// H. Ootomo and R. Yokota, "Recovering single precision accuracy from Tensor Cores while avoiding the FP32
/// theoretical peak performance limitation", IJHPCA 36 (2022).
///
/// x = big + small + error: big is x rounded to the nearest TF32 number, small = x - big, which is exact. The
/// tensor cores ignore the last 13 bits of what they take. |small| <= 2^-11 |x| is a multiple of the last
/// place of x, so that this costs it one bit at most: |error| <= 2^-23 |x|. Of
///   a b = big_a big_b + big_a small_b + small_a big_b + small_a small_b
/// the last term (<= 2^-22 |a b|) is left out where it would cost an instruction.
///
/// Error. Let u = 2^-24, S = sum |a b| over all products of an element of C and all inner indices, s the number
/// of instructions in a chain and P that of chains (a product of blocks, or a slice of one). The computed value
/// of C + sum a b differs from it by at most
///   u (8 + 18 s + P + 10) S + u |C|:
/// - 8 u: the split, 2^-23 each of a and b and 2^-22 of small_a small_b.
/// - 18 u s: an instruction adds eight products and what was there. Tensor cores align what they add to the
///   largest and cut it off there (rounding toward zero), no sooner than at 24 bits: nine times 2^-23. Hence
///   the chain of big_a big_b is short: it begins with 0 for every product and is added by a rounded addition.
///   The two smaller terms have a chain of their own over the whole run: 2^-11 of them is lost in it at the
///   same rate.
/// - P: these rounded additions; 10: the smaller terms, the groups' sums and C.
/// s = ceil(k / 8), complex ceil(k / 4), of a slice or of products laid end to end; complex blocks for which
/// the registers do not suffice (stack_two_chains) have one chain, of three times as many. Float arithmetic
/// throughout has u k P S. For complex numbers this holds for real and imaginary part, |a b| being replaced by
/// the products of which they consist.
/// Below 2^-102 the small part of an element may be a denormal, which may be taken for 0, as may products
/// below 2^-126: the error grows by 2^-126 times the other factor, and by 2^-126. Integers up to 2^11 are
/// their own big part: their products are exact, and their sums below 2^24.
///
/// Infinities and NaN: big or small is NaN or infinite where x is, and where big overflows (x within 2^-12 of
/// the largest number), so that the sum is, too. Who uses a sum therefore looks whether it is `finite`, and
/// computes it otherwise with plain multiplications and additions (stack_kernel.cuh): the result is infinite or
/// NaN where theirs is. This costs nothing in the loop.
///
/// Instructions for each 8 inner indices (complex: 4, two planes): m16n8k8 takes two tiles of 8 x 8, one below
/// the other, which need three, one each of the terms. If the number of tiles in a column is odd, the last one
/// takes the place of two: big_a above small_a. Then two instructions give all four terms, so that padding to
/// 16 rows costs a third for one tile, not a whole. Tiles of C transposed could be paired along rows instead:
/// 14 instead of 15 instructions for 3 x 3 tiles, but eight moves to rearrange operands.
///
/// Which lane has what (PTX ISA, "Matrix Fragments for mma.m16n8k8"): with g = lane / 4, t = lane % 4,
///   a0 = A(g, t), a1 = A(g + 8, t), a2 = A(g, t + 4), a3 = A(g + 8, t + 4);  b0 = B(t, g), b1 = B(t + 4, g);
///   c0, c1 = C(g, 2 t), C(g, 2 t + 1);  c2, c3 = C(g + 8, 2 t), C(g + 8, 2 t + 1).
/// m16n8k4 has a0, a1, b0 alone. For a tile these are the elements of the instructions in double precision; the
/// second half of the inner indices is the next step, or the imaginary part.
namespace tessera::detail::kernels::stack_detail {

template <>
struct Fragment<float> {
  float re = 0;
  Fragment() = default;
  explicit __device__ Fragment(float x) : re(x) {}
};
template <>
struct Fragment<StackComplex<float>> {
  float re = 0, im = 0;
  Fragment() = default;
  explicit __device__ Fragment(StackComplex<float> x) : re(x.re), im(x.im) {}
};

/// A number as two that the tensor cores take.
struct Split {
  unsigned big, small;
  Split() = default;
  explicit __device__ Split(float x) {
    big = stack_nearest_tf32(__float_as_uint(x));
    small = __float_as_uint(x - __uint_as_float(big));
  }
  __device__ Split operator-() const {
    Split minus;
    minus.big = big ^ 0x80000000u, minus.small = small ^ 0x80000000u;
    return minus;
  }
};

/// c += a b for 16 rows, 8 columns and four (one step) or eight inner indices.
__device__ inline void mma_float(float (&c)[4], const unsigned (&a)[2], const unsigned (&b)[1]) {
  asm("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
__device__ inline void mma_float(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// A thread's part of C, as Sum in stack_kernel.cuh has it in double precision.
template <class T, int TilesM, int TilesN>
struct FloatSum {
  using Number = float;
  static constexpr int count = TilesM * TilesN * 2 * planes<T>;
  float x[planes<T>][TilesM][TilesN][2] = {};

  __device__ float& at(int i) { return (&x[0][0][0][0])[i]; }

  /// Around the steps of a product: what they give is added to x by a rounded addition.
  __device__ void begin_chain() {
    for_each_pair([&](int p, int r, int j, bool both) {
      for (int l = 0; l < (both ? 4 : 2); ++l) big_[p][r][j][l] = 0;
    });
  }
  __device__ void end_chain() { add(big_, false); }
  /// After the last product.
  __device__ void finish() {
    if constexpr (two_chains) add(small_, true);
    if constexpr (TilesM % 2 == 1)
      for_each_pair([&](int p, int r, int j, bool both) {
        for (int l = 0; l < 2; ++l)
          if (!both) x[p][2 * r][j][l] += big_[p][r][j][2 + l];
      });
  }
  __device__ bool finite() const {
    float zero = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) zero = __fmaf_rn((&x[0][0][0][0])[i], 0.f, zero);
    return zero == 0;
  }

  /// += A B for Steps (1 or 2) steps of four inner indices.
  template <int Steps>
  __device__ void multiply_add(const Fragment<T> (&a)[Steps][TilesM], const Fragment<T> (&b)[Steps][TilesN]) {
    if constexpr (planes<T> == 1) {
      Split left[Steps][TilesM], right[Steps][TilesN];
#pragma unroll
      for (int s = 0; s < Steps; ++s) {
#pragma unroll
        for (int i = 0; i < TilesM; ++i) left[s][i] = Split(a[s][i].re);
#pragma unroll
        for (int j = 0; j < TilesN; ++j) right[s][j] = Split(b[s][j].re);
      }
      multiply_tiles<Steps>(0, left, right);
    } else {
#pragma unroll
      for (int s = 0; s < Steps; ++s) multiply_add_complex(a[s], b[s]);
    }
  }

 private:
  static constexpr int pairs = (TilesM + 1) / 2;  ///< two rows of tiles, or the last of an odd number
  static constexpr bool two_chains = stack_two_chains(planes<T> == 2, TilesM, TilesN);
  float big_[planes<T>][pairs][TilesN][4] = {}, small_[planes<T>][pairs][TilesN][4] = {};

  template <class F>
  static __device__ void for_each_pair(const F& f) {
#pragma unroll
    for (int p = 0; p < planes<T>; ++p)
#pragma unroll
      for (int r = 0; r < pairs; ++r)
#pragma unroll
        for (int j = 0; j < TilesN; ++j) f(p, r, j, 2 * r + 1 < TilesM);
  }
  /// x += terms; `all`: the lower half of a last row as well, which is of the same elements.
  __device__ void add(const float (&terms)[planes<T>][pairs][TilesN][4], bool all) {
    for_each_pair([&](int p, int r, int j, bool both) {
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        x[p][2 * r][j][l] += !both && all ? terms[p][r][j][l] + terms[p][r][j][2 + l] : terms[p][r][j][l];
        if (both) x[p][2 * r + 1][j][l] += terms[p][r][j][2 + l];
      }
    });
  }
  /// Real and imaginary parts take the place of two steps. Four real products: three of sums and parts would
  /// be 9 instead of 12 instructions for a pair of tiles, but half as many sums more, the split of the sums of
  /// parts, and an error relative to |a| |b| only. See stack_kernel.cuh.
  __device__ void multiply_add_complex(const Fragment<T> (&a)[TilesM], const Fragment<T> (&b)[TilesN]) {
    Split left[2][TilesM], real[2][TilesN], imaginary[2][TilesN];
#pragma unroll
    for (int i = 0; i < TilesM; ++i) left[0][i] = Split(a[i].re), left[1][i] = Split(a[i].im);
#pragma unroll
    for (int j = 0; j < TilesN; ++j) {
      real[0][j] = imaginary[1][j] = Split(b[j].re);
      imaginary[0][j] = Split(b[j].im);
      real[1][j] = -imaginary[0][j];
    }
    multiply_tiles<2>(0, left, real);
    multiply_tiles<2>(1, left, imaginary);
  }
  template <int Steps>
  __device__ void multiply_tiles(int plane, const Split (&left)[Steps][TilesM],
                                 const Split (&right)[Steps][TilesN]) {
#pragma unroll
    for (int j = 0; j < TilesN; ++j) {
      unsigned big_b[Steps], small_b[Steps];
#pragma unroll
      for (int s = 0; s < Steps; ++s) big_b[s] = right[s][j].big, small_b[s] = right[s][j].small;
#pragma unroll
      for (int r = 0; r < pairs; ++r) {
        const bool both = 2 * r + 1 < TilesM;
        const int lower = both ? 2 * r + 1 : 2 * r;
        unsigned big_a[2 * Steps], small_a[2 * Steps];
#pragma unroll
        for (int s = 0; s < Steps; ++s) {
          big_a[2 * s] = left[s][2 * r].big, small_a[2 * s] = left[s][2 * r].small;
          big_a[2 * s + 1] = both ? left[s][lower].big : left[s][lower].small;
          small_a[2 * s + 1] = left[s][lower].small;
        }
        float(&small)[4] = two_chains ? small_[plane][r][j] : big_[plane][r][j];
        if (both) mma_float(small, small_a, big_b);
        mma_float(small, big_a, small_b);
        mma_float(big_[plane][r][j], big_a, big_b);
      }
    }
  }
};

template <int TilesM, int TilesN>
struct Sum<float, TilesM, TilesN> : FloatSum<float, TilesM, TilesN> {};
template <int TilesM, int TilesN>
struct Sum<StackComplex<float>, TilesM, TilesN> : FloatSum<StackComplex<float>, TilesM, TilesN> {};

}  // namespace tessera::detail::kernels::stack_detail
