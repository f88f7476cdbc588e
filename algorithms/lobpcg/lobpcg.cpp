// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/algorithms/lobpcg/subspace.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera {

namespace {

/// The least length that is measured right (lobpcg.hpp).
template <class T>
constexpr double shortest = sizeof(T) == 4 ? 1e-30 : 1e-145;

/// Residuals of a block, and what they are compared with.
class StopTest {
 public:
  StopTest(LobpcgNorm norm, double tolerance, double a_bound, double b_bound)
      : norm_(norm), tolerance_(tolerance), a_bound_(a_bound), b_bound_(b_bound) {}

  /// @param squares as residual.hpp says
  /// @param norm_seen of A
  void measure(const std::vector<double>& squares, const std::vector<double>& values, double norm_seen) {
    const auto length = [&](Index kind, std::size_t j) {
      return std::sqrt(squares[static_cast<std::size_t>(kind * max_block_columns) + j]);
    };
    a_seen_ = std::max(a_seen_, norm_seen);
    for (std::size_t j = 0; j < values.size(); ++j) {
      a_seen_ = std::max(a_seen_, length(2, j) / length(1, j));
      b_seen_ = std::max(b_seen_, length(3, j) / length(1, j));
    }
    const double a = a_bound_ > 0 ? a_bound_ : a_seen_, b = b_bound_ > 0 ? b_bound_ : b_seen_;
    residuals_.clear(), scaled_.clear();
    finest_ = at_tolerance_ = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double theta = std::abs(values[j]);
      const double unit = norm_ == LobpcgNorm::backward   ? a + theta * b
                          : norm_ == LobpcgNorm::relative ? theta
                                                          : 1;
      const double residual = length(0, j);
      finest_ = std::min(finest_, tolerance_ * unit / (a + theta * b));
      // Of A = 0 and theta = 0 residuals are 0.
      if (a + theta * b > 0) at_tolerance_ = std::min(at_tolerance_, tolerance_ * (a + theta * b));
      residuals_.push_back(residual);
      scaled_.push_back(residual == 0 ? 0 : residual / (unit * length(1, j)));
    }
  }
  bool finite() const {
    return std::none_of(residuals_.begin(), residuals_.end(), [](double r) { return !std::isfinite(r); });
  }
  /// Residuals at the tolerance are too short for their squares, or in float for their elements: what is
  /// measured says nothing about convergence. (Where `absolute` they are as long as the caller says.)
  bool too_short(double least) const { return norm_ != LobpcgNorm::absolute && at_tolerance_ < least; }
  double at_tolerance() const { return at_tolerance_; }
  /// In order from the first.
  Index converged() const {
    const auto end =
        std::find_if(scaled_.begin(), scaled_.end(), [&](double r) { return !(r <= tolerance_); });
    return end - scaled_.begin();
  }
  double largest(Index count) const {
    return *std::max_element(scaled_.begin(), scaled_.begin() + count) / tolerance_;
  }
  double norm() const { return a_bound_ > 0 ? a_bound_ : a_seen_; }
  /// The least residual that is asked for, in units of (||A|| + |theta| ||B||) ||x||.
  double finest() const { return finest_; }
  const std::vector<double>& residuals() const { return residuals_; }
  const std::vector<double>& scaled() const { return scaled_; }

 private:
  LobpcgNorm norm_;
  double tolerance_, a_bound_, b_bound_, a_seen_ = 0, b_seen_ = 0, finest_ = 0, at_tolerance_ = 0;
  std::vector<double> residuals_, scaled_;
};

/// Whether anything still becomes better.
class Progress {
 public:
  /// @param rounding of the sum of the Ritz values
  void note(Index converged, double largest, double sum_of_values, double rounding) {
    ++since_;
    // Against what was when something last became better: slow progress is progress.
    if (!(converged > converged_ || largest < 0.9 * largest_ || sum_of_values < sum_ - rounding)) return;
    converged_ = std::max(converged_, converged);
    largest_ = std::min(largest_, largest);
    sum_ = std::min(sum_, sum_of_values);
    since_ = 0;
  }
  bool stagnates() const { return since_ >= 60; }
  void give_another_chance() { since_ = 0; }

