// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <tessera/algorithms/lobpcg/projected_problem.hpp>
#include <tessera/matgen.hpp>

/// Small matrices of LOBPCG steps, compared with the dense vectors that they represent.
namespace tessera::test {
using namespace detail;
namespace {

constexpr Index n = 40, x = 3, w = 4, p = 2, s = x + w + p;

SmallMatrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  SmallMatrix a(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) a(i, j) = random_uniform(seed, 0, i, j);
  return a;
}
/// Orthonormalizes the columns by Cholesky factorization.
SmallMatrix orthonormal(const SmallMatrix& a) {
  SmallMatrix l = product(Op::transpose, a, Op::none, a), t = adjoint(a);
  EXPECT_TRUE(cholesky(l));
  solve_lower(Op::none, l, t);
  return adjoint(t);
}
double difference(const SmallMatrix& a, const SmallMatrix& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k)
    largest = std::max(largest, std::abs(a.values[k] - b.values[k]));
  return largest;
}

class ProjectedProblems : public ::testing::Test {
 protected:
  const SmallMatrix a_ = hermitian_part(random_matrix(n, n, 1));
  const SmallMatrix z_ = orthonormal(random_matrix(n, x + p, 2));
  SmallMatrix basis(const SmallMatrix& directions) const {
    SmallMatrix result(n, s);
    result.set_block(0, 0, z_.block(0, 0, n, x));
    result.set_block(0, x, directions);
    result.set_block(0, x + w, z_.block(0, x, n, p));
    return result;
  }
  RitzStep<double> step(const SmallMatrix& basis) const {
    const SmallMatrix h = product(Op::transpose, basis, Op::none, product(Op::none, a_, Op::none, basis));
    return ritz_step<double>({.columns = {.x = x, .w = w, .p = p},
                              .matrix = hermitian_part(h),
                              .gram = hermitian_part(product(Op::transpose, basis, Op::none, basis)),
                              .keep = x,
                              .first_active = 1});
  }
};

/// Norms of W and its components in X and P must not change the resulting X and P.
TEST_F(ProjectedProblems, DirectionsNeedNotBeOrthonormal) {
  SmallMatrix raw = random_matrix(n, w, 3);
  for (Index j = 0; j < w; ++j)
    for (Index i = 0; i < n; ++i) raw(i, j) = std::pow(1e-3, double(j)) * (raw(i, j) + 3 * z_(i, j));
  const OrthonormalRound<double> round =
      orthonormal_round(product(Op::transpose, z_, Op::none, raw), product(Op::transpose, raw, Op::none, raw),
                        {.unit = 1e-16, .accept = 1e-3});
  ASSERT_TRUE(round.accepted);
  SmallMatrix made = product(Op::none, raw, Op::none, round.of_w);
  const SmallMatrix of_z = product(Op::none, z_, Op::none, round.of_z);
  for (std::size_t k = 0; k < made.values.size(); ++k) made.values[k] += of_z.values[k];

  const RitzStep<double> of_raw = step(basis(raw)), of_made = step(basis(made));
  ASSERT_TRUE(of_raw.finite && of_raw.positive && of_made.finite && of_made.positive);
  EXPECT_EQ(of_raw.owners, of_made.owners);
  const SmallMatrix found = product(Op::none, basis(raw), Op::none, of_raw.coefficients),
                    expected = product(Op::none, basis(made), Op::none, of_made.coefficients);
  ASSERT_EQ(found.cols, expected.cols);
  EXPECT_LT(difference(product(Op::transpose, found, Op::none, found), unit_matrix(found.cols)), 1e-12);
  for (Index k = 0; k < x; ++k)
    EXPECT_NEAR(of_raw.values[std::size_t(k)], of_made.values[std::size_t(k)], 1e-12);
  // Equal up to the sign of each column.
  const SmallMatrix overlap = product(Op::transpose, expected, Op::none, found);
  for (Index j = 0; j < overlap.cols; ++j) EXPECT_NEAR(std::abs(overlap(j, j)), 1, 1e-11) << j;
  const SmallMatrix directions = found.block(0, x, n, found.cols - x);
  EXPECT_LT(difference(of_raw.p_matrix, product(Op::transpose, directions, Op::none,
                                                product(Op::none, a_, Op::none, directions))),
            1e-11);
}

/// The smallest eigenvalue of the Gram matrix of unit vectors after their components in Z are
/// removed.
TEST_F(ProjectedProblems, Independence) {
  const SmallMatrix q = orthonormal(random_matrix(n, n, 4));
  const SmallMatrix z = q.block(0, 0, n, x);
  const auto independence = [&](double share, double angle, double length, double norm) {
    SmallMatrix d(n, 2);
    for (Index i = 0; i < n; ++i) {
      d(i, 0) = length * (share * q(i, 0) + std::sqrt(1 - share * share) * q(i, x));
      d(i, 1) = std::cos(angle) * q(i, x) + std::sin(angle) * q(i, x + 1);
    }
    return orthonormal_round(product(Op::transpose, z, Op::none, d), product(Op::transpose, d, Op::none, d),
                             {.unit = 1e-16, .norm = norm})
        .independence;
  };
  const double half_pi = std::acos(0.0);
  EXPECT_NEAR(independence(0, half_pi, 1, 1), 1, 1e-13);
  EXPECT_NEAR(independence(0.8, half_pi, 1e-50, 1), 0.36, 1e-13);
  EXPECT_NEAR(independence(0, 0.1, 1e50, 1), 1 - std::cos(0.1), 1e-13);
  EXPECT_EQ(independence(0, half_pi, 0, 1), 0);
  EXPECT_EQ(independence(0, half_pi, 1e-101, 1), 0);
  EXPECT_EQ(independence(0, half_pi, 1e101, 1), 0);
  EXPECT_EQ(independence(0, half_pi, 1e50, 1e101), 0);
  EXPECT_EQ(independence(0, half_pi, 1e-50, 1e-101), 0);
}

}  // namespace
}  // namespace tessera::test
