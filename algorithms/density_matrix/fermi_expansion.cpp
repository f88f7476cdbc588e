// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/concurrently.hpp>
#include <tessera/algorithms/density_matrix/fermi_expansion.hpp>
#include <tessera/algorithms/density_matrix/fermi_levels.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>

namespace tessera::detail {

namespace {

/// A member on its way through the levels.
template <class T>
struct Traveller {
  FermiMember<T>* member = nullptr;
  BlockSparseMatrix<T> t{};  ///< T of the last level
  std::unique_ptr<ChebyshevPowers<T>> powers{};
  std::vector<double> moments{}, entropy_moments{};
  double trace = 0, square = 0;  ///< of T: trace, and squared Frobenius norm

  double rows() const { return static_cast<double>(member->hamiltonian->rows()); }
  /// Electrons of its states, weighted, for each that is full.
  double share() const { return member->occupation * member->weight; }
};

template <class T>
class FermiExpansion {
 public:
  FermiExpansion(Runtime& runtime, std::span<FermiMember<T>> members, const FermiTarget& target,
                 const DensityOptions& options)
      : runtime_(runtime),
        target_(target),
        options_(options),
        tolerance_(fermi_tolerance<T>(options)),
        // By so much T may leave [-1, 1]. More would cost the entropy, which is not smooth at 1.
        stretch_(1 + std::max({1e3 * static_cast<double>(precision<T>), 30 * options.filter_eps,
                               10 * fermi_tolerance<T>(options)})) {
    for (FermiMember<T>& member : members) {
      travellers_.push_back({.member = &member});
      states_ += travellers_.back().share() * travellers_.back().rows();
    }
    constexpr double least = 1e3;
    miss_ = std::max(0.1 * options.filter_eps, least * static_cast<double>(precision<T>)) *
            std::max(target.electrons, 1.0);
    if (options.electron_tolerance > 0) miss_ = options.electron_tolerance;
    levels_ = fermi_levels(target.spectrum, target.temperature, tolerance_,
                           10 * static_cast<double>(precision<T>), stretch_);
  }

  FermiFound run() {
    find_potential();
    // Entropies follow from the moments of the last level that was another temperature, for the mu that was
    // found.
    for (Traveller<T>& traveller : travellers_) {
      FermiMember<T>& member = *traveller.member;
      member.entropy = 0;
      if (!idempotent_) {
        const TraceQuadrature quadrature(traveller.entropy_moments);
        member.entropy =
            std::max(0.0, quadrature([&](double a) { return levels_.back().entropy_at(a, mu_); }));
      }
      const auto& identity = member.algebra->identity(traveller.t.layout());
      member.algebra->add(-0.5, traveller.t, 0.5, identity);
      member.x = std::move(traveller.t);
    }
    return {mu_, tolerance_ / 2};
  }

 private:
  /// Electrons, weighted, if the traces of the members' T add up to this.
  double electrons_of(double trace) const { return (states_ - trace) / 2; }
  double missed() const { return found_ - target_.electrons; }

  /// Passes through the levels. mu is found on the way, from the moments of each level.
  void find_potential() {
    for (std::size_t k = 0; k < levels_.size() && !idempotent_; ++k) {
      FermiLevel& level = levels_[k];
      level.former_potential = mu_;
      if (k == 0) concurrently(runtime_, travellers_.size(), [&](std::size_t m) { begin(travellers_[m]); });
      while (go_through(level, target_.potential, 1 - target_.temperature / level.temperature))
        level.former_potential = mu_;
      for (Traveller<T>& traveller : travellers_) traveller.entropy_moments = std::move(traveller.moments);
      // Where all states are full or empty, no lower temperature changes them.
      double open = 0;
      for (const Traveller<T>& traveller : travellers_)
        open = std::max(open, traveller.rows() - traveller.square);
      idempotent_ =
          k + 1 < levels_.size() && open < tolerance_ && (target_.potential || std::abs(missed()) <= miss_);
    }
    if (!target_.potential) correct();
  }

  /// H', moved and scaled to [-1, 1].
  void begin(Traveller<T>& traveller) {
    const double middle = (target_.spectrum.upper + target_.spectrum.lower) / 2,
                 half = (target_.spectrum.upper - target_.spectrum.lower) / 2;
    const BlockSparseMatrix<T>& h = *traveller.member->hamiltonian;
    traveller.t = traveller.member->algebra->sum(
        {{1 / half, &h}, {-middle / half, &traveller.member->algebra->identity(h.layout())}});
  }

