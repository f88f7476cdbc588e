// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/dense/tridiagonal_eigen_checks.hpp>

/// The tridiagonal solver at orders with several leaves, row blocks and tiles on a GPU.
namespace tessera::test {
namespace {

template <class T>
class TridiagonalEigenOnGpu : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TridiagonalEigenOnGpu, Scalars);

TYPED_TEST(TridiagonalEigenOnGpu, SeveralRowBlocks) {
  using T = TypeParam;
  Runtime runtime;
  ASSERT_GE(runtime.info().cuda_workers, 1);
  for (const auto& kind : tridiagonal_kinds<RealOf<T>>()) {
    check_tridiagonal_eigen<T>(runtime, kind, {1301, 100, 233, 37}, 3.0);
    if (::testing::Test::HasFatalFailure()) return;
  }
  const auto kinds = tridiagonal_kinds<RealOf<T>>();
  check_tridiagonal_eigen<T>(runtime, kinds[1], {1300, 0, 1300, 500}, 3.0);
  check_tridiagonal_eigen<T>(runtime, kinds[1], {2100, 1500, 1700, 100}, 3.0);
}

}  // namespace
}  // namespace tessera::test
