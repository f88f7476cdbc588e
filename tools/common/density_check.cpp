// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_check.hpp"

#include <algorithm>
#include <cmath>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/error.hpp>
#include <tessera/multiply.hpp>

namespace tessera::program {
using namespace detail;

namespace {

/// Calls work(sequence) and waits for the tasks.
template <class Work>
auto at_once(Runtime& runtime, const Work& work) {
  Sequence sequence(runtime);
  sequence.begin_stage("check");
  auto result = work(sequence);
  const Status status = sequence.wait();
  if (!status) throw Error(status.message());
  return result;
}

/// C := alpha A B + beta C. Returns the bound of what the filter leaves out.
template <class T>
double product(Runtime& runtime, double alpha, const ProductFactor<T>& a, const BlockSparseMatrix<T>& b,
               double beta, BlockSparseMatrix<T>& c, double filter) {
  using Real = RealOf<T>;
  const MultiplyResult result = multiply<T>(
      runtime,
      {.alpha = T(static_cast<Real>(alpha)), .a = a, .b = b, .beta = T(static_cast<Real>(beta)), .c = c},
      {.filter_eps = filter});
  if (!result) throw Error(result.status().message());
  return filter_bound(result, c.layout(), filter);
}

template <class T>
BlockSparseMatrix<T> empty_matrix(Runtime& runtime, BlockLayout layout) {
  layout.symmetry = Symmetry::none;
  return BlockSparseMatrix<T>(BlockPattern::make(runtime, layout, std::span<const BlockCoordinate>()));
}

}  // namespace

template <class T>
DensityErrors density_errors(Runtime& runtime, const DensityProblem<T>& problem,
                             const BlockSparseMatrix<T>& p, double filter) {
  // What these products leave out must not hide what the run's have left out.
  const double fine = 1e-3 * filter;
  filter *= 0.1;
  DensityErrors errors;
  BlockSparseMatrix<T> ps;
  double left_out = 0;
  if (problem.overlap) {
    ps = empty_matrix<T>(runtime, p.layout());
    left_out = product<T>(runtime, 1, p, *problem.overlap, 0, ps, fine);
  } else {
    ps = at_once(runtime, [&](Sequence& sequence) { return desymmetrize(sequence, p); });
  }
  const auto ratio = [](double x, double y) { return x == 0 ? 0 : x / y; };
  if (problem.temperature == 0) {
    auto rest = at_once(runtime, [&](Sequence& sequence) { return copy(sequence, p); });
    // The difference D of P S changes the residual by D P / occupation.
    if (left_out > 0) left_out *= gershgorin_norm(p) / problem.occupation;
    left_out += product<T>(runtime, 1 / problem.occupation, ps, p, -1, rest, fine);
    errors.idempotency = ratio(frobenius_norm(rest) + left_out, frobenius_norm(p));
  }
  // S P H = (P S)^H H, and its adjoint is H P S.
  auto sph = empty_matrix<T>(runtime, p.layout());
  product<T>(runtime, 1, {ps, Op::adjoint}, problem.hamiltonian, 0, sph, filter);
  const double whole = frobenius_norm(sph);
  at_once(runtime, [&](Sequence& sequence) {
    const auto adjoint = redistribute(sequence, transpose(sequence, sph, true), sph.layout());
    add(sequence, T(1), sph, T(-1), adjoint);
    return adjoint;
  });
  const double commutator = frobenius_norm(sph);
  errors.commutator = ratio(commutator, std::sqrt(static_cast<double>(p.rows())));
  errors.relative_commutator = ratio(commutator, whole);
  return errors;
}

template <class T>
double density_unit(double filter) {
  return std::max(filter, 100 * static_cast<double>(precision<T>));
}

std::vector<CheckGate> density_checks(const DensityErrors& errors, double unit, double found, double wanted,
                                      double occupation, double temperature) {
  // The blocks that a filter leaves out change the commutator most: there are many, each a little.
  constexpr double factor = 10, of_commutator = 100;
  std::vector<CheckGate> gates{{"commutator", errors.relative_commutator, of_commutator * unit},
                               {"electrons", std::abs(found - wanted),
                                std::min(factor * unit * std::max(wanted, 1.0), occupation / 2)}};
  if (temperature == 0) gates.insert(gates.begin(), {"idempotency", errors.idempotency, factor * unit});
  return gates;
}

template <class T>
double largest_difference(Runtime& runtime, const BlockSparseMatrix<T>& p,
                          const BlockSparseMatrix<T>& theirs) {
  return max_abs_norm(at_once(runtime, [&](Sequence& sequence) {
    BlockSparseMatrix<T> rest = copy(sequence, p);
    add(sequence, T(1), rest, T(-1), theirs);
    return rest;
  }));
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template DensityErrors density_errors<T>(Runtime&, const DensityProblem<T>&, const BlockSparseMatrix<T>&, \
                                           double);                                                         \
  template double density_unit<T>(double);                                                                  \
  template double largest_difference<T>(Runtime&, const BlockSparseMatrix<T>&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
