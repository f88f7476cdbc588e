// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/algorithms/density_matrix/curvy_steps.hpp>
#include <tessera/algorithms/density_matrix/dense_density.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/hermitian_tiles.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/purify.hpp>
#include <tessera/algorithms/density_matrix/solve_density.hpp>
#include <tessera/algorithms/density_matrix/submatrix_density.hpp>
#include <tessera/algorithms/density_matrix/thermal_density.hpp>
#include <tessera/algorithms/density_matrix/tiled_purification.hpp>
#include <tessera/density_matrix.hpp>

namespace tessera::detail {

template <class T>
DensityMethod chosen_method(const DensityProblem<T>& problem, const DensityOptions& options) {
  if (options.method != DensityMethod::automatic) return options.method;
  if (problem.temperature > 0) return DensityMethod::fermi;
  if (problem.chemical_potential) return DensityMethod::sign;
  return problem.gap ? DensityMethod::sp2 : DensityMethod::trs4;
}

template <class T>
void require_density(const Runtime& runtime, const DensityProblem<T>& problem,
                     const DensityOptions& options) {
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
  number("temperature", problem.temperature, 0, "a number of at least 0");
  number("filter_eps", options.filter_eps, 0, "a number of at least 0");
  number("tolerance", options.tolerance, 0, "a number of at least 0");
  number("electron_tolerance", options.electron_tolerance, 0, "a number of at least 0");
  if (options.iterations < 1)
    throw InvalidArgument("iterations", fmt::to_string(options.iterations), "at least 1");
  if (options.sign_order < 2 || options.sign_order > 7)
    throw InvalidArgument("sign_order", fmt::to_string(options.sign_order), "2 to 7");
  if (options.factor_order < 2 || options.factor_order > 5)
    throw InvalidArgument("factor_order", fmt::to_string(options.factor_order), "2 to 5");
  if (options.group_order < 0)
    throw InvalidArgument("group_order", fmt::to_string(options.group_order), "at least 0");
  const DensityMethod method = chosen_method(problem, options);
  const bool at_temperature = method == DensityMethod::fermi || method == DensityMethod::dense;
  if (problem.temperature > 0 && !at_temperature)
    throw InvalidArgument(
        "temperature", fmt::to_string(problem.temperature),
        fmt::format("0 for method {}; fermi and dense know temperatures", to_string(method)));
  if (problem.temperature == 0 && method == DensityMethod::fermi)
    throw InvalidArgument("temperature", "0", "a number above 0 for method fermi");
  if (problem.chemical_potential) {
    if (!std::isfinite(*problem.chemical_potential))
      throw InvalidArgument("chemical_potential", fmt::to_string(*problem.chemical_potential),
                            "a finite number");
    if (problem.temperature == 0 && method != DensityMethod::sign)
      throw InvalidArgument("chemical_potential", fmt::to_string(*problem.chemical_potential),
                            "none for methods other than sign, unless there is a temperature");
    return;
  }
  const double states = problem.electrons / problem.occupation;
  const bool number_of_states = states >= 0 && states <= static_cast<double>(problem.hamiltonian.rows());
  if (problem.temperature > 0 && !number_of_states)
    throw InvalidArgument(
        "electrons", fmt::to_string(problem.electrons),
        fmt::format("0 to {} in each of {} states", problem.occupation, problem.hamiltonian.rows()));
  if (!number_of_states || (problem.temperature == 0 && std::abs(states - std::round(states)) > 1e-9))
    throw InvalidArgument("electrons", fmt::to_string(problem.electrons),
                          fmt::format("{} times a whole number of states, at most {}", problem.occupation,
                                      problem.hamiltonian.rows()));
}

template <class T>
std::uint64_t density_hash(const DensityProblem<T>& problem, const DensityOptions& options) {
  const auto matrix = [](const BlockSparseMatrix<T>* a) { return a ? shape_hash(*a) : 1; };
  const GapBounds gap = problem.gap.value_or(GapBounds{});
  return argument_hash(
      shape_hash(problem.hamiltonian), matrix(problem.overlap), matrix(problem.inverse_factor),
      matrix(problem.density), problem.electrons, problem.occupation, problem.temperature,
      problem.chemical_potential.value_or(0.5), problem.gap.has_value(), gap.homo.upper, gap.lumo.lower,
      options.method, options.filter_eps, options.tolerance, options.iterations, options.sign_order,
      options.factor_order, options.scaled, options.group_order, options.electron_tolerance,
      options.energy_weighted, options.check, options.mixed_precision.value_or(options.filter_eps >= 1e-7),
      options.monitor == nullptr);
}

namespace {

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

/// H, S and what a computation begins with, in the precision F of its iterations.
template <class F, class T>
class Operands {
 public:
  explicit Operands(const DensityProblem<T>& problem) : sequence_(problem.hamiltonian.runtime()) {
    const auto take = [&](const BlockSparseMatrix<T>* of, BlockSparseMatrix<F>& copy) {
      const BlockSparseMatrix<F>* taken = nullptr;
      if constexpr (std::is_same_v<F, T>) {
        taken = of;
      } else if (of) {
        copy = convert<F>(sequence_, *of);
        taken = &copy;
      }
      return taken;
    };
    hamiltonian = take(&problem.hamiltonian, hamiltonian_);
    overlap = take(problem.overlap, overlap_);
    inverse_factor = take(problem.inverse_factor, inverse_factor_);
    density = take(problem.density, density_);
  }
  const BlockSparseMatrix<F>*hamiltonian, *overlap, *inverse_factor, *density;
  /// Once they have been used.
  /// @throws IterationEnded if they could not be made
  void finish() {
    const Status status = sequence_.wait();
    if (!status.ok()) throw IterationEnded{status};
  }

