// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <tessera/algorithms/lobpcg/lobpcg_steps.hpp>
#include <tessera/algorithms/lobpcg/share_result.hpp>
#include <tessera/codelets/common/splitmix.hpp>

namespace tessera::detail {

namespace {

struct OrthonormalGoal {
  Index columns = 0;  ///< to have at the end, random ones if need be
  bool strict =
      false;  ///< orthonormal to rounding; else so far that the Rayleigh-Ritz step's Gram matrix does
              ///< the rest
  bool transform = true;  ///< false: to Z alone, not to each other
  /// The round was the last one if no eigenvalue of the scaled Gram matrix is below this; 0: as `strict` says.
  double accept = 0;
};

/// Makes a block V B-orthonormal, in rounds of V := (V - Z inv(Z^H B Z) Z^H B V) T: Z are the basis and the
/// constraints, T comes from the Gram matrix (orthonormal_round). Stathopoulos and Wu, SIAM J. Sci. Comput. 23
/// (2002) 2165.
template <class T>
class Orthonormaliser {
 public:
  /// @param z orthonormal to each other; or, the first columns, with a Gram matrix of this Cholesky factor
  /// (rank 0 alone needs it)
  Orthonormaliser(LobpcgContext<T>& on, LobpcgState<T>& s, ProductBlock<T>& block,
                  std::vector<BasisPart<T>> z, const SmallOf<T>& factor, const OrthonormalGoal& goal)
      : on_(on), s_(s), block_(block), z_(std::move(z)), factor_(factor), goal_(goal) {
    const double unit = precision<T>;
    // After an accepted round without `strict` vectors are orthonormal to 1e-3 at least.
    const double usual = goal.strict ? 0.5 : std::max(4e6 * unit * unit, 2e3 * 32 * precision<double>);
    rules_ = {.unit = unit,
              .accept = goal.accept > 0 ? goal.accept : usual,
              .transform = goal.transform,
              .norm = s.projected_norm > 0 ? s.projected_norm : 1};
    for (const BasisPart<T>& part : z_) z_columns_ += part.columns;
  }

  StepOutcome run(FirstProducts<T>* first = nullptr);

 private:
  using Part = BlockVectors<T> ProductBlock<T>::*;
  /// Parts that a task takes beside V: as inputs of a combination, and in a Gram matrix.
  static constexpr std::size_t combined = 3, multiplied = 2;

  OrthonormalRound<WideOf<T>> measure(FirstProducts<T>* seen);
  void to_orthonormal(SmallOf<T>& z_v) const;
  void from_orthonormal(SmallOf<T>& of_z) const;
  void apply(const OrthonormalRound<WideOf<T>>& round, Part part);
  void set_rules_after(const OrthonormalRound<WideOf<T>>& round);
  void add_random(Index kept);

