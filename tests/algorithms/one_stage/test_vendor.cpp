// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/algorithms/one_stage/one_stage_checks.hpp>

#include <tessera/algorithms/dense/vendor.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class VendorTest : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(VendorTest, Scalars);

/// max |A Z - B Z diag(w)|; an empty B stands for the identity.
template <class T>
double residual(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& z,
                const std::vector<RealOf<T>>& w, Index lo) {
  const auto n = static_cast<Index>(w.size()), count = static_cast<Index>(z.size()) / n;
  std::vector<T> left(z.size()), right = z;
  blas::gemm(Op::none, Op::none, n, count, n, T(1), a.data(), n, z.data(), n, T(0), left.data(), n);
  if (!b.empty())
    blas::gemm(Op::none, Op::none, n, count, n, T(1), b.data(), n, z.data(), n, T(0), right.data(), n);
  double largest = 0;
  for (Index j = 0; j < count; ++j)
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i + j * n);
      largest =
          std::max<double>(largest, std::abs(left[at] - right[at] * w[static_cast<std::size_t>(lo + j)]));
    }
  return largest;
}

TYPED_TEST(VendorTest, StandardAndGeneralizedPairs) {
  using T = TypeParam;
  using R = RealOf<T>;
  Runtime runtime({.cores = 2, .bind = false});
  for (const Index n : {1, 2, 5, 70})
    for (const bool generalized : {false, true}) {
      const Index lo = n / 3, hi = n;
      const auto a = make_matrix<T>(Kind::random, n);
      auto b = generalized ? make_matrix<T>(Kind::random, n) : std::vector<T>();
      for (Index i = 0; generalized && i < n; ++i) b[static_cast<std::size_t>(i * (n + 1))] = T(R(2 * n));
      const auto tiles_a = distribute(runtime, a, {n, n, 16, 16, {}, Uplo::lower});
      const Data values = Data::bytes(runtime, static_cast<std::size_t>(n) * sizeof(R), Data::every_rank);
      const ColumnSlabs<T> z(runtime, n, hi - lo, 9);
      Sequence sequence(runtime);
      if (generalized)
        vendor_eigensolve<T>(sequence, tiles_a, distribute(runtime, b, {n, n, 23, 23, {}, Uplo::lower}), lo,
                             hi, values, &z);
      else
        vendor_eigensolve<T>(sequence, tiles_a, lo, hi, values, &z);
      ASSERT_TRUE(sequence.wait().ok());
      const auto w = replicated_copy<R>(values, n);
      EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
      EXPECT_LT(residual(a, b, gather_slabs(runtime, z), w, lo),
                50.0 * double(std::max<Index>(n, 5)) * precision<T>);
    }
}

TEST(Vendor, IndefiniteMassMatrixIsAStatus) {
  Runtime runtime({.cores = 1, .bind = false});
  const Index n = 20;
  const auto a = make_matrix<double>(Kind::identity, n);
  auto b = a;
  b[6 * 21] = -1;
  const TileLayout layout{n, n, 8, 8, {}, Uplo::lower};
  const Data values = Data::bytes(runtime, n * sizeof(double), Data::every_rank);
  Sequence sequence(runtime);
  vendor_eigensolve<double>(sequence, distribute(runtime, a, layout), distribute(runtime, b, layout), 0, n,
                            values, nullptr);
  const Status status = sequence.wait();
  EXPECT_EQ(status.code, StatusCode::not_positive_definite);
  EXPECT_EQ(status.index, 7);
}

TEST(Vendor, BadRangesAreRefused) {
  Runtime runtime({.cores = 1, .bind = false});
  const TiledMatrix<double> a(runtime, {4, 4, 2, 2, {}, Uplo::lower});
  const Data values = Data::bytes(runtime, 32, Data::every_rank);
  const ColumnSlabs<double> z(runtime, 4, 2, 2);
  Sequence sequence(runtime);
  EXPECT_THROW(vendor_eigensolve<double>(sequence, a, 0, 5, values, nullptr), InvalidArgument);
  EXPECT_THROW(vendor_eigensolve<double>(sequence, a, 0, 3, values, &z), InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
