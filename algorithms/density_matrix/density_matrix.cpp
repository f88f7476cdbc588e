// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/algorithms/density_matrix/dense_density.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/purify.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

namespace {

template <class T>
DensityMethod chosen_method(const DensityProblem<T>& problem, const DensityOptions& options) {
  if (options.method != DensityMethod::automatic) return options.method;
  if (problem.chemical_potential) return DensityMethod::sign;
  return problem.gap ? DensityMethod::sp2 : DensityMethod::trs4;
}

template <class T>
void require_valid(const Runtime& runtime, const DensityProblem<T>& problem, const DensityOptions& options) {
  const auto number = [](const char* name, double value, double least, const char* expected) {
    if (!(value >= least) || std::isinf(value)) throw InvalidArgument(name, fmt::to_string(value), expected);
  };
  require_operand("hamiltonian", runtime, problem.hamiltonian, true);
  const BlockLayout& layout = problem.hamiltonian.layout();
  if (problem.overlap) {
    require_operand("overlap", runtime, *problem.overlap, true);
    require_sizes("overlap", problem.overlap->layout(), layout);
  }
  if (problem.inverse_factor) {
    if (!problem.overlap) throw InvalidArgument("inverse_factor", "a matrix", "none without an overlap");
    require_operand("inverse_factor", runtime, *problem.inverse_factor, false);
    require_sizes("inverse_factor", problem.inverse_factor->layout(), layout);
  }
  if (problem.density) {
    if (options.method != DensityMethod::curvy)
      throw InvalidArgument("density", "a matrix", "none for methods other than curvy");
    require_operand("density", runtime, *problem.density, true);
    require_sizes("density", problem.density->layout(), layout);
  }
  number("occupation", problem.occupation, 1e-300, "a number above 0");
  number("filter_eps", options.filter_eps, 0, "a number of at least 0");
  number("tolerance", options.tolerance, 0, "a number of at least 0");
  number("electron_tolerance", options.electron_tolerance, 0, "a number of at least 0");
  if (options.iterations < 1)
    throw InvalidArgument("iterations", fmt::to_string(options.iterations), "at least 1");
  if (options.sign_order < 2 || options.sign_order > 7)
    throw InvalidArgument("sign_order", fmt::to_string(options.sign_order), "2 to 7");
  if (options.factor_order < 2 || options.factor_order > 5)
    throw InvalidArgument("factor_order", fmt::to_string(options.factor_order), "2 to 5");
  if (problem.chemical_potential) {
    if (!std::isfinite(*problem.chemical_potential))
      throw InvalidArgument("chemical_potential", fmt::to_string(*problem.chemical_potential),
                            "a finite number");
    if (chosen_method(problem, options) != DensityMethod::sign)
      throw InvalidArgument("chemical_potential", fmt::to_string(*problem.chemical_potential),
                            "none for methods other than sign");
    return;
  }
  const double states = problem.electrons / problem.occupation;
  if (!(states >= 0) || states > static_cast<double>(problem.hamiltonian.rows()) ||
      std::abs(states - std::round(states)) > 1e-9)
    throw InvalidArgument("electrons", fmt::to_string(problem.electrons),
                          fmt::format("{} times a whole number of states, at most {}", problem.occupation,
                                      problem.hamiltonian.rows()));
}

template <class T>
std::uint64_t density_hash(const DensityProblem<T>& problem, const DensityOptions& options) {
  const auto matrix = [](const BlockSparseMatrix<T>* a) { return a ? shape_hash(*a) : 1; };
  const GapBounds gap = problem.gap.value_or(GapBounds{});
  return argument_hash(shape_hash(problem.hamiltonian), matrix(problem.overlap),
                       matrix(problem.inverse_factor), matrix(problem.density), problem.electrons,
                       problem.occupation, problem.chemical_potential.value_or(0.5), problem.gap.has_value(),
                       gap.homo.upper, gap.lumo.lower, options.method, options.filter_eps, options.tolerance,
                       options.iterations, options.sign_order, options.factor_order, options.scaled,
                       options.electron_tolerance, options.energy_weighted, options.check,
                       options.monitor == nullptr);
}

/// The bounds of the spectrum that the purifications need: nothing may lie outside.
template <class T>
SpectralInterval spectrum_of(Runtime& runtime, const BlockSparseMatrix<T>& h) {
  if (h.rows() == 0) return {0, 0};
  const ExtremalResult ends = extremal_eigenvalues<T>(runtime, {.a = h}, {.tolerance = 1e-3});
  if (!ends && ends.status().code != StatusCode::iterations_exhausted) throw IterationEnded{ends.status()};
  // Eigenvalues a little outside of [0, 1] come back; a margin costs next to nothing.
  const double width = std::max(ends.highest.bound - ends.lowest.bound, 1e-3 * std::abs(ends.highest.bound));
  const double margin = width > 0 ? 0.005 * width : 1;
  return {ends.lowest.bound - margin, ends.highest.bound + margin};
}

template <class T>
Projector<T> projector(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem, DensityMethod method,
                       const DensityOptions& options) {
  if (!problem.chemical_potential)
    if (auto known = trivial_projector(algebra, problem)) return std::move(*known);
  switch (method) {
    case DensityMethod::sign:
      return projector_by_sign(algebra, problem, options);
    case DensityMethod::tc2:
    case DensityMethod::sp2:
      return purify_tc2(algebra, problem, options);
    case DensityMethod::curvy:
      return minimise_energy(algebra, problem, options);
    default:
      return purify_trs4(algebra, problem, options);
  }
}

/// ||S P H - H P S||_F / sqrt(n)
template <class T>
double commutator_error(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                        const BlockSparseMatrix<T>& p) {
  const BlockLayout full = full_layout(p.layout());
  const auto ph = algebra.product(1, p, problem.hamiltonian, full);
  auto commutator = problem.overlap ? algebra.product(1, *problem.overlap, ph, full) : algebra.copied(ph);
  const auto adjoint = algebra.in_layout(
      algebra.in_sequence([&](Sequence& sequence) { return transpose(sequence, commutator, true); }), full);
  algebra.add(1, commutator, -1, adjoint);
  algebra.finish();
  return relative_norm(commutator);
}

/// From P of states of occupation 1: the last step, which makes P as idempotent in the metric of S as its products are
/// exact, so that the energy's error is of second order; then what follows from P.
template <class T>
void finish_density(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem, const DensityOptions& options,
                    BlockSparseMatrix<T> p, DensityResult<T>& result) {
  algebra.set_filter_eps(last_filter * options.filter_eps);
  const auto electrons = [&] {
    return problem.occupation * (problem.overlap ? real_part(dot(p, *problem.overlap)) : real_part(trace(p)));
  };
  // A step leaves three times the square; seldom is one not enough. P's norm is not that of its states, whose number
  // tells, too, how far they are from full and empty.
  constexpr Index most = 2;
  const double tolerance = idempotency_tolerance<T>(options);
  double before = 1, last = 4, broken = 1;
  for (Index iteration = 1;
       iteration <= most && before < 0.5 * last && (3 * before * before > tolerance || broken > tolerance);
       ++iteration) {
    last = before;
    before = mcweeny_step(algebra, p, problem.overlap);
    algebra.finish();
    if (options.filter_eps > 0) filter(p, options.filter_eps);
    result.electrons = electrons();
    const double count = result.electrons / problem.occupation;
    broken = std::abs(count - std::round(count)) / std::max(count, 1.0);
    result.energy = problem.occupation * real_part(dot(p, problem.hamiltonian));
    algebra.end_step({.stage = "mcweeny",
                      .iteration = iteration,
                      .convergence = before,
                      .electrons = result.electrons,
                      .energy = result.energy},
                     p);
  }
  // Whatever has gone wrong before: what is no projector onto the wanted number of states is no result.
  const double states = result.electrons / problem.occupation;
  const double wanted = problem.chemical_potential ? states : problem.electrons / problem.occupation;
  if (before > 0.1 || std::abs(states - wanted) > 0.5)
    throw IterationEnded{
        {StatusCode::no_gap, "mcweeny", 0,
         fmt::format("{:.6f} states of {:.0f}, ||PSP - P||_F / ||P||_F = {:.2e}", states, wanted, before)}};
  if (options.energy_weighted) {
    const auto hp = algebra.product(problem.occupation, problem.hamiltonian, p, full_layout(p.layout()));
    result.energy_weighted = algebra.product(1, p, hp, p.layout());
  }
  result.error = 3 * before * before;
  if (options.check) {
    result.error = result.idempotency = idempotency_error(algebra, p, problem.overlap);
    result.commutator = problem.occupation * commutator_error(algebra, problem, p);
  }
  algebra.scale(problem.occupation, p);
  algebra.finish();
  algebra.count_products();
  result.density = std::move(p);
}

template <class T>
DensityResult<T> solve_density(Runtime& runtime, const DensityProblem<T>& problem,
                               const DensityOptions& options) {
  DensityResult<T> result;
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    const DensityMethod method = chosen_method(problem, options);
    result.method = method;
    const BlockSparseMatrix<T>& h = problem.hamiltonian;
    if (method == DensityMethod::dense)
      return finish_density(algebra, problem, options, dense_density(algebra, problem, result), result);
    OrthonormalBasis<T> basis;
    if (problem.overlap && h.rows() > 0)
      basis = OrthonormalBasis<T>(algebra, *problem.overlap, problem.inverse_factor, options);
    const auto orthonormal = basis.to_orthonormal(algebra, h);
    algebra.finish();
    OrthonormalProblem<T> inner{.hamiltonian = orthonormal,
                                .states = std::round(problem.electrons / problem.occupation),
                                .occupation = problem.occupation,
                                .spectrum = spectrum_of(runtime, orthonormal),
                                .gap = method == DensityMethod::sp2 ? problem.gap : std::nullopt,
                                .chemical_potential = problem.chemical_potential};
    BlockSparseMatrix<T> start;
    if (problem.density) {
      start = basis.density_to_orthonormal(algebra, algebra.in_layout(*problem.density, h.layout()),
                                           problem.overlap);
      algebra.scale(1 / problem.occupation, start);
      inner.start = &start;
    }
    auto found = projector(algebra, inner, method, options);
    algebra.finish();
    result.chemical_potential = found.chemical_potential;
    result.gap = found.gap;
    auto p = basis.from_orthonormal(algebra, found.x, h.layout());
    result.inverse_factor = std::move(basis.factor());
    algebra.finish();
    finish_density(algebra, problem, options, std::move(p), result);
  });
  return result;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

