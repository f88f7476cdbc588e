// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <tessera/algorithms/matgen/shell_model/angular_momentum.hpp>

namespace {

using namespace tessera;
using namespace tessera::detail;

TEST(AngularMomentum, ClebschGordanCoefficientsOfTheTables) {
  EXPECT_NEAR(clebsch_gordan(1, 1, 1, -1, 2, 0), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(clebsch_gordan(1, 1, 1, -1, 0, 0), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(clebsch_gordan(1, -1, 1, 1, 0, 0), -std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(clebsch_gordan(2, 0, 1, 1, 3, 1), std::sqrt(2.0 / 3), 1e-15);
  EXPECT_NEAR(clebsch_gordan(2, 0, 1, 1, 1, 1), -std::sqrt(1.0 / 3), 1e-15);
  EXPECT_NEAR(clebsch_gordan(2, 2, 1, -1, 1, 1), std::sqrt(2.0 / 3), 1e-15);
  EXPECT_NEAR(clebsch_gordan(2, 2, 2, -2, 0, 0), std::sqrt(1.0 / 3), 1e-15);
  EXPECT_NEAR(clebsch_gordan(2, 0, 2, 0, 0, 0), -std::sqrt(1.0 / 3), 1e-15);
  EXPECT_NEAR(clebsch_gordan(2, 0, 2, 0, 2, 0), 0, 1e-15);
  EXPECT_NEAR(clebsch_gordan(2, 0, 2, 0, 4, 0), std::sqrt(2.0 / 3), 1e-15);
  EXPECT_NEAR(clebsch_gordan(3, 3, 2, -2, 3, 1), std::sqrt(2.0 / 5), 1e-15);
  EXPECT_NEAR(clebsch_gordan(7, 7, 7, -7, 0, 0), std::sqrt(1.0 / 8), 1e-15);
  EXPECT_NEAR(clebsch_gordan(7, 5, 7, -5, 0, 0), -std::sqrt(1.0 / 8), 1e-15);
  EXPECT_NEAR(clebsch_gordan(5, 5, 5, 5, 10, 10), 1, 1e-15);
}

TEST(AngularMomentum, WhatCannotCoupleIsZero) {
  EXPECT_EQ(clebsch_gordan(1, 1, 1, 1, 0, 0), 0);   // m
  EXPECT_EQ(clebsch_gordan(1, 1, 1, 1, 4, 2), 0);   // triangle
  EXPECT_EQ(clebsch_gordan(1, 1, 1, 1, 1, 2), 0);   // half-integer sum
  EXPECT_EQ(clebsch_gordan(1, 3, 3, -3, 2, 0), 0);  // |m| > j
  EXPECT_EQ(clebsch_gordan(2, 1, 2, -1, 2, 0), 0);  // m cannot be a projection of j
  EXPECT_EQ(six_j(1, 1, 4, 1, 1, 2), 0);
  EXPECT_EQ(six_j(1, 2, 2, 1, 2, 2), 0);
}

TEST(AngularMomentum, ClebschGordanCoefficientsAreOrthogonal) {
  for (int j1 = 0; j1 <= 11; ++j1)
    for (int j2 = 0; j2 <= 11; ++j2)
      for (int m = (j1 + j2) % 2; m <= j1 + j2; m += 2)
        for (int a = std::abs(j1 - j2); a <= j1 + j2; a += 2)
          for (int b = a; b <= j1 + j2; b += 2) {
            double sum = 0;
            for (int m1 = -j1; m1 <= j1; m1 += 2)
              sum += clebsch_gordan(j1, m1, j2, m - m1, a, m) * clebsch_gordan(j1, m1, j2, m - m1, b, m);
            EXPECT_NEAR(sum, a == b && m <= a ? 1 : 0, 1e-13)
                << j1 << ' ' << j2 << ' ' << a << ' ' << b << ' ' << m;
          }
}

TEST(AngularMomentum, SixJSymbols) {
  EXPECT_NEAR(six_j(1, 1, 2, 1, 1, 2), 1.0 / 6, 1e-15);
  EXPECT_NEAR(six_j(2, 2, 2, 2, 2, 2), 1.0 / 6, 1e-15);
  EXPECT_NEAR(six_j(4, 4, 4, 4, 4, 4), -3.0 / 70, 1e-15);
  EXPECT_NEAR(six_j(1, 1, 0, 1, 1, 2), 0.5, 1e-15);
  // Orthogonality: sum over x of (2x+1)(2f+1) {a b x; c d f} {c d x; a b g} = delta_fg.
  const int a = 5, b = 3, c = 7, d = 5;
  for (int f = std::abs(a - d); f <= a + d; f += 2)
    for (int g = std::abs(a - d); g <= a + d; g += 2) {
      if (f > b + c || g > b + c || f < std::abs(b - c) || g < std::abs(b - c)) continue;
      double sum = 0;
      for (int x = 0; x <= a + b; x += 2) sum += (x + 1) * six_j(a, b, x, c, d, f) * six_j(c, d, x, a, b, g);
      EXPECT_NEAR(sum * (f + 1), f == g ? 1 : 0, 1e-14) << f << ' ' << g;
    }
}

}  // namespace
