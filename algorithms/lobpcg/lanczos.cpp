// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/eigen_loop.hpp>
#include <tessera/algorithms/lobpcg/lanczos.hpp>
#include <tessera/algorithms/lobpcg/lanczos_basis.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>

namespace tessera::detail {

namespace {

template <class T>
class LanczosLoop final : public EigenLoop<T> {
 public:
  LanczosLoop(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& resolved)
      : EigenLoop<T>(runtime, problem, resolved, resolved.count),
        basis_(on_, {.pairs = resolved.count,
                     .block = resolved.block,
                     .most = resolved.basis,
                     .room = problem.a->order() - (problem.constraints ? problem.constraint_count : 0)}) {
    s_.x = {.v = on_.tasks.block(resolved.count), .av = {}, .bv = {}};
  }

 private:
  using EigenLoop<T>::on_, EigenLoop<T>::s_, EigenLoop<T>::options_, EigenLoop<T>::problem_,
      EigenLoop<T>::test_;

  bool extend_basis() override;
  bool measure_residuals() override;
  void next_directions() override {}  // the basis has them
  void bring_pairs() override;
  void begin_again() override;
  StepOutcome orthonormalise_w() override { return basis_.accept_start(s_); }
  bool leave_pairs(Index, Index) override { return true; }  // there are no groups
  FreshResiduals verify_pairs() override;
  bool has_seen_all() override;

  bool begin();
  bool grow();
  bool settled() const;
  bool may_miss() const;
  void shrink();
  double lock_limit() const;
  std::vector<Index> places_to_lock() const;
  void multiply_and_compare(Index first, FreshResiduals& fresh);

