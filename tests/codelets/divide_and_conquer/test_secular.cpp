// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The secular kernels one by one, against bisection and products in long double.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>

namespace tessera::test {
using namespace detail;
namespace {

using divide_and_conquer::MergeRecord;

/// A secular equation with all poles in the left group, in ascending slots.
class Secular {
 public:
  Secular(Index poles, double coupling, double smallest_gap, double smallest_z)
      : buffer_(MergeRecord::bytes(poles)), record(buffer_.data(), poles) {
    *record.header = {};
    record.header->left = record.header->poles = record.header->pole_group[0] = poles;
    record.header->coupling = coupling;
    double d = -1;
    for (Index i = 0; i < poles; ++i) {
      d += i % 3 == 1 ? smallest_gap : 0.01 + 0.003 * static_cast<double>(i * 7 % 11);
      record.pole[i] = record.value[i] = d;
      record.z[i] = i % 5 == 2 ? -smallest_z : (0.1 + static_cast<double>(i * 13 % 17)) * 0.05;
      record.first_row[i] = std::sin(1.0 + static_cast<double>(i));
      record.last_row[i] = std::cos(2.0 * static_cast<double>(i));
    }
  }
  void solve() {
    evaluations = kernels::secular_roots(record, 0, record.poles(), record.base, record.offset);
    kernels::secular_weights(record, 0, record.poles(), record.weight);
  }
  /// f at base + offset.
  long double value(long double base, long double offset) const {
    long double f = 1.0L / record.header->coupling;
    for (Index i = 0; i < record.poles(); ++i)
      f += static_cast<long double>(record.z[i]) * record.z[i] / ((record.pole[i] - base) - offset);
    return f;
  }
  /// Offset of root k from its base, by bisection to the last bit.
  long double bisect(Index k) const {
    const long double base = record.base[k];
    long double low = record.pole[k] - base, high;
    if (k + 1 < record.poles()) {
      high = record.pole[k + 1] - base;
    } else {
      high = 0;
      for (Index i = 0; i < record.poles(); ++i)
        high += static_cast<long double>(record.z[i]) * record.z[i] * record.header->coupling;
    }
    for (int step = 0; step < 20000; ++step) {
      const long double middle = (low + high) / 2;
      if (middle == low || middle == high) break;
      (value(base, middle) < 0 ? low : high) = middle;
    }
    return high;
  }
  long double difference(Index i, Index k) const {  // d_i - lambda_k
    return (static_cast<long double>(record.pole[i]) - record.base[k]) - record.offset[k];
  }

 private:
  std::vector<char> buffer_;

