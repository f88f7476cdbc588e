// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/dense/tridiagonal_eigen_checks.hpp>

namespace tessera::test {
namespace {

TEST(TridiagonalEigenMpi, VectorsOverTheRanks) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  const auto kinds = tridiagonal_kinds<double>();
  for (const TridiagonalCase& c :
       {TridiagonalCase{1, 0, 1, 4}, TridiagonalCase{40, 0, 40, 9}, TridiagonalCase{130, 7, 60, 10},
        TridiagonalCase{420, 0, 420, 50}, TridiagonalCase{301, 290, 301, 64}})
    for (const std::size_t kind : {0, 4, 5, 9}) check_tridiagonal_eigen<double>(runtime, kinds[kind], c, 3.0);
  check_tridiagonal_eigen<std::complex<float>>(runtime, tridiagonal_kinds<float>()[1], {333, 20, 222, 31},
                                               3.0);
}

TEST(TridiagonalEigenMpi, ValuesAreBitwiseEqualOnAllRanks) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  for (const bool vectors : {false, true}) {
    const auto t = make_tridiagonal<double>(tridiagonal_kinds<double>()[1], 777);
    const Data d = replicated(runtime, t.d), e = replicated(runtime, t.e);
    Sequence sequence(runtime);
    const TridiagonalEigen<double> solver(sequence, 777, d, e, vectors);
    ASSERT_TRUE(sequence.wait().ok());
    const auto w = host_copy<double>(solver.values());
    EXPECT_TRUE(values_within(t, w, 1.0));
    auto first = w;
    runtime.broadcast(first.data(), static_cast<Index>(first.size() * sizeof(double)), 0);
    EXPECT_EQ(first, w);
  }
}

TEST(TridiagonalEigenMpi, NotFiniteIsAStatusEverywhere) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  auto t = make_tridiagonal<double>(tridiagonal_kinds<double>()[1], 200);
  t.d[77] = std::numeric_limits<double>::quiet_NaN();
  Status status;
  tridiagonal_values<double>(runtime, t, &status);
  EXPECT_EQ(status.code, StatusCode::not_finite);
  EXPECT_EQ(status.index, 78);
}

}  // namespace
}  // namespace tessera::test
