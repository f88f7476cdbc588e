// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>

#include <tessera/algorithms/matgen/shell_model/angular_momentum.hpp>
#include <tessera/algorithms/matgen/shell_model/oscillator_two_body.hpp>

namespace tessera::detail {

namespace {

/// The square root of n! n'! / (Gamma(n + l + 3/2) Gamma(n' + l + 3/2)), times Gamma(k + l + 3/2) / k!, times the
/// binomial coefficients of n + l + 1/2 and n' + l + 1/2 over n - k and n' - k: what the functions of another width
/// that both contain weigh.
double shared_weight(int n, int n2, int k, int l) noexcept {
  const double a = l + 0.5;
  const auto log_binomial = [&](int of) {
    return std::lgamma(of + a + 1) - std::lgamma(of - k + 1.) - std::lgamma(k + a + 1);
  };
  return std::exp(
      0.5 * (std::lgamma(n + 1.) + std::lgamma(n2 + 1.) - std::lgamma(n + a + 1) - std::lgamma(n2 + a + 1)) +
      std::lgamma(k + a + 1) - std::lgamma(k + 1.) + log_binomial(n) + log_binomial(n2));
}

}  // namespace

double oscillator_kinetic(int n, int n2, int l) noexcept {
  if (n == n2) return (2 * n + l + 1.5) / 2;
  const int least = std::min(n, n2);
  return std::abs(n - n2) == 1 ? std::sqrt((least + 1) * (least + l + 1.5)) / 2 : 0;
}

double oscillator_gaussian(int n, int n2, int l, double gamma) noexcept {
  // The functions times exp(-gamma r^2 / 2) as sums over those of width 1 / sqrt(1 + gamma): all terms are positive.
  const double c = 1 / (1 + gamma), rest = gamma / (1 + gamma);
  double sum = 0;
  for (int k = 0; k <= std::min(n, n2); ++k)
    sum += shared_weight(n, n2, k, l) * std::pow(c, 2 * k + l + 1.5) * std::pow(rest, n + n2 - 2 * k);
  return sum;
}

double oscillator_inverse(int n, int n2, int l) noexcept {
  // 1 / r = 2 / sqrt(pi) times the integral of exp(-t^2 r^2), term by term a Beta function.
  double sum = 0;
  for (int k = 0; k <= std::min(n, n2); ++k) {
    const double a = l + 1. + 2 * k, b = n + n2 - 2 * k + 0.5;
    sum += shared_weight(n, n2, k, l) * std::exp(std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b));
  }
  return sum * std::numbers::inv_sqrtpi;
}

