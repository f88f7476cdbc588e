// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_split.hpp>
#include <tessera/codelets/common/splitmix.hpp>

/// The error bound of stack_float.cuh with tensor cores done in software.
namespace tessera::test {
using namespace detail;
namespace {

constexpr double u = 0x1p-24;

/// What the tensor cores take of a float.
float taken(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u);
}
struct Split {
  explicit Split(float x)
      : big(std::bit_cast<float>(stack_nearest_tf32(std::bit_cast<std::uint32_t>(x)))),
        small(taken(x - big)) {}
  float big, small;
};

float any_float(std::uint64_t number) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(splitmix(7, number)));
}
float uniform(std::uint64_t seed, std::uint64_t number) {
  return static_cast<float>(static_cast<double>(splitmix(seed, number) >> 11) * 0x1p-52 - 1);
}

TEST(StackFloat, SplitLosesOneBitAtMost) {
  int large = 0;
  double worst = 0;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    const float x = any_float(i), size = std::abs(x);
    if (!(size < 0x1.ffdp127F)) continue;
    const Split split(x);
    const double error = std::abs(double(x) - split.big - split.small);
    ASSERT_EQ(split.big, taken(split.big)) << x;
    if (size < 0x1p-102F) {  // denormal small parts
      ASSERT_LE(error, 0x1p-126) << x;
      continue;
    }
    ASSERT_LE(std::abs(x - split.big), 0x1p-11F * size) << x;
    worst = std::max(worst, error / size);
    ++large;
  }
  EXPECT_GT(large, 1'500'000);
  EXPECT_LE(worst, 0x1p-23);
  EXPECT_GT(worst, 0x1p-25) << "else the bound could be better";
}

TEST(StackFloat, IntegersAreTheirOwnBigPart) {
  for (int i = -2048; i <= 2048; ++i) {
    const Split split(static_cast<float>(i));
    EXPECT_EQ(split.big, static_cast<float>(i));
    EXPECT_EQ(split.small, 0);
  }
}

/// Then a sum with them is not finite either: infinity + finite, or NaN.
TEST(StackFloat, NoPartHidesInfinityOrNaN) {
  const auto seen = [](float x) {
    const Split split(x);
    return !std::isfinite(split.big) || !std::isfinite(split.small);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(seen(infinity) && seen(-infinity));
  for (const std::uint32_t sign : {0u, 0x80000000u})
    for (const std::uint32_t bits :
         {0x7f800001u, 0x7fc00000u, 0x7fffe000u, 0x7fffefffu, 0x7ffff000u, 0x7fffffffu}) {
      const float x = std::bit_cast<float>(bits | sign);
      // The subtraction on a GPU gives the quiet NaN with all bits, here one that is quiet.
      EXPECT_TRUE(std::isnan(x) && std::isnan(x - Split(x).big)) << bits;
    }
  EXPECT_TRUE(seen(std::numeric_limits<float>::max())) << "big overflows: noticed, and computed otherwise";
  EXPECT_FALSE(seen(0x1.ffdp127F));
}

/// The last place of a number of 24 bits that is as large as x.
double last_place(double x) {
  return x == 0 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(x) - 23);
}
double cut(double x, double place) {
  return std::trunc(x / place) * place;
}

/// c + sum a_i b_i as tensor cores do it at worst: all is cut off at the last place of the largest.
float mma(float c, const std::vector<std::pair<float, float>>& products) {
  double largest = std::abs(c);
  for (const auto& [a, b] : products) largest = std::max(largest, std::abs(double(a) * b));
  const double place = last_place(largest);
  double sum = cut(c, place);
  for (const auto& [a, b] : products) sum += cut(double(a) * b, place);
  return static_cast<float>(cut(sum, last_place(sum)));
}

struct Kind {
  bool two_chains;  ///< the smaller terms have their own
  bool stacked;     ///< big_a above small_a: all four terms
};

/// The sum of `products` products of k inner indices, and that of the absolute values.
struct Sum {
  Sum(Kind kind, int k, int products, std::uint64_t seed, bool positive) {
    float x = 0, smaller = 0, lower = 0;
    std::uint64_t number = 0;
    for (int p = 0; p < products; ++p) {
      float big = 0;
      for (int first = 0; first < k; first += 8) {
        std::vector<std::pair<float, float>> bigs, big_small, small_big, smalls;
        for (int l = first; l < std::min(first + 8, k); ++l) {
          float a = uniform(seed, number++), b = uniform(seed, number++);
          if (positive) a = std::abs(a), b = std::abs(b);
          exact += double(a) * b, size += std::abs(double(a) * b);
          const Split left(a), right(b);
          bigs.emplace_back(left.big, right.big), big_small.emplace_back(left.big, right.small);
          small_big.emplace_back(left.small, right.big), smalls.emplace_back(left.small, right.small);
        }
        float& chain = kind.two_chains ? smaller : big;
        if (kind.stacked)
          lower = mma(mma(lower, small_big), smalls);
        else
          chain = mma(chain, small_big);
        chain = mma(chain, big_small);
        big = mma(big, bigs);
      }
      x += big;
    }
    computed = x + smaller + lower;
  }
  double exact = 0, size = 0;
  float computed = 0;
};

TEST(StackFloat, SumsKeepTheirBound) {
  for (const Kind kind : {Kind{true, false}, Kind{true, true}, Kind{false, false}})
    for (const bool positive : {false, true})
      for (const int k : {1, 2, 5, 8, 9, 13, 23, 32, 80})
        for (const int products : {1, 2, 7, 27})
          for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const Sum sum(kind, k, products, seed, positive);
            const int chain = (k + 7) / 8 * (kind.two_chains ? 1 : 3);
            ASSERT_LE(std::abs(sum.computed - sum.exact), u * (8 + 18 * chain + products + 10) * sum.size)
                << k << ' ' << products << ' ' << positive;
          }
}

/// Of numbers of one sign, whose rounding toward zero adds up, too.
TEST(StackFloat, SumsAreAsGoodAsFloatArithmetic) {
  for (const bool positive : {false, true})
    for (const int k : {13, 23, 32}) {
      double ours = 0, plain = 0;
      for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const int products = 16;
        const Sum sum({true, false}, k, products, seed, positive);
        float x = 0;
        for (std::uint64_t number = 0; number < std::uint64_t(2 * k * products); number += 2) {
          float a = uniform(seed, number), b = uniform(seed, number + 1);
          if (positive) a = std::abs(a), b = std::abs(b);
          x = std::fma(a, b, x);
        }
        ours += std::abs(sum.computed - sum.exact) / sum.size, plain += std::abs(x - sum.exact) / sum.size;
      }
      EXPECT_LE(ours, 2 * plain) << k << ' ' << positive << ": " << ours / u / 50 << ' ' << plain / u / 50;
    }
}

}  // namespace
}  // namespace tessera::test
