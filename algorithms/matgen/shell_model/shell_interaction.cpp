// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/shell_model/angular_momentum.hpp>
#include <tessera/algorithms/matgen/shell_model/determinant.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera::detail {

namespace {

/// The bits of one orbit's states are one word.
constexpr int largest_twice_j = 61;
constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

double sign_of(int exponent) noexcept {
  return exponent % 2 == 0 ? 1 : -1;
}

/// What antisymmetric states of two nucleons that are not told apart are normalised by.
double normalisation(int a, int b, int c, int d) noexcept {
  return std::sqrt((a == b ? 2.0 : 1.0) * (c == d ? 2.0 : 1.0));
}
double or_zero(double value) noexcept {
  return std::isnan(value) ? 0 : value;
}

}  // namespace

void require_shell_orbits(const std::vector<ShellOrbit>& orbits) {
  if (orbits.empty()) throw InvalidArgument("orbits", "none", "at least one orbit");
  int states = 0;
  for (std::size_t a = 0; a < orbits.size(); ++a) {
    const ShellOrbit& orbit = orbits[a];
    const std::string text = fmt::format("n = {}, l = {}, 2j = {}", orbit.n, orbit.l, orbit.twice_j);
    if (orbit.twice_j > largest_twice_j) throw InvalidArgument("orbits", text, "2j up to 61");
    if (orbit.l < 0 || orbit.twice_j < 1 || std::abs(orbit.twice_j - 2 * orbit.l) != 1)
      throw InvalidArgument("orbits", text, "l >= 0 and j = l - 1/2 or l + 1/2");
    for (std::size_t b = 0; b < a; ++b)
      if (orbits[b].n == orbit.n && orbits[b].l == orbit.l && orbits[b].twice_j == orbit.twice_j)
        throw InvalidArgument("orbits", text, "every orbit once");
    states += orbit.twice_j + 1;
    if (states > Determinant::max_states)
      throw InvalidArgument("orbits", text,
                            fmt::format("at most {} single-particle states in all", Determinant::max_states));
  }
}

ShellInteraction::ShellInteraction(std::vector<ShellOrbit> orbits, std::optional<int> max_pair_weight)
    : orbits_(std::move(orbits)), max_pair_weight_(max_pair_weight) {
  require_shell_orbits(orbits_);
  energies.assign(orbits_.size(), 0.0);
  std::vector<int> twice_j;
  for (const ShellOrbit& orbit : orbits_) twice_j.push_back(orbit.twice_j);
  largest_j_ = *std::max_element(twice_j.begin(), twice_j.end());
  sorted_ = PairTable(orbits_, max_pair_weight_, false);
  require_host_memory(fmt::format("a list of the two-body elements of {} orbits", orbits_.size()),
                      2. * static_cast<double>(sorted_.size()) * sizeof(double));
  elements_.assign(2 * sorted_.size(), 0.0);
  couplings_ = std::make_shared<const ClebschGordanTable>(twice_j);
}

std::vector<ShellState> ShellInteraction::states() const {
  std::vector<ShellState> states;
  for (std::size_t a = 0; a < orbits_.size(); ++a)
    for (int twice_m = -orbits_[a].twice_j; twice_m <= orbits_[a].twice_j; twice_m += 2)
      states.push_back({static_cast<int>(a), twice_m});
  return states;
}

std::size_t ShellInteraction::position(int a, int b, int c, int d, int j, int t) const noexcept {
  return static_cast<std::size_t>(t) * sorted_.size() + sorted_.position(a, b, c, d, j);
}

double ShellInteraction::exchange_sign(int a, int b, int j, int t) const noexcept {
  return sign_of((orbits_[a].twice_j + orbits_[b].twice_j) / 2 + j + t);
}

bool ShellInteraction::allowed(int a, int b, int c, int d, int j, int t) const noexcept {
  const auto couples = [&](int x, int y) {
    const int twice_x = orbits_[x].twice_j, twice_y = orbits_[y].twice_j;
    return std::abs(twice_x - twice_y) <= 2 * j && 2 * j <= twice_x + twice_y && (x != y || (j + t) % 2 == 1);
  };
  return (t == 0 || t == 1) && j >= 0 && couples(a, b) && couples(c, d) && has_pair(a, b) && has_pair(c, d) &&
         (orbits_[a].l + orbits_[b].l + orbits_[c].l + orbits_[d].l) % 2 == 0;
}