const char* to_string(DensityMethod method) noexcept {
  switch (method) {
    case DensityMethod::automatic:
      return "auto";
    case DensityMethod::sign:
      return "sign";
    case DensityMethod::trs4:
      return "trs4";
    case DensityMethod::tc2:
      return "tc2";
    case DensityMethod::sp2:
      return "sp2";
    case DensityMethod::curvy:
      return "curvy";
    case DensityMethod::dense:
      return "dense";
  }
  return "unknown";
}

template <class T>
Completion<DensityResult<T>> submit_density_matrix(Runtime& runtime, const DensityProblem<T>& problem,
                                                   const DensityOptions& options) {
  return submit_call<DensityResult<T>>(
      "submit_density_matrix", runtime, density_hash(problem, options),
      [&] { require_valid(runtime, problem, options); },
      [&runtime, problem, options] { return solve_density(runtime, problem, options); });
}

template <class T>
DensityResult<T> density_matrix(Runtime& runtime, const DensityProblem<T>& problem,
                                const DensityOptions& options) {
  return collectively(
      runtime, "density_matrix", density_hash(problem, options),
      [&] { require_valid(runtime, problem, options); },
      [&] { return solve_density(runtime, problem, options); });
}

template <class T>
DensityResult<T> density_matrix(const DensityProblem<T>& problem, const DensityOptions& options) {
  return density_matrix<T>(runtime_of("hamiltonian", problem.hamiltonian), problem, options);
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template Completion<DensityResult<T>> submit_density_matrix<T>(Runtime&, const DensityProblem<T>&,      \
                                                                 const DensityOptions&);                  \
  template DensityResult<T> density_matrix<T>(Runtime&, const DensityProblem<T>&, const DensityOptions&); \
  template DensityResult<T> density_matrix<T>(const DensityProblem<T>&, const DensityOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
