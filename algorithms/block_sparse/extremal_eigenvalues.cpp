// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/lanczos.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/panel_lanczos.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/thread_work.hpp>
#include <tessera/spectral_bounds.hpp>

namespace tessera::detail {

namespace {

constexpr const char* stage = "extremal_eigenvalues";
/// Products between two looks at the coefficients.
constexpr Index steps_at_once = 16;
/// Of the safe bound.
constexpr double failure_probability = 1e-6;

/// The exponent of a power of two that brings a matrix of this norm to norms of at most 1, if T has it.
template <class T>
int scaling_exponent(double norm) {
  constexpr int most = std::numeric_limits<RealOf<T>>::max_exponent - 2;
  return std::clamp(std::ilogb(norm) + 1, -most, most);
}

/// By how much of the spectrum's width a Ritz value may miss its end, but for the failure probability, with k
/// products (Kuczynski and Wozniakowski 1992; see SpectralEnd).
double missed_share(Index n, Index k) {
  const double root = std::log(1.648 * std::sqrt(static_cast<double>(n)) / failure_probability) /
                      static_cast<double>(2 * k - 1);
  return root * root;
}

/// The coefficients up to the first vector that is zero: the basis spans an invariant subspace then.
KrylovMatrix leading_part(const KrylovMatrix& h, double least) {
  const auto zero =
      std::find_if(h.beside.begin(), h.beside.end(), [&](double norm) { return norm <= least; });
  if (zero == h.beside.end()) return h;
  const auto size = zero - h.beside.begin() + 1;
  return {{h.diagonal.begin(), h.diagonal.begin() + size}, {h.beside.begin(), h.beside.begin() + size}};
}

bool all_finite(const KrylovMatrix& h) {
  const auto finite = [](double x) { return std::isfinite(x); };
  return std::all_of(h.diagonal.begin(), h.diagonal.end(), finite) &&
         std::all_of(h.beside.begin(), h.beside.end(), finite);
}

/// What has been found of the spectrum of a scaled matrix.
struct Found {
  RitzEnds ends;
  double rounding;  ///< of a residual
  double missed;    ///< share of the width
  double width() const noexcept { return ends.highest.value - ends.lowest.value; }
};

/// The end of the spectrum on the side of `sign` (-1: lower), in the matrix' own scale.
SpectralEnd spectral_end(const RitzEnd& ritz, const Found& found, double sign, double scale,
                         double gershgorin) {
  const auto inside = [&](double bound) {
    return sign < 0 ? std::max(bound, gershgorin) : std::min(bound, gershgorin);
  };
  SpectralEnd end{.value = scale * ritz.value, .residual = scale * (ritz.residual + found.rounding)};
  end.bound = inside(end.value + sign * end.residual);
  // The width itself is known up to what both ends may have missed.
  const double missed = found.missed < 0.5 ? found.missed / (1 - 2 * found.missed) * found.width()
                                           : std::numeric_limits<double>::infinity();
  end.safe_bound = inside(end.value + sign * std::max(end.residual, scale * (missed + found.rounding)));
  return end;
}

/// Takes so many steps more, and sets the coefficients of all.
using Steps = std::function<Status(Index steps, KrylovMatrix& all)>;

/// The iteration for factor A: in one task for several steps where a GPU has all of A, else by panels.
template <class T>
Steps steps_with(const BlockSparseMatrix<T>& a, Index most, double factor, double least, std::uint64_t seed) {
  const auto by = [](auto iteration) {
    return [iteration](Index steps, KrylovMatrix& all) {
      const Status status = iteration->extend(steps);
      all = iteration->matrix();
      return status;
    };
  };
  auto whole = std::make_shared<WholeOperand<T>>(a);
  if (!whole->usable()) return by(std::make_shared<Lanczos<T>>(a, factor, least, seed));
  return by(std::make_shared<PanelLanczos<T>>(std::move(whole), a.runtime(), a.rows(), most, factor, seed));
}

template <class T>
ExtremalResult solve(const BlockSparseMatrix<T>& a, const ExtremalOptions& options) {
  ExtremalResult result;
  const Index n = a.rows(), most = std::min(options.max_products, n);
  const auto not_finite = [&](const char* reason) {
    ExtremalResult nothing;
    nothing.gershgorin = result.gershgorin;
    nothing.products = result.products;
    nothing.set_status({StatusCode::not_finite, stage, 0, reason});
    return nothing;
  };
  result.gershgorin = gershgorin_bounds(a);
  const double norm = std::max(std::abs(result.gershgorin.lower), std::abs(result.gershgorin.upper));
  if (!std::isfinite(norm)) return not_finite("NaN or infinity in the matrix");
  if (norm == 0) return result;
  const int exponent = scaling_exponent<T>(norm);
  const double scale = std::ldexp(1.0, exponent);
  const double rounding = precision<T> * (8 + std::sqrt(static_cast<double>(n)));
  require_memory(a.runtime(), stage,
                 sizeof(T) * static_cast<double>(n) * static_cast<double>(most + 2) / a.runtime().size());
  const auto extend = steps_with(a, most, 1 / scale, rounding, options.seed);
  KrylovMatrix krylov;
  bool converged = false, invariant = false;
  while (!converged && !invariant && krylov.size() < most) {
    const Status status = extend(std::min(steps_at_once, most - krylov.size()), krylov);
    if (!status.ok()) {
      result.set_status(status);
      return result;
    }
    if (!all_finite(krylov)) return not_finite("NaN or infinity in the products with the matrix");
    const KrylovMatrix h = leading_part(krylov, rounding);
    result.products = krylov.size();
    invariant = h.size() < krylov.size() || h.beside.back() <= rounding || h.size() == n;
    const Found found{ritz_ends(h), rounding, invariant ? 0 : missed_share(n, h.size())};
    const double residual = std::max(found.ends.lowest.residual, found.ends.highest.residual);
    converged = residual <= std::max(options.tolerance * found.width(), rounding);
    result.lowest = spectral_end(found.ends.lowest, found, -1, scale, result.gershgorin.lower);
    result.highest = spectral_end(found.ends.highest, found, 1, scale, result.gershgorin.upper);
  }
  if (!converged && !invariant)
    result.set_status(
        {StatusCode::iterations_exhausted, stage, result.products,
         fmt::format("{} products did not bring the residuals, {:.2e} and {:.2e}, to {:.2e} of the "
                     "width of the spectrum",
                     result.products, result.lowest.residual, result.highest.residual, options.tolerance)});
  return result;
}

template <class T>
void require_valid(const Runtime& runtime, const BlockSparseMatrix<T>& a, const ExtremalOptions& options) {
  require_made("a", a);
  if (&runtime != &a.runtime()) throw InvalidArgument("a", "a matrix of another Runtime", "the call's");
  require_hermitian(a);
  if (!(options.tolerance >= 0) || std::isinf(options.tolerance))
    throw InvalidArgument("tolerance", fmt::to_string(options.tolerance), "a number of at least 0");
  if (options.max_products < 1)
    throw InvalidArgument("max_products", fmt::to_string(options.max_products), "at least 1");
}

template <class T>
std::uint64_t problem_hash(const BlockSparseMatrix<T>& a, const ExtremalOptions& options) {
  return argument_hash(shape_hash(a), options.tolerance, options.max_products, options.seed);
}

/// @param name of the call
template <class T>
ExtremalResult solve_collectively(std::string_view name, Runtime& runtime, const BlockSparseMatrix<T>& a,
                                  const ExtremalOptions& options) {
  return collectively(
      runtime, name, problem_hash(a, options), [&] { require_valid(runtime, a, options); },
      [&] { return solve(a, options); });
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
Completion<ExtremalResult> submit_extremal_eigenvalues(Runtime& runtime, const ExtremalProblem<T>& problem,
                                                       const ExtremalOptions& options) {
  constexpr const char* name = "submit_extremal_eigenvalues";
  const BlockSparseMatrix<T>& a = problem.a;
  if (runtime.size() > 1) {
    auto result = std::make_shared<ExtremalResult>(solve_collectively(name, runtime, a, options));
    return {std::make_unique<FinishedWork<ExtremalResult>>(result), result};
  }
  return collectively(
      runtime, name, problem_hash(a, options), [&] { require_valid(runtime, a, options); },
      [&] {
        auto result = std::make_shared<ExtremalResult>();
        auto work = std::make_unique<ThreadWork<ExtremalResult>>(
            runtime, [&a, options] { return solve(a, options); }, result);
        return Completion<ExtremalResult>(std::move(work), std::move(result));
      });
}

template <class T>
ExtremalResult extremal_eigenvalues(Runtime& runtime, const ExtremalProblem<T>& problem,
                                    const ExtremalOptions& options) {
  return solve_collectively("extremal_eigenvalues", runtime, problem.a, options);
}

template <class T>
ExtremalResult extremal_eigenvalues(const ExtremalProblem<T>& problem, const ExtremalOptions& options) {
  return extremal_eigenvalues<T>(runtime_of("a", problem.a), problem, options);
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template Completion<ExtremalResult> submit_extremal_eigenvalues<T>(Runtime&, const ExtremalProblem<T>&, \
                                                                     const ExtremalOptions&);             \
  template ExtremalResult extremal_eigenvalues<T>(Runtime&, const ExtremalProblem<T>&,                    \
                                                  const ExtremalOptions&);                                \
  template ExtremalResult extremal_eigenvalues<T>(const ExtremalProblem<T>&, const ExtremalOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