 private:
  Sequence sequence_;
  BlockSparseMatrix<F> hamiltonian_, overlap_, inverse_factor_, density_;
};

/// A matrix of the iterations in T.
template <class T, class F>
BlockSparseMatrix<T> in_precision(BlockAlgebra<T>& algebra, BlockSparseMatrix<F> a) {
  if constexpr (std::is_same_v<F, T>)
    return a;
  else
    return a.valid() ? algebra.in_sequence([&](Sequence& sequence) { return convert<T>(sequence, a); })
                     : BlockSparseMatrix<T>();
}

/// The algebra of another one's matrices in F: the same where that is its precision.
template <class F, class T>
class AlgebraIn {
 public:
  AlgebraIn(BlockAlgebra<T>& outer, double filter_eps, IterationReport& report) {
    if constexpr (std::is_same_v<F, T>)
      algebra_ = &outer;
    else
      algebra_ = &own_.emplace(outer.runtime(), filter_eps, outer.monitor(), report);
  }
  BlockAlgebra<F>& operator*() noexcept { return *algebra_; }

 private:
  std::optional<BlockAlgebra<F>> own_;
  BlockAlgebra<F>* algebra_;
};

/// The present step goes on in another algebra, unless it is the same.
template <class F, class T>
void continue_in(BlockAlgebra<F>& algebra, BlockAlgebra<T>& before) {
  if constexpr (!std::is_same_v<F, T>) algebra.continue_step_of(before);
}

/// P of states of occupation 1, by iterations in F between orthonormal bases in B; mu, the gap and Z go to the result.
template <class F, class B, class T>
BlockSparseMatrix<T> iterate_in(BlockAlgebra<T>& outer, const DensityProblem<T>& problem,
                                const DensityOptions& options, DensityMethod method,
                                DensityResult<T>& result) {
  Runtime& runtime = outer.runtime();
  AlgebraIn<B, T> of_bases(outer, options.filter_eps, result);
  AlgebraIn<F, B> of_iterations(*of_bases, options.filter_eps, result);
  BlockAlgebra<B>& bases = *of_bases;
  BlockAlgebra<F>& algebra = *of_iterations;
  Operands<B, T> of(problem);
  OrthonormalBasis<B> basis;
  if (of.overlap && of.hamiltonian->rows() > 0)
    basis = OrthonormalBasis<B>(bases, *of.overlap, of.inverse_factor, options,
                                {.repaired = true, .half = !std::is_same_v<B, T>});
  auto in_basis = basis.to_orthonormal(bases, *of.hamiltonian);
  BlockSparseMatrix<B> begin;
  if (of.density) {
    begin = basis.density_to_orthonormal(bases, bases.in_layout(*of.density, of.hamiltonian->layout()),
                                         of.overlap);
    bases.scale(1 / problem.occupation, begin);
  }
  bases.finish();
  of.finish();
  continue_in(algebra, bases);
  const auto orthonormal = in_precision<F>(algebra, std::move(in_basis)),
             start = in_precision<F>(algebra, std::move(begin));
  const OrthonormalProblem<F> inner{
      .hamiltonian = orthonormal,
      .states = std::round(problem.electrons / problem.occupation),
      .occupation = problem.occupation,
      .spectrum = spectrum_of(runtime, orthonormal),
      .gap = method == DensityMethod::sp2 || method == DensityMethod::sign ? problem.gap : std::nullopt,
      .chemical_potential = problem.chemical_potential,
      .start = start.valid() ? &start : nullptr};
  DensityOptions in_steps = options;
  in_steps.tolerance = idempotency_tolerance<T>(options);  // what the last step, in T, is to leave
  auto found = projector(algebra, inner, method, in_steps);
  algebra.finish();
  result.chemical_potential = found.chemical_potential;
  result.gap = found.gap;
  continue_in(bases, algebra);
  auto p =
      basis.from_orthonormal(bases, in_precision<B>(bases, std::move(found.x)), of.hamiltonian->layout());
  // The last step cannot mend what is not Hermitian: it takes an oblique projector for one. A change of precision does.
  if constexpr (std::is_same_v<B, T>) restore_diagonal_blocks(bases, p);
  bases.finish();
  continue_in(outer, bases);
  result.inverse_factor = in_precision<T>(outer, std::move(basis.factor()));
  return in_precision<T>(outer, std::move(p));
}

/// The same, the purifications in half the precision where that is asked for, and the bases, too, if S allows it.
template <class T>
BlockSparseMatrix<T> by_iterations(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                                   const DensityOptions& options, DensityMethod method,
                                   DensityResult<T>& result) {
  using Half = Single<T>;
  if constexpr (!std::is_same_v<Half, T>) {
    const bool purifies =
        method == DensityMethod::trs4 || method == DensityMethod::tc2 || method == DensityMethod::sp2;
    if (purifies && iterates_in_single<T>(algebra.runtime()) &&
        options.mixed_precision.value_or(options.filter_eps >= 1e-7)) {
      try {
        // A former Z does not tell the condition of S.
        if (!problem.inverse_factor) return iterate_in<Half, Half>(algebra, problem, options, method, result);
      } catch (const IllConditioned&) {
        // Z would be off by rounding times the condition of S.
      }
      return iterate_in<Half, T>(algebra, problem, options, method, result);
    }
  }
  return iterate_in<T, T>(algebra, problem, options, method, result);
}

/// From P of states of occupation 1: the last step, unless P has been purified, which makes P as idempotent in the
/// metric of S as its products are exact, so that the energy's error is of second order; then what follows from P.
template <class T>
void finish_density(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem, const DensityOptions& options,
                    BlockSparseMatrix<T> p, bool purified, DensityResult<T>& result) {
  algebra.set_filter_eps(last_filter * options.filter_eps);
  const auto measure = [&] {
    auto electrons = problem.overlap ? submit_dot(p, *problem.overlap) : submit_trace(p);
    auto energy = submit_dot(p, problem.hamiltonian);
    const auto value = [&](Completion<NumberResult<T>> number) {
      const NumberResult<T> found = std::move(number).result();
      if (!found) throw IterationEnded{found.status()};
      return problem.occupation * real_part(found.value);
    };
    result.electrons = value(std::move(electrons));
    result.energy = value(std::move(energy));
  };
  // A step leaves three times the square; seldom is one not enough. P's norm is not that of its states, whose number
  // tells, too, how far they are from full and empty. The energy's share of what a step leaves is of its order, and the
  // filter's share of the order of its square: another step for less is not worth its products.
  constexpr Index most = 2;
  const double unseen =
                   options.tolerance > 0 ? 0 : 30 * options.filter_eps * std::min(options.filter_eps, 1e-4),
               tolerance = std::max(idempotency_tolerance<T>(options), unseen);
  double before = purified ? 0 : 1, last = 4, broken = 1;
  if (purified) measure();
  for (Index iteration = 1; !purified && iteration <= most && before < 0.5 * last &&
                            (3 * before * before > tolerance || broken > tolerance);
       ++iteration) {
    last = before;
    before = mcweeny_step(algebra, p, problem.overlap);
    algebra.finish();
    if (options.filter_eps > 0) filter(p, options.filter_eps);
    measure();
    const double count = result.electrons / problem.occupation;
    broken = std::abs(count - std::round(count)) / std::max(count, 1.0);
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
  if (!purified) result.error = 3 * before * before;
  if (options.check) {
    result.error = result.idempotency = idempotency_error(algebra, p, problem.overlap);
    result.commutator =
        problem.occupation * commutator_error(algebra, problem.hamiltonian, problem.overlap, p);
  }
  algebra.scale(problem.occupation, p);
  algebra.finish();
  algebra.count_products();
  result.free_energy = result.energy;
  result.density = std::move(p);
}

}  // namespace

template <class T>
DensityResult<T> solve_density(Runtime& runtime, const DensityProblem<T>& problem,
                               const DensityOptions& options) {
  DensityResult<T> result;
  if (problem.temperature > 0) {
    solve_thermal_densities<T>(runtime, {&problem, 1}, {}, chosen_method(problem, options), options,
                               {&result, 1});
    return result;
  }
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    const DensityMethod method = chosen_method(problem, options);
    result.method = method;
    const BlockSparseMatrix<T>& h = problem.hamiltonian;
    const auto finish = [&](BlockSparseMatrix<T> p, bool purified) {
      finish_density(algebra, problem, options, std::move(p), purified, result);
    };
    if (method == DensityMethod::dense) return finish(dense_density(algebra, problem, result), true);
    const bool trivial = problem.electrons <= 0 ||
                         std::round(problem.electrons / problem.occupation) >= static_cast<double>(h.rows());
    if (method == DensityMethod::submatrix && !trivial)
      if (auto p = density_of_submatrices(algebra, problem, options, result))
        return finish(std::move(*p), false);
    if ((method == DensityMethod::purification || method == DensityMethod::submatrix) && !trivial)
      return finish(purify_in_tiles(algebra, problem, options, result), true);
    finish(by_iterations(algebra, problem, options, method, result), false);
  });
  return result;
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template DensityMethod chosen_method<T>(const DensityProblem<T>&, const DensityOptions&);          \
  template void require_density<T>(const Runtime&, const DensityProblem<T>&, const DensityOptions&); \
  template std::uint64_t density_hash<T>(const DensityProblem<T>&, const DensityOptions&);           \
  template DensityResult<T> solve_density<T>(Runtime&, const DensityProblem<T>&, const DensityOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

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
    case DensityMethod::purification:
      return "purification";
    case DensityMethod::submatrix:
      return "submatrix";
    case DensityMethod::fermi:
      return "fermi";
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
      [&] { require_density(runtime, problem, options); },
      [&runtime, problem, options] { return solve_density(runtime, problem, options); });
}

template <class T>
DensityResult<T> density_matrix(Runtime& runtime, const DensityProblem<T>& problem,
                                const DensityOptions& options) {
  return collectively(
      runtime, "density_matrix", density_hash(problem, options),
      [&] { require_density(runtime, problem, options); },
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
