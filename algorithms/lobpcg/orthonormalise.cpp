// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

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
  bool constraints_alone = false;  ///< not to X and P, nor to each other (basic variant)
};

/// Makes a block V B-orthonormal, in rounds of V := (V - Z Z^T B V) T: Z are X, P and the constraints, T
/// comes from the Gram matrix (orthonormal_round). Stathopoulos and Wu, SIAM J. Sci. Comput. 23 (2002) 2165.
template <class T>
class Orthonormaliser {
 public:
  Orthonormaliser(LobpcgContext<T>& on, LobpcgState<T>& s, ProductBlock<T>& block,
                  const OrthonormalGoal& goal)
      : on_(on), s_(s), block_(block), goal_(goal) {
    const double unit = precision<T>;
    // After an accepted round without `strict` vectors are orthonormal to 1e-3 at least.
    rules_ = {.unit = unit,
              .accept = goal.strict ? 0.5 : std::max(4e6 * unit * unit, 2e3 * 32 * precision<double>),
              .transform = !goal.constraints_alone,
              .norm = s.projected_norm > 0 ? s.projected_norm : 1};
    if (goal.constraints_alone) return;
    x_ = s.x.columns;
    p_ = s.p.columns;
  }

  StepOutcome run();

 private:
  using Part = BlockVectors<T> ProductBlock<T>::*;
  Index group_columns(std::size_t group) const { return s_.constraints[group].columns; }
  Index constraint_columns() const {
    Index sum = 0;
    for (const ProductBlock<T>& group : s_.constraints) sum += group.columns;
    return sum;
  }
  OrthonormalRound measure();
  void apply(const OrthonormalRound& round, Part part);
  void set_rules_after(const OrthonormalRound& round);
  void add_random(Index kept);

  LobpcgContext<T>& on_;
  LobpcgState<T>& s_;
  ProductBlock<T>& block_;
  OrthonormalGoal goal_;
  OrthonormalRules rules_;
  Index x_ = 0, p_ = 0;  ///< columns of X and P that belong to Z
};

template <class T>
StepOutcome Orthonormaliser<T>::run() {
  constexpr int max_rounds = 10;
  constexpr double max_growth_of_products = 1e3;
  bool nothing = false, products_known = false, random_added = false;
  int random_rounds = goal_.columns > 0 ? 2 : 0;
  for (int number = 0; number < max_rounds; ++number) {
    if (!products_known) multiply_b(on_, block_);
    const OrthonormalRound round = measure();
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

/// Z^T B V and V^T B V, and what follows from them.
template <class T>
OrthonormalRound Orthonormaliser<T>::measure() {
  const BlockColumns<T> right = block_.b_products();
  std::vector<GramJob<T>> jobs{{{{&s_.x.v, 0, x_}, {&s_.p.v, s_.p.first, p_}, block_.vectors()}, {right}}};
  for (const ProductBlock<T>& group : s_.constraints) jobs.push_back({{group.vectors()}, {right}});
  const std::vector<SmallMatrix> sums = on_.tasks.grams(jobs);

  OrthonormalRound round;
  if (sums.empty()) {
    round.finite = 0;
  } else {
    const Index columns = block_.columns;
    SmallMatrix z_v(x_ + p_ + constraint_columns(), columns);
    z_v.set_block(0, 0, sums[0].block(0, 0, x_ + p_, columns));
    Index first = x_ + p_;
    for (std::size_t g = 1; g < sums.size(); ++g) {
      z_v.set_block(first, 0, sums[g]);
      first += sums[g].rows;
    }
    round = orthonormal_round(z_v, sums[0].block(x_ + p_, 0, columns, columns), rules_);
  }
  share_result(on_.runtime(), round);
  return round;
}

/// V := Z of_z + V of_w, or the same of B V.
template <class T>
void Orthonormaliser<T>::apply(const OrthonormalRound& round, Part part) {
  const Index columns = block_.columns, kept = round.of_w.cols;
  if (kept == 0) return;
  // The first group of constraints goes with X and P, further ones add to the result.
  const Index first_group = s_.constraints.empty() ? 0 : group_columns(0), z = x_ + p_ + first_group;
  SmallMatrix c(z + columns, kept);
  c.set_block(0, 0, round.of_z.block(0, 0, z, kept));
  c.set_block(z, 0, round.of_w);
  std::vector<BlockColumns<T>> inputs{{&(s_.x.*part), 0, x_}, {&(s_.p.*part), s_.p.first, p_}};
  if (first_group > 0) inputs.push_back({&(s_.constraints[0].*part), 0, first_group});
  inputs.push_back({&(block_.*part), 0, columns});
  const BlockColumns<T> output[] = {{&(block_.*part), 0, kept}};
  on_.tasks.combine(inputs, output, c);

  Index first = z;
  for (std::size_t g = 1; g < s_.constraints.size(); ++g) {
    const Index width = group_columns(g);
    SmallMatrix more(kept + width, kept);
    more.set_block(0, 0, unit_matrix(kept));
    more.set_block(kept, 0, round.of_z.block(first, 0, width, kept));
    const BlockColumns<T> both[] = {output[0], {&(s_.constraints[g].*part), 0, width}};
    on_.tasks.combine(both, output, more);
    first += width;
  }
}

/// The next round drops vectors that this one has made longer than rounding allows, if they were rounding
/// errors. (Without `transform` vectors have not become unit vectors, nor have random ones.)
template <class T>
void Orthonormaliser<T>::set_rules_after(const OrthonormalRound& round) {
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
  s.w_orthonormal = true;
  const OrthonormalGoal goal{
      .columns = s.w.columns,
      .strict = !s.constraints.empty(),
      .constraints_alone = on.options.variant == LobpcgVariant::basic && s.x.columns > 0};
  return Orthonormaliser<T>(on, s, s.w, goal).run();
}

template <class T>
StepOutcome orthonormalise_constraints(LobpcgContext<T>& on, LobpcgState<T>& s, ProductBlock<T>& group) {
  return Orthonormaliser<T>(on, s, group, {.strict = true}).run();
}

#define TESSERA_INSTANTIATE(T)                                             \
  template StepOutcome orthonormalise(LobpcgContext<T>&, LobpcgState<T>&); \
  template StepOutcome orthonormalise_constraints(LobpcgContext<T>&, LobpcgState<T>&, ProductBlock<T>&);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