 public:
  MergeRecord record;
  Index evaluations = 0;
};

std::vector<Secular> problems() {
  std::vector<Secular> list;
  for (const Index poles : {1, 2, 3, 4, 5, 8, 9, 33, 100})
    for (const double coupling : {1.0, 1e-8, 1e-13})
      for (const double gap : {1e-2, 1e-14})
        for (const double z : {0.3, 1e-7, 1e-15}) list.emplace_back(poles, coupling, gap, z);
  return list;
}

TEST(SecularRoots, AreAccurateRelativeToTheNearestPole) {
  for (auto& problem : problems()) {
    problem.solve();
    const auto& r = problem.record;
    for (Index k = 0; k < r.poles(); ++k) {
      ASSERT_TRUE(std::isfinite(r.offset[k]));
      ASSERT_GT(problem.difference(k, k) * -1, 0) << "root " << k << " is not above its pole";
      if (k + 1 < r.poles()) {
        ASSERT_GT(problem.difference(k + 1, k), 0) << "root " << k << " is above the next pole";
      }
      // The offset solves the equation up to the rounding error of f: |f| is a few eps times the
      // sum of the moduli of all terms.
      long double magnitude = 1.0L / r.header->coupling, slope = 0;
      for (Index i = 0; i < r.poles(); ++i) {
        const long double x = problem.difference(i, k), z = r.z[i];
        magnitude += z * z / std::abs(x);
        slope += z * z / (x * x);
      }
      const long double allowed =
          1e-15L * (20 * magnitude + std::abs(static_cast<long double>(r.offset[k])) * slope);
      ASSERT_LE(std::abs(problem.value(r.base[k], r.offset[k])), allowed);
      ASSERT_LE(std::abs(r.offset[k] - problem.bisect(k)), allowed / slope + 1e-15L * std::abs(r.offset[k]));
    }
    EXPECT_LE(problem.evaluations, 7 * r.poles() + 60);
  }
}

TEST(SecularWeights, MakeTheComputedRootsExact) {
  for (auto& problem : problems()) {
    problem.solve();
    const auto& r = problem.record;
    for (Index i = 0; i < r.poles(); ++i) {
      long double squared = -problem.difference(i, i);
      for (Index j = 0; j < r.poles(); ++j)
        if (j != i) squared *= -problem.difference(i, j) / (static_cast<long double>(r.pole[j]) - r.pole[i]);
      EXPECT_NEAR(r.weight[i] / static_cast<double>(std::sqrt(squared)), std::copysign(1.0, r.z[i]), 1e-13);
      EXPECT_NEAR(r.weight[i] / (r.z[i] * std::sqrt(r.header->coupling)), 1.0, 1e-10);
    }
  }
}

TEST(SecularVectors, AreOrthonormalAndGiveTheBoundaryRows) {
  for (auto& problem : problems()) {
    problem.solve();
    const auto& r = problem.record;
    const Index poles = r.poles(), lds = poles + 3;
    std::vector<double> s(lds * poles, 7.0), first(poles), last(poles);
    std::vector<float> single(lds * poles, 7.0f);
    kernels::secular_vectors(r, 0, poles, s.data(), lds);
    kernels::secular_vectors(r, 0, poles, single.data(), lds);
    kernels::secular_rows(r, 0, poles, first.data(), last.data());
    for (Index k = 0; k < poles; ++k) {
      double first_sum = 0, last_sum = 0;
      for (Index p = 0; p < poles; ++p) {
        first_sum += r.first_row[p] * s[p + k * lds];
        last_sum += r.last_row[p] * s[p + k * lds];
        ASSERT_NEAR(single[p + k * lds], s[p + k * lds], 4e-7);
      }
      for (Index p = poles; p < lds; ++p) ASSERT_EQ(s[p + k * lds], 7.0);
      ASSERT_NEAR(first[k], first_sum, 1e-13);
      ASSERT_NEAR(last[k], last_sum, 1e-13);
      for (Index l = 0; l <= k; ++l) {
        double dot = 0;
        for (Index p = 0; p < poles; ++p) dot += s[p + k * lds] * s[p + l * lds];
        ASSERT_NEAR(dot, k == l ? 1.0 : 0.0, 2e-14);
      }
    }
  }
}

TEST(SecularKernels, ChunksEqualTheWholeBitwise) {
  Secular whole(101, 0.7, 1e-6, 1e-5), parts(101, 0.7, 1e-6, 1e-5);
  whole.solve();
  auto& r = parts.record;
  for (Index k = 0; k < 101; k += 17)
    kernels::secular_roots(r, k, std::min<Index>(k + 17, 101), r.base + k, r.offset + k);
  for (Index k = 0; k < 101; k += 7)
    kernels::secular_weights(r, k, std::min<Index>(k + 7, 101), r.weight + k);
  for (Index k = 0; k < 101; ++k) {
    EXPECT_EQ(r.offset[k], whole.record.offset[k]);
    EXPECT_EQ(r.weight[k], whole.record.weight[k]);
  }
}

TEST(SecularKernels, EveryInstructionSetAgrees) {
  std::vector<const kernels::SecularKernels*> versions = {&kernels::level2::secular_kernels};
  if constexpr (kernels::highest_cpu_level >= 3)
    if (kernels::cpu_level() >= 3) versions.push_back(&kernels::level3::secular_kernels);
  if constexpr (kernels::highest_cpu_level >= 4)
    if (kernels::cpu_level() >= 4) versions.push_back(&kernels::level4::secular_kernels);
  Secular reference(90, 0.5, 1e-9, 1e-4);
  reference.solve();
  for (const auto* version : versions) {
    Secular other(90, 0.5, 1e-9, 1e-4);
    auto& r = other.record;
    version->roots(r, 0, 90, r.base, r.offset);
    version->weights(r, 0, 90, r.weight);
    version->rows(r, 0, 90, r.root_first, r.root_last);
    for (Index k = 0; k < 90; ++k) {
      EXPECT_EQ(r.base[k], reference.record.base[k]);
      EXPECT_NEAR(r.offset[k] / reference.record.offset[k], 1.0, 1e-13);
      EXPECT_NEAR(r.weight[k] / reference.record.weight[k], 1.0, 1e-12);
    }
  }
}

}  // namespace
}  // namespace tessera::test
