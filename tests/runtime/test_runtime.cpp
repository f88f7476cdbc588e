// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tessera/codelets/dense/gemm.hpp>
#include <tessera/runtime/blas_threads.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/tiled_matrix.hpp>

namespace tessera {
namespace {

TEST(Runtime, startsAndStopsSeveralTimes) {
  set_blas_threads(2);
  for (int round = 0; round < 3; ++round) {
    Runtime runtime({.cores = 2});
    EXPECT_EQ(runtime.workers(), 2);
    EXPECT_EQ(blas_threads(), 1);
    EXPECT_THROW(Runtime second, RuntimeError);
  }
  EXPECT_EQ(blas_threads(), 2);
}

TEST(Sequence, tiledProductIsExactOnIntegers) {
  for (const bool synchronous : {false, true}) {
    Runtime runtime({.cores = 2, .synchronous = synchronous});
    const Index n = 37, tile = 10;
    std::vector<double> a(n * n), b(n * n), c(n * n, -1.0);
    for (Index k = 0; k < n * n; ++k) a[k] = double(k % 7) - 3, b[k] = double(k % 5) - 2;
    const TileLayout layout{n, n, tile, tile, {}, Uplo::general};
    {
      auto ta = TiledMatrix<double>::wrap(runtime, a.data(), n, layout);
      auto tb = TiledMatrix<double>::wrap(runtime, b.data(), n, layout);
      auto tc = TiledMatrix<double>::wrap(runtime, c.data(), n, layout);
      Sequence sequence(runtime);
      sequence.begin_stage("product");
      for (Index i = 0; i < tc.row_tiles(); ++i)
        for (Index j = 0; j < tc.col_tiles(); ++j)
          for (Index k = 0; k < ta.col_tiles(); ++k)
            insert_gemm<double>(sequence, 0, Op::none, Op::none, 1, ta.tile(i, k), {0, 0, ta.tile_rows(i), ta.tile_cols(k)},
                                tb.tile(k, j), {0, 0, tb.tile_rows(k), tb.tile_cols(j)}, k == 0 ? 0 : 1, tc.tile(i, j),
                                {0, 0, tc.tile_rows(i), tc.tile_cols(j)});
      EXPECT_TRUE(sequence.wait().ok());
      const SequenceStatistics statistics = sequence.statistics();
      ASSERT_EQ(statistics.stages.size(), 1u);
      EXPECT_EQ(statistics.stages[0].tasks, 64);
      EXPECT_DOUBLE_EQ(statistics.stages[0].flops, 2.0 * n * n * n);
    }
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (Index k = 0; k < n; ++k) sum += a[i + k * n] * b[k + j * n];
        ASSERT_EQ(c[i + j * n], sum);
      }
  }
}

}  // namespace
}  // namespace tessera
