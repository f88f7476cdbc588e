// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/algorithms/lobpcg/lanczos_basis.hpp>
#include <tessera/algorithms/lobpcg/share_result.hpp>

namespace tessera::detail {

namespace {

/// Blocks that a combination takes.
constexpr std::size_t combined_blocks = 4;

/// output := inputs c, of any number of inputs, the first of which may be the output itself.
template <class T>
void combine_all(LobpcgContext<T>& on, const std::vector<BlockColumns<T>>& inputs,
                 const BlockColumns<T>& output, const SmallOf<T>& c, bool keeps_others = false) {
  Index row = 0;
  for (std::size_t next = 0; next < inputs.size();) {
    const bool first = next == 0;
    std::vector<BlockColumns<T>> some;
    const Index begin = row;
    for (; next < inputs.size() && some.size() + (first ? 0 : 1) < combined_blocks;
         row += inputs[next++].columns)
      some.push_back(inputs[next]);
    SmallOf<T> part = c.block(begin, 0, row - begin, c.cols);
    if (!first) {
      some.push_back(output);
      SmallOf<T> longer(part.rows + c.cols, c.cols);
      longer.set_block(0, 0, part);
      longer.set_block(part.rows, 0, unit_matrix<WideOf<T>>(c.cols));
      part = std::move(longer);
    }
    on.tasks.combine(some, {&output, 1}, part, keeps_others);
  }
}

/// Coefficients that rank 0 has, on all ranks.
template <class S>
struct SharedMatrix {
  SmallMatrixOf<S> c;

  template <class Visit>
  void each_field(const Visit& visit) {
    visit(c);
  }
};
template <class S>
SmallMatrixOf<S> shared(const Runtime& runtime, SmallMatrixOf<S> c) {
  SharedMatrix<S> matrix{std::move(c)};
  share_result(runtime, matrix);
  return std::move(matrix.c);
}

/// What of A W is in the nearest columns of V.
template <class S>
struct NearPart {
  Index finite = 1;
  SmallMatrixOf<S> products;
  ShownByStart shown;