double ShellInteraction::element(int a, int b, int c, int d, int j, int t) const noexcept {
  if (!allowed(a, b, c, d, j, t)) return 0;
  double sign = 1;
  if (a > b) sign *= exchange_sign(a, b, j, t), std::swap(a, b);
  if (c > d) sign *= exchange_sign(c, d, j, t), std::swap(c, d);
  return sign * elements_[position(a, b, c, d, j, t)];
}

void ShellInteraction::set_element(int a, int b, int c, int d, int j, int t, double value) noexcept {
  if (a > b) value *= exchange_sign(a, b, j, t), std::swap(a, b);
  if (c > d) value *= exchange_sign(c, d, j, t), std::swap(c, d);
  elements_[position(a, b, c, d, j, t)] = value;
  elements_[position(c, d, a, b, j, t)] = value;
}

void ShellInteraction::separate_nucleons() {
  ordered_ = PairTable(orbits_, max_pair_weight_, true);
  require_host_memory(fmt::format("lists of the two-body elements of {} orbits", orbits_.size()),
                      3. * static_cast<double>(ordered_.size()) * sizeof(double));
  for (std::vector<double>* of_pair : {&like_[0], &like_[1], &unlike_})
    of_pair->assign(ordered_.size(), not_given);
}

void ShellInteraction::tell_nucleons_apart() {
  if (!isospin_invariant()) return;
  separate_nucleons();
  neutron_energies = energies;
  for_each_element([&](int a, int b, int c, int d, int j, int t) {
    if (const double value = element(a, b, c, d, j, t); value != 0)
      add_isospin_element(a, b, c, d, j, t, value);
  });
}

void ShellInteraction::add_isospin_element(int a, int b, int c, int d, int j, int t, double value) {
  if (t == 1)
    for (const Nucleon kind : {Nucleon::proton, Nucleon::neutron})
      add_like_element(kind, {a, b, c, d, j}, value);
  // Of a proton and a neutron half of each T, with each of both nucleons in the first orbit. The element of cd and ab
  // is the same as that of ab and cd.
  const double half = value * normalisation(a, b, c, d) / 2;
  for (const bool left : {false, true})
    for (const bool right : {false, true}) {
      if ((left && a == b) || (right && c == d)) continue;
      CoupledElement of{a, b, c, d, j};
      double sign = 1;
      if (left) sign *= exchange_sign(a, b, j, t), std::swap(of.a, of.b);
      if (right) sign *= exchange_sign(c, d, j, t), std::swap(of.c, of.d);
      // Of ab and ab both orders of exchange are one element.
      if (a == c && b == d && right && !left) continue;
      set_unlike(of, or_zero(unlike_[ordered_.position(of.a, of.b, of.c, of.d, j)]) + sign * half);
    }
}

bool ShellInteraction::allowed(bool like, const CoupledElement& at) const noexcept {
  if (like) return allowed(at.a, at.b, at.c, at.d, at.j, 1);
  const auto couples = [&](int x, int y) {
    const int twice_x = orbits_[x].twice_j, twice_y = orbits_[y].twice_j;
    return std::abs(twice_x - twice_y) <= 2 * at.j && 2 * at.j <= twice_x + twice_y;
  };
  return at.j >= 0 && couples(at.a, at.b) && couples(at.c, at.d) && has_pair(at.a, at.b) &&
         has_pair(at.c, at.d) &&
         (orbits_[at.a].l + orbits_[at.b].l + orbits_[at.c].l + orbits_[at.d].l) % 2 == 0;
}

void ShellInteraction::set_like(Nucleon kind, const CoupledElement& at, double value) {
  std::vector<double>& elements = like_[static_cast<int>(kind)];
  for (const bool left : {false, true})
    for (const bool right : {false, true}) {
      CoupledElement of{at};
      double sign = 1;
      if (left) sign *= exchange_sign(at.a, at.b, at.j, 1), std::swap(of.a, of.b);
      if (right) sign *= exchange_sign(at.c, at.d, at.j, 1), std::swap(of.c, of.d);
      elements[ordered_.position(of.a, of.b, of.c, of.d, of.j)] = sign * value;
      elements[ordered_.position(of.c, of.d, of.a, of.b, of.j)] = sign * value;
    }
}

