// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/eigen_loop.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_result.hpp>
#include <tessera/algorithms/lobpcg/wanted_end.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

template <class T>
EigenLoop<T>::EigenLoop(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& resolved,
                        Index pairs)
    : runtime_(runtime),
      problem_(problem),
      options_(resolved),
      sequence_(runtime),
      on_(sequence_, problem, resolved),
      s_(new_state(on_)),
      test_(resolved, {.a = problem.a->norm_bound(), .b = problem.b ? problem.b->norm_bound() : 1}),
      given_(resolved),
      pairs_(pairs),
      found_(on_.sign(), resolved.count) {
  set_group(found_.next(pairs));
}

template <class T>
LobpcgResult<T> EigenLoop<T>::solve() {
  Preconditioner<T>* const preconditioner = problem_.preconditioner;
  // A guess of all wanted vectors tells where the end is, a checkpoint, too, and a deep basis finds it as soon as this
  // would.
  if (preconditioner && problem_.guess_count < options_.count && options_.method == EigenMethod::lobpcg &&
      given_.resume.empty() && preconditioner->asks_for_the_end())
    expect_wanted_end(sequence_, problem_, options_, s_.multiplications);
  if (!start(on_, s_))
    refuse("constraints", "linearly dependent or not finite", "linearly independent vectors");
  first_found_ = static_cast<Index>(s_.constraints.size());
  if (!given_.resume.empty()) resume();
  while (!ended_) {
    const bool extends = std::exchange(has_directions_, true);
    const bool goes_on = (!extends || extend_basis())  // orthonormalise W, A W, Rayleigh-Ritz
                         && is_resumed_problem()       // after resume
                         && measure_residuals()        // R = A X - B X diag(theta)
                         && test_convergence()         // and lock
                         && test_progress();
    if (!goes_on) continue;
    next_directions();  // W = T R
    save_if_due();
    ++s_.iteration;
  }
  finish();
  result_.method = options_.method;
  return std::move(result_);
}

template <class T>
bool EigenLoop<T>::orthonormalise_directions() {
  const StepOutcome outcome = orthonormalise_w();
  const bool preconditioned = problem_.preconditioner != nullptr;
  if (outcome == StepOutcome::not_finite)
    return end(StatusCode::not_finite,
               fmt::format("NaN or infinity in iteration {} in {}", s_.iteration,
                           s_.fresh         ? "the start vectors or B times them"
                           : preconditioned ? "the preconditioner's result or B times it"
                                            : "the residuals or B times them"));
  // Where even random vectors leave too few columns, B has them in its null space; or it is indefinite.
  const Index fewest = s_.fresh ? options_.count : 1;
  if (outcome == StepOutcome::not_positive || s_.w.columns < fewest) return end_without_basis();
  // Random directions do for once; not if nothing else comes.
  int& random_directions = s_.retries.random_directions;
  random_directions = outcome == StepOutcome::nothing_left ? random_directions + 1 : 0;
  if (random_directions >= 3)
    return end(
        StatusCode::breakdown,
        fmt::format("{} leave no new direction since iteration {}",
                    preconditioned ? "the preconditioned residuals" : "the residuals", s_.iteration - 2));
  return true;
}

/// What came of the Rayleigh-Ritz step.
template <class T>
bool EigenLoop<T>::accept(StepOutcome outcome) {
  if (outcome == StepOutcome::not_finite)
    return end(StatusCode::not_finite,
               fmt::format("NaN or infinity in iteration {} in A times vectors", s_.iteration));
  if (outcome == StepOutcome::not_positive) {
    if (s_.fresh) return end_without_basis();
    if (options_.variant == LobpcgVariant::basic)
      return end(
          StatusCode::breakdown,
          fmt::format("the Gram matrix of iteration {} is not positive definite: the orthonormal variant "
                      "has no such matrix",
                      s_.iteration));
    if (++s_.retries.singular_bases > 2)
      return end(StatusCode::breakdown,
                 fmt::format("the basis of iteration {} is singular after restarts, too", s_.iteration));
    return restart_for("singular basis");
  }
  // Of random vectors: those of a guess may be so near to null vectors that A times them is rounding alone.
  const bool random_start = problem_.guess_count < options_.block;
  if (s_.iteration == 0 && random_start && s_.asymmetry > std::sqrt(rounding()))
    refuse("a",
           fmt::format("|W^{0} A W - W^{0} A^{0} W| = {1:.1e} |W| |A W|", is_complex<T> ? 'H' : 'T',
                       s_.asymmetry),
           is_complex<T> ? "a Hermitian operator" : "a symmetric operator");
  return true;
}

