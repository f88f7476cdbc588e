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
#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>

namespace tessera::detail {

namespace {

constexpr int largest_number_of_states = 62;
constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

double sign_of(int exponent) noexcept {
  return exponent % 2 == 0 ? 1 : -1;
}

void require_orbits(const std::vector<ShellOrbit>& orbits) {
  if (orbits.empty()) throw InvalidArgument("orbits", "none", "at least one orbit");
  int states = 0;
  for (std::size_t a = 0; a < orbits.size(); ++a) {
    const ShellOrbit& orbit = orbits[a];
    const std::string text = fmt::format("n = {}, l = {}, 2j = {}", orbit.n, orbit.l, orbit.twice_j);
    if (orbit.l < 0 || orbit.twice_j < 1 || std::abs(orbit.twice_j - 2 * orbit.l) != 1)
      throw InvalidArgument("orbits", text, "l >= 0 and j = l - 1/2 or l + 1/2");
    for (std::size_t b = 0; b < a; ++b)
      if (orbits[b].n == orbit.n && orbits[b].l == orbit.l && orbits[b].twice_j == orbit.twice_j)
        throw InvalidArgument("orbits", text, "every orbit once");
    states += std::min(orbit.twice_j, largest_number_of_states) + 1;
    if (states > largest_number_of_states)
      throw InvalidArgument("orbits", text, "at most 62 single-particle states in all");
  }
}

/// Calls visit(a, b, c, d, J, T) for each element that is allowed, with a <= b, c <= d and (a, b) not after
/// (c, d).
template <class Visit>
void for_each_element(const ShellInteraction& interaction, Visit visit) {
  const int orbits = static_cast<int>(interaction.orbits().size());
  for (int a = 0; a < orbits; ++a)
    for (int b = a; b < orbits; ++b)
      for (int c = a; c < orbits; ++c)
        for (int d = c == a ? b : c; d < orbits; ++d)
          for (int j = 0; j <= interaction.largest_j(); ++j)
            for (int t = 0; t < 2; ++t)
              if (interaction.allowed(a, b, c, d, j, t)) visit(a, b, c, d, j, t);
}

}  // namespace

ShellInteraction::ShellInteraction(std::vector<ShellOrbit> orbits) : orbits_(std::move(orbits)) {
  require_orbits(orbits_);
  energies.assign(orbits_.size(), 0.0);
  for (const ShellOrbit& orbit : orbits_) largest_j_ = std::max(largest_j_, orbit.twice_j);
  const std::size_t pairs = orbits_.size() * (orbits_.size() + 1) / 2;
  elements_.assign(pairs * pairs * static_cast<std::size_t>(largest_j_ + 1) * 2, 0.0);
}

std::vector<ShellState> ShellInteraction::states() const {
  std::vector<ShellState> states;
  for (std::size_t a = 0; a < orbits_.size(); ++a)
    for (int twice_m = -orbits_[a].twice_j; twice_m <= orbits_[a].twice_j; twice_m += 2)
      states.push_back({static_cast<int>(a), twice_m});
  return states;
}

int ShellInteraction::pair(int a, int b) const noexcept {
  return b * (b + 1) / 2 + a;
}

std::size_t ShellInteraction::position(int a, int b, int c, int d, int j, int t) const noexcept {
  const int orbits = static_cast<int>(orbits_.size()), pairs = orbits * (orbits + 1) / 2;
  return ((static_cast<std::size_t>(pair(a, b)) * static_cast<std::size_t>(pairs) +
           static_cast<std::size_t>(pair(c, d))) *
              static_cast<std::size_t>(largest_j_ + 1) +
          static_cast<std::size_t>(j)) *
             2 +
         static_cast<std::size_t>(t);
}

double ShellInteraction::exchange_sign(int a, int b, int j, int t) const noexcept {
  return sign_of((orbits_[a].twice_j + orbits_[b].twice_j) / 2 + j + t);
}

bool ShellInteraction::allowed(int a, int b, int c, int d, int j, int t) const noexcept {
  const auto couples = [&](int x, int y) {
    const int twice_x = orbits_[x].twice_j, twice_y = orbits_[y].twice_j;
    return std::abs(twice_x - twice_y) <= 2 * j && 2 * j <= twice_x + twice_y && (x != y || (j + t) % 2 == 1);
  };
  return (t == 0 || t == 1) && j >= 0 && couples(a, b) && couples(c, d) &&
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

std::size_t ShellInteraction::separate_position(const CoupledElement& at) const noexcept {
  const auto orbits = static_cast<std::size_t>(orbits_.size());
  std::size_t place = 0;
  for (const int orbit : {at.a, at.b, at.c, at.d}) place = place * orbits + static_cast<std::size_t>(orbit);
  return place * static_cast<std::size_t>(largest_j_ + 1) + static_cast<std::size_t>(at.j);
}

void ShellInteraction::separate_nucleons() {
  const std::size_t orbits = orbits_.size();
  const std::size_t size = orbits * orbits * orbits * orbits * static_cast<std::size_t>(largest_j_ + 1);
  for (std::vector<double>* of_pair : {&like_[0], &like_[1], &unlike_}) of_pair->assign(size, not_given);
}

bool ShellInteraction::allowed(bool like, const CoupledElement& at) const noexcept {
  if (like) return allowed(at.a, at.b, at.c, at.d, at.j, 1);
  const auto couples = [&](int x, int y) {
    const int twice_x = orbits_[x].twice_j, twice_y = orbits_[y].twice_j;
    return std::abs(twice_x - twice_y) <= 2 * at.j && 2 * at.j <= twice_x + twice_y;
  };
  return at.j >= 0 && couples(at.a, at.b) && couples(at.c, at.d) &&
         (orbits_[at.a].l + orbits_[at.b].l + orbits_[at.c].l + orbits_[at.d].l) % 2 == 0;
}

bool ShellInteraction::set_like_element(Nucleon kind, CoupledElement at, double value) {
  std::vector<double>& elements = like_[static_cast<int>(kind)];
  if (!std::isnan(elements[separate_position(at)])) return false;
  for (const bool left : {false, true})
    for (const bool right : {false, true}) {
      CoupledElement of{at};
      double sign = 1;
      if (left) sign *= exchange_sign(at.a, at.b, at.j, 1), std::swap(of.a, of.b);
      if (right) sign *= exchange_sign(at.c, at.d, at.j, 1), std::swap(of.c, of.d);
      elements[separate_position(of)] = sign * value;
      elements[separate_position({of.c, of.d, of.a, of.b, of.j})] = sign * value;
    }
  return true;
}

bool ShellInteraction::set_unlike_element(const CoupledElement& at, double value) {
  if (!std::isnan(unlike_[separate_position(at)])) return false;
  unlike_[separate_position(at)] = value;
  unlike_[separate_position({at.c, at.d, at.a, at.b, at.j})] = value;
  return true;
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
  const int twice_a = orbits_[a].twice_j, twice_b = orbits_[b].twice_j, twice_c = orbits_[c].twice_j,
            twice_d = orbits_[d].twice_j;
  const int first = std::max({std::abs(twice_a - twice_b), std::abs(twice_c - twice_d), std::abs(twice_m)});
  double sum = 0;
  for (int twice_j = first; twice_j <= std::min(twice_a + twice_b, twice_c + twice_d); twice_j += 2) {
    const double v = element(CoupledElement{a, b, c, d, twice_j / 2});
    if (v != 0)
      sum += v * clebsch_gordan(twice_a, i.twice_m, twice_b, j.twice_m, twice_j, twice_m) *
             clebsch_gordan(twice_c, k.twice_m, twice_d, l.twice_m, twice_j, twice_m);
  }
  return sum;
}

namespace {
/// What antisymmetric states of two nucleons that are not told apart are normalised by.
double normalisation(int a, int b, int c, int d) noexcept {
  return std::sqrt((a == b ? 2.0 : 1.0) * (c == d ? 2.0 : 1.0));
}
double or_zero(double value) noexcept {
  return std::isnan(value) ? 0 : value;
}
}  // namespace

double ShellInteraction::like_element(const ShellState& i, const ShellState& j, const ShellState& k,
                                      const ShellState& l, Nucleon kind) const noexcept {
  const std::vector<double>& separate = like_[static_cast<int>(kind)];
  return normalisation(i.orbit, j.orbit, k.orbit, l.orbit) *
         coupled_sum(i, j, k, l, [&](const CoupledElement& at) {
           return separate.empty() ? element(at.a, at.b, at.c, at.d, at.j, 1)
                                   : or_zero(separate[separate_position(at)]);
         });
}

double ShellInteraction::unlike_element(const ShellState& i, const ShellState& j, const ShellState& k,
                                        const ShellState& l) const noexcept {
  if (!unlike_.empty())
    return coupled_sum(i, j, k, l,
                       [&](const CoupledElement& at) { return or_zero(unlike_[separate_position(at)]); });
  return normalisation(i.orbit, j.orbit, k.orbit, l.orbit) *
         coupled_sum(i, j, k, l, [&](const CoupledElement& at) {
           return (element(at.a, at.b, at.c, at.d, at.j, 1) + element(at.a, at.b, at.c, at.d, at.j, 0)) / 2;
         });
}

std::vector<ShellOrbit> sd_shell_orbits() {
  return {{0, 2, 5}, {1, 0, 1}, {0, 2, 3}};
}

std::vector<ShellOrbit> pf_shell_orbits() {
  return {{0, 3, 7}, {1, 1, 3}, {0, 3, 5}, {1, 1, 1}};
}

ShellInteraction random_interaction(std::vector<ShellOrbit> orbits, std::uint64_t seed) {
  ShellInteraction interaction(std::move(orbits));
  for_each_element(interaction, [&](int a, int b, int c, int d, int j, int t) {
    const double factor = a == c && b == d ? std::numbers::sqrt2 : 1;
    interaction.set_element(
        a, b, c, d, j, t,
        factor * random_uniform(seed, static_cast<std::uint64_t>(2 * j + t), 64 * a + b, 64 * c + d));
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
  for_each_element(interaction, [&](int a, int b, int c, int d, int j, int t) {
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