 private:
  Index converged_ = -1, since_ = 0;
  double largest_ = std::numeric_limits<double>::infinity(), sum_ = std::numeric_limits<double>::infinity();
};

template <class T>
class Solver {
 public:
  Solver(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& options)
      : runtime_(runtime),
        options_(options),
        sequence_(runtime),
        space_(sequence_, problem, options, options.block),
        test_(options.norm, options.tolerance, problem.a->norm_bound(),
              problem.b ? problem.b->norm_bound() : 1),
        problem_(problem),
        preconditioned_(problem.preconditioner != nullptr),
        begins_early_(preconditioned_ && problem.preconditioner->by_columns()),
        has_b_(problem.b != nullptr),
        random_start_(problem.guess_count < options.block) {}

  LobpcgResult<T> solve();

 private:
  using Outcome = typename Subspace<T>::Outcome;
  void look_for_the_end();
  bool orthonormalise();
  bool iterate();
  bool decide();
  bool confirm();
  bool restart(const std::string& reason);
  void record();
  bool end(StatusCode code, std::string reason);
  bool end_without_basis();
  Status wait();
  [[noreturn]] void refuse(std::string_view name, const std::string& value, const std::string& expected);
  void finish();

  Runtime& runtime_;
  LobpcgOptions options_;
  Sequence sequence_;
  Subspace<T> space_;
  StopTest test_;
  Progress progress_;
  const LobpcgProblem<T>& problem_;
  bool preconditioned_;
  bool begins_early_;  ///< the preconditioner, before it is known which pairs have converged
  bool has_b_, random_start_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Index locked_ = 0;
  int useless_ = 0, unconfirmed_ = 0, stagnations_ = 0, singular_ = 0;
  bool fresh_ = true;       ///< W is the start's or a restart's
  bool confirmed_ = false;  ///< the residuals are those of A X computed afresh
  LobpcgResult<T> result_;
};

template <class T>
bool Solver<T>::end(StatusCode code, std::string reason) {
  result_.set_status({code, "lobpcg", 0, std::move(reason)});
  return false;
}

template <class T>
bool Solver<T>::end_without_basis() {
  return end(StatusCode::breakdown,
             fmt::format("{} (iteration {})",
                         has_b_ ? "B is not positive definite" : "too few linearly independent vectors",
                         result_.iterations));
}

/// Until all tasks are over. What is no result of numbers is an exception.
template <class T>
Status Solver<T>::wait() {
  const Status status = sequence_.wait();
  if (status.code == StatusCode::task_failed) require_success(runtime_, status);
  return status;
}

/// An argument that the first numbers have shown to be bad, on all ranks.
template <class T>
void Solver<T>::refuse(std::string_view name, const std::string& value, const std::string& expected) {
  wait();
  throw_on_all_ranks(runtime_, InvalidArgument(name, value, expected));
}

template <class T>
LobpcgResult<T> Solver<T>::solve() {
  look_for_the_end();
  if (!space_.start())
    refuse("constraints", "linearly dependent or not finite", "linearly independent vectors");
  while (iterate()) {
  }
  finish();
  return std::move(result_);
}

