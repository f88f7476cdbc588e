// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include <tessera/algorithms/matgen/shell_model/angular_momentum.hpp>
#include <tessera/algorithms/matgen/shell_model/oscillator_brackets.hpp>

namespace tessera::detail {

namespace {

std::vector<OscillatorPair> oscillator_pairs(int quanta, int l) {
  std::vector<OscillatorPair> pairs;
  for (int first = 0; first <= quanta; ++first)
    for (int l1 = first % 2; l1 <= first; l1 += 2)
      for (int l2 = (quanta - first) % 2; l2 <= quanta - first; l2 += 2)
        if (std::abs(l1 - l2) <= l && l <= l1 + l2)
          pairs.push_back({(first - l1) / 2, l1, (quanta - first - l2) / 2, l2});
  return pairs;
}

/// The reduced element <n' l'||a+||n l> of the vector of creation operators (Edmonds' convention).
double reduced_creation(int n_to, int l_to, int n, int l) noexcept {
  if (l_to == l + 1 && n_to == n) return std::sqrt((l + 1) * (2 * n + 2 * l + 3.));
  if (l_to == l - 1 && n_to == n + 1) return std::sqrt(l * (2 * n + 2.));
  return 0;
}

/// <to; L| a1+ . a2 |from; L>.
double exchange_of_quantum(const OscillatorPair& to, const OscillatorPair& from, int l) noexcept {
  const double created = reduced_creation(to.n1, to.l1, from.n1, from.l1),
               destroyed = -reduced_creation(from.n2, from.l2, to.n2, to.l2);
  if (created == 0 || destroyed == 0) return 0;
  const double sign = (from.l1 + to.l2 + l) % 2 == 0 ? 1 : -1;
  return sign * created * destroyed * six_j(2 * l, 2 * to.l2, 2 * to.l1, 2, 2 * from.l1, 2 * from.l2);
}

using Square = std::vector<double>;

Square product(const Square& a, const Square& b, std::size_t n) {
  Square c(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = a[i * n + k];
      if (factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += factor * b[k * n + j];
    }
  return c;
}

/// By Taylor's series of a part of the exponent, and squaring.
Square exponential(Square a, std::size_t n) {
  double norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += std::abs(a[i * n + j]);
    norm = std::max(norm, sum);
  }
  int halvings = 0;
  for (; norm > 0.25; norm /= 2) ++halvings;
  for (double& element : a) element = std::ldexp(element, -halvings);
  Square sum(n * n, 0.0), term;
  for (std::size_t i = 0; i < n; ++i) sum[i * n + i] = 1;
  term = sum;
  constexpr int terms = 12;  // 0.25^13 / 13! is below the rounding errors
  for (int k = 1; k <= terms; ++k) {
    term = product(term, a, n);
    for (std::size_t e = 0; e < n * n; ++e) sum[e] += (term[e] /= k);
  }
  for (int k = 0; k < halvings; ++k) sum = product(sum, sum, n);
  return sum;
}

}  // namespace

OscillatorBrackets::OscillatorBrackets(int max_quanta) : max_quanta_(max_quanta) {
  const int count = max_quanta + 1;
  blocks_.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(count));
  for (int quanta = 0; quanta < count; ++quanta)
    for (int l = 0; l <= quanta; ++l) {
      Block& of = blocks_[static_cast<std::size_t>(quanta) * static_cast<std::size_t>(count) +
                          static_cast<std::size_t>(l)];
      of.pairs = oscillator_pairs(quanta, l);
      const std::size_t n = of.pairs.size();
      Square generator(n * n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          generator[i * n + j] = std::numbers::pi / 4 *
                                 (exchange_of_quantum(of.pairs[i], of.pairs[j], l) -
                                  exchange_of_quantum(of.pairs[j], of.pairs[i], l));
      of.values = exponential(std::move(generator), n);
    }
}

}  // namespace tessera::detail
