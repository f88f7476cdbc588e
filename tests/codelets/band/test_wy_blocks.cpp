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
class WyBlocks : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(WyBlocks, Scalars);

template <class T>
RealOf<T> largest(const std::vector<T>& x) {
  RealOf<T> m = 0;
  for (const T& value : x) m = std::max(m, std::abs(value));
  return m;
}

struct Shape {
  Index n, b, group, per_wy, together;
};
const Shape shapes[] = {{1, 1, 1, 1, 1},   {2, 1, 1, 1, 1},     {2, 2, 1, 2, 1},   {3, 2, 2, 1, 2},
                        {9, 4, 1, 3, 2},   {17, 1, 1, 1, 3},    {40, 5, 2, 2, 3},  {65, 16, 2, 8, 1},
                        {97, 7, 3, 2, 4},  {130, 31, 1, 17, 2}, {90, 64, 2, 8, 2}, {150, 24, 4, 4, 3},
                        {141, 33, 8, 1, 4}};

TYPED_TEST(WyBlocks, BandTimesQIsQTimesTridiagonal) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (int level = 2; level <= kernels::cpu_level(); ++level)
    for (const Shape& s : shapes) {
      const Index n = s.n;
      SCOPED_TRACE(::testing::Message() << "n " << n << " b " << s.b << " groups " << s.group << " x "
                                        << s.per_wy << " x " << s.together << " level " << level);
      testing::BandProblem<T> p(n, s.b, s.group);
      const std::vector<T> a = p.dense();
      p.chase(level);
      // Applies Q to the identity in column slabs with a leading dimension, so that every column
      // count occurs.
      const Index ld = n + 3;
      std::vector<T> q(ld * n, T(0));
      for (Index j = 0; j < n; ++j) q[j + j * ld] = T(1);
      for (Index j = 0, width = 1; j < n; j += width, width += 1)
        p.apply_q(level, s.per_wy, s.together, q.data() + j * ld, std::min(width, n - j), ld);

      std::vector<T> gram(n * n, T(0)), residual(n * n, T(0)), t(n * n, T(0));
      for (Index j = 0; j < n; ++j) {
        gram[j + j * n] = T(-1);
        t[j + j * n] = p.at(j, j);
        if (j + 1 < n) t[j + 1 + j * n] = t[j + (j + 1) * n] = p.at(j + 1, j);
      }
      blas::gemm<T>(Op::adjoint, Op::none, n, n, n, T(1), q.data(), ld, q.data(), ld, T(1), gram.data(), n);
      EXPECT_LT(largest(gram), 10 * std::sqrt(R(n)) * precision<T>);
      blas::gemm<T>(Op::none, Op::none, n, n, n, T(1), a.data(), n, q.data(), ld, T(0), residual.data(), n);
      blas::gemm<T>(Op::none, Op::none, n, n, n, T(-1), q.data(), ld, t.data(), n, T(1), residual.data(), n);
      EXPECT_LT(largest(residual), 10 * std::sqrt(R(n)) * precision<T> * largest(a) * std::sqrt(R(s.b)));
    }
}

TYPED_TEST(WyBlocks, BlockIsTheProductOfItsReflectors) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 40, b = 11, sweeps = 6, hops = kernels::hop_count(n, b, 2);
  std::mt19937 generator(3);
  auto reflectors = kernels::Reflectors<T>::of_tiles(n, b, 2, sweeps, -n, 10 * n);
  std::vector<T> kept(reflectors.size());
  reflectors.data = kept.data();
  for (Index hop = 0; hop < hops; ++hop)
    for (Index j = 0; j < sweeps; ++j) {
      T* const v = reflectors.vector(2 + j, hop);
      const Index rows = std::min(b, n - (2 + j + 1 + hop * b));
      R square = 1;
      for (Index i = 0; i < b; ++i) {
        v[i] = i == 0 ? T(1) : (i < rows ? testing::random_scalar<T>(generator) : T(0));
        if (i > 0) square += std::norm(v[i]);
      }
      v[b] = j == 3 ? T(0) : T(2 / square);  // one reflector is the identity
    }
  const Index columns = 13;
  std::vector<T> c(n * columns), expected;
  for (T& x : c) x = testing::random_scalar<T>(generator);
  expected = c;
  for (Index hop = 0; hop < hops; ++hop)
    for (Index j = sweeps - 1; j >= 0; --j) {
      const Index first = 2 + j + 1 + hop * b, rows = std::min(b, n - first);
      if (rows <= 0) continue;
      const T* const v = reflectors.vector(2 + j, hop);
      for (Index k = 0; k < columns; ++k) {
        T* const x = expected.data() + first + k * n;
        T dot(0);
        for (Index i = 0; i < rows; ++i) dot += conjugate(v[i]) * x[i];
        for (Index i = 0; i < rows; ++i) x[i] -= v[b] * dot * v[i];
      }
    }
  std::vector<T> blocks(kernels::WyLayout<T>::size(n, b, 2, sweeps));
  std::vector<R> workspace(kernels::wy_workspace<T>(b, sweeps));
  const kernels::WyGroup<T> group{blocks.data(), 2, sweeps};
  kernels::form_wy<T>(n, b, &reflectors, 1, group, 0, hops, workspace.data());
  kernels::apply_wy<T>(n, b, &group, 1, 0, hops, c.data(), columns, n, workspace.data());
  for (Index i = 0; i < n * columns; ++i) ASSERT_LT(std::abs(c[i] - expected[i]), 100 * precision<T>) << i;
}

}  // namespace
}  // namespace tessera