  LanczosBasis<T> basis_;
  std::vector<double> before_;  ///< Ritz values before the last ones
  Index widened_at_ = 0;        ///< steps of the basis when the block has last become wider
  Index explored_at_ = 0;       ///< steps that the basis must have had by the end
  Index first_columns_ = 0;     ///< of the basis after its last restart
  bool x_current_ = true;       ///< X are the pairs of s_.ritz_values
  bool measured_ = false;       ///< s_.residuals are of the basis' present pairs
};

/// Of the tolerance: the residuals of all locked vectors together are well below it, because those that follow may
/// have as much of them.
template <class T>
double LanczosLoop<T>::lock_limit() const {
  return options_.lock ? std::min(0.1, 0.7 / std::sqrt(static_cast<double>(options_.count))) : 0;
}

template <class T>
bool LanczosLoop<T>::extend_basis() {
  return (!s_.fresh || begin()) && grow();
}

/// A block Krylov space has as many vectors of a multiple eigenvalue as the block has columns, and one that A has
/// mapped into itself shows no others.
template <class T>
bool LanczosLoop<T>::has_seen_all() {
  if (s_.w.columns == 0) return true;
  if (basis_.found_end() && !settled()) return false;
  if (basis_.steps() < explored_at_) return false;
  if (!may_miss()) return true;
  // Others are seen before they converge.
  explored_at_ = basis_.steps() + std::max<Index>(1, (basis_.steps() - widened_at_) / 2);
  widened_at_ = basis_.steps();
  return !basis_.widen(s_);
}

template <class T>
bool LanczosLoop<T>::settled() const {
  if (before_.size() != s_.ritz_values.size()) return false;
  const double unit = 100 * this->rounding() * test_.a_norm(s_.norms);
  for (std::size_t k = 0; k < before_.size(); ++k)
    if (!(std::abs(before_[k] - s_.ritz_values[k]) <= unit)) return false;
  return true;
}

/// As many equal values are found as the block has columns, and others are wanted besides.
template <class T>
bool LanczosLoop<T>::may_miss() const {
  const double equal = std::max(10 * options_.tolerance, 1000 * this->rounding()) * test_.a_norm(s_.norms);
  const std::vector<double>& values = s_.ritz_values;
  const auto width = static_cast<std::size_t>(basis_.block());
  for (std::size_t k = width; k < values.size() + 1 && width < values.size(); ++k)
    if (std::abs(values[k - 1] - values[k - width]) <= equal) return true;
  return false;
}

/// The first block, from X or the guess, if there is one.
template <class T>
bool LanczosLoop<T>::begin() {
  const bool again = s_.restarts > 0;
  const Index given = again ? s_.x.columns : problem_.guess ? problem_.guess_count : 0;
  StepOutcome outcome = StepOutcome::done;
  if (given > 0) {
    const BlockVectors<T>* const start = again ? &s_.x.v : problem_.guess;
    outcome = basis_.start_from(s_, *start, given, lock_limit(),
                                [&](const ResidualSquares& squares, const std::vector<double>& values) {
                                  ResidualNorms found;
                                  if (!this->measure(squares, values, found)) return std::vector<double>();
                                  for (double& scaled : found.scaled) scaled /= options_.tolerance;
                                  return found.scaled;
                                });
  }
  if (outcome == StepOutcome::done) outcome = basis_.accept_start(s_);
  first_columns_ = basis_.columns();
  s_.fresh = true;
  if (outcome == StepOutcome::done) return true;
  if (outcome == StepOutcome::not_finite)
    return this->end(
        StatusCode::not_finite,
        fmt::format("NaN or infinity in iteration {} in the start vectors or A times them", s_.iteration));
  return this->end(StatusCode::breakdown,
                   fmt::format("too few linearly independent vectors (iteration {})", s_.iteration));
}

/// To the next Rayleigh-Ritz step: four of them until the basis is full, which the host's eigenproblem costs.
template <class T>
bool LanczosLoop<T>::grow() {
  if (s_.w.columns > 0 && basis_.full(s_)) shrink();
  constexpr Index steps = 4;
  const Index begin = basis_.columns(),
              goal = std::max(options_.count, begin + (basis_.most() - first_columns_) / steps);
  while (!basis_.full(s_)) {
    const StepOutcome outcome = basis_.extend(s_);
    if (outcome != StepOutcome::done) return this->accept(outcome);
    s_.fresh = false;
    if (basis_.columns() >= goal) break;
  }
  const StepOutcome outcome = basis_.find_pairs(s_);
  if (outcome == StepOutcome::done) {
    before_ = std::exchange(s_.ritz_values, {});
    for (Index k = 0; k < std::min(options_.count, static_cast<Index>(basis_.pairs().size())); ++k)
      s_.ritz_values.push_back(basis_.pairs()[static_cast<std::size_t>(k)].value);
    x_current_ = measured_ = false;
  }
  return this->accept(outcome);
}

/// The thick restart: half of what is not locked stays.
template <class T>
void LanczosLoop<T>::shrink() {
  const std::vector<Index> locks = places_to_lock();
  const Index locked = basis_.locked() + static_cast<Index>(locks.size()),
              most = basis_.most() - 2 * basis_.block(), usual = locked + (basis_.most() - locked) / 2,
              least = std::min(options_.count + basis_.block(), most);
  basis_.restart(std::clamp(usual, least, most), locks);
  first_columns_ = basis_.columns();
}

/// The wanted pairs that have converged well, for all of their residuals do others have parts.
template <class T>
std::vector<Index> LanczosLoop<T>::places_to_lock() const {
  std::vector<Index> places;
  if (!options_.lock || !measured_) return places;
  double tolerated = HUGE_VAL;  // norm of a residual
  for (std::size_t k = 0; k < s_.residuals.norms.size(); ++k)
    if (s_.residuals.scaled[k] > 0)
      tolerated = std::min(tolerated, options_.tolerance * s_.residuals.norms[k] / s_.residuals.scaled[k]);
  for (std::size_t k = 0; k < s_.ritz_values.size(); ++k) {
    const LanczosPair& pair = basis_.pairs()[k];
    if (!pair.locked && pair.residual <= lock_limit() * tolerated) places.push_back(static_cast<Index>(k));
  }
  return places;
}

/// As the last block of the projected matrix has them, and the locked vectors' own.
template <class T>
bool LanczosLoop<T>::measure_residuals() {
  const auto count = static_cast<Index>(s_.ritz_values.size());
  const std::vector<double> locked = basis_.residuals_of_locked();
  ResidualSquares squares{std::vector<double>(static_cast<std::size_t>(4 * count), 1.0), count};
  for (Index k = 0; k < count; ++k) {
    const LanczosPair& pair = basis_.pairs()[static_cast<std::size_t>(k)];
    double square = pair.residual * pair.residual;
    const auto before = locked.begin() + (pair.locked ? pair.place : static_cast<Index>(locked.size()));
    for (auto other = locked.begin(); other != before; ++other) square += *other * *other;
    squares.sums[static_cast<std::size_t>(k)] = square;
    squares.sums[static_cast<std::size_t>(2 * count + k)] = pair.value * pair.value + square;
  }
  if (!this->measure(squares, s_.ritz_values, s_.residuals)) return this->end_without_residuals();
  this->refuse_short(s_.residuals);
  measured_ = true;
  s_.x.columns = count;
  s_.fresh = s_.confirmed = false;
  return true;
}

template <class T>
void LanczosLoop<T>::bring_pairs() {
  s_.x.columns = static_cast<Index>(s_.ritz_values.size());
  if (std::exchange(x_current_, true)) return;
  basis_.ritz_vectors(s_.x.v, s_.x.columns);
}

template <class T>
void LanczosLoop<T>::begin_again() {
  bring_pairs();
  ++s_.restarts;
  ++s_.iteration;
  s_.locked = 0;
  s_.fresh = true;
}

/// X 32 columns at a time.
template <class T>
FreshResiduals LanczosLoop<T>::verify_pairs() {
  FreshResiduals fresh;
  fresh.squares = {std::vector<double>(static_cast<std::size_t>(4 * s_.x.columns), 0.0), s_.x.columns};
  for (Index first = 0; first < s_.x.columns && fresh.squares.known(); first += max_block_columns)
    multiply_and_compare(first, fresh);
  on_.runtime().broadcast(&fresh.defect, sizeof fresh.defect, 0);
  return fresh;
}

template <class T>
void LanczosLoop<T>::multiply_and_compare(Index first, FreshResiduals& fresh) {
  const Index all = s_.x.columns, width = std::min<Index>(max_block_columns, all - first);
  ProductBlock<T> some = on_.new_block(width);
  some.columns = width;
  on_.tasks.copy({&s_.x.v, first, width}, some.vectors());
  multiply_a(on_, s_, some);
  std::vector<GramJob<T>> jobs;
  std::vector<Index> rows;  // of X^H X that a job has, from which one on; -1: constraints
  for (Index row = 0; row < all; row += max_block_columns) {
    jobs.push_back({{{&s_.x.v, row, std::min<Index>(max_block_columns, all - row)}}, {some.vectors()}});
    rows.push_back(row);
  }
  for (const ProductBlock<T>& group : s_.constraints) {
    jobs.push_back({{group.vectors()}, {some.vectors()}});
    rows.push_back(-1);
  }
  const std::vector<SmallOf<T>> sums = on_.tasks.grams(jobs);
  for (std::size_t g = 0; g < sums.size(); ++g)
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < sums[g].rows; ++i) {
        const bool same = rows[g] >= 0 && rows[g] + i == first + j;
        fresh.defect = std::max(fresh.defect, std::abs(sums[g](i, j) - (same ? 1.0 : 0.0)));
      }
  const BlockVectors<T> r = on_.tasks.block(width);
  on_.tasks.residual(some, r,
                     std::span<const double>(s_.ritz_values)
                         .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(width)),
                     0);
  const ResidualSquares squares = on_.tasks.wait_for_norms();
  if (!squares.known()) return fresh.squares.sums.clear();
  for (Index kind = 0; kind < 4; ++kind)
    for (Index j = 0; j < width; ++j)
      fresh.squares.sums[static_cast<std::size_t>(kind * all + first + j)] =
          squares.sums[static_cast<std::size_t>(kind * max_block_columns + j)];
}

