// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/lobpcg/davidson.hpp>
#include <tessera/algorithms/lobpcg/eigen_loop.hpp>
#include <tessera/algorithms/lobpcg/lanczos.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>

namespace tessera::detail {

namespace {

/// LOBPCG: the basis is [X W P], of both variants.
template <class T>
class LobpcgLoop final : public EigenLoop<T> {
 public:
  using EigenLoop<T>::EigenLoop;

 private:
  using EigenLoop<T>::on_, EigenLoop<T>::s_, EigenLoop<T>::accept, EigenLoop<T>::orthonormalise_directions;

  bool extend_basis() override;
  bool measure_residuals() override;
  void next_directions() override { make_directions(on_, s_); }
  // After a restart from which no new X has come, X and the Ritz values are those from before it.
  void bring_pairs() override { s_.x.columns = static_cast<Index>(s_.ritz_values.size()); }
  void begin_again() override { restart(on_, s_); }
  bool leave_pairs(Index count, Index guess) override {
    start_group(on_, s_, count, guess);
    return true;
  }
  StepOutcome orthonormalise_w() override { return orthonormalise(on_, s_); }
};

template <class T>
bool LobpcgLoop<T>::extend_basis() {
  // A X keeps the rounding errors of all iterations, which are larger where W is not made orthonormal first:
  // too large for residuals as small as this.
  constexpr double finest = 1e-11;
  StepOutcome outcome = StepOutcome::dependent;
  if (s_.residuals.finest > finest && s_.retries.unconfirmed == 0 && trusts_directions(on_, s_)) {
    multiply(on_, s_);
    outcome = rayleigh_ritz(on_, s_);
    if (outcome == StepOutcome::done) s_.retries.random_directions = 0;
  }
  // Also where W or its Gram matrix is not finite: what is wrong is found out on the longer way.
  if (outcome == StepOutcome::dependent) {
    if (!orthonormalise_directions()) return false;
    multiply(on_, s_);
    outcome = rayleigh_ritz(on_, s_);
  }
  return accept(outcome);
}

template <class T>
bool LobpcgLoop<T>::measure_residuals() {
  make_residuals(on_, s_, s_.locked);
  // Before it is known which pairs have converged: the host looks at that meanwhile.
  if (this->preconditions_at_once()) make_directions(on_, s_);
  if (!this->measure(on_.tasks.wait_for_norms(), s_.ritz_values, s_.residuals))
    return this->end_without_residuals();
  this->refuse_short(s_.residuals);
  s_.fresh = s_.confirmed = false;
  return true;
}

}  // namespace

template <class T>
LobpcgResult<T> solve_lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem,
                             const LobpcgOptions& resolved) {
  if (resolved.method == EigenMethod::generalized_davidson) return solve_davidson(runtime, problem, resolved);
  if (resolved.method == EigenMethod::lanczos) return solve_lanczos(runtime, problem, resolved);
  return LobpcgLoop<T>(runtime, problem, resolved, pairs_of_group(resolved)).solve();
}

#define TESSERA_INSTANTIATE(T) \
  template LobpcgResult<T> solve_lobpcg(Runtime&, const LobpcgProblem<T>&, const LobpcgOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
