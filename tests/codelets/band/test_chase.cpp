// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <tessera/codelets/common/dispatch.hpp>

#include "band_problem.hpp"

namespace tessera {
using namespace detail;
namespace {

template <class T>
class Chase : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Chase, Scalars);

template <class T>
std::vector<RealOf<T>> lapack_values(Index n, std::vector<T> a) {
  std::vector<RealOf<T>> w(n), rwork(2 * n + 10);
  std::vector<T> work(4 * n + 10);
  std::vector<int> iwork(10);
  EXPECT_EQ(0, blas::heevd<T>('N', Uplo::lower, n, a.data(), n, w.data(), work.data(), Index(work.size()),
                              rwork.data(), Index(rwork.size()), iwork.data(), Index(iwork.size())));
  return w;
}

/// Checks that everything outside the tridiagonal is exactly zero, padding included, and extracts d
/// and e.
template <class T>
void tridiagonal(testing::BandProblem<T>& p, std::vector<RealOf<T>>& d, std::vector<RealOf<T>>& e) {
  d.assign(p.n, 0);
  e.assign(p.n, 0);
  for (Index j = 0; j < p.n; ++j) {
    d[j] = real_part(p.at(j, j));
    EXPECT_EQ(RealOf<T>(0), imag_part(p.at(j, j))) << j;
    if (j + 1 < p.n) e[j] = real_part(p.at(j + 1, j));
    EXPECT_EQ(RealOf<T>(0), imag_part(p.at(j + 1, j))) << j;
    for (Index i = j + 2; i < j + kernels::BandLayout<T>::leading_dimension(p.b); ++i)
      ASSERT_EQ(T(0), p.at(i, j)) << i << ", " << j;
  }
}

struct Shape {
  Index n, b, group;
};
const Shape shapes[] = {{1, 1, 1},  {2, 1, 1},    {2, 3, 2},    {3, 1, 2},   {3, 2, 1},   {5, 8, 2},
                        {9, 8, 1},  {10, 4, 3},   {17, 1, 4},   {33, 5, 2},  {64, 16, 2}, {65, 16, 1},
                        {97, 7, 4}, {130, 31, 1}, {141, 64, 1}, {200, 24, 3}};

TYPED_TEST(Chase, EigenvaluesAreLapacks) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (int level = 2; level <= kernels::cpu_level(); ++level)
    for (const Shape& s : shapes) {
      SCOPED_TRACE(::testing::Message()
                   << "n " << s.n << " b " << s.b << " group " << s.group << " level " << level);
      testing::BandProblem<T> p(s.n, s.b, s.group);
      const std::vector<R> expected = lapack_values<T>(s.n, p.dense());
      p.chase(level);
      std::vector<R> d, e;
      tridiagonal(p, d, e);
      ASSERT_EQ(0, blas::sterf<R>(s.n, d.data(), e.data()));
      const R norm = std::max(std::abs(expected.front()), std::abs(expected.back()));
      for (Index i = 0; i < s.n; ++i)
        ASSERT_NEAR(expected[i], d[i], 10 * std::sqrt(R(s.n)) * precision<T> * norm) << i;
    }
}

TYPED_TEST(Chase, TilesDoNotChangeTheResult) {
  using T = TypeParam;
  const Index n = 151, b = 9;
  // One tile and one group of all sweeps, then several divisions; T must be equal bitwise.
  std::vector<RealOf<T>> d0, e0, d, e;
  testing::BandProblem<T> whole(n, b, n);
  whole.chase(kernels::cpu_level());
  tridiagonal(whole, d0, e0);
  for (Index group : {1, 2, 3, 5}) {
    testing::BandProblem<T> p(n, b, group);
    p.chase(kernels::cpu_level());
    tridiagonal(p, d, e);
    EXPECT_EQ(d0, d) << group;
    EXPECT_EQ(e0, e) << group;
  }
  testing::BandProblem<T> without(n, b, 2);
  without.chase(kernels::cpu_level(), false);
  tridiagonal(without, d, e);
  EXPECT_EQ(d0, d);
  EXPECT_EQ(e0, e);
}

TYPED_TEST(Chase, SpecialMatrices) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 70, b = 6;
  std::vector<R> d, e;
  testing::BandProblem<T> zero(n, b, 2);
  for (auto& segment : zero.segments) std::fill(segment.begin(), segment.end(), T(0));
  zero.chase(kernels::cpu_level());
  tridiagonal(zero, d, e);
  EXPECT_EQ(std::vector<R>(n, R(0)), d);
  EXPECT_EQ(std::vector<R>(n, R(0)), e);

  testing::BandProblem<T> diagonal(n, b, 2);
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < std::min(n, j + b + 1); ++i) diagonal.at(i, j) = i == j ? T(R(j)) : T(0);
  diagonal.chase(kernels::cpu_level());
  tridiagonal(diagonal, d, e);
  for (Index j = 0; j < n; ++j) EXPECT_EQ(R(j), d[j]);
  EXPECT_EQ(std::vector<R>(n, R(0)), e);

  // Norms far from 1, whose squares overflow or underflow: the reflectors must scale.
  for (R scale :
       {std::sqrt(std::numeric_limits<R>::max()) * R(1e-3), std::numeric_limits<R>::min() * R(1e6)}) {
    testing::BandProblem<T> p(n, b, 2), q(n, b, 2);
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < std::min(n, j + b + 1); ++i) p.at(i, j) *= scale;
    p.chase(kernels::cpu_level());
    q.chase(kernels::cpu_level());
    std::vector<R> d1, e1;
    tridiagonal(p, d, e);
    tridiagonal(q, d1, e1);
    blas::sterf<R>(n, d1.data(), e1.data());
    for (R& x : d) x /= scale;
    for (R& x : e) x /= scale;
    blas::sterf<R>(n, d.data(), e.data());
    for (Index j = 0; j < n; ++j) EXPECT_NEAR(d1[j], d[j], 200 * precision<T> * std::abs(d1[0])) << scale;
  }
}

}  // namespace
}  // namespace tessera
