// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numbers>
#include <tuple>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/hermitian_problems.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

/// Block Lanczos of complex Hermitian matrices, against LAPACK and closed forms.
namespace tessera::test {
namespace {

constexpr EigenMethod lanczos = EigenMethod::lanczos;

template <class T>
class HermitianLanczos : public RuntimeTest<double> {
 protected:
  static constexpr bool single = sizeof(RealOf<T>) == 4;
  static constexpr double tolerance = single ? 1e-5 : 1e-9, values_gate = single ? 1e-4 : 1e-11,
                          orthogonality_gate = single ? 5e-5 : 1e-11;
};
using Complexes = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HermitianLanczos, Complexes);

TYPED_TEST(HermitianLanczos, AgreesWithLapack) {
  using T = TypeParam;
  for (const Index n : {5, 16, 61, 220}) {
    const HermitianEntries a = random_entries(n, 0, 7);
    const auto op = operator_of<T>(this->runtime(), a, 3);
    const std::vector<double> all = lapack_eigenvalues(dense(a));
    for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest})
      for (const Index count : {Index(1), Index(3), n / 5}) {
        if (count > n / 5) continue;
        SCOPED_TRACE(fmt::format("n {} largest {} count {}", n, end == EigenEnd::largest, count));
        const LobpcgOptions options{
            .count = count, .method = lanczos, .end = end, .tolerance = this->tolerance, .iterations = 3000};
        const auto result = lobpcg(this->runtime(), {.a = &op}, options);
        EXPECT_TRUE(result) << result.status().message();
        std::vector<double> wanted = all;
        if (end == EigenEnd::largest) std::reverse(wanted.begin(), wanted.end());
        ASSERT_EQ(Index(result.values.size()), count);
        expect_near(result.values, wanted, this->values_gate);
        expect_pairs(result, a, nullptr, 20 * this->tolerance, this->orthogonality_gate);
        // From what was found, and beside it.
        const auto again =
            lobpcg(this->runtime(), {.a = &op, .guess = &result.vectors, .guess_count = count}, options);
        expect_near(again.values, wanted, this->values_gate);
        if (n < 61) continue;
        const auto next = lobpcg(
            this->runtime(), {.a = &op, .constraints = &result.vectors, .constraint_count = count}, options);
        expect_near(next.values, {wanted.begin() + count, wanted.end()}, this->values_gate);
      }
  }
}

/// Half a quantum of flux: all eigenvalues are double.
TYPED_TEST(HermitianLanczos, RingsWithDoubleEigenvalues) {
  using T = TypeParam;
  const Index n = 60;
  for (const double phi : {0.0, 0.7, std::numbers::pi, -2.1})
    for (const Index block : {0, 1, 2}) {
      const HermitianEntries a = magnetic_ring(n, phi);
      const auto op = operator_of<T>(this->runtime(), a, 2);
      const auto result = lobpcg(
          this->runtime(), {.a = &op},
          {.count = 7, .method = lanczos, .block = block, .tolerance = this->tolerance, .iterations = 2000});
      EXPECT_TRUE(result) << result.status().message();
      expect_near(result.values, ring_values(n, phi), this->values_gate);
      expect_pairs(result, a, nullptr, 10 * this->tolerance, this->orthogonality_gate);
    }
}

}  // namespace
}  // namespace tessera::test
