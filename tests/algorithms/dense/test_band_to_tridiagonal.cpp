// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "chase_problem.hpp"

namespace tessera {
using namespace detail;
namespace {

template <class T>
class BandToTridiagonal : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(BandToTridiagonal, Scalars);

struct Shape {
  Index n, b, slab;
};
const Shape shapes[] = {{1, 1, 1},    {1, 8, 3},    {2, 1, 2},     {2, 5, 1},     {3, 2, 2},     {17, 1, 5},
                        {40, 64, 40}, {129, 3, 17}, {301, 16, 64}, {500, 33, 77}, {700, 64, 128}};

TYPED_TEST(BandToTridiagonal, VectorsAndValues) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const bool synchronous : {false, true}) {
    Runtime runtime({.cores = 2, .synchronous = synchronous});
    for (const Shape& s : shapes) {
      SCOPED_TRACE(::testing::Message() << "n " << s.n << " b " << s.b << " synchronous " << synchronous);
      const auto run = testing::chase_and_back<T>(runtime, s.n, s.b, s.n, s.slab);
      const R bound = 10 * std::sqrt(R(s.n)) * precision<T>;
      EXPECT_LT(run.orthogonality, bound);
      EXPECT_LT(run.residual, bound * std::sqrt(R(std::min(s.n, s.b))));
      // Without vectors the numbers must be the same.
      const auto values = testing::chase_and_back<T>(runtime, s.n, s.b, 0, 1);
      EXPECT_EQ(run.d, values.d);
      EXPECT_EQ(run.e, values.e);
      // Back-transform of some columns only.
      const auto part = testing::chase_and_back<T>(runtime, s.n, s.b, std::max<Index>(s.n / 3, 1), 7);
      EXPECT_LT(part.orthogonality, bound);
      EXPECT_LT(part.residual, bound * std::sqrt(R(std::min(s.n, s.b))));
    }
  }
}

TYPED_TEST(BandToTridiagonal, EigenvaluesAreLapacks) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 233, b = 19;
  std::vector<T> a(n * n, T(0)), work(4 * n);
  std::vector<R> expected(n), rwork(2 * n);
  std::vector<int> iwork(10);
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < std::min(n, j + b + 1); ++i) a[i + j * n] = testing::band_entry<T>(i, j);
  ASSERT_EQ(0,
            blas::heevd<T>('N', Uplo::lower, n, a.data(), n, expected.data(), work.data(), Index(work.size()),
                           rwork.data(), Index(rwork.size()), iwork.data(), Index(iwork.size())));
  Runtime runtime({.cores = 2});
  auto run = testing::chase_and_back<T>(runtime, n, b, 0, 1);
  ASSERT_EQ(0, blas::sterf<R>(n, run.d.data(), run.e.data()));
  for (Index i = 0; i < n; ++i)
    EXPECT_NEAR(expected[i], run.d[i], 20 * std::sqrt(R(n)) * precision<T> * std::abs(expected[0])) << i;
}

TYPED_TEST(BandToTridiagonal, WorkersDoNotChangeTheResult) {
  using T = TypeParam;
  std::vector<RealOf<T>> d, e;
  for (const int cores : {1, 2, 3}) {
    Runtime runtime({.cores = cores, .bind = false});
    const auto run = testing::chase_and_back<T>(runtime, 420, 5, 0, 1, {cores == 1 ? 0 : 4 * cores, 0});
    if (cores > 1) {
      EXPECT_EQ(d, run.d);
      EXPECT_EQ(e, run.e);
    }
    d = run.d;
    e = run.e;
  }
}

