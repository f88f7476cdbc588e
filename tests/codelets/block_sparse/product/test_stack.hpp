// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/common/splitmix.hpp>

namespace tessera::test {
using namespace detail;

/// Number of products of one shape in a stack.
struct ShapeCount {
  std::int32_t m, n, k, products;
};

enum class Values {
  integers,  ///< from -3 to 3, so sums are exact in any order
  reals      ///< uniform in [-1, 1]
};

template <class T>
StackFactors<T> one_pair(const T* a, const T* b) {
  StackFactors<T> factors{};
  factors.a[0] = a, factors.b[0] = b;
  return factors;
}

/// A stack on the host and the panels that it is about. Every class has five blocks of A and of B, drawn for
/// each product; runs have 1 to 9 products and are in no order in C. The first blocks begin at `first`.
template <class T>
struct TestStack {
  TestStack(std::span<const ShapeCount> shapes, Values values, std::uint64_t seed = 1,
            std::int32_t first = 1) {
    std::uint64_t number = 0;
    const auto draw = [&](std::int32_t below) {
      return static_cast<std::int32_t>(splitmix(seed, number++) % static_cast<std::uint64_t>(below));
    };
    std::int32_t a_end = first, b_end = first, c_end = first;
    for (const auto& [m, n, k, products] : shapes) {
      const auto first_run = static_cast<std::int32_t>(runs.size()),
                 first_entry = static_cast<std::int32_t>(entries.size());
      for (std::int32_t left = products; left > 0; left -= runs.back().count)
        runs.push_back({0, first_entry + products - left, std::min(left, 1 + draw(9))});
      const auto count = static_cast<std::int32_t>(runs.size()) - first_run;
      // The stride must not divide the count, so that it visits every position once.
      const std::int32_t stride = count % 7 == 0 ? 1 : 7;
      for (std::int32_t r = 0; r < count; ++r)
        runs[static_cast<std::size_t>(first_run + r)].c = c_end + r * stride % count * (m * n);
      for (std::int32_t p = 0; p < products; ++p)
        entries.push_back({a_end + draw(blocks) * m * k, b_end + draw(blocks) * k * n});
      a_end += blocks * m * k, b_end += blocks * k * n, c_end += count * m * n;
      classes.push_back({m, n, k, first_run, count, first_entry, products});
    }
    a = random(a_end, values, seed + 1);
    b = random(b_end, values, seed + 2);
    c = random(c_end, values, seed + 3);
  }

  /// C after the products, computed by the CPU kernel.
  std::vector<T> by_cpu() const {
    std::vector<T> result = c;
    kernels::multiply_stack<T>(classes, entries.data(), runs.data(), one_pair(a.data(), b.data()),
                               result.data());
    return result;
  }

  std::vector<StackClass> classes;
  std::vector<StackEntry> entries;
  std::vector<StackRun> runs;
  std::vector<T> a, b, c;

 private:
  static constexpr std::int32_t blocks = 5;
  static std::vector<T> random(std::int32_t size, Values kind, std::uint64_t seed) {
    std::vector<T> values(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T x = random_scalar<T>(seed, static_cast<Index>(i), 0);
      values[i] = kind == Values::reals ? x : nearest_integer(RealOf<T>(3) * x);
    }
    return values;
  }
  static T nearest_integer(T x) {
    if constexpr (is_complex<T>)
      return T(std::round(x.real()), std::round(x.imag()));
    else
      return std::round(x);
  }
};

}  // namespace tessera::test
