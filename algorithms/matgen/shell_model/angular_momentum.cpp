// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include <tessera/algorithms/matgen/shell_model/angular_momentum.hpp>

namespace tessera::detail {

namespace {

/// The sums below cancel: they are formed in extended precision where there is one.
using Wide = long double;

const std::array<Wide, 152>& factorials() noexcept {
  static const std::array<Wide, 152> table = [] {
    std::array<Wide, 152> f{};
    f[0] = 1;
    for (std::size_t k = 1; k < f.size(); ++k) f[k] = f[k - 1] * static_cast<Wide>(k);
    return f;
  }();
  return table;
}

Wide factorial(int n) noexcept {
  return factorials()[static_cast<std::size_t>(n)];
}

bool triangle(int twice_a, int twice_b, int twice_c) noexcept {
  return (twice_a + twice_b + twice_c) % 2 == 0 && std::abs(twice_a - twice_b) <= twice_c &&
         twice_c <= twice_a + twice_b;
}

/// The square of the triangle coefficient.
Wide triangle_coefficient(int twice_a, int twice_b, int twice_c) noexcept {
  return factorial((twice_a + twice_b - twice_c) / 2) * factorial((twice_a - twice_b + twice_c) / 2) *
         factorial((twice_b + twice_c - twice_a) / 2) / factorial((twice_a + twice_b + twice_c) / 2 + 1);
}

bool projection(int twice_j, int twice_m) noexcept {
  return std::abs(twice_m) <= twice_j && (twice_j + twice_m) % 2 == 0;
}

}  // namespace

double clebsch_gordan(int twice_j1, int twice_m1, int twice_j2, int twice_m2, int twice_j,
                      int twice_m) noexcept {
  if (twice_m1 + twice_m2 != twice_m || !triangle(twice_j1, twice_j2, twice_j)) return 0;
  if (!projection(twice_j1, twice_m1) || !projection(twice_j2, twice_m2) || !projection(twice_j, twice_m))
    return 0;
  const int apart = (twice_j1 + twice_j2 - twice_j) / 2, down1 = (twice_j1 - twice_m1) / 2,
            up1 = (twice_j1 + twice_m1) / 2, down2 = (twice_j2 - twice_m2) / 2,
            up2 = (twice_j2 + twice_m2) / 2, shift1 = (twice_j - twice_j2 + twice_m1) / 2,
            shift2 = (twice_j - twice_j1 - twice_m2) / 2;
  Wide sum = 0;
  for (int k = std::max({0, -shift1, -shift2}); k <= std::min({apart, down1, up2}); ++k)
    sum += (k % 2 == 0 ? 1 : -1) / (factorial(k) * factorial(apart - k) * factorial(down1 - k) *
                                    factorial(up2 - k) * factorial(shift1 + k) * factorial(shift2 + k));
  return static_cast<double>(
      sum * std::sqrt(static_cast<Wide>(twice_j + 1) * triangle_coefficient(twice_j1, twice_j2, twice_j) *
                      factorial((twice_j + twice_m) / 2) * factorial((twice_j - twice_m) / 2) *
                      factorial(down1) * factorial(up1) * factorial(down2) * factorial(up2)));
}

ClebschGordanTable::ClebschGordanTable(const std::vector<int>& twice_j) {
  const std::set<int> different(twice_j.begin(), twice_j.end());
  j_values_ = static_cast<std::size_t>(*different.rbegin()) + 1;
  first_state_.resize(j_values_);
  for (const int j : different) {
    first_state_[static_cast<std::size_t>(j)] = states_;
    states_ += static_cast<std::size_t>(j) + 1;
  }
  values_.assign(states_ * states_ * j_values_, 0.0);
  for (const int a : different)
    for (const int b : different)
      for (int m_a = -a; m_a <= a; m_a += 2)
        for (int m_b = -b; m_b <= b; m_b += 2)
          for (int j = std::abs(a - b); j <= a + b; j += 2)
            values_[(state(a, m_a) * states_ + state(b, m_b)) * j_values_ + static_cast<std::size_t>(j / 2)] =
                clebsch_gordan(a, m_a, b, m_b, j, m_a + m_b);
}

double six_j(int twice_a, int twice_b, int twice_c, int twice_d, int twice_e, int twice_f) noexcept {
  if (!triangle(twice_a, twice_b, twice_c) || !triangle(twice_a, twice_e, twice_f) ||
      !triangle(twice_d, twice_b, twice_f) || !triangle(twice_d, twice_e, twice_c))
    return 0;
  const std::array<int, 4> threes{(twice_a + twice_b + twice_c) / 2, (twice_a + twice_e + twice_f) / 2,
                                  (twice_d + twice_b + twice_f) / 2, (twice_d + twice_e + twice_c) / 2};
  const std::array<int, 3> fours{(twice_a + twice_b + twice_d + twice_e) / 2,
                                 (twice_b + twice_c + twice_e + twice_f) / 2,
                                 (twice_a + twice_c + twice_d + twice_f) / 2};
  Wide sum = 0;
  const int last = *std::min_element(fours.begin(), fours.end());
  for (int k = *std::max_element(threes.begin(), threes.end()); k <= last; ++k) {
    Wide denominator = 1;
    for (int three : threes) denominator *= factorial(k - three);
    for (int four : fours) denominator *= factorial(four - k);
    sum += (k % 2 == 0 ? 1 : -1) * factorial(k + 1) / denominator;
  }
  return static_cast<double>(sum * std::sqrt(triangle_coefficient(twice_a, twice_b, twice_c) *
                                             triangle_coefficient(twice_a, twice_e, twice_f) *
                                             triangle_coefficient(twice_d, twice_b, twice_f) *
                                             triangle_coefficient(twice_d, twice_e, twice_c)));
}

}  // namespace tessera::detail