/// Tells the preconditioner where the wanted end of the spectrum is, about, if it asks and there is no guess
/// that will tell; nothing where that fails.
template <class T>
void Solver<T>::look_for_the_end() {
  if (!preconditioned_ || problem_.guess_count >= options_.count ||
      !problem_.preconditioner->asks_for_the_end())
    return;
  constexpr int steps = 3;
  LobpcgProblem<T> bare = problem_;
  bare.preconditioner = nullptr;
  bare.guess = nullptr;
  LobpcgOptions one = options_;
  one.variant = LobpcgVariant::orthonormal;
  Subspace<T> space(sequence_, bare, one, 1);
  if (!space.start()) return;
  std::vector<double> squares;
  for (int step = 0; step <= steps; ++step) {
    if (step > 0) {
      space.forget_directions(0);
      space.new_directions(0);
    }
    if (space.orthonormalise() != Outcome::done || space.new_columns() < 1) break;
    space.multiply();
    if (space.rayleigh_ritz(0) != Outcome::done) break;
    space.residuals(0);
    squares = space.wait_for_norms();
    if (squares.empty()) break;
  }
  result_.columns_multiplied += space.columns_multiplied();
  result_.multiplications += space.multiplications();
  if (squares.empty()) return;
  const double residual = std::sqrt(squares[0] / squares[max_block_columns]);
  agree(runtime_, 0, [&] { problem_.preconditioner->expect(space.values().front(), residual); });
}

/// False at the end.
template <class T>
bool Solver<T>::orthonormalise() {
  const Outcome directions = space_.orthonormalise();
  if (directions == Outcome::not_finite)
    return end(StatusCode::not_finite,
               fmt::format("NaN or infinity in iteration {} in {}", result_.iterations,
                           fresh_            ? "the start vectors or B times them"
                           : preconditioned_ ? "the preconditioner's result or B times it"
                                             : "the residuals or B times them"));
  // Where even random vectors leave too few columns, B has them in its null space; or it is indefinite.
  const Index fewest = space_.columns() == 0 ? options_.count : 1;
  if (directions == Outcome::not_positive || space_.new_columns() < fewest) return end_without_basis();
  // Random directions do for once; not if nothing else comes.
  useless_ = directions == Outcome::nothing_left ? useless_ + 1 : 0;
  if (useless_ >= 3)
    return end(StatusCode::breakdown,
               fmt::format("{} leave no new direction since iteration {}",
                           preconditioned_ ? "the preconditioned residuals" : "the residuals",
                           result_.iterations - 2));
  return true;
}

/// From new directions W to residuals, and to the next W; false at the end.
template <class T>
bool Solver<T>::iterate() {
  // A X keeps the rounding errors of all iterations, which are larger then: up to 2e-13 ||A|| was seen.
  constexpr double finest = 1e-11;
  Outcome outcome = Outcome::dependent;
  if (test_.finest() > finest && unconfirmed_ == 0 && space_.relies_on_directions()) {
    space_.multiply();
    outcome = space_.rayleigh_ritz(locked_);
    if (outcome == Outcome::done) useless_ = 0;
  }
  // Also where W or its Gram matrix is not finite: what is wrong is found out on the longer way.
  if (outcome == Outcome::dependent) {
    if (!orthonormalise()) return false;
    space_.multiply();
    outcome = space_.rayleigh_ritz(locked_);
  }
  if (outcome == Outcome::not_finite)
    return end(StatusCode::not_finite,
               fmt::format("NaN or infinity in iteration {} in A times vectors", result_.iterations));
  if (outcome == Outcome::not_positive) {
    if (space_.columns() == 0) return end_without_basis();
    if (options_.variant == LobpcgVariant::basic)
      return end(
          StatusCode::breakdown,
          fmt::format("the Gram matrix of iteration {} is not positive definite: the orthonormal variant "
                      "has no such matrix",
                      result_.iterations));
    if (++singular_ > 2)
      return end(
          StatusCode::breakdown,
          fmt::format("the basis of iteration {} is singular after restarts, too", result_.iterations));
    return restart("singular basis");
  }
  // Of random vectors: those of a guess may be so near to null vectors that A times them is rounding alone.
  if (result_.iterations == 0 && random_start_ && space_.asymmetry() > std::sqrt(double(precision<T>)))
    refuse("a", fmt::format("|W^T A W - W^T A^T W| = {:.1e} |W| |A W|", space_.asymmetry()),
           "a symmetric operator");
  space_.residuals(locked_);
  if (begins_early_) space_.new_directions(locked_);
  const std::vector<double> squares = space_.wait_for_norms();
  if (!squares.empty()) test_.measure(squares, space_.values(), space_.norm());
  if (squares.empty() || !test_.finite())
    return end(StatusCode::not_finite,
               fmt::format("NaN or infinity in the residuals of iteration {}", result_.iterations));
  if (test_.too_short(shortest<T>))
    refuse("a", fmt::format("residuals of {:.1e} ||x|| at the tolerance", test_.at_tolerance()),
           fmt::format("at least {:.0e}: scale A", shortest<T>));
  fresh_ = confirmed_ = false;
  return decide();
}