  /// T of this level from that of the one before; mu, if it is not given, from the moments. Where mu should move
  /// far, it only moves as far as it may, at the former temperature: then the level is still to be gone through
  /// (true).
  bool go_through(const FermiLevel& level, std::optional<double> given, double convergence) {
    if (++iteration_ > options_.iterations)
      throw IterationEnded{
          {StatusCode::iterations_exhausted, stage, iteration_ - 1,
           fmt::format("{} levels of temperature are needed, and {:.8g} electrons found; {:.8g} are "
                       "wanted",
                       levels_.size(), found_, target_.electrons)}};
    concurrently(runtime_, travellers_.size(), [&](std::size_t m) {
      Traveller<T>& traveller = travellers_[m];
      BlockAlgebra<T>& algebra = *traveller.member->algebra;
      if (!level.first()) algebra.scale(1 / level.stretch, traveller.t);
      traveller.powers = std::make_unique<ChebyshevPowers<T>>(algebra, std::move(traveller.t), level.split);
    });
    choose_potential(level, given);
    const bool far = !given && !level.first() && level.factor > 1 && level.reaches(mu_);
    FermiLevel applied = level;
    if (far) {
      applied = moving_level(level.former_temperature, level.spectrum, level.tolerance / level.factor,
                             level.stretch);
      applied.former_potential = level.former_potential;
      convergence = 1 - target_.temperature / level.former_temperature;
    }
    std::vector<double> coefficients = applied.coefficients(mu_);
    // Far from where mu was, higher moments count.
    if (const auto degree = static_cast<Index>(coefficients.size()) - 1;
        !far && degree > level.split.degree()) {
      concurrently(runtime_, travellers_.size(),
                   [&](std::size_t m) { travellers_[m].powers->extend(degree); });
      choose_potential(level, given);
      coefficients = level.coefficients(mu_);
    }
    concurrently(runtime_, travellers_.size(), [&](std::size_t m) {
      Traveller<T>& traveller = travellers_[m];
      traveller.t = traveller.powers->polynomial(coefficients);
      traveller.moments = traveller.powers->moments();
      traveller.powers.reset();
      traveller.member->algebra->finish();
      traveller.trace = real_part(trace(traveller.t));
      traveller.square = std::pow(frobenius_norm(traveller.t), 2);
      traveller.member->algebra->end_step(
          {.stage = stage,
           .iteration = iteration_,
           .convergence = std::isfinite(traveller.square) ? convergence : traveller.square,
           .electrons = traveller.member->occupation * (traveller.rows() - traveller.trace) / 2,
           .energy = std::numeric_limits<double>::quiet_NaN()},
          traveller.t);
    });
    double sum = 0;
    for (const Traveller<T>& traveller : travellers_) sum += traveller.share() * traveller.trace;
    found_ = electrons_of(sum);
    return far;
  }

  /// mu, if it is not given, from the moments of all members.
  void choose_potential(const FermiLevel& level, std::optional<double> given) {
    std::vector<double> moments;
    for (const Traveller<T>& traveller : travellers_) {
      const std::vector<double>& of = traveller.powers->moments();
      moments.resize(of.size());
      for (std::size_t m = 0; m < of.size(); ++m) moments[m] += traveller.share() * of[m];
    }
    for (const double moment : moments)
      if (!std::isfinite(moment))
        throw IterationEnded{{StatusCode::not_finite, stage, 0, "NaN or infinity in a moment"}};
    const TraceQuadrature quadrature(moments);
    const auto electrons = [&](double mu) {
      return electrons_of(quadrature([&](double a) { return level.tanh_at(a, mu); }));
    };
    mu_ = given ? *given
                : chemical_potential_of(electrons, target_.electrons, miss_, level.potentials(),
                                        level.first() ? std::nullopt : std::optional(level.former_potential));
  }

  /// Moves mu until the electrons are as wanted, or as near as the filter lets them come.
  void correct() {
    while (std::abs(missed()) > miss_) {
      const double before = std::abs(missed());
      FermiLevel level = moving_level(target_.temperature, target_.spectrum, tolerance_, stretch_);
      level.former_potential = mu_;
      // These products are few; what their filter leaves out would be electrons again.
      set_filter(last_filter * options_.filter_eps);
      go_through(level, std::nullopt, 0);
      set_filter(options_.filter_eps);
      if (std::abs(missed()) <= 0.5 * before) continue;
      constexpr double near = 10;
      if (std::abs(missed()) <= near * miss_) return;
      throw IterationEnded{{StatusCode::stagnated, stage, iteration_,
                            fmt::format("{:.8g} electrons at mu = {:.8g}; {:.8g} are wanted", found_, mu_,
                                        target_.electrons)}};
    }
  }
  void set_filter(double eps) {
    for (Traveller<T>& traveller : travellers_) traveller.member->algebra->set_filter_eps(eps);
  }

  static constexpr const char* stage = "fermi";
  Runtime& runtime_;
  const FermiTarget& target_;
  const DensityOptions& options_;
  const double tolerance_, stretch_;
  double miss_ = 0;    ///< electrons that may be missed
  double states_ = 0;  ///< electrons if all states were full
  std::vector<FermiLevel> levels_;
  std::vector<Traveller<T>> travellers_;
  double mu_ = 0, found_ = 0;
  bool idempotent_ = false;
  Index iteration_ = 0;
};

}  // namespace

template <class T>
double fermi_tolerance(const DensityOptions& options) {
  if (options.tolerance > 0) return options.tolerance;
  return std::max(0.01 * options.filter_eps, 100 * static_cast<double>(precision<T>));
}

template <class T>
FermiFound expand_fermi_operators(Runtime& runtime, std::span<FermiMember<T>> members,
                                  const FermiTarget& target, const DensityOptions& options) {
  return FermiExpansion<T>(runtime, members, target, options).run();
}

#define TESSERA_INSTANTIATE(T)                                                                           \
  template double fermi_tolerance<T>(const DensityOptions&);                                             \
  template FermiFound expand_fermi_operators<T>(Runtime&, std::span<FermiMember<T>>, const FermiTarget&, \
                                                const DensityOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