/// Locks converged columns and tells the monitor.
template <class T>
bool EigenLoop<T>::test_convergence() {
  const Index converged = test_.converged(s_.residuals);
  s_.locked = options_.lock ? std::min(converged, s_.x.columns) : 0;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
  result_.history.push_back(history_step(s_, test_, options_.count, sequence_, seconds.count()));
  result_.history.back().converged += found_.size();
  if (monitor_stops())
    return end(StatusCode::stopped, fmt::format("stopped by the monitor after iteration {}", s_.iteration));
  if (converged >= options_.count) {
    if (has_seen_all()) return confirm();
    progress_.give_another_chance();
  }
  if (s_.iteration >= options_.iterations) return end_exhausted(converged);
  return true;
}

/// The recurrences say that all have converged: whether A X says so, too.
template <class T>
bool EigenLoop<T>::confirm() {
  bring_pairs();
  const FreshResiduals fresh = verify_pairs();
  if (!take(fresh.squares))
    return end(StatusCode::not_finite, "NaN or infinity in the final A times vectors");
  s_.confirmed = true;
  // The rounding of x^H B x is in units of ||x|| ||B x||.
  double unit = 1;
  for (Index j = 0; j < s_.x.columns; ++j)
    unit = std::max(unit, std::sqrt(fresh.squares.x(j)) * std::sqrt(fresh.squares.bx(j)));
  const bool orthonormal = fresh.defect <= std::max(1e-10, 100 * rounding()) * unit;
  const std::string reason =
      orthonormal ? fmt::format("A X computed afresh does not: {:.1e} of it",
                                test_.largest(s_.residuals, options_.count))
                  : fmt::format("X is not B-orthonormal, also to the constraints, by {:.1e}", fresh.defect);
  const Index converged = test_.converged(s_.residuals);
  if (converged >= options_.count && orthonormal) return end_group();
  if (++s_.retries.unconfirmed > 3 && orthonormal && relax()) return end_group();
  if (s_.retries.unconfirmed > 3)
    return end(StatusCode::stagnated, fmt::format("the recurrences reach the tolerance, but {}", reason));
  if (s_.iteration >= options_.iterations) return end_exhausted(converged);
  return restart_for(reason);
}

/// A restart where residuals do not fall any more, or A X has drifted from its recurrence.
template <class T>
bool EigenLoop<T>::test_progress() {
  const double largest = test_.largest(s_.residuals, options_.count);
  double sum = 0;
  for (Index j = 0; j < options_.count; ++j) sum += on_.sign() * s_.ritz_values[static_cast<std::size_t>(j)];
  progress_.note(test_.converged(s_.residuals), largest, sum,
                 10 * rounding() * test_.a_norm(s_.norms) * static_cast<double>(options_.count));
  if (progress_.stagnates()) {
    if (++s_.retries.stagnations > 1 && relax()) return confirm();
    if (s_.retries.stagnations > 1)
      return end(
          StatusCode::stagnated,
          fmt::format("the residuals do not fall any more, {:.1e} of the tolerance after {} iterations",
                      largest, s_.iteration));
    progress_.give_another_chance();
    return restart_for("stagnation");
  }
  if (s_.drift > std::max(0.1 * options_.tolerance, 100 * rounding())) return restart_for("drift");
  return true;
}