/// The algorithm for GPUs, which runs on a CPU core if there is no GPU.
TYPED_TEST(BandToTridiagonal, BySweepsTheResultIsTheSame) {
  using T = TypeParam;
  using R = RealOf<T>;
  Runtime runtime({.cores = 2});
  for (const Shape& s : shapes) {
    SCOPED_TRACE(::testing::Message() << "n " << s.n << " b " << s.b);
    const auto tiles = testing::chase_and_back<T>(runtime, s.n, s.b, 0, 1, {.place = ChasePlace::tiles});
    const Data d = Data::bytes(runtime, s.n * sizeof(R), Data::every_rank);
    const Data e = Data::bytes(runtime, std::max<Index>(s.n - 1, 1) * sizeof(R), Data::every_rank);
    Sequence sequence(runtime);
    sequence.begin_stage("band_to_tridiagonal");
    ChaseReflectors<T> reflectors;
    band_to_tridiagonal<T>(sequence, testing::make_band<T>(runtime, s.n, s.b), d, e, &reflectors,
                           {.place = ChasePlace::sweeps, .piece_bytes = 30000});
    ASSERT_TRUE(sequence.wait().ok());
    HostAccess ad(d, HostAccess::Mode::read), ae(e, HostAccess::Mode::read);
    const auto values = [n = s.n](std::vector<R> a, std::vector<R> b) {
      EXPECT_EQ(0, blas::sterf<R>(n, a.data(), b.data()));
      return a;
    };
    const auto expected = values(tiles.d, tiles.e);
    const auto found =
        values({ad.array<R>().begin(), ad.array<R>().end()}, {ae.array<R>().begin(), ae.array<R>().end()});
    for (Index i = 0; i < s.n; ++i)
      ASSERT_NEAR(expected[i], found[i], 10 * std::sqrt(R(s.n)) * precision<T> * std::abs(expected[0])) << i;

    // Checks Q T Q^H = B on a vector with the reflectors of the pieces.
    std::vector<T> x(s.n), y(s.n), z(s.n);
    for (Index i = 0; i < s.n; ++i) x[i] = T(R(1) / R(1 + i % 7));
    const std::vector<T> dense = testing::dense_band<T>(s.n, s.b);
    for (Index j = 0; j < s.n; ++j)
      for (Index i = 0; i < s.n; ++i) z[i] += dense[i + j * s.n] * x[j];
    testing::apply_device_pieces(reflectors, true, x);
    for (Index i = 0; i < s.n; ++i) {
      y[i] = ad.array<R>()[i] * x[i];
      if (i > 0) y[i] += ae.array<R>()[i - 1] * x[i - 1];
      if (i + 1 < s.n) y[i] += ae.array<R>()[i] * x[i + 1];
    }
    testing::apply_device_pieces(reflectors, false, y);
    for (Index i = 0; i < s.n; ++i)
      ASSERT_LT(std::abs(y[i] - z[i]), 20 * std::sqrt(R(s.n) * R(std::min(s.n, s.b))) * precision<T>) << i;
  }
}

TEST(ChaseRange, CoversTheSweepsInPiecesOfTheSizeAskedFor) {
  const Index n = 1000, b = 16, group = 16;
  Index first = 0, count = 0;
  for (; first + 1 < n; first += count) {
    count = chase_range(n, b, first, group, 8, 300000);
    ASSERT_GE(count, 1);
    ASSERT_TRUE(count % group == 0 || first + count + 1 == n);
    const kernels::DeviceReflectors piece{n, b, first, count, group};
    EXPECT_LE(piece.size() * 8, 300000);
  }
  EXPECT_EQ(n - 1, first);
}

TYPED_TEST(BandToTridiagonal, NotANumberIsAStatus) {
  using T = TypeParam;
  const Index n = 90, b = 7;
  for (const ChasePlace place : {ChasePlace::tiles, ChasePlace::sweeps}) {
    Runtime runtime({.cores = 2});
    const Data d = Data::bytes(runtime, n * sizeof(RealOf<T>), Data::every_rank);
    const Data e = Data::bytes(runtime, n * sizeof(RealOf<T>), Data::every_rank);
    auto band = testing::make_band<T>(runtime, n, b);
    {
      HostAccess access(band.segment(3), HostAccess::Mode::read_write);
      access.template matrix<T>()(2, 4) = T(std::numeric_limits<RealOf<T>>::infinity());
    }
    Sequence sequence(runtime);
    sequence.begin_stage("band_to_tridiagonal");
    const Index column = band.first_col(3) + 4 + 1;
    band_to_tridiagonal<T>(sequence, std::move(band), d, e, nullptr, {.place = place});
    const Status status = sequence.wait();
    EXPECT_EQ(StatusCode::not_finite, status.code);
    EXPECT_EQ("band_to_tridiagonal", status.stage);
    EXPECT_EQ(column, status.index);
  }
}

TEST(ChaseSweepsPerTask, FillsTheWorkersWithinBounds) {
  EXPECT_EQ(1, chase_sweeps_per_task(1, 1000, 2));
  EXPECT_EQ(3, chase_sweeps_per_task(4000, 64, 2));
  EXPECT_EQ(5, chase_sweeps_per_task(40000, 64, 2));  // upper bound
  EXPECT_EQ(2, chase_sweeps_per_task(8000, 64, 16));  // lower bound
  for (Index n : {5, 700, 9000, 40000})
    for (Index b : {1, 7, 64, 300})
      for (Index workers : {1, 16, 200}) EXPECT_GE(chase_sweeps_per_task(n, b, workers), 1);
}

}  // namespace
}  // namespace tessera