  template <class Visit>
  void each_field(const Visit& visit) {
    visit(finite), visit(products), visit(shown.a_norm), visit(shown.asymmetry);
  }
};

}  // namespace

template <class T>
std::vector<BlockColumns<T>> LanczosBasis<T>::vectors(Index first, Index end) const {
  std::vector<BlockColumns<T>> columns;
  while (first < end) {
    const Index at = first % max_block_columns, count = std::min(end - first, max_block_columns - at);
    columns.push_back({&blocks_[static_cast<std::size_t>(first / max_block_columns)].v, at, count});
    first += count;
  }
  return columns;
}

template <class T>
std::vector<BasisPart<T>> LanczosBasis<T>::parts() const {
  std::vector<BasisPart<T>> parts;
  for (Index first = 0; first < columns_; first += max_block_columns)
    parts.push_back({&blocks_[static_cast<std::size_t>(first / max_block_columns)], 0,
                     std::min<Index>(max_block_columns, columns_ - first)});
  return parts;
}

/// V := [V, from].
template <class T>
void LanczosBasis<T>::append(const BlockColumns<T>& from) {
  for (Index done = 0; done < from.columns;) {
    const Index at = columns_ % max_block_columns;
    if (at == 0) blocks_.push_back(on_.new_block(max_block_columns, false));
    const Index count = std::min<Index>(from.columns - done, max_block_columns - at);
    const BlockColumns<T> some{from.block, from.first + done, count}, to{&blocks_.back().v, at, count};
    on_.tasks.combine({&some, 1}, {&to, 1}, unit_matrix<WideOf<T>>(count), at > 0);
    done += count;
    columns_ += count;
  }
}

template <class T>
void LanczosBasis<T>::clear() {
  blocks_.clear();
  columns_ = locked_ = near_ = 0;
  matrix_ = rest_ = {};
  ritz_ = {};
  locked_pairs_.clear();
  pairs_.clear();
}

template <class T>
StepOutcome LanczosBasis<T>::accept_start(LobpcgState<T>& s) {
  const Index goal = std::min(sizes_.block, sizes_.room - columns_);
  s.w.columns = std::min(s.w.columns, goal);
  near_ = columns_;
  if (goal == 0) return StepOutcome::done;
  const StepOutcome outcome = orthonormalise_block(on_, s, s.w, parts(), goal);
  return outcome == StepOutcome::nothing_left && columns_ + s.w.columns > 0 ? StepOutcome::done : outcome;
}

template <class T>
bool LanczosBasis<T>::widen(LobpcgState<T>& s) {
  const Index room = sizes_.room - columns_, before = s.w.columns,
              wide = std::min({2 * sizes_.block, Index{max_block_columns}, room});
  if (wide <= before || wide <= sizes_.block) return false;
  ProductBlock<T> wider = on_.new_block(wide);
  wider.columns = before;
  on_.tasks.copy(s.w.vectors(), wider.vectors());
  s.w = std::move(wider);
  sizes_.block = wide;
  sizes_.most = std::max(sizes_.most, std::min(sizes_.room, sizes_.pairs + 3 * wide));
  const StepOutcome outcome = orthonormalise_block(on_, s, s.w, parts(), wide);
  // What went wrong the next step tells.
  return outcome == StepOutcome::done ? s.w.columns > before : outcome != StepOutcome::nothing_left;
}

/// W is A times the last block, and becomes orthogonal to the columns from near_ on.
template <class T>
bool LanczosBasis<T>::subtract_near_part(LobpcgState<T>& s, SmallOf<T>& products) {
  const Index w = s.w.columns;
  const std::vector<BlockColumns<T>> near = vectors(near_, columns_);
  std::vector<GramJob<T>> jobs = gram_jobs<T>(near, {s.w.vectors()});
  const std::size_t count = jobs.size();
  if (s.fresh) jobs.push_back({{s.w.vectors()}, {s.w.vectors()}});
  const std::vector<SmallOf<T>> sums = on_.tasks.grams(jobs);
  NearPart<WideOf<T>> part;
  if (sums.empty()) {
    part.finite = 0;
  } else {
    part.products = stacked(std::span<const SmallOf<T>>(sums).first(count));
    part.finite = all_finite(part.products);
    if (s.fresh && part.finite)
      part.shown = shown_by_start(part.products.block(part.products.rows - w, 0, w, w), sums.back(),
                                  unit_matrix<WideOf<T>>(w));
  }
  share_result(on_.runtime(), part);
  if (!part.finite) return false;
  if (s.fresh) {
    s.asymmetry = part.shown.asymmetry;
    s.norms.a = std::max(s.norms.a, part.shown.a_norm);
  }
  std::vector<BlockColumns<T>> inputs{s.w.vectors()};
  inputs.insert(inputs.end(), near.begin(), near.end());
  SmallOf<T> c(w + part.products.rows, w);
  c.set_block(0, 0, unit_matrix<WideOf<T>>(w));
  for (Index j = 0; j < w; ++j)
    for (Index i = 0; i < part.products.rows; ++i) c(w + i, j) = -part.products(i, j);
  combine_all(on_, inputs, s.w.vectors(), c);
  products = std::move(part.products);
  return true;
}

/// The last columns of the projected matrix, as many as `near` has, and the rest of A times those of V.
/// @param near with the columns of V from near_ on @param beyond what is left then, without numbers where nothing is
template <class T>
BlockEnd LanczosBasis<T>::note_products(const LobpcgState<T>& s, const SmallOf<T>& near,
                                        const FirstProducts<T>& beyond) {
  const Index active = columns_ - locked_, w = near.cols;
  SmallOf<T> h(active, w);
  h.set_block(near_ - locked_, 0, near);
  rest_ = SmallOf<T>(w, w);
  if (beyond.own.rows > 0) {
    // What inner products with all of V say, also of columns that exact arithmetic leaves none with.
    for (Index j = 0; j < w; ++j)
      for (Index i = 0; i < active; ++i) h(i, j) += beyond.with_z(locked_ + i, j);
    rest_ = beyond.own;
    const SmallOf<T> within = product(Op::adjoint, beyond.with_z, Op::none, beyond.with_z);
    for (std::size_t k = 0; k < rest_.values.size(); ++k) rest_.values[k] -= within.values[k];
  }
  matrix_ = with_last_columns(matrix_, h);
  if (beyond.own.rows == 0) return BlockEnd::none;
  return block_end(rest_, std::max(s.norms.a, s.projected_norm), static_cast<double>(precision<T>));
}

template <class T>
StepOutcome LanczosBasis<T>::extend(LobpcgState<T>& s) {
  const Index w = s.w.columns, goal = std::min(sizes_.block, sizes_.room - columns_ - w);
  ++steps_;
  append(s.w.vectors());
  multiply_a(on_, s, s.w);
  std::swap(s.w.v, s.w.av);
  SmallOf<T> near;
  if (!subtract_near_part(s, near)) return StepOutcome::not_finite;

  FirstProducts<T> first;
  StepOutcome outcome = StepOutcome::done;
  if (goal > 0)
    outcome = orthonormalise_block(on_, s, s.w, parts(), goal, &first);
  else
    s.w.columns = 0;
  if (outcome == StepOutcome::not_finite || outcome == StepOutcome::not_positive) return outcome;

  auto end = static_cast<Index>(on_.runtime().rank() == 0 ? note_products(s, near, first) : BlockEnd::none);
  on_.runtime().broadcast(&end, sizeof end, 0);
  near_ = columns_ - w;
  if (goal > 0 && (end != static_cast<Index>(BlockEnd::none) || outcome == StepOutcome::nothing_left))
    found_end_ = true;
  if (end != static_cast<Index>(BlockEnd::all_columns)) return StepOutcome::done;
  // Rounding alone is left, which need not point everywhere.
  start_with(on_, s, 0, goal);
  outcome = orthonormalise_block(on_, s, s.w, parts(), goal);
  return outcome == StepOutcome::nothing_left ? StepOutcome::done : outcome;
}

template <class T>
StepOutcome LanczosBasis<T>::find_pairs(LobpcgState<T>& s) {
  LanczosRitz<WideOf<T>> ritz;
  if (on_.runtime().rank() == 0) ritz = lanczos_ritz(matrix_, rest_, on_.sign());
  share_result(on_.runtime(), ritz);
  if (!ritz.finite) return StepOutcome::not_finite;
  ritz_ = std::move(ritz);
  for (const double value : ritz_.values) s.projected_norm = std::max(s.projected_norm, std::abs(value));
  s.norms.a = std::max(s.norms.a, s.projected_norm);
  pairs_ = in_order(locked_pairs_, ritz_, on_.sign());
  return StepOutcome::done;
}

template <class T>
void LanczosBasis<T>::restart(Index kept, const std::vector<Index>& locks) {
  std::vector<Index> places;  // of Ritz vectors, in their new order
  for (const Index k : locks) {
    LanczosPair pair = pairs_[static_cast<std::size_t>(k)];
    places.push_back(pair.place);
    pair.place = static_cast<Index>(locked_pairs_.size());
    pair.locked = true;
    locked_pairs_.push_back(pair);
  }
  LanczosRitz<WideOf<T>> left;
  for (std::size_t k = 0; k < pairs_.size() && locked_ + static_cast<Index>(places.size()) < kept; ++k) {
    if (pairs_[k].locked || std::find(locks.begin(), locks.end(), static_cast<Index>(k)) != locks.end())
      continue;
    places.push_back(pairs_[k].place);
    left.values.push_back(on_.sign() * pairs_[k].value);
    left.residuals.push_back(pairs_[k].residual);
  }
  rotate(places);
  if (on_.runtime().rank() == 0) {
    const auto rest = static_cast<Index>(left.values.size());
    left.coefficients = unit_matrix<WideOf<T>>(rest);
    matrix_ = SmallOf<T>(rest, rest);
    for (Index j = 0; j < rest; ++j) matrix_(j, j) = on_.sign() * left.values[static_cast<std::size_t>(j)];
  }
  locked_ = near_ = static_cast<Index>(locked_pairs_.size());
  ritz_ = std::move(left);
  pairs_ = in_order(locked_pairs_, ritz_, on_.sign());
}

/// V := [V_locked, Ritz vectors of these places].
template <class T>
void LanczosBasis<T>::rotate(const std::vector<Index>& places) {
  // Blocks that have locked columns alone stay.
  const Index whole = locked_ / max_block_columns, first = whole * max_block_columns,
              others = locked_ - first;
  const Index active = columns_ - locked_;
  const auto count = static_cast<Index>(places.size());
  SmallOf<T> c;
  if (on_.runtime().rank() == 0) {
    c = SmallOf<T>(others + active, others + count);
    c.set_block(0, 0, unit_matrix<WideOf<T>>(others));
    for (Index j = 0; j < count; ++j)
      c.set_block(others, others + j,
                  ritz_.coefficients.block(0, places[static_cast<std::size_t>(j)], active, 1));
  }
  c = shared(on_.runtime(), std::move(c));
  const std::vector<BlockColumns<T>> inputs = vectors(first, columns_);
  std::vector<ProductBlock<T>> rotated;
  for (Index done = 0; done < c.cols; done += max_block_columns) {
    const Index width = std::min<Index>(max_block_columns, c.cols - done);
    rotated.push_back(on_.new_block(max_block_columns, false));
    combine_all(on_, inputs, {&rotated.back().v, 0, width}, c.block(0, done, c.rows, width));
  }
  blocks_.resize(static_cast<std::size_t>(whole));
  std::move(rotated.begin(), rotated.end(), std::back_inserter(blocks_));
  columns_ = locked_ + count;
}

template <class T>
void LanczosBasis<T>::ritz_vectors(const BlockVectors<T>& x, Index count) const {
  const auto active = static_cast<Index>(ritz_.values.size()), rows = locked_ + active;
  const std::vector<BlockColumns<T>> inputs = vectors(0, rows);
  for (Index first = 0; first < count; first += max_block_columns) {
    const Index width = std::min<Index>(max_block_columns, count - first);
    SmallOf<T> c;
    if (on_.runtime().rank() == 0) {
      c = SmallOf<T>(rows, width);
      for (Index j = 0; j < width; ++j) {
        const LanczosPair& pair = pairs_[static_cast<std::size_t>(first + j)];
        if (pair.locked)
          c(pair.place, j) = 1;
        else
          c.set_block(locked_, j, ritz_.coefficients.block(0, pair.place, active, 1));
      }
    }
    c = shared(on_.runtime(), std::move(c));
    combine_all(on_, inputs, {&x, first, width}, c, true);
  }
}

/// V := [V guess], orthonormal, and A times that.
template <class T>
StepOutcome LanczosBasis<T>::add_guess(LobpcgState<T>& s, const BlockColumns<T>& guess,
                                       std::vector<ProductBlock<T>>& products) {
  ProductBlock<T> piece = on_.new_block(guess.columns);
  piece.columns = guess.columns;
  on_.tasks.copy(guess, piece.vectors());
  const StepOutcome outcome = orthonormalise_block(on_, s, piece, parts(), guess.columns);
  if (outcome != StepOutcome::done && outcome != StepOutcome::nothing_left) return outcome;
  if (piece.columns == 0) return StepOutcome::done;
  multiply_a(on_, s, piece);
  append(piece.vectors());
  piece.v.release();
  products.push_back(std::move(piece));
  return StepOutcome::done;
}

/// The projected matrix of the guess. @param products A V
template <class T>
bool LanczosBasis<T>::solve_start(LobpcgState<T>& s, const std::vector<ProductBlock<T>>& products,
                                  LanczosRitz<WideOf<T>>& ritz) {
  SmallOf<T> a(columns_, columns_);
  Index done = 0;
  bool known = true;
  for (const ProductBlock<T>& piece : products) {
    const std::vector<SmallOf<T>> sums =
        on_.tasks.grams(gram_jobs<T>(vectors(0, columns_), {piece.a_products()}));
    known = known && !sums.empty();
    if (!sums.empty()) a.set_block(0, done, stacked(std::span<const SmallOf<T>>(sums)));
    done += piece.columns;
  }
  if (on_.runtime().rank() == 0 && known) ritz = lanczos_ritz(a, SmallOf<T>(1, 1), on_.sign());
  if (on_.runtime().rank() == 0 && !known) ritz.finite = 0;
  share_result(on_.runtime(), ritz);
  for (const double value : ritz.values) s.projected_norm = std::max(s.projected_norm, std::abs(value));
  return ritz.finite != 0;
}

template <class T>
StepOutcome LanczosBasis<T>::start_from(LobpcgState<T>& s, const BlockVectors<T>& x, Index count, double lock,
                                        const Measure& measure) {
  clear();
  std::vector<ProductBlock<T>> products;
  for (Index first = 0; first < count; first += max_block_columns) {
    const BlockColumns<T> some{&x, first, std::min<Index>(max_block_columns, count - first)};
    const StepOutcome outcome = add_guess(s, some, products);
    if (outcome != StepOutcome::done) return outcome;
  }
  LanczosRitz<WideOf<T>> ritz;
  if (!solve_start(s, products, ritz)) return StepOutcome::not_finite;
  std::vector<BlockColumns<T>> of_av;
  for (const ProductBlock<T>& piece : products) of_av.push_back(piece.a_products());
  const std::vector<BlockColumns<T>> of_v = vectors(0, columns_);
  const SmallOf<T> c = shared(on_.runtime(), std::move(ritz.coefficients));
  std::vector<ProductBlock<T>> found;
  std::vector<LanczosPair> pairs;
  std::vector<double> excesses;
  for (Index first = 0; first < columns_; first += max_block_columns) {
    const Index width = std::min<Index>(max_block_columns, columns_ - first);
    found.push_back(on_.new_block(width));
    ProductBlock<T>& some = found.back();
    some.columns = width;
    combine_all(on_, of_v, some.vectors(), c.block(0, first, columns_, width));
    combine_all(on_, of_av, some.a_products(), c.block(0, first, columns_, width));
    std::vector<double> values;
    for (Index j = 0; j < width; ++j)
      values.push_back(on_.sign() * ritz.values[static_cast<std::size_t>(first + j)]);
    const BlockVectors<T> r = on_.tasks.block(width);
    on_.tasks.residual(some, r, values, 0);
    const ResidualSquares squares = on_.tasks.wait_for_norms();
    const std::vector<double> measured = measure(squares, values);
    if (measured.empty()) return StepOutcome::not_finite;
    for (Index j = 0; j < width; ++j)
      pairs.push_back({values[static_cast<std::size_t>(j)], std::sqrt(squares.r(j)), 0, true});
    excesses.insert(excesses.end(), measured.begin(), measured.end());
    some.av.release();
  }
  const auto reaches = [](double limit) { return [limit](double excess) { return excess <= limit; }; };
  const bool all =
      columns_ >= sizes_.pairs && std::all_of(excesses.begin(), excesses.begin() + sizes_.pairs, reaches(1));
  clear();
  lock_or_add(s, found, pairs,
              [&](Index j) { return reaches(all ? 1 : lock)(excesses[static_cast<std::size_t>(j)]); });
  return StepOutcome::done;
}

/// V := the locked ones of these Ritz vectors, W := sums of the others.
template <class T>
void LanczosBasis<T>::lock_or_add(LobpcgState<T>& s, const std::vector<ProductBlock<T>>& found,
                                  const std::vector<LanczosPair>& pairs,
                                  const std::function<bool(Index)>& locks) {
  Index first = 0, others = 0;
  for (const ProductBlock<T>& some : found) {
    std::vector<Index> locked;
    SmallOf<T> sums(some.columns, sizes_.block);
    for (Index j = 0; j < some.columns; ++j)
      if (locks(first + j))
        locked.push_back(j);
      else
        sums(j, others++ % sizes_.block) = 1;
    const BlockColumns<T> inputs[] = {some.vectors(), {&s.w.v, 0, sizes_.block}};
    SmallOf<T> c(some.columns + sizes_.block, sizes_.block);
    c.set_block(0, 0, sums);
    c.set_block(some.columns, 0, unit_matrix<WideOf<T>>(sizes_.block));
    const bool starts = first == 0;
    on_.tasks.combine({inputs, starts ? 1u : 2u}, {&inputs[1], 1}, starts ? sums : c);
    if (!locked.empty()) {
      const auto count = static_cast<Index>(locked.size());
      SmallOf<T> selection(some.columns, count);
      for (Index j = 0; j < count; ++j) {
        selection(locked[static_cast<std::size_t>(j)], j) = 1;
        LanczosPair pair = pairs[static_cast<std::size_t>(first + locked[static_cast<std::size_t>(j)])];
        pair.place = static_cast<Index>(locked_pairs_.size());
        locked_pairs_.push_back(pair);
      }
      ProductBlock<T> taken = on_.new_block(count, false);
      taken.columns = count;
      on_.tasks.combine({inputs, 1}, std::vector{taken.vectors()}, selection);
      append(taken.vectors());
    }
    first += some.columns;
  }
  locked_ = columns_;
  pairs_ = in_order(locked_pairs_, ritz_, on_.sign());
  if (others == 0) return start_with(on_, s, 0, sizes_.block);
  s.w.columns = std::min(others, sizes_.block);
}

#define TESSERA_INSTANTIATE(T) template class LanczosBasis<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
