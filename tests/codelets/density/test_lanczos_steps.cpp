// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/density/lanczos_steps.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class LanczosStepsTest : public RuntimeTest<T> {
 protected:
  /// `steps` at a time from a unit vector on; returns the coefficients, and the basis.
  std::pair<std::vector<double>, Matrix<T>> run_steps(const Matrix<T>& a, Index most, Index steps) {
    Runtime& runtime = this->runtime();
    const Index n = a.rows();
    Matrix<T> start(n, most + 1);
    start(0, 0) = T(1);
    const Data matrix = upload(runtime, a), basis = upload(runtime, start);
    const Data work = Data::scratch(runtime, static_cast<std::size_t>(lanczos_work(most)) * sizeof(T));
    std::vector<double> all;
    for (Index first = 0; first < most; first += steps) {
      const Data found = Data::bytes(runtime, static_cast<std::size_t>(2 * steps) * sizeof(double));
      EXPECT_TRUE(this->run([&](Sequence& s) {
        s.insert(LanczosSteps<T>{.a = matrix,
                                 .basis = basis,
                                 .coefficients = found,
                                 .work = work,
                                 .n = n,
                                 .first = first,
                                 .steps = steps});
      }));
      const HostAccess access(found, HostAccess::Mode::read);
      const auto values = access.array<const double>();
      all.insert(all.end(), values.begin(), values.end());
    }
    return {all, download<T>(basis)};
  }
};
TYPED_TEST_SUITE(LanczosStepsTest, Scalars);

TYPED_TEST(LanczosStepsTest, TheBasisMakesTheMatrixTridiagonal) {
  using T = TypeParam;
  for (const Index n : {9, 40, 700}) {
    const Index most = std::min<Index>(n - 1, 12);
    const auto a = random_hermitian<T>(n, 5);
    const auto [coefficients, basis] = this->run_steps(a, most, n == 9 ? 2 : 4);
    const double tolerance = 100 * double(n) * precision<T>;
    EXPECT_LE(difference(multiply(Op::adjoint, basis, Op::none, basis), identity<T>(most + 1)), tolerance);
    const auto small = multiply(Op::adjoint, basis, Op::none, multiply(a, basis));
    for (Index j = 0; j < most; ++j)
      for (Index i = 0; i <= most; ++i) {
        const double expected = i == j                 ? coefficients[std::size_t(2 * j)]
                                : std::abs(i - j) == 1 ? coefficients[std::size_t(2 * std::min(i, j) + 1)]
                                                       : 0;
        EXPECT_LE(std::abs(small(i, j) - T(RealOf<T>(expected))), tolerance) << i << ' ' << j;
      }
  }
}

TYPED_TEST(LanczosStepsTest, AnInvariantSubspaceEndsInZeros) {
  using T = TypeParam;
  const auto [coefficients, basis] = this->run_steps(identity<T>(30), 4, 2);
  EXPECT_LE(std::abs(coefficients[0] - 1), 10 * precision<T>);
  for (std::size_t k = 1; k < coefficients.size(); ++k) EXPECT_TRUE(std::isfinite(coefficients[k])) << k;
  EXPECT_LE(coefficients[1], 10 * precision<T>);
}

}  // namespace
}  // namespace tessera::test
