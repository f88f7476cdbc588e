// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/codelets/linalg/blas_cases.hpp>

namespace tessera::test {
namespace {

template <class T>
class BlasOnViews : public ::testing::Test {};
TYPED_TEST_SUITE(BlasOnViews, Scalars);

/// C is a block of a larger matrix; the rest of the matrix must not change.
TYPED_TEST(BlasOnViews, OddShapesAgainstLoops) {
  using T = TypeParam;
  const TaskHeader header{};
  const HostContext on(header);
  check_all_blas<T>([&](const BlasCase<T>& one, const auto& operation) {
    const Index m = one.c.rows(), n = one.c.cols();
    SCOPED_TRACE(::testing::Message() << one.what << ' ' << m << " x " << n << ", " << one.terms);
    auto whole = random_matrix<T>(m + 3, n + 4, 7);
    whole.set_block(1, 2, one.c);
    const auto before = whole;
    operation(on, one.a.view(), one.b.view(), whole.view().block(1, 2, m, n));
    EXPECT_LE(difference(whole.block(1, 2, m, n), one.expected, one.part),
              20 * double(one.terms + 2) * precision<T>);
    whole.set_block(1, 2, Matrix<T>(m, n));
    auto rest = before;
    rest.set_block(1, 2, Matrix<T>(m, n));
    EXPECT_EQ(difference(whole, rest), 0);
  });
}

/// C has no elements, or its sums have no terms.
TYPED_TEST(BlasOnViews, EmptyViews) {
  using T = TypeParam;
  const TaskHeader header{};
  const HostContext on(header);
  const auto a = random_matrix<T>(4, 4, 1);
  auto c = random_matrix<T>(4, 4, 2);
  const auto before = c;
  const auto none = a.view().block(0, 0, 4, 0);
  la::gemm(on, Op::none, Op::adjoint, 1, none, none, 1, c.view());
  la::gemm(on, Op::none, Op::none, 1, none, a.view().block(0, 0, 0, 4), 1, c.view());
  la::gemm(on, Op::none, Op::none, 1, a.view().block(0, 0, 0, 4), a.view(), 0, c.view().block(0, 0, 0, 4));
  la::herk(on, Uplo::lower, Op::none, 1, none, 1, c.view());
  la::her2k(on, Uplo::lower, Op::none, 1, none, none, 1, c.view());
  la::trsm(on, Side::right, Uplo::upper, Op::none, Diag::non_unit, 1, a.view(), c.view().block(0, 0, 0, 4));
  la::trmm(on, Side::left, Uplo::upper, Op::none, Diag::non_unit, 1, a.view(), c.view().block(0, 0, 4, 0));
  la::copy(on, none, c.view());
  EXPECT_EQ(difference(c, before), 0);
}

}  // namespace
}  // namespace tessera::test