/// With these the least work: more columns in a step save passes over the basis, and cost products; a longer basis
/// saves products, and costs passes.
constexpr Index usual_lanczos_block = 4, least_usual_basis = 64, usual_more = 32;

Index least_basis(const ProblemSizes& problem, const LobpcgOptions& o) {
  // A restart leaves no new direction where fewer come from one to the next.
  constexpr Index fewest = 16;
  return std::min(o.count + std::max(3 * o.block, fewest), problem.n - problem.constraints);
}

/// Columns of the basis of which a GPU's half memory holds two.
Index most_in_memory(const Runtime& runtime, const ProblemSizes& problem) {
  const Index n = problem.n;
  if (!runtime.any_gpus()) return n;
  const double bytes = static_cast<double>(runtime.info().gpu_memory_bytes) * runtime.size(),
               columns = bytes / 2 / (2 * static_cast<double>(problem.wide_bytes) * static_cast<double>(n));
  return columns < static_cast<double>(n) ? static_cast<Index>(columns) : n;
}

}  // namespace

void choose_lanczos_sizes(const Runtime& runtime, const ProblemSizes& problem, LobpcgOptions& options) {
  const Index room = problem.n - problem.constraints;
  if (options.block == 0)
    options.block =
        std::max<Index>(1, std::min({options.count, usual_lanczos_block, (room - options.count) / 3}));
  if (options.basis > 0) return;
  const Index useful = std::max(least_usual_basis, 2 * options.count + usual_more);
  options.basis =
      std::max(least_basis(problem, options), std::min({useful, room, most_in_memory(runtime, problem)}));
}