bool ShellInteraction::set_like_element(Nucleon kind, CoupledElement at, double value) {
  if (!std::isnan(like_[static_cast<int>(kind)][ordered_.position(at.a, at.b, at.c, at.d, at.j)]))
    return false;
  set_like(kind, at, value);
  return true;
}

bool ShellInteraction::set_unlike_element(const CoupledElement& at, double value) {
  if (!std::isnan(unlike_[ordered_.position(at.a, at.b, at.c, at.d, at.j)])) return false;
  set_unlike(at, value);
  return true;
}

void ShellInteraction::add_like_element(Nucleon kind, const CoupledElement& at, double value) {
  set_like(kind, at,
           value + or_zero(like_[static_cast<int>(kind)][ordered_.position(at.a, at.b, at.c, at.d, at.j)]));
}

void ShellInteraction::set_unlike(const CoupledElement& at, double value) {
  unlike_[ordered_.position(at.a, at.b, at.c, at.d, at.j)] = value;
  unlike_[ordered_.position(at.c, at.d, at.a, at.b, at.j)] = value;
}

void ShellInteraction::scale(double factor) noexcept {
  for (std::vector<double>* elements : {&elements_, &like_[0], &like_[1], &unlike_})
    for (double& element : *elements) element *= factor;
}

double ShellInteraction::magnitude() const noexcept {
  double largest = 0;
  for (const std::vector<double>* numbers :
       {&energies, &neutron_energies, &elements_, &like_[0], &like_[1], &unlike_})
    for (const double number : *numbers)
      if (!std::isnan(number)) largest = std::max(largest, std::abs(number));
  return largest;
}

template <class Element>
double ShellInteraction::coupled_sum(const ShellState& i, const ShellState& j, const ShellState& k,
                                     const ShellState& l, const Element& element) const noexcept {
  const int twice_m = i.twice_m + j.twice_m;
  if (twice_m != k.twice_m + l.twice_m) return 0;
  const int a = i.orbit, b = j.orbit, c = k.orbit, d = l.orbit;
  if ((orbits_[a].l + orbits_[b].l + orbits_[c].l + orbits_[d].l) % 2 != 0 || !has_pair(a, b) ||
      !has_pair(c, d))
    return 0;
  const int twice_a = orbits_[a].twice_j, twice_b = orbits_[b].twice_j, twice_c = orbits_[c].twice_j,
            twice_d = orbits_[d].twice_j;
  const int first = std::max({std::abs(twice_a - twice_b), std::abs(twice_c - twice_d), std::abs(twice_m)});
  double sum = 0;
  for (int twice_j = first; twice_j <= std::min(twice_a + twice_b, twice_c + twice_d); twice_j += 2) {
    const double v = element(CoupledElement{a, b, c, d, twice_j / 2});
    if (v != 0)
      sum += v * (*couplings_)(twice_a, i.twice_m, twice_b, j.twice_m, twice_j) *
             (*couplings_)(twice_c, k.twice_m, twice_d, l.twice_m, twice_j);
  }
  return sum;
}

double ShellInteraction::like_element(const ShellState& i, const ShellState& j, const ShellState& k,
                                      const ShellState& l, Nucleon kind) const noexcept {
  const std::vector<double>& separate = like_[static_cast<int>(kind)];
  return normalisation(i.orbit, j.orbit, k.orbit, l.orbit) *
         coupled_sum(i, j, k, l, [&](const CoupledElement& at) {
           return separate.empty() ? element(at.a, at.b, at.c, at.d, at.j, 1)
                                   : or_zero(separate[ordered_.position(at.a, at.b, at.c, at.d, at.j)]);
         });
}

