// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include <tessera/algorithms/density_matrix/concurrently.hpp>
#include <tessera/algorithms/density_matrix/dense_density.hpp>
#include <tessera/algorithms/density_matrix/fermi_expansion.hpp>
#include <tessera/algorithms/density_matrix/fermi_levels.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/purify.hpp>
#include <tessera/algorithms/density_matrix/thermal_density.hpp>

namespace tessera::detail {

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The problems that share a chemical potential, from their matrices to their results.
template <class T>
class ThermalDensities {
 public:
  ThermalDensities(Runtime& runtime, std::span<const DensityProblem<T>> problems,
                   std::span<const double> weights, DensityMethod method, const DensityOptions& options,
                   std::span<DensityResult<T>> results)
      : runtime_(runtime), problems_(problems), weights_(weights), options_(options), results_(results) {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      results[k].method = method;
      algebras_.emplace_back(runtime, options.filter_eps, options.monitor, results[k]);
      electrons_ += weight(k) * problems[k].electrons;
      most_ += weight(k) * problems[k].occupation * states(k);
    }
  }

  void by_expansion() {
    std::vector<OrthonormalBasis<T>> bases(problems_.size());
    std::vector<BlockSparseMatrix<T>> hamiltonians(problems_.size());
    std::vector<SpectralInterval> spectra(problems_.size());
    concurrently(runtime_, problems_.size(), [&](std::size_t k) {
      const DensityProblem<T>& problem = problems_[k];
      if (problem.overlap && problem.hamiltonian.rows() > 0)
        bases[k] = OrthonormalBasis<T>(algebras_[k], *problem.overlap, problem.inverse_factor, options_);
      hamiltonians[k] = bases[k].to_orthonormal(algebras_[k], problem.hamiltonian);
      algebras_[k].finish();
      spectra[k] = spectrum_of(runtime_, hamiltonians[k]);
    });
    std::vector<FermiMember<T>> members;
    for (std::size_t k = 0; k < problems_.size(); ++k)
      members.push_back({.algebra = &algebras_[k],
                         .hamiltonian = &hamiltonians[k],
                         .occupation = problems_[k].occupation,
                         .weight = weight(k)});
    FermiFound found{.chemical_potential = 0, .error = 0};
    const SpectralInterval spectrum = hull(spectra);
    if (!trivial(members, spectrum, found))
      found = expand_fermi_operators<T>(runtime_, members,
                                        {.temperature = temperature(),
                                         .spectrum = spectrum,
                                         .electrons = electrons_,
                                         .potential = problems_.front().chemical_potential},
                                        options_);
    concurrently(runtime_, problems_.size(), [&](std::size_t k) {
      const DensityProblem<T>& problem = problems_[k];
      DensityResult<T>& result = results_[k];
      const BlockSparseMatrix<T>& x = members[k].x;
      result.gap = {{no_number, no_number}, {no_number, no_number}};
      auto p = bases[k].from_orthonormal(algebras_[k], x, problem.hamiltonian.layout());
      if (options_.energy_weighted) {
        // f and H' commute: their product is Hermitian.
        const auto hx = algebras_[k].product(problem.occupation, hamiltonians[k], x, x.layout());
        result.energy_weighted = bases[k].from_orthonormal(algebras_[k], hx, problem.hamiltonian.layout());
      }
      result.inverse_factor = std::move(bases[k].factor());
      finish(k, std::move(p), found, members[k].entropy);
    });
  }

  void by_eigenpairs() {
    std::vector<DenseEigenpairs<T>> pairs(problems_.size());
    concurrently(runtime_, problems_.size(), [&](std::size_t k) {
      if (states(k) > 0)
        pairs[k] = dense_eigenpairs(algebras_[k], problems_[k], problems_[k].hamiltonian.rows());
    });
    const double mu = potential_of(pairs);
    concurrently(runtime_, problems_.size(), [&](std::size_t k) {
      const DensityProblem<T>& problem = problems_[k];
      DensityResult<T>& result = results_[k];
      result.gap = {{no_number, no_number}, {no_number, no_number}};
      double entropy = 0;
      std::vector<double> f, f_energy;
      for (const double e : pairs[k].values) {
        const double y = (e - mu) / (2 * temperature());
        f.push_back(occupation_at(y));
        f_energy.push_back(problem.occupation * f.back() * e);
        entropy += entropy_of(y);
        if (e <= mu) result.gap.homo = {e, e};
        if (e > mu && std::isnan(result.gap.lumo.lower)) result.gap.lumo = {e, e};
      }
      const BlockLayout& layout = problem.hamiltonian.layout();
      const auto empty = [&] { return BlockSparseMatrix<T>(empty_pattern(runtime_, layout)); };
      auto p = f.empty() ? empty() : sum_over_states(algebras_[k], pairs[k], f, layout);
      if (options_.energy_weighted)
        result.energy_weighted =
            f.empty() ? empty() : sum_over_states(algebras_[k], pairs[k], f_energy, layout);
      finish(k, std::move(p), {mu, static_cast<double>(precision<T>)}, entropy);
    });
  }

