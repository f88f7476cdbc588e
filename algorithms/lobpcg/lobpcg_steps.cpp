// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/algorithms/lobpcg/lobpcg_steps.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

namespace {

/// Of the blocks that take part in inner products.
template <class T>
Index widest(const LobpcgProblem<T>& problem, const LobpcgOptions& options) {
  if (options.method != EigenMethod::lobpcg || options.count > max_block_columns) return max_block_columns;
  return std::max(options.block, std::min<Index>(problem.constraint_count, max_block_columns));
}

/// The constraints, copied and made B-orthonormal, 32 at a time.
template <class T>
bool add_constraints(LobpcgContext<T>& on, LobpcgState<T>& s) {
  const Index count = on.problem.constraints ? on.problem.constraint_count : 0;
  for (Index first = 0; first < count; first += max_block_columns) {
    const Index width = std::min<Index>(max_block_columns, count - first);
    ProductBlock<T> group = on.new_block(width, false);
    group.columns = width;
    on.tasks.copy({on.problem.constraints, first, width}, group.vectors());
    if (orthonormalise_constraints(on, s, group) != StepOutcome::done || group.columns < width) return false;
    s.constraints.push_back(std::move(group));
  }
  return true;
}

/// P without the directions of locked columns.
template <class T>
void forget_locked(LobpcgState<T>& s) {
  const Index gone = std::lower_bound(s.p_owners.begin(), s.p_owners.end(), s.locked) - s.p_owners.begin();
  if (gone == 0) return;
  s.p_owners.erase(s.p_owners.begin(), s.p_owners.begin() + gone);
  s.p.first += gone;
  s.p.columns -= gone;
  s.p_matrix = s.p_matrix.block(gone, gone, s.p.columns, s.p.columns);
}

/// W without its first columns, `count` of them.
template <class T>
void drop_directions(LobpcgContext<T>& on, LobpcgState<T>& s, Index count) {
  if (count == 0) return;
  s.w.columns -= count;
  on.tasks.copy({&s.w.v, count, s.w.columns}, s.w.vectors());
}

}  // namespace

template <class T>
LobpcgContext<T>::LobpcgContext(Sequence& tasks_of, const LobpcgProblem<T>& given,
                                const LobpcgOptions& resolved)
    : sequence(tasks_of),
      problem(given),
      options(resolved),
      tasks(tasks_of, given.a->segments(), widest(given, resolved)) {}

template <class T>
ProductBlock<T> LobpcgContext<T>::new_block(Index width, bool with_a) const {
  ProductBlock<T> block;
  block.v = tasks.block(width);
  if (with_a) block.av = tasks.block(width);
  if (problem.b) block.bv = tasks.block(width);
  return block;
}

template <class T>
LobpcgState<T> new_state(LobpcgContext<T>& on) {
  LobpcgState<T> s;
  for (ProductBlock<T>* block : {&s.x, &s.w, &s.p}) *block = on.new_block(on.options.block);
  s.r = on.tasks.block(on.options.block);
  on.sequence.resume_stage("dense");
  return s;
}

template <class T>
bool start(LobpcgContext<T>& on, LobpcgState<T>& s) {
  if (!add_constraints(on, s)) return false;
  // A solve that fails at once gives these zeros back.
  on.tasks.random({&s.x.v, 0, 0}, 0, Store::overwrite);
  start_with(on, s, guess_from(on, s, 0, on.options.block), on.options.block);
  return true;
}

template <class T>
void start_with(LobpcgContext<T>& on, LobpcgState<T>& s, Index known, Index columns) {
  on.tasks.random({&s.w.v, known, columns - known}, splitmix(on.options.seed, s.random_fills++),
                  known == 0 ? Store::overwrite : Store::add);
  s.w.columns = columns;
  s.w_orthonormal = false;
  s.directions_from.reset();
}

template <class T>
Index guess_from(LobpcgContext<T>& on, LobpcgState<T>& s, Index first, Index columns) {
  const Index given = on.problem.guess ? std::min(on.problem.guess_count - first, columns) : 0;
  if (given <= 0) return 0;
  on.tasks.copy({on.problem.guess, first, given}, {&s.w.v, 0, given});
  return given;
}

template <class T>
void start_group(LobpcgContext<T>& on, LobpcgState<T>& s, Index left, Index guess) {
  const Index block = on.options.block;
  if (s.w.v.width() < block) s.w = on.new_block(block);
  Index known = guess_from(on, s, guess, block);
  if (known == 0 && s.x.columns > left) {
    known = s.x.columns - left;
    on.tasks.copy({&s.x.v, left, known}, {&s.w.v, 0, known});
  }
  start_with(on, s, known, block);
  s.fresh = true;
  s.x.columns = s.p.columns = s.p.first = 0;
  s.ritz_values.clear();
  s.residuals = {};
  s.ritz_steps = 0;
  s.drift = 0;
}

template <class T>
void restart(LobpcgContext<T>& on, LobpcgState<T>& s) {
  ++s.restarts;
  ++s.iteration;
  s.locked = 0;
  s.fresh = true;
  if (s.w.v.width() < s.x.columns) s.w = on.new_block(on.options.block);
  // A copy: if the step fails, X stays.
  s.w.columns = s.x.columns;
  on.tasks.copy(s.x.vectors(), s.w.vectors());
  s.w_orthonormal = false;
  s.directions_from.reset();
  s.x.columns = s.p.columns = s.p.first = 0;
  s.ritz_steps = 0;
  s.drift = 0;
}

