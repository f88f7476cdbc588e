// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tessera/codelets/band/kernels/band_storage.hpp>

#include "band_problem.hpp"

namespace tessera {
using namespace detail;
namespace {

template <class T>
class BandCopy : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BandCopy, Scalars);

TYPED_TEST(BandCopy, SegmentHoldsTheBandAndZeros) {
  using T = TypeParam;
  using R = RealOf<T>;
  using Layout = kernels::BandLayout<T>;
  constexpr R nan = std::numeric_limits<R>::quiet_NaN();
  for (const Index b : {1, 2, 5, 9})
    for (const Index n : {1, 2, 7, 20}) {
      const Index ld = 2 * b + 1, cut = n / 2;
      std::mt19937 generator(7);
      std::vector<T> band(ld * n, T(nan)), segment(Layout::size(b, n), T(nan));
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i <= b && i + j < n; ++i) band[i + j * ld] = testing::random_scalar<T>(generator);
      // Copies in two parts, as from two handles.
      EXPECT_EQ(-1, kernels::band_to_segment<T>(n, b, 0, cut, band.data(), ld, segment.data(), 0));
      EXPECT_EQ(-1, kernels::band_to_segment<T>(n, b, cut, n - cut, band.data() + cut * ld, ld,
                                                segment.data(), cut));
      for (Index i = 0; i < Layout::front(); ++i) ASSERT_EQ(T(0), segment[i]);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < Layout::leading_dimension(b); ++i) {
          const T expected = i == 0                ? T(real_part(band[j * ld]))
                             : i <= b && i + j < n ? band[i + j * ld]
                                                   : T(0);
          ASSERT_EQ(expected, segment[Layout::front() + j * Layout::leading_dimension(b) + i])
              << i << ", " << j;
        }
      std::vector<R> d(n), e(n);
      kernels::segment_to_tridiagonal<T>(n, b, 0, n, segment.data(), d.data(), e.data());
      for (Index j = 0; j < n; ++j) {
        EXPECT_EQ(real_part(band[j * ld]), d[j]);
        EXPECT_EQ(j + 1 < n ? real_part(band[1 + j * ld]) : R(0), e[j]);
      }
      // Values that are not finite must be detected, and the first such column reported.
      for (const R bad : {nan, std::numeric_limits<R>::infinity(), -std::numeric_limits<R>::infinity()}) {
        std::vector<T> broken = band;
        const Index column = n / 3;
        broken[column * ld] = T(bad);
        broken[(n - 1) * ld] = T(bad);
        EXPECT_EQ(100 + column, kernels::band_to_segment<T>(100 + n, b, 100, column + 1, broken.data(), ld,
                                                            segment.data(), 0));
      }
    }
}

}  // namespace
}  // namespace tessera