void check_lanczos_sizes(const ProblemSizes& problem, const LobpcgOptions& o) {
  const Index room = problem.n - problem.constraints,
              most_block = std::min<Index>(max_block_columns, room / 3);
  const auto require = [](bool condition, std::string_view name, Index value, const std::string& expected) {
    if (!condition) throw InvalidArgument(name, fmt::format("{}", value), expected);
  };
  require(o.block >= 1 && o.block <= most_block, "block", o.block,
          fmt::format("1 to {}: at most {}, and 3 blocks and the constraints within n = {}", most_block,
                      max_block_columns, problem.n));
  const Index least = least_basis(problem, o);
  require(o.basis >= least && o.basis <= room, "basis", o.basis,
          fmt::format("{} to {}: at least the wanted pairs and three blocks or 16, and with the constraints "
                      "within n = {}",
                      least, room, problem.n));
}

bool lanczos_fits(const Runtime& runtime, const ProblemSizes& problem, const LobpcgOptions& options) {
  LobpcgOptions sized = options;
  if (sized.count > (problem.n - problem.constraints) / 3) return false;
  choose_lanczos_sizes(runtime, problem, sized);
  const Index least = least_basis(problem, sized);
  return sized.basis >= least && least <= most_in_memory(runtime, problem);
}

Index lanczos_columns(const LobpcgOptions& sized) noexcept {
  // The basis, what it becomes at a restart or X, W with A W, and X 32 columns at a time with A X and residuals.
  return 2 * sized.basis + 2 * sized.block + sized.count + 3 * max_block_columns;
}

template <class T>
LobpcgResult<T> solve_lanczos(Runtime& runtime, const LobpcgProblem<T>& problem,
                              const LobpcgOptions& resolved) {
  return LanczosLoop<T>(runtime, problem, resolved).solve();
}

#define TESSERA_INSTANTIATE(T) \
  template LobpcgResult<T> solve_lanczos(Runtime&, const LobpcgProblem<T>&, const LobpcgOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