template <class T>
bool EigenLoop<T>::restart_for(const std::string& reason) {
  runtime_.log(LogLevel::debug, fmt::format("lobpcg: restart after iteration {}: {}", s_.iteration, reason));
  begin_again();
  return false;
}

template <class T>
bool EigenLoop<T>::end(StatusCode code, std::string reason) {
  result_.set_status({code, "lobpcg", 0, std::move(reason)});
  ended_ = true;
  return false;
}

template <class T>
bool EigenLoop<T>::end_exhausted(Index converged) {
  if (!s_.confirmed && relax()) return confirm();
  return end(StatusCode::iterations_exhausted,
             fmt::format("{} of {} converged in {} iterations",
                         std::min(found_.size() + converged, given_.count), given_.count, s_.iteration));
}

template <class T>
bool EigenLoop<T>::end_without_basis() {
  return end(StatusCode::breakdown,
             fmt::format("{} (iteration {})",
                         problem_.b ? "B is not positive definite" : "too few linearly independent vectors",
                         s_.iteration));
}

/// An argument that the first numbers have shown to be bad, on all ranks.
template <class T>
void EigenLoop<T>::refuse(std::string_view name, const std::string& value, const std::string& expected) {
  wait();
  throw_on_all_ranks(runtime_, InvalidArgument(name, value, expected));
}

template <class T>
bool EigenLoop<T>::measure(const ResidualSquares& squares, const std::vector<double>& ritz_values,
                           ResidualNorms& residuals) {
  if (!squares.known()) return false;
  residuals = test_.measure(squares, ritz_values, s_.norms);
  return residuals.finite();
}

template <class T>
bool EigenLoop<T>::end_without_residuals() {
  return end(StatusCode::not_finite,
             fmt::format("NaN or infinity in the residuals of iteration {}", s_.iteration));
}

template <class T>
void EigenLoop<T>::refuse_short(const ResidualNorms& residuals) {
  if (test_.too_short(residuals, shortest_length<T>))
    refuse("a", fmt::format("residuals of {:.1e} ||x|| at the tolerance", residuals.at_tolerance),
           fmt::format("at least {:.0e}: scale A", shortest_length<T>));
}

/// What the monitor throws on one rank all throw: the others would wait for that rank.
template <class T>
bool EigenLoop<T>::monitor_stops() {
  if (!options_.monitor) return false;
  double stops = 0;
  agree(runtime_, 0, [&] { stops = options_.monitor(result_.history.back()) ? 0 : 1; });
  runtime_.all_reduce_max(&stops, 1);
  return stops > 0;
}

/// Until all tasks are over. What is no result of numbers is an exception.
template <class T>
Status EigenLoop<T>::wait() {
  const Status status = sequence_.wait();
  if (status.code == StatusCode::task_failed) require_success(runtime_, status);
  return status;
}

/// Residuals computed afresh, and the end of all tasks.
template <class T>
void EigenLoop<T>::finish() {
  bring_pairs();
  if (result_.status().code != StatusCode::not_finite && !s_.confirmed && s_.x.columns > 0 &&
      !take(verify_pairs().squares))
    end(StatusCode::not_finite,
        "NaN or infinity in the final A times vectors, after: " + result_.status().reason);
  const Status status = sequence_.wait();
  result_.statistics = sequence_.statistics();
  if (status.code == StatusCode::task_failed)
    result_.set_status(status);
  else if (!status.ok())
    end(status.code == StatusCode::not_finite ? StatusCode::not_finite : StatusCode::breakdown,
        status.message());
  const StatusCode code = result_.status().code;
  if (s_.x.columns > 0 && (code == StatusCode::stopped || code == StatusCode::iterations_exhausted)) save();
  fill_result(s_, test_, options_.count, result_);
  if (has_groups(given_) && status.code != StatusCode::task_failed) collect();
}

#define TESSERA_INSTANTIATE(T) template class EigenLoop<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
