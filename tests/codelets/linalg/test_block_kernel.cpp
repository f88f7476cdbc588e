// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <limits>

#include <tests/support/matrix.hpp>

#include <tessera/codelets/linalg/block_kernel.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class BlockKernels : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlockKernels, Reals);

/// Shapes with and without a libxsmm kernel, as parts of larger matrices. Rows between columns must
/// not change.
TYPED_TEST(BlockKernels, MultiplySmallWithLeadingDimensions) {
  using T = TypeParam;
  constexpr Index gap = 3;
  for (const auto& [m, n, k] : std::vector<std::array<Index, 3>>{
           {1, 1, 1}, {12, 24, 128}, {7, 5, 33}, {20, 128, 30}, {64, 64, 64}, {65, 64, 64}, {96, 64, 128}}) {
    for (const Op op : {Op::none, Op::adjoint})
      for (const bool add : {true, false}) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k << ' ' << int(op) << add);
        const bool turned = op != Op::none;
        const auto a = random_matrix<T>(m + gap, k, 1),
                   b = random_matrix<T>((turned ? n : k) + gap, turned ? k : n, 2),
                   before = random_matrix<T>(m + gap, n, 3);
        auto c = before;
        kernels::multiply_small<T>(m, n, k, a.data(), m + gap, op, b.data(), (turned ? n : k) + gap,
                                   add ? 1 : 0, c.data(), m + gap);
        for (Index j = 0; j < n; ++j)
          for (Index i = 0; i < m + gap; ++i) {
            if (i >= m) {
              EXPECT_EQ(c(i, j), before(i, j));
              continue;
            }
            double sum = add ? double(before(i, j)) : 0, magnitudes = std::abs(sum);
            for (Index l = 0; l < k; ++l) {
              const double term = double(a(i, l)) * double(turned ? b(j, l) : b(l, j));
              sum += term;
              magnitudes += std::abs(term);
            }
            // Higham, Accuracy and Stability of Numerical Algorithms, (3.5), for T and for the
            // double precision of this test.
            EXPECT_NEAR(c(i, j), sum, double(k + 1) * double(std::numeric_limits<T>::epsilon()) * magnitudes)
                << i << ' ' << j;
          }
      }
  }
}

}  // namespace
}  // namespace tessera::test
