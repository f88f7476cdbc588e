// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/lanczos_problem.hpp>

namespace tessera::detail {

LanczosRitz lanczos_ritz(const SmallMatrix& matrix, const SmallMatrix& rest, double sign) {
  LanczosRitz ritz;
  ritz.finite = all_finite(matrix) && all_finite(rest);
  if (!ritz.finite) return ritz;
  ritz.coefficients = symmetric_part(matrix);
  for (double& value : ritz.coefficients.values) value *= sign;
  ritz.finite = symmetric_eigen(ritz.coefficients, ritz.values);
  if (!ritz.finite) return ritz;
  const Index m = matrix.rows, last = rest.rows;
  const SmallMatrix shares = ritz.coefficients.block(m - last, 0, last, m),
                    times = product(Op::none, rest, Op::none, shares);
  for (Index j = 0; j < m; ++j) {
    double square = 0;
    for (Index i = 0; i < last; ++i) square += shares(i, j) * times(i, j);
    ritz.residuals.push_back(std::sqrt(std::max(square, 0.0)));
  }
  return ritz;
}

SmallMatrix with_last_columns(const SmallMatrix& old, const SmallMatrix& h) {
  const Index m = old.rows, w = h.cols;
  SmallMatrix all(m + w, m + w);
  all.set_block(0, 0, old);
  for (Index j = 0; j < w; ++j) {
    for (Index i = 0; i < m; ++i) all(i, m + j) = all(m + j, i) = h(i, j);
    for (Index i = 0; i < w; ++i) all(m + i, m + j) = (h(m + i, j) + h(m + j, i)) / 2;
  }
  return all;
}

std::vector<LanczosPair> in_order(const std::vector<LanczosPair>& locked, const LanczosRitz& active,
                                  double sign) {
  std::vector<LanczosPair> all = locked;
  for (std::size_t j = 0; j < active.values.size(); ++j)
    all.push_back({sign * active.values[j], active.residuals[j], static_cast<Index>(j), false});
  std::stable_sort(all.begin(), all.end(), [&](const LanczosPair& a, const LanczosPair& b) {
    return sign * a.value < sign * b.value;
  });
  return all;
}

BlockEnd block_end(const SmallMatrix& rest, double norm, double rounding) {
  SmallMatrix vectors = symmetric_part(rest);
  std::vector<double> squares;
  if (rest.rows == 0 || !all_finite(rest) || !symmetric_eigen(vectors, squares)) return BlockEnd::none;
  const double least = std::pow(100 * rounding * norm, 2);
  if (squares.back() <= least) return BlockEnd::all_columns;
  // The squares of what is left have rounding errors of the largest of them.
  return squares.front() <= std::max(least, 100 * precision<double> * squares.back()) ? BlockEnd::some_columns
                                                                                      : BlockEnd::none;
}

}  // namespace tessera::detail