/// What to do about the residuals.
template <class T>
bool Solver<T>::decide() {
  const Index converged = test_.converged();
  const Index stored_from = locked_;
  locked_ = options_.lock ? std::min(converged, space_.columns()) : 0;
  record();
  if (options_.monitor) {
    // What it throws on one rank all throw: the others would wait for that rank.
    double stops = 0;
    agree(runtime_, 0, [&] { stops = options_.monitor(result_.history.back()) ? 0 : 1; });
    runtime_.all_reduce_max(&stops, 1);
    if (stops > 0)
      return end(StatusCode::stopped,
                 fmt::format("stopped by the monitor after iteration {}", result_.iterations));
  }
  if (converged >= options_.count) return confirm();
  if (result_.iterations >= options_.iterations)
    return end(
        StatusCode::iterations_exhausted,
        fmt::format("{} of {} converged in {} iterations", converged, options_.count, result_.iterations));
  const auto& values = space_.values();
  double sum = 0;
  for (Index j = 0; j < options_.count; ++j)
    sum += options_.end == EigenEnd::smallest ? values[static_cast<std::size_t>(j)]
                                              : -values[static_cast<std::size_t>(j)];
  progress_.note(converged, test_.largest(options_.count), sum,
                 10 * double(precision<T>) * test_.norm() * static_cast<double>(options_.count));
  if (progress_.stagnates()) {
    if (++stagnations_ > 1)
      return end(
          StatusCode::stagnated,
          fmt::format("the residuals do not fall any more, {:.1e} of the tolerance after {} iterations",
                      test_.largest(options_.count), result_.iterations));
    progress_.give_another_chance();
    return restart("stagnation");
  }
  if (space_.drift() > std::max(0.1 * options_.tolerance, 100 * double(precision<T>)))
    return restart("drift");
  ++result_.iterations;
  space_.forget_directions(locked_);
  if (begins_early_ && locked_ >= stored_from) {
    if (locked_ > stored_from) space_.drop_directions(locked_ - stored_from);
  } else {
    if (locked_ != stored_from) space_.residuals(locked_);
    space_.new_directions(locked_);
  }
  return true;
}

/// The recurrences say that all have converged: whether A X says so, too.
template <class T>
bool Solver<T>::confirm() {
  double defect = 0;
  const std::vector<double> squares = space_.verify(defect);
  if (!squares.empty()) test_.measure(squares, space_.values(), space_.norm());
  if (squares.empty() || !test_.finite())
    return end(StatusCode::not_finite, "NaN or infinity in the final A times vectors");
  confirmed_ = true;
  // The rounding of x^T B x is in units of ||x|| ||B x||.
  double unit = 1;
  for (std::size_t j = 0; j < space_.values().size(); ++j)
    unit = std::max(
        unit, std::sqrt(squares[max_block_columns + j]) * std::sqrt(squares[3 * max_block_columns + j]));
  const bool orthonormal = defect <= std::max(1e-10, 100 * double(precision<T>)) * unit;
  const std::string reason =
      orthonormal ? fmt::format("A X computed afresh does not: {:.1e} of it", test_.largest(options_.count))
                  : fmt::format("X is not B-orthonormal: |X^T B X - I| = {:.1e}", defect);
  if (test_.converged() >= options_.count && orthonormal)
    return end(StatusCode::success,
               fmt::format("{} eigenpairs in {} iterations", options_.count, result_.iterations));
  if (++unconfirmed_ > 3)
    return end(StatusCode::stagnated, fmt::format("the recurrences reach the tolerance, but {}", reason));
  if (result_.iterations >= options_.iterations)
    return end(StatusCode::iterations_exhausted,
               fmt::format("{} of {} converged in {} iterations", test_.converged(), options_.count,
                           result_.iterations));
  return restart(reason);
}

