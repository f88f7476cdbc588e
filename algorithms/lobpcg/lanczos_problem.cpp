// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/lanczos_problem.hpp>

namespace tessera::detail {

template <class S>
LanczosRitz<S> lanczos_ritz(const SmallMatrixOf<S>& matrix, const SmallMatrixOf<S>& rest, double sign) {
  LanczosRitz<S> ritz;
  ritz.finite = all_finite(matrix) && all_finite(rest);
  if (!ritz.finite) return ritz;
  ritz.coefficients = hermitian_part(matrix);
  for (S& value : ritz.coefficients.values) value *= sign;
  ritz.finite = hermitian_eigen(ritz.coefficients, ritz.values);
  if (!ritz.finite) return ritz;
  const Index m = matrix.rows, last = rest.rows;
  const SmallMatrixOf<S> shares = ritz.coefficients.block(m - last, 0, last, m),
                         times = product(Op::none, rest, Op::none, shares);
  for (Index j = 0; j < m; ++j) {
    double square = 0;
    for (Index i = 0; i < last; ++i) square += std::real(conjugate(shares(i, j)) * times(i, j));
    ritz.residuals.push_back(std::sqrt(std::max(square, 0.0)));
  }
  return ritz;
}

template <class S>
SmallMatrixOf<S> with_last_columns(const SmallMatrixOf<S>& old, const SmallMatrixOf<S>& h) {
  const Index m = old.rows, w = h.cols;
  SmallMatrixOf<S> all(m + w, m + w);
  all.set_block(0, 0, old);
  for (Index j = 0; j < w; ++j) {
    for (Index i = 0; i < m; ++i) {
      all(i, m + j) = h(i, j);
      all(m + j, i) = conjugate(h(i, j));
    }
    for (Index i = 0; i < w; ++i) all(m + i, m + j) = (h(m + i, j) + conjugate(h(m + j, i))) / 2.0;
  }
  return all;
}

template <class S>
std::vector<LanczosPair> in_order(const std::vector<LanczosPair>& locked, const LanczosRitz<S>& active,
                                  double sign) {
  std::vector<LanczosPair> all = locked;
  for (std::size_t j = 0; j < active.values.size(); ++j)
    all.push_back({sign * active.values[j], active.residuals[j], static_cast<Index>(j), false});
  std::stable_sort(all.begin(), all.end(), [&](const LanczosPair& a, const LanczosPair& b) {
    return sign * a.value < sign * b.value;
  });
  return all;
}

template <class S>
BlockEnd block_end(const SmallMatrixOf<S>& rest, double norm, double rounding) {
  SmallMatrixOf<S> vectors = hermitian_part(rest);
  std::vector<double> squares;
  if (rest.rows == 0 || !all_finite(rest) || !hermitian_eigen(vectors, squares)) return BlockEnd::none;
  const double least = std::pow(100 * rounding * norm, 2);
  if (squares.back() <= least) return BlockEnd::all_columns;
  // The squares of what is left have rounding errors of the largest of them.
  return squares.front() <= std::max(least, 100 * precision<double> * squares.back()) ? BlockEnd::some_columns
                                                                                      : BlockEnd::none;
}

#define TESSERA_INSTANTIATE(S)                                                                       \
  template LanczosRitz<S> lanczos_ritz(const SmallMatrixOf<S>&, const SmallMatrixOf<S>&, double);    \
  template SmallMatrixOf<S> with_last_columns(const SmallMatrixOf<S>&, const SmallMatrixOf<S>&);     \
  template std::vector<LanczosPair> in_order(const std::vector<LanczosPair>&, const LanczosRitz<S>&, \
                                             double);                                                \
  template BlockEnd block_end(const SmallMatrixOf<S>&, double, double);
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
