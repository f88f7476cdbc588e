// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include <gtest/gtest.h>

#include <tessera/algorithms/matgen/shell_model/angular_momentum.hpp>
#include <tessera/algorithms/matgen/shell_model/oscillator_two_body.hpp>

namespace {

using namespace tessera::detail;

/// The number of a pair among those of Q and L.
std::size_t number_of(const OscillatorBrackets& brackets, int l, const OscillatorPair& pair) {
  const auto& pairs = brackets.pairs(pair.quanta(), l);
  return static_cast<std::size_t>(std::find(pairs.begin(), pairs.end(), pair) - pairs.begin());
}
double bracket(const OscillatorBrackets& brackets, int l, const OscillatorPair& particles,
               const OscillatorPair& relative) {
  return brackets(particles.quanta(), l, number_of(brackets, l, particles), number_of(brackets, l, relative));
}

using Point = std::array<double, 3>;

/// The radial function, positive near the origin, of the oscillator with length 1.
double radial(int n, int l, double r) {
  const double a = l + 0.5, x = r * r;
  double before = 0, laguerre = 1;
  for (int k = 0; k < n; ++k) {
    const double next = ((2 * k + 1 + a - x) * laguerre - (k + a) * before) / (k + 1);
    before = laguerre;
    laguerre = next;
  }
  return std::sqrt(2 * std::exp(std::lgamma(n + 1.) - std::lgamma(n + a + 1))) * std::pow(r, l) *
         std::exp(-x / 2) * laguerre;
}

/// The eigenfunction n l m at a point, by the spherical harmonic of the library.
std::complex<double> eigenfunction(int n, int l, int m, const Point& at) {
  const double r = std::hypot(at[0], at[1], at[2]);
  const auto l_ = static_cast<unsigned>(l), m_ = static_cast<unsigned>(std::abs(m));
  // std::sph_legendre has the phase of Condon and Shortley.
  const double sign = m < 0 && m % 2 != 0 ? -1 : 1;
  return sign * radial(n, l, r) * std::sph_legendre(l_, m_, std::acos(at[2] / r)) *
         std::polar(1., m * std::atan2(at[1], at[0]));
}

/// |n1 l1 (r1) n2 l2 (r2); L M> at two points.
std::complex<double> coupled(const OscillatorPair& pair, int l, int m, const Point& first,
                             const Point& second) {
  std::complex<double> sum = 0;
  for (int m1 = -pair.l1; m1 <= pair.l1; ++m1)
    if (std::abs(m - m1) <= pair.l2)
      sum += clebsch_gordan(2 * pair.l1, 2 * m1, 2 * pair.l2, 2 * (m - m1), 2 * l, 2 * m) *
             eigenfunction(pair.n1, pair.l1, m1, first) * eigenfunction(pair.n2, pair.l2, m - m1, second);
  return sum;
}

/// The definition: both sides of |n1 l1 n2 l2; L M> = sum <...|n l N Lambda; L> |n l N Lambda; L M> at some points.
TEST(OscillatorBrackets, ExpandTheFunctions) {
  const OscillatorBrackets brackets(6);
  const Point r1{0.3, -0.9, 0.5}, r2{-0.7, 0.2, 1.1};
  Point relative, centre;
  for (std::size_t i = 0; i < 3; ++i) {
    relative[i] = (r1[i] - r2[i]) * std::numbers::sqrt2 / 2;
    centre[i] = (r1[i] + r2[i]) * std::numbers::sqrt2 / 2;
  }
  for (int quanta = 0; quanta <= 6; ++quanta)
    for (int l = 0; l <= quanta; ++l)
      for (const int m : {0, l}) {
        const auto& pairs = brackets.pairs(quanta, l);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          std::complex<double> sum = 0;
          for (std::size_t j = 0; j < pairs.size(); ++j)
            sum += brackets(quanta, l, i, j) * coupled(pairs[j], l, m, relative, centre);
          EXPECT_LT(std::abs(sum - coupled(pairs[i], l, m, r1, r2)), 1e-13) << quanta << ' ' << l << ' ' << i;
        }
      }
}

TEST(OscillatorBrackets, AreOrthogonal) {
  const OscillatorBrackets brackets(12);
  for (int quanta = 0; quanta <= 12; ++quanta)
    for (int l = 0; l <= quanta; ++l) {
      const std::size_t n = brackets.pairs(quanta, l).size();
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
          double sum = 0;
          for (std::size_t k = 0; k < n; ++k) sum += brackets(quanta, l, i, k) * brackets(quanta, l, j, k);
          ASSERT_NEAR(sum, i == j ? 1 : 0, 2e-13) << quanta << ' ' << l;
        }
    }
}

