// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>

/// Functions of Hermitian matrices with spectra in [-1, 1], by Chebyshev polynomials C_m.
namespace tessera::detail {

/// A function of a number in [-1, 1].
using ScalarFunction = std::function<double(double)>;

/// c_0 to c_{count - 1} of f = sum_m c_m C_m, from f at `points` Chebyshev points.
std::vector<double> chebyshev_coefficients(const ScalarFunction& f, Index count, Index points);

/// The least degree of which the polynomial is within `tolerance` of the function with these coefficients: those
/// beyond it add up to no more. Coefficients at the level of rounding do not count.
Index chebyshev_degree(std::span<const double> coefficients, double tolerance);

/// How many products and matrices a polynomial takes: C_1 to C_baby, and with G_j = C_{j baby} G_2 to G_giants.
struct ChebyshevSplit {
  Index baby = 1, giants = 0;
  /// The highest degree of a polynomial, and of a moment.
  Index degree() const noexcept { return (giants + 1) * baby - 1; }
  /// Of a polynomial and all moments.
  Index products() const noexcept {
    const Index powers = giants > 0 ? baby - 1 : baby - 2;
    return std::max<Index>(powers, 0) + std::max<Index>(giants - 1, 0) + giants;
  }
  /// The split with the fewest products for a degree.
  static ChebyshevSplit of_degree(Index degree);
};

/// trace(f(A)) for any f, from the moments trace(C_m(A)): a sum over Chebyshev points, exact for polynomials up
/// to the degree of the highest moment.
class TraceQuadrature {
 public:
  TraceQuadrature() = default;
  explicit TraceQuadrature(std::span<const double> moments);
  /// The sum for f.
  template <class F>
  double operator()(const F& f) const {
    double sum = 0;
    for (std::size_t j = 0; j < points_.size(); ++j) sum += weights_[j] * f(points_[j]);
    return sum;
  }

 private:
  std::vector<double> points_, weights_;
};

/// The polynomials C_m of a matrix, as many as a split has, and their traces.
///
/// p(A) = sum_j G_j B_j with B_j a sum of C_0 to C_{baby - 1} (Paterson and Stockmeyer, SIAM J. Comput. 2 (1973)
/// 60, in the Chebyshev basis: C_{j b + i} = 2 C_{j b} C_i - C_{j b - i}); all matrices are half-stored. The
/// same identity gives all moments from scalar products of matrices that are there.
template <class T>
class ChebyshevPowers {
 public:
  using Matrix = BlockSparseMatrix<T>;
  /// @param a half-stored, its spectrum in [-1, 1]
  /// @throws IterationEnded
  ChebyshevPowers(BlockAlgebra<T>& algebra, Matrix a, ChebyshevSplit split);

  /// trace(C_m(A)), m from 0 to the split's degree, or to that of extend.
  const std::vector<double>& moments() const noexcept { return moments_; }
  /// Makes the polynomials that one of this degree needs, and the moments with them.
  /// @throws IterationEnded
  void extend(Index degree);
  /// sum_m c_m C_m(A), of any degree: giants that are missing are made.
  /// @throws IterationEnded
  Matrix polynomial(std::vector<double> c);

 private:
  /// C_m, m from 0 to baby.
  const Matrix& power(Index m) const;
  const Matrix& giant(Index j) const { return j == 0 ? power(0) : giants_[static_cast<std::size_t>(j - 1)]; }
  /// 2 A B - C
  Matrix recursion(const Matrix& a, const Matrix& b, const Matrix& c, double& trace);
  void make_giants(Index count);
  void add_moments();

  BlockAlgebra<T>& algebra_;
  ChebyshevSplit split_;
  std::vector<Matrix> powers_;  ///< C_1, C_2, ...
  std::vector<Matrix> giants_;  ///< G_1, G_2, ...
  std::vector<double> moments_, traces_of_powers_, traces_of_giants_;
};

}  // namespace tessera::detail
