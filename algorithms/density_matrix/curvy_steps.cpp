// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/density_matrix/curvy_steps.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/purify.hpp>

namespace tessera::detail {

template <class T>
BlockSparseMatrix<T> antihermitian_commutator(BlockAlgebra<T>& algebra, double factor,
                                              const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b) {
  const BlockLayout full = full_layout(a.layout());
  auto commutator = algebra.product(factor, a, b, full);
  const auto adjoint = algebra.in_layout(
      algebra.in_sequence([&](Sequence& sequence) { return transpose(sequence, commutator, true); }), full);
  algebra.add(1, commutator, -1, adjoint);
  return commutator;
}

template <class T>
BlockSparseMatrix<T> hermitian_commutator(BlockAlgebra<T>& algebra, double factor,
                                          const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& d) {
  return algebra.hermitian_part(algebra.product(2 * factor, a, d, full_layout(a.layout())), a.layout());
}

template <class T>
void restore_diagonal_blocks(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& a) {
  a = algebra.hermitian_part(algebra.in_layout(a, full_layout(a.layout())), a.layout());
}

template <class T>
double mcweeny_step_as_last(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& p,
                            const BlockSparseMatrix<T>* overlap) {
  const double eps = algebra.filter_eps();
  algebra.set_filter_eps(last_filter * eps);
  const double before = mcweeny_step(algebra, p, overlap);
  algebra.set_filter_eps(eps);
  return before;
}

template <class T>
double CurvySteps<T>::form_gradients() {
  double sum = 0, rows = 0;
  for (CurvyChannel<T>& channel : channels) {
    channel.former_gradient = std::move(channel.gradient);
    channel.gradient = antihermitian_commutator(algebra_, 1, channel.hamiltonian, channel.x);
    sum += inner_product(channel.gradient, channel.gradient);
    rows += static_cast<double>(channel.x.rows());
  }
  return rows > 0 ? std::sqrt(sum / rows) : 0;
}

/// D with A D = G nearly, A D = -[B, [X, D]], B = X H X + (1 - X) H (1 - X) = H + [X, G]: the second derivative
/// of the energy at fixed H on the turns that mix occupied with other states, by conjugate gradients. A is
/// positive where X holds the lowest states of B; where it is not, what was found until then is a direction
/// downwards, too.
template <class T>
BlockSparseMatrix<T> CurvySteps<T>::preconditioned(const CurvyChannel<T>& channel) {
  const Matrix &x = channel.x, &g = channel.gradient;
  auto rest = algebra_.copied(g);
  if (inner_steps_ == 0) return rest;
  const double initial = inner_product(rest, rest);
  if (!(initial > 0)) return rest;
  // Near the end Newton's steps converge quadratically if they are solved well enough.
  const double norm = frobenius_norm(channel.hamiltonian);
  // Below what the filter leaves of a block there is nothing to solve for.
  const double noise =
      algebra_.filter_eps() * algebra_.filter_eps() * static_cast<double>(x.pattern().blocks());
  const double enough = std::max(initial * std::min(1e-2, initial / (norm * norm)), noise);
  // Where X is no projector to the last digit, G has a part that A makes zero: not to be followed.
  const double least = 1e-4 * norm / std::sqrt(static_cast<double>(x.rows()));
  auto b = hermitian_commutator(algebra_, 1, x, g);
  algebra_.add(1, b, 1, channel.hamiltonian);
  auto p = algebra_.copied(rest);
  Matrix d;
  double square = initial;
  for (Index k = 0; k < inner_steps_ && square > enough; ++k) {
    const auto turned_x = hermitian_commutator(algebra_, 1, x, p);
    const auto ap = antihermitian_commutator(algebra_, -1, b, turned_x);
    const double curvature = inner_product(p, ap);
    if (!(curvature > least * inner_product(p, p))) break;
    const double step = square / curvature;
    if (d.valid())
      algebra_.add(1, d, step, p);
    else
      d = algebra_.sum({{step, &p}});
    algebra_.add(1, rest, -step, ap);
    const double next = inner_product(rest, rest);
    algebra_.add(next / square, p, 1, rest);
    square = next;
  }
  return d.valid() ? std::move(d) : algebra_.copied(g);
}

template <class T>
void CurvySteps<T>::restart() {
  former_product_ = 0;
}

template <class T>
void CurvySteps<T>::choose_directions() {
  // Polak and Ribiere, with a restart instead of a negative factor; gradients are compared as they are, not
  // moved along the geodesic: the difference is of second order.
  double product = 0, change = 0;
  for (CurvyChannel<T>& channel : channels) {
    channel.preconditioned = preconditioned(channel);
    const double now = channel.occupation * inner_product(channel.gradient, channel.preconditioned);
    product += now;
    if (former_product_ > 0)
      change += now - channel.occupation * inner_product(channel.former_gradient, channel.preconditioned);
  }
  const double beta = former_product_ > 0 ? std::max(0.0, change / former_product_) : 0;
  former_product_ = product;
  for (CurvyChannel<T>& channel : channels) {
    if (beta > 0 && beta < 1)
      algebra_.add(beta, channel.direction, 1, channel.preconditioned);
    else
      channel.direction = algebra_.copied(channel.preconditioned);
  }
  form_series();
  if (slope_ < 0) return;
  // No way down: the gradient is one.
  restart();
  for (CurvyChannel<T>& channel : channels) channel.direction = algebra_.copied(channel.gradient);
  form_series();
}

template <class T>
void CurvySteps<T>::form_series() {
  slope_ = curvature_ = 0;
  double norm = 0;
  for (CurvyChannel<T>& channel : channels) {
    channel.first = hermitian_commutator(algebra_, 1, channel.x, channel.direction);
    channel.second = hermitian_commutator(algebra_, 0.5, channel.first, channel.direction);
    slope_ += channel.occupation * inner_product(channel.hamiltonian, channel.first);
    curvature_ += 2 * channel.occupation * inner_product(channel.hamiltonian, channel.second);
    norm = std::max(norm, gershgorin_norm(channel.direction));
  }
  // Gershgorin's bound of the largest angle is a few times too large.
  constexpr double largest_angle = 2;
  longest_step_ = norm > 0 ? largest_angle / norm : 1;
}

template <class T>
double CurvySteps<T>::step_at_fixed_hamiltonian() const noexcept {
  // A preconditioned direction is a step by itself.
  return std::min(curvature_ > 0 ? -slope_ / curvature_ : 1, longest_step_);
}

template <class T>
std::vector<BlockSparseMatrix<T>> CurvySteps<T>::turned(double t) {
  constexpr int terms = 20;
  std::vector<Matrix> result;
  for (const CurvyChannel<T>& channel : channels) {
    auto x = algebra_.sum({{1, &channel.x}, {t, &channel.first}, {t * t, &channel.second}});
    auto term = algebra_.sum({{t * t, &channel.second}});
    const double enough =
        std::max(algebra_.filter_eps(), static_cast<double>(precision<T>)) * frobenius_norm(channel.x);
    for (int k = 3; k <= terms && frobenius_norm(term) > enough; ++k) {
      term = hermitian_commutator(algebra_, t / k, term, channel.direction);
      algebra_.add(1, x, 1, term);
    }
    mcweeny_step_as_last(algebra_, x, static_cast<const Matrix*>(nullptr));
    restore_diagonal_blocks(algebra_, x);
    if (algebra_.filter_eps() > 0) {
      algebra_.finish();
      filter(x, algebra_.filter_eps());
    }
    result.push_back(std::move(x));
  }
  return result;
}

#define TESSERA_INSTANTIATE(T)                                                             \
  template class CurvySteps<T>;                                                            \
  template double mcweeny_step_as_last<T>(BlockAlgebra<T>&, BlockSparseMatrix<T>&,         \
                                          const BlockSparseMatrix<T>*);                    \
  template void restore_diagonal_blocks<T>(BlockAlgebra<T>&, BlockSparseMatrix<T>&);       \
  template BlockSparseMatrix<T> antihermitian_commutator<T>(                               \
      BlockAlgebra<T>&, double, const BlockSparseMatrix<T>&, const BlockSparseMatrix<T>&); \
  template BlockSparseMatrix<T> hermitian_commutator<T>(                                   \
      BlockAlgebra<T>&, double, const BlockSparseMatrix<T>&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
