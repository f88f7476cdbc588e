// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>

#include <gtest/gtest.h>
#include <tests/algorithms/one_stage/one_stage_checks.hpp>

namespace tessera::test {
namespace {

template <class T>
class OneStageTest : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(OneStageTest, Scalars);

// Sizes so small that the panels do almost all of the reduction, and LAPACK almost none.
const OneStageOptions by_panels{
    .work_tile = 12, .panel = 5, .rest = 1, .tasks_per_worker = 2, .least_bytes = 1};

TYPED_TEST(OneStageTest, QTQHIsA) {
  Runtime runtime({.cores = 2, .bind = false});
  for (const Index n : {1, 2, 3, 5, 17, 64, 101})
    for (const Index tile : {7, 24, 33, 200})
      check_one_stage<TypeParam>(runtime, Kind::random, n, tile, by_panels);
  check_one_stage<TypeParam>(
      runtime, Kind::random, 75, 10,
      {.work_tile = 4, .panel = 1, .rest = 30, .tasks_per_worker = 1, .least_bytes = 500});
  check_one_stage<TypeParam>(runtime, Kind::random, 400, 150, {.work_tile = 64, .panel = 32, .rest = 100});
}

TYPED_TEST(OneStageTest, InOnePiece) {
  Runtime runtime({.cores = 2, .bind = false});
  for (const Index n : {1, 2, 3, 31, 65, 128, 129, 300})
    for (const Index tile : {20, 300})
      check_one_stage<TypeParam>(runtime, Kind::random, n, tile, {.in_one_piece = true});
  for (const Kind kind : {Kind::zero, Kind::tridiagonal, Kind::rank_one})
    check_one_stage<TypeParam>(runtime, kind, 90, 25, {.in_one_piece = true});
}

TYPED_TEST(OneStageTest, SpecialMatrices) {
  Runtime runtime({.cores = 2, .bind = false});
  for (const Kind kind : {Kind::zero, Kind::identity, Kind::tridiagonal, Kind::rank_one, Kind::tiny,
                          Kind::huge, Kind::block_diagonal})
    for (const Index n : {3, 50, 90}) check_one_stage<TypeParam>(runtime, kind, n, 20, by_panels);
}

TYPED_TEST(OneStageTest, DefaultSizes) {
  Runtime runtime({.cores = 2, .bind = false});
  for (const Index n : {1, 2, 100, 600}) check_one_stage<TypeParam>(runtime, Kind::random, n, 256, {});
}

TYPED_TEST(OneStageTest, SameTridiagonalMatrixAsLapack) {
  using T = TypeParam;
  using R = RealOf<T>;
  Runtime runtime({.cores = 2, .bind = false});
  const Index n = 130;
  auto a = make_matrix<T>(Kind::random, n);
  const Data d = Data::bytes(runtime, n * sizeof(R), Data::every_rank),
             e = Data::bytes(runtime, (n - 1) * sizeof(R), Data::every_rank);
  Sequence sequence(runtime);
  tridiagonalize<T>(sequence, distribute(runtime, a, {n, n, 40, 40, {}, Uplo::lower}), d, e, nullptr,
                    by_panels);
  ASSERT_TRUE(sequence.wait().ok());
  std::vector<R> diagonal(n), offdiagonal(n - 1);
  std::vector<T> tau(n - 1), work(n * 32);
  blas::hetrd(Uplo::lower, n, a.data(), n, diagonal.data(), offdiagonal.data(), tau.data(), work.data(),
              n * 32);
  const auto ours_d = replicated_copy<R>(d, n), ours_e = replicated_copy<R>(e, n - 1);
  // The reduction is unique, but its last columns are ill-conditioned, so only the first columns
  // are compared element by element.
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(ours_d[i], diagonal[i], 3000 * precision<T>);
    EXPECT_NEAR(ours_e[i], offdiagonal[i], 3000 * precision<T>);
  }
}

TEST(OneStage, BadSizesAreRefused) {
  Runtime runtime({.cores = 1, .bind = false});
  const Data d = Data::bytes(runtime, 80, Data::every_rank), e = Data::bytes(runtime, 72, Data::every_rank);
  Sequence sequence(runtime);
  const TileLayout layout{10, 10, 4, 4, {}, Uplo::lower};
  EXPECT_THROW(
      tridiagonalize<double>(sequence, TiledMatrix<double>(runtime, layout), d, e, nullptr, {.panel = 0}),
      InvalidArgument);
  EXPECT_THROW(
      tridiagonalize<double>(sequence, TiledMatrix<double>(runtime, layout), d, e, nullptr, {.work_tile = 0}),
      InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