 private:
  double weight(std::size_t k) const { return weights_.empty() ? 1 : weights_[k]; }
  double states(std::size_t k) const { return static_cast<double>(problems_[k].hamiltonian.rows()); }
  double temperature() const { return problems_.front().temperature; }
  /// f; states that are empty to rounding have none.
  static double occupation_at(double y) {
    const double f = y > 0 ? std::exp(-2 * y) / (1 + std::exp(-2 * y)) : 1 / (1 + std::exp(2 * y));
    return f > 1e-30 ? f : 0;
  }

  static SpectralInterval hull(const std::vector<SpectralInterval>& spectra) {
    SpectralInterval all = spectra.front();
    for (const SpectralInterval& spectrum : spectra)
      all = {std::min(all.lower, spectrum.lower), std::max(all.upper, spectrum.upper)};
    return all;
  }

  /// No states, none full or all: whatever the temperature.
  bool trivial(std::vector<FermiMember<T>>& members, SpectralInterval spectrum, FermiFound& found) {
    if (most_ > 0 && (problems_.front().chemical_potential || (electrons_ > 0 && electrons_ < most_)))
      return false;
    const bool full = electrons_ > 0;
    for (std::size_t k = 0; k < members.size(); ++k) {
      const BlockLayout& layout = problems_[k].hamiltonian.layout();
      members[k].x = full ? algebras_[k].copied(algebras_[k].identity(layout))
                          : BlockSparseMatrix<T>(empty_pattern(runtime_, layout));
    }
    found.chemical_potential =
        full ? spectrum.upper + 40 * temperature() : spectrum.lower - 40 * temperature();
    return true;
  }

  double potential_of(const std::vector<DenseEigenpairs<T>>& pairs) const {
    if (problems_.front().chemical_potential) return *problems_.front().chemical_potential;
    double lower = std::numeric_limits<double>::infinity(), upper = -lower;
    for (const DenseEigenpairs<T>& of : pairs)
      if (!of.values.empty())
        lower = std::min(lower, of.values.front()), upper = std::max(upper, of.values.back());
    if (!(lower <= upper)) return 0;
    const auto electrons = [&](double mu) {
      double sum = 0;
      for (std::size_t k = 0; k < pairs.size(); ++k)
        for (const double e : pairs[k].values)
          sum += weight(k) * problems_[k].occupation * occupation_at((e - mu) / (2 * temperature()));
      return sum;
    };
    // Of insulators at low temperature, the middle of where the electrons are as wanted to rounding.
    return chemical_potential_of(electrons, electrons_, 4e-16 * most_,
                                 {lower - 40 * temperature(), upper + 40 * temperature()});
  }

  /// What follows from P of states of occupation 1.
  void finish(std::size_t k, BlockSparseMatrix<T> p, const FermiFound& found, double entropy) {
    const DensityProblem<T>& problem = problems_[k];
    DensityResult<T>& result = results_[k];
    BlockAlgebra<T>& algebra = algebras_[k];
    algebra.finish();
    result.chemical_potential = found.chemical_potential;
    result.error = found.error;
    algebra.scale(problem.occupation, p);
    result.energy = real_part(dot(p, problem.hamiltonian));
    result.electrons = problem.overlap ? real_part(dot(p, *problem.overlap)) : real_part(trace(p));
    result.entropy = problem.occupation * entropy;
    result.free_energy = result.energy - problem.temperature * result.entropy;
    result.idempotency = no_number;
    if (options_.check) {
      algebra.set_filter_eps(last_filter * options_.filter_eps);
      result.commutator = commutator_error(algebra, problem.hamiltonian, problem.overlap, p);
    }
    algebra.finish();
    algebra.count_products();
    result.density = std::move(p);
  }

  Runtime& runtime_;
  std::span<const DensityProblem<T>> problems_;
  std::span<const double> weights_;
  const DensityOptions& options_;
  std::span<DensityResult<T>> results_;
  std::deque<BlockAlgebra<T>> algebras_;
  double electrons_ = 0, most_ = 0;  ///< weighted: wanted, and if all states were full
};

}  // namespace

template <class T>
void solve_thermal_densities(Runtime& runtime, std::span<const DensityProblem<T>> problems,
                             std::span<const double> weights, DensityMethod method,
                             const DensityOptions& options, std::span<DensityResult<T>> results) {
  IterationReport all;
  report_iteration(all, [&] {
    ThermalDensities<T> densities(runtime, problems, weights, method, options, results);
    if (method == DensityMethod::dense)
      densities.by_eigenpairs();
    else
      densities.by_expansion();
  });
  for (DensityResult<T>& result : results) {
    result.seconds = all.seconds;
    if (!all) result.set_status(all.status());
    // Where another has failed, there is no common chemical potential.
    if (!all) result.density = {}, result.energy_weighted = {};
  }
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template void solve_thermal_densities<T>(Runtime&, std::span<const DensityProblem<T>>,                  \
                                           std::span<const double>, DensityMethod, const DensityOptions&, \
                                           std::span<DensityResult<T>>);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
