// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <numbers>

#include <tessera/algorithms/density_matrix/chebyshev.hpp>

namespace tessera::detail {

namespace {

/// cos(pi q / (2 points)) for whole q, from a table.
class Cosines {
 public:
  explicit Cosines(Index points) : period_(4 * points), table_(static_cast<std::size_t>(period_)) {
    for (Index q = 0; q < period_; ++q)
      table_[static_cast<std::size_t>(q)] =
          std::cos(2 * std::numbers::pi * static_cast<double>(q) / static_cast<double>(period_));
  }
  double operator()(Index q) const noexcept { return table_[static_cast<std::size_t>(q % period_)]; }

 private:
  Index period_;
  std::vector<double> table_;
};

}  // namespace

std::vector<double> chebyshev_coefficients(const ScalarFunction& f, Index count, Index points) {
  const Cosines cosine(points);
  std::vector<double> values(static_cast<std::size_t>(points)), c(static_cast<std::size_t>(count));
  for (Index j = 0; j < points; ++j) values[static_cast<std::size_t>(j)] = f(cosine(2 * j + 1));
  for (Index m = 0; m < count; ++m) {
    double sum = 0;
    for (Index j = 0; j < points; ++j) sum += values[static_cast<std::size_t>(j)] * cosine(m * (2 * j + 1));
    c[static_cast<std::size_t>(m)] = (m == 0 ? 1 : 2) * sum / static_cast<double>(points);
  }
  return c;
}

Index chebyshev_degree(std::span<const double> coefficients, double tolerance) {
  double largest = 0, beyond = 0;
  for (const double c : coefficients) largest = std::max(largest, std::abs(c));
  const double rounding = 1e-15 * largest;
  auto degree = static_cast<Index>(coefficients.size());
  while (degree > 1) {
    const double c = std::abs(coefficients[static_cast<std::size_t>(degree - 1)]);
    if (c > rounding) beyond += c;
    if (beyond > tolerance) break;
    --degree;
  }
  return degree - 1;
}

ChebyshevSplit ChebyshevSplit::of_degree(Index degree) {
  // More powers than these take more memory than they save products.
  constexpr Index most = 16;
  ChebyshevSplit best{1, degree};
  for (Index baby = 2; baby <= most; ++baby) {
    const ChebyshevSplit split{baby, std::max<Index>(ceil_div(degree + 1, baby) - 1, 0)};
    if (split.products() < best.products()) best = split;
  }
  return best;
}

TraceQuadrature::TraceQuadrature(std::span<const double> moments) {
  const Index points = 2 * static_cast<Index>(moments.size()) + 64;
  const Cosines cosine(points);
  for (Index j = 0; j < points; ++j) {
    double sum = 0;
    for (std::size_t m = 0; m < moments.size(); ++m)
      sum += (m == 0 ? 1 : 2) * moments[m] * cosine(static_cast<Index>(m) * (2 * j + 1));
    points_.push_back(cosine(2 * j + 1));
    weights_.push_back(sum / static_cast<double>(points));
  }
}

template <class T>
ChebyshevPowers<T>::ChebyshevPowers(BlockAlgebra<T>& algebra, Matrix a, ChebyshevSplit split)
    : algebra_(algebra), split_(split) {
  traces_of_powers_ = {static_cast<double>(a.rows()), real_part(trace(a))};
  traces_of_giants_ = {traces_of_powers_.front()};
  powers_.push_back(std::move(a));
  const Index highest = split.giants > 0 ? split.baby : split.baby - 1;
  for (Index m = 2; m <= highest; ++m) {
    double trace = 0;
    powers_.push_back(recursion(power(m / 2), power(m - m / 2), power(m % 2), trace));
    traces_of_powers_.push_back(trace);
  }
  make_giants(split.giants);
  add_moments();
}

template <class T>
const BlockSparseMatrix<T>& ChebyshevPowers<T>::power(Index m) const {
  return m == 0 ? algebra_.identity(powers_.front().layout()) : powers_[static_cast<std::size_t>(m - 1)];
}

template <class T>
BlockSparseMatrix<T> ChebyshevPowers<T>::recursion(const Matrix& a, const Matrix& b, const Matrix& c,
                                                   double& trace) {
  auto next = algebra_.copied(c);
  trace = algebra_.product(2, a, b, -1, next).trace;
  return next;
}

template <class T>
void ChebyshevPowers<T>::make_giants(Index count) {
  while (static_cast<Index>(giants_.size()) < count) {
    const auto made = static_cast<Index>(giants_.size());
    double trace = 0;
    if (made == 0) {
      giants_.push_back(algebra_.copied(power(split_.baby)));
      trace = traces_of_powers_[static_cast<std::size_t>(split_.baby)];
    } else {
      giants_.push_back(recursion(giant(1), giant(made), giant(made - 1), trace));
    }
    traces_of_giants_.push_back(trace);
  }
}

template <class T>
void ChebyshevPowers<T>::add_moments() {
  algebra_.finish();
  const Index b = split_.baby;
  if (moments_.empty()) {
    const auto known = std::min(static_cast<std::size_t>(b), traces_of_powers_.size());
    moments_.assign(traces_of_powers_.begin(),
                    traces_of_powers_.begin() + static_cast<std::ptrdiff_t>(known));
  }
  // All scalar products of one giant are under way together.
  for (Index j = static_cast<Index>(moments_.size()) / b; j <= static_cast<Index>(giants_.size()); ++j) {
    std::vector<Completion<NumberResult<T>>> dots;
    for (Index i = 1; i < b; ++i) dots.push_back(submit_dot(giant(j), power(i)));
    moments_.push_back(traces_of_giants_[static_cast<std::size_t>(j)]);
    for (Index i = 1; i < b; ++i) {
      const auto dot = std::move(dots[static_cast<std::size_t>(i - 1)]).result();
      if (!dot) throw IterationEnded{dot.status()};
      moments_.push_back(2 * static_cast<double>(real_part(dot.value)) -
                         moments_[static_cast<std::size_t>(j * b - i)]);
    }
  }
}

template <class T>
void ChebyshevPowers<T>::extend(Index degree) {
  const Index b = split_.baby, giants = std::max<Index>(ceil_div(degree + 1, b) - 1, 0);
  if (giants > 0 && static_cast<Index>(powers_.size()) < b) {
    double trace = 0;
    powers_.push_back(recursion(power(b / 2), power(b - b / 2), power(b % 2), trace));
    traces_of_powers_.push_back(trace);
  }
  make_giants(giants);
  add_moments();
}

template <class T>
BlockSparseMatrix<T> ChebyshevPowers<T>::polynomial(std::vector<double> c) {
  extend(static_cast<Index>(c.size()) - 1);
  const Index b = split_.baby, giants = std::max<Index>(ceil_div(static_cast<Index>(c.size()), b) - 1, 0);
  c.resize(static_cast<std::size_t>((giants + 1) * b), 0);
  const auto at = [&](Index m) -> double& { return c[static_cast<std::size_t>(m)]; };
  const auto sum_of_powers = [&](Index j) {
    auto sum = algebra_.sum({{at(j * b), &power(0)}});
    for (Index i = 1; i < b; ++i)
      if (const double factor = (j > 0 ? 2 : 1) * at(j * b + i); factor != 0)
        algebra_.add(1, sum, factor, power(i));
    return sum;
  };
  std::vector<Matrix> factors;  // B_giants, ..., B_1
  for (Index j = giants; j > 0; --j) {
    for (Index i = 1; i < b; ++i) at(j * b - i) -= at(j * b + i);
    factors.push_back(sum_of_powers(j));
  }
  auto p = sum_of_powers(0);
  for (Index j = giants; j > 0; --j)
    algebra_.product(1, giant(j), factors[static_cast<std::size_t>(giants - j)], 1, p);
  return p;
}

#define TESSERA_INSTANTIATE(T) template class ChebyshevPowers<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