double ShellInteraction::unlike_element(const ShellState& i, const ShellState& j, const ShellState& k,
                                        const ShellState& l) const noexcept {
  if (!unlike_.empty())
    return coupled_sum(i, j, k, l, [&](const CoupledElement& at) {
      return or_zero(unlike_[ordered_.position(at.a, at.b, at.c, at.d, at.j)]);
    });
  // Elements of T = 0 and 1 at once, with the signs of exchanged orbits; those that are not allowed are zero.
  const int twice_left = orbits_[i.orbit].twice_j + orbits_[j.orbit].twice_j,
            twice_right = orbits_[k.orbit].twice_j + orbits_[l.orbit].twice_j;
  const auto [a, b] = std::minmax(i.orbit, j.orbit);
  const auto [c, d] = std::minmax(k.orbit, l.orbit);
  const bool left = i.orbit > j.orbit, right = k.orbit > l.orbit;
  return normalisation(a, b, c, d) *
         coupled_sum(i, j, k, l, [&, a = a, b = b, c = c, d = d](const CoupledElement& at) {
           const std::size_t place = sorted_.position(a, b, c, d, at.j);
           double sign = 1;
           if (left) sign *= sign_of(twice_left / 2 + at.j);
           if (right) sign *= sign_of(twice_right / 2 + at.j);
           const double of_1 = elements_[sorted_.size() + place], of_0 = elements_[place];
           return sign * ((left != right ? -of_1 : of_1) + of_0) / 2;
         });
}

std::vector<ShellOrbit> sd_shell_orbits() {
  return {{0, 2, 5}, {1, 0, 1}, {0, 2, 3}};
}

std::vector<ShellOrbit> pf_shell_orbits() {
  return {{0, 3, 7}, {1, 1, 3}, {0, 3, 5}, {1, 1, 1}};
}

ShellInteraction random_interaction(std::vector<ShellOrbit> orbits, std::uint64_t seed,
                                    std::optional<int> max_pair_weight) {
  const Index rows = orbits.size() > 64 ? Determinant::max_states : 64;
  ShellInteraction interaction(std::move(orbits), max_pair_weight);
  interaction.for_each_element([&](int a, int b, int c, int d, int j, int t) {
    const double factor = a == c && b == d ? std::numbers::sqrt2 : 1;
    interaction.set_element(
        a, b, c, d, j, t,
        factor * random_uniform(seed, static_cast<std::uint64_t>(2 * j + t), rows * a + b, rows * c + d));
  });
  return interaction;
}

ShellInteraction pairing_interaction(std::vector<ShellOrbit> orbits, double strength) {
  ShellInteraction interaction(std::move(orbits));
  const auto pairs = [&](int a) { return (interaction.orbits()[a].twice_j + 1) / 2; };
  const int count = static_cast<int>(interaction.orbits().size());
  for (int a = 0; a < count; ++a)
    for (int c = a; c < count; ++c)
      interaction.set_element(a, a, c, c, 0, 1,
                              -strength * std::sqrt(static_cast<double>(pairs(a) * pairs(c))));
  return interaction;
}

double reduced_quadrupole(const ShellOrbit& a, const ShellOrbit& b) noexcept {
  if ((a.l + b.l) % 2 != 0) return 0;
  return clebsch_gordan(a.twice_j, 1, 4, 0, b.twice_j, 1) *
         std::sqrt((a.twice_j + 1.0) * 5 / (4 * std::numbers::pi));
}

ShellInteraction pairing_quadrupole_interaction(std::vector<ShellOrbit> orbits, double pairing, double chi,
                                                double spin_orbit) {
  ShellInteraction interaction = pairing_interaction(std::move(orbits), pairing);
  const std::vector<ShellOrbit>& o = interaction.orbits();
  // Q . Q of two distinguishable particles, coupled to J.
  const auto direct = [&](int a, int b, int c, int d, int j) {
    return sign_of((o[b].twice_j + o[c].twice_j) / 2 + j) *
           six_j(o[a].twice_j, o[b].twice_j, 2 * j, o[d].twice_j, o[c].twice_j, 4) *
           reduced_quadrupole(o[a], o[c]) * reduced_quadrupole(o[b], o[d]);
  };
  interaction.for_each_element([&](int a, int b, int c, int d, int j, int t) {
    const double exchange = sign_of((o[c].twice_j + o[d].twice_j) / 2 + j + t);
    const double both = direct(a, b, c, d, j) + exchange * direct(a, b, d, c, j);
    const double norm = std::sqrt((a == b ? 2.0 : 1.0) * (c == d ? 2.0 : 1.0));
    interaction.set_element(a, b, c, d, j, t, interaction.element(a, b, c, d, j, t) - chi * both / norm);
  });
  for (std::size_t a = 0; a < o.size(); ++a)
    interaction.energies[a] = -spin_orbit * (o[a].twice_j > 2 * o[a].l ? 0.5 * o[a].l : -0.5 * (o[a].l + 1));
  return interaction;
}

}  // namespace tessera::detail
