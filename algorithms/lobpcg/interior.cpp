// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/preconditioner_parts.hpp>
#include <tessera/algorithms/lobpcg/projected_problem.hpp>
#include <tessera/algorithms/lobpcg/share_result.hpp>
#include <tessera/algorithms/lobpcg/vector_tasks.hpp>
#include <tessera/interior.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

double finite_sigma(double sigma) {
  if (!std::isfinite(sigma)) throw InvalidArgument("sigma", fmt::format("{}", sigma), "a finite number");
  return sigma;
}

/// The pairs of a projected problem, the nearest to sigma first.
template <class S>
BasisStep<S> nearest_first(const BasisStep<S>& step, double sigma) {
  std::vector<std::size_t> order(step.values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return std::abs(step.values[i] - sigma) < std::abs(step.values[j] - sigma);
  });
  BasisStep<S> sorted = step;
  const Index rows = step.coefficients.rows;
  for (std::size_t k = 0; k < order.size(); ++k) {
    sorted.values[k] = step.values[order[k]];
    sorted.coefficients.set_block(0, Index(k), step.coefficients.block(0, Index(order[k]), rows, 1));
  }
  return sorted;
}

template <class T>
void check_pairs_of(const SymmetricOperator<T>& a, const LobpcgResult<T>& folded) {
  const auto count = static_cast<Index>(folded.values.size());
  if (count < 1 || count > std::min<Index>(folded.vectors.width(), max_block_columns))
    throw InvalidArgument("folded", fmt::format("{} values", count), "1 to 32 pairs");
  require_blocks(*a.segments(), folded.vectors, folded.vectors, count);
}

template <class T>
InteriorPairs<T> project_interior(Runtime& runtime, const SymmetricOperator<T>& a, double sigma,
                                  const LobpcgResult<T>& folded) {
  const auto count = static_cast<Index>(folded.values.size());
  Sequence sequence(runtime);
  VectorTasks<T> tasks(sequence, a.segments(), max_block_columns);
  ProductBlock<T> x{
      .v = tasks.block(count), .av = tasks.block(count), .bv = {}, .first = 0, .columns = count};
  tasks.copy({&folded.vectors, 0, count}, x.vectors());
  a.apply(sequence, x.v, x.av, count);
  const GramJob<T> job[] = {{{x.vectors()}, {x.a_products(), x.vectors()}}};
  const std::vector<SmallOf<T>> sums = tasks.grams(job);
  BasisStep<WideOf<T>> step;
  step.finite = 0;
  if (!sums.empty())
    step = nearest_first(basis_step<WideOf<T>>({.matrix = hermitian_part(sums[0].block(0, 0, count, count)),
                                                .gram = hermitian_part(sums[0].block(0, count, count, count)),
                                                .pairs = count,
                                                .previous = {}}),
                         sigma);
  share_result(runtime, step);
  const bool known = step.finite && step.positive;
  InteriorPairs<T> pairs;
  if (known) {
    for (BlockVectors<T>* part : {&x.v, &x.av}) {
      const BlockColumns<T> columns{part, 0, count};
      tasks.combine({&columns, 1}, {&columns, 1}, step.coefficients);
    }
    const BlockVectors<T> r = tasks.block(count);
    tasks.residual(x, r, step.values, 0);
    const ResidualSquares squares = tasks.wait_for_norms();
    for (Index j = 0; squares.known() && j < count; ++j)
      pairs.residuals.push_back(std::sqrt(squares.r(j) / squares.x(j)));
  }
  require_success(runtime, sequence.wait());
  if (!known) throw InvalidArgument("folded", "vectors that are dependent or not finite", "those of a solve");
  pairs.values = std::move(step.values);
  pairs.vectors = std::move(x.v);
  return pairs;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
FoldedOperator<T>::FoldedOperator(Runtime& runtime, const SymmetricOperator<T>& a, double sigma)
    : runtime_(runtime),
      a_(a),
      sigma_(collectively(
          runtime, "FoldedOperator", argument_hash(sigma), [&] { finite_sigma(sigma); },
          [&] { return sigma; })) {}

template <class T>
double FoldedOperator<T>::norm_bound() const {
  const double norm = a_.norm_bound();
  return norm > 0 ? std::pow(norm + std::abs(sigma_), 2) : 0;
}

template <class T>
void FoldedOperator<T>::apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                              Index columns) const {
  const auto check = [&] { require_blocks(*a_.segments(), x, y, columns); };
  collectively(sequence.runtime(), "FoldedOperator::apply", argument_hash(columns), check, [&] {
    if (between_.width() != x.width()) between_ = BlockVectors<T>(runtime_, a_.segments(), x.width());
    SmallOf<T> c(2 * columns, columns);
    for (Index j = 0; j < columns; ++j) {
      c(j, j) = -sigma_;
      c(columns + j, j) = 1;
    }
    const auto shifted = [&](const BlockVectors<T>& from, const BlockVectors<T>& to) {
      a_.apply(sequence, from, to, columns);
      const BlockColumns<T> inputs[] = {{&from, 0, columns}, {&to, 0, columns}};
      combine_columns<T>(sequence, inputs, {&inputs[1], 1}, c);
    };
    shifted(x, between_);
    shifted(between_, y);
  });
}

template <class T>
InteriorPairs<T> interior_pairs(Runtime& runtime, const SymmetricOperator<T>& a, double sigma,
                                const LobpcgResult<T>& folded) {
  const auto check = [&] {
    finite_sigma(sigma);
    check_pairs_of(a, folded);
  };
  return collectively(runtime, "interior_pairs", argument_hash(sigma, folded.values.size()), check,
                      [&] { return project_interior(runtime, a, sigma, folded); });
}

#define TESSERA_INSTANTIATE(T)                                                            \
  template class FoldedOperator<T>;                                                       \
  template InteriorPairs<T> interior_pairs(Runtime&, const SymmetricOperator<T>&, double, \
                                           const LobpcgResult<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
