// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

/// Tridiagonal test matrices and scaled checks.
namespace tessera::test {

template <class R>
struct Tridiagonal {
  std::vector<R> d, e;
  Index order() const { return static_cast<Index>(d.size()); }
};

struct TridiagonalKind {
  std::string name;
  std::function<double(Index i, Index n)> d, e;
  double scale = 1;
};

/// The test matrices. `huge` and `tiny` scale close to the limits where squares overflow or
/// underflow in R.
template <class R>
std::vector<TridiagonalKind> tridiagonal_kinds() {
  const double huge = sizeof(R) == 8 ? 1e150 : 1e18, tiny = sizeof(R) == 8 ? 1e-150 : 1e-18;
  const auto constant = [](double x) { return [x](Index, Index) { return x; }; };
  // A fixed hash replaces a random number generator, so that d and e need no state.
  const auto uniform = [](std::uint64_t seed) {
    return [seed](Index i, Index) {
      std::uint64_t x =
          static_cast<std::uint64_t>(i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
      x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
      x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
      return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1.0;
    };
  };
  const auto dense_like = [](Index i, Index n) { return std::sqrt(static_cast<double>(n - i)); };
  const auto wilkinson = [](Index i, Index n) { return std::abs(static_cast<double>(i) - 0.5 * (n - 1.0)); };
  const auto glued = [](Index i, Index) { return std::abs(static_cast<double>(i % 21) - 10.0); };
  const auto glue = [](Index i, Index) { return i % 21 == 20 ? 1e-8 : 1.0; };
  const auto graded = [](Index i, Index) {
    return std::ldexp(1.0, -static_cast<int>(std::min<Index>(i, 100)));
  };
  const auto gaps = [uniform](Index i, Index n) { return i % 7 == 3 ? 0.0 : uniform(5)(i, n); };
  const auto clusters = [uniform](Index i, Index n) {
    return static_cast<double>(i / 40 % 3) + 1e-13 * uniform(6)(i, n);
  };
  return {
      {"random", uniform(1), uniform(2)},
      {"like a reduced dense matrix", uniform(3), dense_like},
      {"zero", constant(0), constant(0)},
      {"identity", constant(1), constant(0)},
      {"diagonal", uniform(4), constant(0)},
      {"1-2-1", constant(2), constant(-1)},
      {"Toeplitz", constant(0.5), constant(3)},
      {"zero diagonal", constant(0), constant(1)},
      {"Wilkinson", wilkinson, constant(1)},
      {"glued Wilkinson", glued, glue},
      {"graded", graded, graded},
      {"graded the other way", [graded](Index i, Index n) { return graded(n - 1 - i, n); },
       [graded](Index i, Index n) { return graded(n - 2 - i, n); }},
      {"zeros in e", uniform(7), gaps},
      {"equal d, tiny e", constant(1), constant(1e-17)},
      {"equal d, small e", constant(1), constant(1e-9)},
      {"clusters", clusters, constant(1e-10)},
      {"random, huge", uniform(8), uniform(9), huge},
      {"random, tiny", uniform(8), uniform(9), tiny},
      {"Wilkinson, huge", wilkinson, constant(1), huge},
  };
}

template <class R>
Tridiagonal<R> make_tridiagonal(const TridiagonalKind& kind, Index n) {
  Tridiagonal<R> t{std::vector<R>(n), std::vector<R>(std::max<Index>(n - 1, 0))};
  for (Index i = 0; i < n; ++i) t.d[i] = static_cast<R>(kind.scale * kind.d(i, n));
  for (Index i = 0; i + 1 < n; ++i) t.e[i] = static_cast<R>(kind.scale * kind.e(i, n));
  return t;
}

/// One-norm in long double.
template <class R>
long double norm(const Tridiagonal<R>& t) {
  long double largest = 0;
  for (Index j = 0; j < t.order(); ++j) {
    long double sum = std::abs(static_cast<long double>(t.d[j]));
    if (j > 0) sum += std::abs(static_cast<long double>(t.e[j - 1]));
    if (j + 1 < t.order()) sum += std::abs(static_cast<long double>(t.e[j]));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Number of eigenvalues below x by a Sturm count in long double (the signs of the pivots of T -
/// x).
template <class R>
Index count_below(const Tridiagonal<R>& t, long double x) {
  const long double tiny = std::numeric_limits<long double>::min() * 1e30L;
  Index count = 0;
  long double pivot = 1;
  for (Index i = 0; i < t.order(); ++i) {
    const long double off = i > 0 ? static_cast<long double>(t.e[i - 1]) : 0.0L;
    pivot = static_cast<long double>(t.d[i]) - x - (i > 0 ? off * off / pivot : 0.0L);
    if (std::abs(pivot) < tiny) pivot = -tiny;
    count += pivot < 0;
  }
  return count;
}

/// Whether max |w_i - lambda_i| / (n |T| eps) is below `bound` for all ascending w_i, by Sturm
/// counts.
template <class R>
bool values_within(const Tridiagonal<R>& t, const std::vector<R>& w, double bound) {
  const Index n = t.order();
  const long double slack =
      bound * n * norm(t) * std::numeric_limits<R>::epsilon() + 4.0L * std::numeric_limits<R>::denorm_min();
  for (Index i = 0; i < n; ++i) {
    if (!std::isfinite(w[i]) || (i > 0 && w[i] < w[i - 1])) return false;
    if (count_below(t, w[i] - slack) > i || count_below(t, w[i] + slack) <= i) return false;
  }
  return true;
}

struct VectorErrors {
  double residual, orthogonality;
};

/// |T Q - Q W|_1 / (n |T|_1 eps) and |I - Q^T Q|_1 / (n eps) for the given columns, in double or
/// better.
template <class R>
VectorErrors vector_errors(const Tridiagonal<R>& t, const std::vector<R>& w, const std::vector<R>& q) {
  const Index n = t.order(), count = static_cast<Index>(w.size());
  const long double eps = std::numeric_limits<R>::epsilon();
  long double residual = 0, orthogonality = 0;
  for (Index j = 0; j < count; ++j) {
    const R* column = q.data() + j * n;
    long double sum = 0;
    for (Index i = 0; i < n; ++i) {
      long double r = (static_cast<long double>(t.d[i]) - w[j]) * column[i];
      if (i > 0) r += static_cast<long double>(t.e[i - 1]) * column[i - 1];
      if (i + 1 < n) r += static_cast<long double>(t.e[i]) * column[i + 1];
      sum += std::abs(r);
    }
    residual = std::max(residual, sum);
    double gram = 0;
    for (Index k = 0; k < count; ++k) {
      double dot = j == k ? -1.0 : 0.0;
      for (Index i = 0; i < n; ++i) dot += static_cast<double>(column[i]) * q[k * n + i];
      gram += std::abs(dot);
    }
    orthogonality = std::max<long double>(orthogonality, gram);
  }
  const long double scale = norm(t);
  if (scale > 0) residual /= n * scale * eps;
  return {static_cast<double>(residual), static_cast<double>(n > 0 ? orthogonality / (n * eps) : 0.0L)};
}

}  // namespace tessera::test