template <class T>
bool Solver<T>::restart(const std::string& reason) {
  runtime_.log(LogLevel::debug,
               fmt::format("lobpcg: restart after iteration {}: {}", result_.iterations, reason));
  ++result_.restarts;
  ++result_.iterations;
  locked_ = 0;
  fresh_ = true;
  space_.restart();
  return true;
}

template <class T>
void Solver<T>::record() {
  LobpcgStep step;
  step.iteration = result_.iterations;
  step.converged = std::min(test_.converged(), options_.count);
  step.active = space_.columns() - locked_;
  step.largest_residual = test_.largest(options_.count);
  step.values = space_.values();
  step.residuals = test_.scaled();
  step.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  step.multiply_seconds = sequence_.busy_seconds("multiply");
  step.preconditioner_seconds = sequence_.busy_seconds("preconditioner");
  step.dense_seconds = sequence_.busy_seconds("dense");
  step.waiting_seconds =
      std::max(0.0, step.seconds - step.multiply_seconds - step.preconditioner_seconds - step.dense_seconds);
  result_.history.push_back(std::move(step));
}

/// Results as they are: also without convergence they are the best that there is.
template <class T>
void Solver<T>::finish() {
  space_.keep_last();
  auto wanted = static_cast<std::size_t>(std::min(options_.count, space_.columns()));
  if (result_.status().code != StatusCode::not_finite && !confirmed_ && wanted > 0) {
    double defect = 0;
    const std::vector<double> squares = space_.verify(defect);
    if (!squares.empty()) test_.measure(squares, space_.values(), space_.norm());
    if (squares.empty() || !test_.finite())
      end(StatusCode::not_finite,
          "NaN or infinity in the final A times vectors, after: " + result_.status().reason);
  }
  const Status status = sequence_.wait();
  result_.statistics = sequence_.statistics();
  if (status.code == StatusCode::task_failed) {
    result_.set_status(status);
    wanted = 0;
  } else if (!status.ok()) {
    end(status.code == StatusCode::not_finite ? StatusCode::not_finite : StatusCode::breakdown,
        status.message());
  }
  result_.columns_multiplied += space_.columns_multiplied();
  result_.multiplications += space_.multiplications();
  result_.values.assign(space_.values().begin(),
                        space_.values().begin() + static_cast<std::ptrdiff_t>(wanted));
  if (result_.status().code == StatusCode::not_finite) {
    result_.residuals.assign(wanted, std::numeric_limits<double>::quiet_NaN());
    result_.scaled_residuals = result_.residuals;
  } else if (wanted > 0) {
    result_.converged = std::min(test_.converged(), options_.count);
    result_.residuals.assign(test_.residuals().begin(),
                             test_.residuals().begin() + static_cast<std::ptrdiff_t>(wanted));
    result_.scaled_residuals.assign(test_.scaled().begin(),
                                    test_.scaled().begin() + static_cast<std::ptrdiff_t>(wanted));
  }
  result_.vectors = std::move(space_.vectors());
}

}  // namespace

template <class T>
LobpcgResult<T> solve_lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem,
                             const LobpcgOptions& resolved) {
  return Solver<T>(runtime, problem, resolved).solve();
}

template LobpcgResult<float> solve_lobpcg(Runtime&, const LobpcgProblem<float>&, const LobpcgOptions&);
template LobpcgResult<double> solve_lobpcg(Runtime&, const LobpcgProblem<double>&, const LobpcgOptions&);

}  // namespace tessera