  LobpcgContext<T>& on_;
  LobpcgState<T>& s_;
  ProductBlock<T>& block_;
  std::vector<BasisPart<T>> z_;
  const SmallOf<T> factor_;
  OrthonormalGoal goal_;
  OrthonormalRules rules_;
  Index z_columns_ = 0;
};

template <class T>
StepOutcome Orthonormaliser<T>::run(FirstProducts<T>* first) {
  constexpr int max_rounds = 10;
  constexpr double max_growth_of_products = 1e3;
  bool nothing = false, products_known = false, random_added = false;
  int random_rounds = goal_.columns > 0 ? 2 : 0;
  for (int number = 0; number < max_rounds; ++number) {
    if (!products_known) multiply_b(on_, block_);
    const OrthonormalRound<WideOf<T>> round = measure(number == 0 ? first : nullptr);
    if (!round.finite) return StepOutcome::not_finite;
    if (!round.positive) return StepOutcome::not_positive;
    if (number == 0) s_.w_independence = round.independence;
    const Index kept = round.of_w.cols;
    products_known = on_.problem.b && round.growth < max_growth_of_products;
    apply(round, &ProductBlock<T>::v);
    if (products_known) apply(round, &ProductBlock<T>::bv);
    // Also in later rounds: a round makes vectors in the span of Z longer, and the next one detects them.
    if (!random_added) nothing = kept == 0;
    set_rules_after(round);
    block_.columns = kept;
    if (kept < goal_.columns && random_rounds > 0) {
      add_random(kept);
      products_known = false;
      random_added = true;
      --random_rounds;
    } else if (kept == 0 || round.accepted) {
      break;
    }
  }
  if (!products_known && block_.columns > 0) multiply_b(on_, block_);
  return nothing || block_.columns == 0 ? StepOutcome::nothing_left : StepOutcome::done;
}

/// Z^H B V and V^H B V, and what follows from them.
template <class T>
OrthonormalRound<WideOf<T>> Orthonormaliser<T>::measure(FirstProducts<T>* seen) {
  const BlockColumns<T> right = block_.b_products();
  std::vector<GramJob<T>> jobs{{{}, {right}}};
  for (const BasisPart<T>& part : z_) {
    const std::size_t most = jobs.size() == 1 ? multiplied : multiplied + 1;
    if (jobs.back().left.size() == most) jobs.push_back({{}, {right}});
    jobs.back().left.push_back(part.vectors());
  }
  jobs.front().left.push_back(block_.vectors());
  const std::vector<SmallOf<T>> sums = on_.tasks.grams(jobs);

  OrthonormalRound<WideOf<T>> round;
  if (sums.empty()) {
    round.finite = 0;
  } else {
    const Index columns = block_.columns, front = sums[0].rows - columns;
    SmallOf<T> z_v(z_columns_, columns);
    z_v.set_block(0, 0, sums[0].block(0, 0, front, columns));
    Index first = front;
    for (std::size_t g = 1; g < sums.size(); ++g) {
      z_v.set_block(first, 0, sums[g]);
      first += sums[g].rows;
    }
    if (seen) *seen = {z_v, sums[0].block(front, 0, columns, columns)};
    to_orthonormal(z_v);
    round = orthonormal_round(z_v, sums[0].block(front, 0, columns, columns), rules_);
    from_orthonormal(round.of_z);
  }
  share_result(on_.runtime(), round);
  return round;
}

/// From inner products with Z to those with inv(L) Z, which is orthonormal; and back, of coefficients.
template <class T>
void Orthonormaliser<T>::to_orthonormal(SmallOf<T>& z_v) const {
  if (factor_.rows == 0) return;
  SmallOf<T> part = z_v.block(0, 0, factor_.rows, z_v.cols);
  solve_lower(Op::none, factor_, part);
  z_v.set_block(0, 0, part);
}
template <class T>
void Orthonormaliser<T>::from_orthonormal(SmallOf<T>& of_z) const {
  if (factor_.rows == 0 || of_z.cols == 0) return;
  SmallOf<T> part = of_z.block(0, 0, factor_.rows, of_z.cols);
  solve_lower(Op::adjoint, factor_, part);
  of_z.set_block(0, 0, part);
}

/// V := Z of_z + V of_w, or the same of B V.
template <class T>
void Orthonormaliser<T>::apply(const OrthonormalRound<WideOf<T>>& round, Part part) {
  const Index kept = round.of_w.cols;
  if (kept == 0) return;
  const BlockColumns<T> output[] = {{&(block_.*part), 0, kept}};
  // The first parts of Z go with V, further ones add to the result.
  SmallOf<T> of_v = round.of_w;
  Index first = 0;
  std::size_t next = 0;
  do {
    std::vector<BlockColumns<T>> inputs;
    Index rows = 0;
    for (; next < z_.size() && inputs.size() < combined; ++next) {
      inputs.push_back({&(z_[next].block->*part), z_[next].first, z_[next].columns});
      rows += z_[next].columns;
    }
    inputs.push_back({&(block_.*part), 0, of_v.rows});
    SmallOf<T> c(rows + of_v.rows, kept);
    c.set_block(0, 0, round.of_z.block(first, 0, rows, kept));
    c.set_block(rows, 0, of_v);
    on_.tasks.combine(inputs, output, c);
    first += rows;
    of_v = unit_matrix<WideOf<T>>(kept);
  } while (next < z_.size());
}

/// The next round drops vectors that this one has made longer than rounding allows, if they were rounding
/// errors. (Without `transform` vectors have not become unit vectors, nor have random ones.)
template <class T>
void Orthonormaliser<T>::set_rules_after(const OrthonormalRound<WideOf<T>>& round) {
  rules_.unit_columns = rules_.transform ? round.of_w.cols : 0;
  rules_.smallest = 0.5;
  if (round.growth > 1)
    rules_.smallest = std::min(0.5, 10 * rules_.unit * static_cast<double>(block_.columns) * round.growth);
}

template <class T>
void Orthonormaliser<T>::add_random(Index kept) {
  on_.tasks.random({&block_.v, kept, goal_.columns - kept}, splitmix(on_.options.seed, s_.random_fills++),
                   Store::add);
  block_.columns = goal_.columns;
}

}  // namespace

template <class T>
StepOutcome orthonormalise(LobpcgContext<T>& on, LobpcgState<T>& s) {
  const bool to_basis = on.options.variant == LobpcgVariant::orthonormal || s.x.columns == 0;
  std::vector<BasisPart<T>> basis;
  if (to_basis) basis = {{&s.x, 0, s.x.columns}, {&s.p, s.p.first, s.p.columns}};
  return orthonormalise(on, s, std::move(basis), {}, to_basis);
}

template <class T>
StepOutcome orthonormalise(LobpcgContext<T>& on, LobpcgState<T>& s, std::vector<BasisPart<T>> basis,
                           const SmallOf<T>& factor, bool to_each_other) {
  s.w_orthonormal = true;
  const OrthonormalGoal goal{
      .columns = s.w.columns, .strict = !s.constraints.empty(), .transform = to_each_other};
  for (const ProductBlock<T>& group : s.constraints) basis.push_back({&group, 0, group.columns});
  return Orthonormaliser<T>(on, s, s.w, std::move(basis), factor, goal).run();
}

template <class T>
StepOutcome orthonormalise_constraints(LobpcgContext<T>& on, LobpcgState<T>& s, ProductBlock<T>& group) {
  std::vector<BasisPart<T>> before;
  for (const ProductBlock<T>& other : s.constraints) before.push_back({&other, 0, other.columns});
  return Orthonormaliser<T>(on, s, group, std::move(before), {}, {.strict = true}).run();
}

template <class T>
StepOutcome orthonormalise_block(LobpcgContext<T>& on, LobpcgState<T>& s, ProductBlock<T>& block,
                                 std::vector<BasisPart<T>> basis, Index columns, FirstProducts<T>* first) {
  for (const ProductBlock<T>& group : s.constraints) basis.push_back({&group, 0, group.columns});
  const OrthonormalGoal goal{.columns = columns, .strict = true, .accept = 0.01};
  return Orthonormaliser<T>(on, s, block, std::move(basis), {}, goal).run(first);
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template StepOutcome orthonormalise(LobpcgContext<T>&, LobpcgState<T>&);                           \
  template StepOutcome orthonormalise(LobpcgContext<T>&, LobpcgState<T>&, std::vector<BasisPart<T>>, \
                                      const SmallOf<T>&, bool);                                      \
  template StepOutcome orthonormalise_block(LobpcgContext<T>&, LobpcgState<T>&, ProductBlock<T>&,    \
                                            std::vector<BasisPart<T>>, Index, FirstProducts<T>*);    \
  template StepOutcome orthonormalise_constraints(LobpcgContext<T>&, LobpcgState<T>&, ProductBlock<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