/// Exchange of the particles turns r into -r, and (n1 l1) (n2 l2) into the other order of the coupling. Turned back
/// is turned with -r2 instead of r2.
TEST(OscillatorBrackets, Symmetries) {
  const OscillatorBrackets brackets(8);
  const auto sign = [](int exponent) { return exponent % 2 == 0 ? 1 : -1; };
  for (int quanta = 0; quanta <= 8; ++quanta)
    for (int l = 0; l <= quanta; ++l)
      for (const OscillatorPair& a : brackets.pairs(quanta, l))
        for (const OscillatorPair& b : brackets.pairs(quanta, l)) {
          const OscillatorPair exchanged{a.n2, a.l2, a.n1, a.l1};
          const double value = bracket(brackets, l, a, b);
          EXPECT_NEAR(bracket(brackets, l, exchanged, b), value * sign(a.l1 + a.l2 + l + b.l1), 1e-13);
          EXPECT_NEAR(bracket(brackets, l, b, a), value * sign(a.l2 + b.l2), 1e-13);
        }
}

TEST(OscillatorBrackets, KnownValues) {
  const OscillatorBrackets brackets(4);
  const double half = std::sqrt(0.5);
  EXPECT_NEAR(bracket(brackets, 0, {0, 0, 0, 0}, {0, 0, 0, 0}), 1, 1e-15);
  // One quantum: r1 = (R + r) / sqrt(2), r2 = (R - r) / sqrt(2).
  EXPECT_NEAR(bracket(brackets, 1, {0, 1, 0, 0}, {0, 1, 0, 0}), half, 1e-15);
  EXPECT_NEAR(bracket(brackets, 1, {0, 1, 0, 0}, {0, 0, 0, 1}), half, 1e-15);
  EXPECT_NEAR(bracket(brackets, 1, {0, 0, 0, 1}, {0, 1, 0, 0}), -half, 1e-15);
  EXPECT_NEAR(bracket(brackets, 1, {0, 0, 0, 1}, {0, 0, 0, 1}), half, 1e-15);
  // Two quanta, L = 0: 1s 0s has 1/2 of 1s 0s and of 0s 1s, and sqrt(1/2) of 0p 0p in magnitude.
  EXPECT_NEAR(bracket(brackets, 0, {1, 0, 0, 0}, {1, 0, 0, 0}), 0.5, 1e-15);
  EXPECT_NEAR(bracket(brackets, 0, {1, 0, 0, 0}, {0, 0, 1, 0}), 0.5, 1e-15);
  EXPECT_NEAR(std::abs(bracket(brackets, 0, {1, 0, 0, 0}, {0, 1, 0, 1})), half, 1e-15);
  EXPECT_NEAR(bracket(brackets, 0, {0, 1, 0, 1}, {0, 1, 0, 1}), 0, 1e-15);
  // Stretched states n = 0, l = L: binomial distributions.
  EXPECT_NEAR(std::abs(bracket(brackets, 4, {0, 4, 0, 0}, {0, 2, 0, 2})), std::sqrt(6. / 16), 1e-15);
}

/// By the trapezoidal rule, which is exact to rounding for such functions, with the radial functions of the definition.
template <class Operator>
double integral(int n, int n2, int l, const Operator& v) {
  constexpr double step = 0.01;
  double sum = 0;
  for (double r = step / 2; r < 14; r += step)
    sum += radial(n, l, r) * radial(n2, l, r) * v(r) * r * r * step;
  return sum;
}

TEST(OscillatorElements, AreIntegrals) {
  for (int l = 0; l <= 4; ++l)
    for (int n = 0; n <= 6; ++n)
      for (int n2 = 0; n2 <= 6; ++n2) {
        for (const double gamma : {0., 0.3, 1., 5.})
          EXPECT_NEAR(oscillator_gaussian(n, n2, l, gamma),
                      integral(n, n2, l, [&](double r) { return std::exp(-gamma * r * r); }), 1e-12)
              << n << ' ' << n2 << ' ' << l;
        // p^2 / 2 is the oscillator without r^2 / 2.
        EXPECT_NEAR(oscillator_kinetic(n, n2, l),
                    (n == n2 ? 2 * n + l + 1.5 : 0) - integral(n, n2, l, [](double r) { return r * r / 2; }),
                    1e-10);
        // The integrand r R^2 is odd at the origin for l = 0: the rule's error is step^2 / 24 of its slope there.
        const double slope = l == 0 ? radial(n, 0, 0) * radial(n2, 0, 0) : 0;
        EXPECT_NEAR(oscillator_inverse(n, n2, l),
                    integral(n, n2, l, [](double r) { return 1 / r; }) - slope * 1e-4 / 24, 1e-6);
      }
  EXPECT_NEAR(oscillator_inverse(0, 0, 0), 2 / std::sqrt(std::numbers::pi), 1e-15);
}

}  // namespace