namespace {

/// The states n1 l1 n2 l2 of two particles that couple to L, of all numbers of quanta.
class CoupledPairs {
 public:
  CoupledPairs(const OscillatorBrackets& brackets, int l) : l_(l) {
    for (int quanta = 0; quanta <= brackets.max_quanta(); ++quanta) {
      begins_.push_back(size_);
      if (l > quanta) continue;
      const auto& pairs = brackets.pairs(quanta, l);
      for (std::size_t k = 0; k < pairs.size(); ++k)
        numbers_[{pairs[k].n1, pairs[k].l1, pairs[k].n2, pairs[k].l2}] = size_ + k;
      size_ += pairs.size();
    }
  }
  int l() const noexcept { return l_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t begin(int quanta) const noexcept { return begins_[static_cast<std::size_t>(quanta)]; }
  std::size_t number(const ShellOrbit& a, const ShellOrbit& b) const {
    return numbers_.at({(a.weight - a.l) / 2, a.l, (b.weight - b.l) / 2, b.l});
  }

 private:
  int l_;
  std::size_t size_ = 0;
  std::vector<std::size_t> begins_;
  std::map<std::array<int, 4>, std::size_t> numbers_;
};

/// Elements between such states with the spin S and the isospin T: brackets times relative elements, with l + S + T
/// odd.
std::vector<double> orbital_elements(const CoupledPairs& states, const OscillatorBrackets& brackets,
                                     const RelativeElement& relative, int s, int t) {
  const std::size_t width = states.size();
  const int l = states.l();
  std::vector<double> values(width * width, 0.0);
  const auto add = [&](int q, int q2) {
    const auto &left = brackets.pairs(q, l), &right = brackets.pairs(q2, l);
    for (std::size_t i = 0; i < left.size(); ++i)
      for (std::size_t j = 0; j < right.size() && (left[i].l1 + s + t) % 2 != 0; ++j) {
        if (left[i].l1 != right[j].l1 || left[i].n2 != right[j].n2 || left[i].l2 != right[j].l2) continue;
        const double value = relative(left[i].n1, right[j].n1, left[i].l1, s, t);
        for (std::size_t x = 0; x < left.size() && value != 0; ++x) {
          const double factor = value * brackets(q, l, x, i);
          double* const to = &values[(states.begin(q) + x) * width + states.begin(q2)];
          for (std::size_t y = 0; y < right.size(); ++y) to[y] += factor * brackets(q2, l, y, j);
        }
      }
  };
  for (int q = l; q <= brackets.max_quanta(); ++q)
    for (int q2 = l + (q - l) % 2; q2 <= brackets.max_quanta(); q2 += 2) add(q, q2);
  return values;
}

/// A part of a pair of orbits that is coupled to J: (la lb) L (1/2 1/2) S, with its number among the states of L.
struct OrbitalPart {
  int l, s;
  double factor;
  std::size_t number;
};

/// <(la lb) L (1/2 1/2) S; J | (la 1/2) ja (lb 1/2) jb; J>.
double recoupling(const ShellOrbit& a, const ShellOrbit& b, int l, int s, int j) noexcept {
  // The 9j symbol {la 1/2 ja; lb 1/2 jb; L S J} as a sum over 6j symbols.
  const std::array<int, 9> m{2 * a.l, 1, a.twice_j, 2 * b.l, 1, b.twice_j, 2 * l, 2 * s, 2 * j};
  double sum = 0;
  for (int x = 0; x <= m[0] + m[8]; ++x)
    sum += (x % 2 == 0 ? 1 : -1) * (x + 1) * six_j(m[0], m[3], m[6], m[7], m[8], x) *
           six_j(m[1], m[4], m[7], m[3], x, m[5]) * six_j(m[2], m[5], m[8], x, m[0], m[1]);
  return sum * std::sqrt((a.twice_j + 1.) * (b.twice_j + 1.) * (2 * l + 1.) * (2 * s + 1.));
}

std::vector<OrbitalPart> orbital_parts(const std::vector<CoupledPairs>& states, const ShellOrbit& a,
                                       const ShellOrbit& b, int j) {
  std::vector<OrbitalPart> parts;
  for (int s = 0; s < 2; ++s)
    for (int l = std::max(std::abs(j - s), std::abs(a.l - b.l)); l <= std::min(j + s, a.l + b.l); ++l)
      if (const double factor = recoupling(a, b, l, s, j); factor != 0)
        parts.push_back({l, s, factor, states[static_cast<std::size_t>(l)].number(a, b)});
  return parts;
}

}  // namespace

void for_central_elements(const ShellInteraction& interaction, const OscillatorBrackets& brackets,
                          const RelativeElement& relative, const TakeElement& take) {
  std::vector<CoupledPairs> states;          // by L
  std::vector<std::vector<double>> orbital;  // by L, S and T
  for (int l = 0; l <= brackets.max_quanta(); ++l) {
    states.emplace_back(brackets, l);
    for (const int s : {0, 1})
      for (const int t : {0, 1}) orbital.push_back(orbital_elements(states.back(), brackets, relative, s, t));
  }
  const std::vector<ShellOrbit>& orbits = interaction.orbits();
  std::map<std::array<int, 3>, std::vector<OrbitalPart>> parts;  // by a, b and J
  const auto parts_of = [&](int a, int b, int j) -> const std::vector<OrbitalPart>& {
    const auto [at, made] = parts.try_emplace({a, b, j});
    if (made) at->second = orbital_parts(states, orbits[a], orbits[b], j);
    return at->second;
  };
  interaction.for_each_element([&](int a, int b, int c, int d, int j, int t) {
    double sum = 0;
    for (const OrbitalPart& x : parts_of(a, b, j))
      for (const OrbitalPart& y : parts_of(c, d, j))
        if (x.l == y.l && x.s == y.s)
          sum += x.factor * y.factor *
                 orbital[static_cast<std::size_t>((2 * x.l + x.s) * 2 + t)]
                        [x.number * states[static_cast<std::size_t>(x.l)].size() + y.number];
    take(a, b, c, d, j, t, 2 * sum / std::sqrt((a == b ? 2. : 1.) * (c == d ? 2. : 1.)));
  });
}

}  // namespace tessera::detail