template <class T>
void multiply_b(LobpcgContext<T>& on, const ProductBlock<T>& block) {
  if (!on.problem.b) return;
  on.sequence.resume_stage("multiply");
  on.problem.b->apply(on.sequence, block.v, block.bv, block.columns);
  on.sequence.resume_stage("dense");
}

template <class T>
void multiply_a(LobpcgContext<T>& on, LobpcgState<T>& s, const ProductBlock<T>& block) {
  on.sequence.resume_stage("multiply");
  on.problem.a->apply(on.sequence, block.v, block.av, block.columns);
  on.sequence.resume_stage("dense");
  s.multiplications.columns += block.columns;
  ++s.multiplications.calls;
}

template <class T>
void multiply(LobpcgContext<T>& on, LobpcgState<T>& s) {
  if (!s.w_orthonormal) multiply_b(on, s.w);
  multiply_a(on, s, s.w);
}

template <class T>
void make_residuals(LobpcgContext<T>& on, LobpcgState<T>& s, Index first) {
  on.tasks.residual(s.x, s.r, s.ritz_values, first);
  s.residuals_from = first;
  s.directions_from.reset();
}

template <class T>
void precondition(LobpcgContext<T>& on, LobpcgState<T>& s, std::span<const double> ritz_values) {
  Preconditioner<T>* const preconditioner = on.problem.preconditioner;
  if (!preconditioner) return std::swap(s.r, s.w.v);
  // Whole segments travel to other ranks and GPUs: fewer columns to multiply are less to send. A pair that
  // was converged may need its column again.
  const Index columns = s.w.columns, width = s.w.v.width();
  if (columns > width || 4 * columns <= 3 * width) {
    s.w = on.new_block(columns > width ? std::max(on.options.block, columns) : columns);
    s.w.columns = columns;
  }
  on.sequence.resume_stage("preconditioner");
  // What it throws on one rank all throw. Not so what apply() throws: tasks of the other ranks may wait for
  // those of the one that has thrown.
  agree(on.runtime(), 0, [&] { preconditioner->prepare(on.sequence, ritz_values, s.locked); });
  preconditioner->apply(on.sequence, s.r, s.w.v, columns);
  on.sequence.resume_stage("dense");
}

template <class T>
void make_directions(LobpcgContext<T>& on, LobpcgState<T>& s) {
  forget_locked(s);
  if (s.directions_from && *s.directions_from <= s.locked) {
    drop_directions(on, s, s.locked - *s.directions_from);
  } else {
    if (s.residuals_from != s.locked) make_residuals(on, s, s.locked);
    s.w.columns = s.x.columns - s.locked;
    s.w_orthonormal = false;
    precondition<T>(on, s, s.ritz_values);
  }
  s.directions_from = s.locked;
}

template <class T>
FreshResiduals verify(LobpcgContext<T>& on, LobpcgState<T>& s) {
  multiply_b(on, s.x);
  multiply_a(on, s, s.x);
  std::vector<GramJob<T>> jobs{{{s.x.vectors()}, {s.x.b_products()}}};
  constexpr std::size_t at_once = 3;
  for (std::size_t k = 0; k < s.constraints.size(); ++k) {
    if (k % at_once == 0) jobs.push_back({{}, {s.x.b_products()}});
    jobs.back().left.push_back(s.constraints[k].vectors());
  }
  FreshResiduals fresh;
  bool of_x = true;
  for (const SmallOf<T>& g : on.tasks.grams(jobs)) {
    for (Index j = 0; j < g.cols; ++j)
      for (Index i = 0; i < g.rows; ++i)
        fresh.defect = std::max(fresh.defect, std::abs(g(i, j) - (of_x && i == j ? 1.0 : 0.0)));
    of_x = false;
  }
  on.runtime().broadcast(&fresh.defect, sizeof fresh.defect, 0);
  make_residuals(on, s, 0);
  fresh.squares = on.tasks.wait_for_norms();
  return fresh;
}

template <class T>
bool projects_all(const LobpcgContext<T>& on, const LobpcgState<T>& s) {
  constexpr Index interval = sizeof(RealOf<T>) == 4 ? 8 : 20;
  return on.options.variant == LobpcgVariant::basic || s.ritz_steps % interval == interval - 1;
}

#define TESSERA_INSTANTIATE(T)                                                             \
  template struct LobpcgContext<T>;                                                        \
  template LobpcgState<T> new_state(LobpcgContext<T>&);                                    \
  template bool start(LobpcgContext<T>&, LobpcgState<T>&);                                 \
  template void start_with(LobpcgContext<T>&, LobpcgState<T>&, Index, Index);              \
  template Index guess_from(LobpcgContext<T>&, LobpcgState<T>&, Index, Index);             \
  template void start_group(LobpcgContext<T>&, LobpcgState<T>&, Index, Index);             \
  template void restart(LobpcgContext<T>&, LobpcgState<T>&);                               \
  template void multiply_b(LobpcgContext<T>&, const ProductBlock<T>&);                     \
  template void multiply_a(LobpcgContext<T>&, LobpcgState<T>&, const ProductBlock<T>&);    \
  template void multiply(LobpcgContext<T>&, LobpcgState<T>&);                              \
  template void precondition(LobpcgContext<T>&, LobpcgState<T>&, std::span<const double>); \
  template void make_residuals(LobpcgContext<T>&, LobpcgState<T>&, Index);                 \
  template void make_directions(LobpcgContext<T>&, LobpcgState<T>&);                       \
  template FreshResiduals verify(LobpcgContext<T>&, LobpcgState<T>&);                      \
  template bool projects_all(const LobpcgContext<T>&, const LobpcgState<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
