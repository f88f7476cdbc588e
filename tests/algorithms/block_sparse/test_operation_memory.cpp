// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <thread>

#include <malloc.h>

#include "operation_problem.hpp"

/// Long loops over block-sparse matrices release the memory that they allocate.
namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;

/// Bytes that the process has allocated.
std::int64_t allocated() {
  const auto info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

/// The minimum over a short time, because pieces are freed asynchronously after their last task.
std::int64_t settled() {
  std::int64_t least = allocated();
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    least = std::min(least, allocated());
  }
  return least;
}

TEST(BlockSparseMemory, RoundsOfCopyAddAndFilterGiveItBack) {
  Runtime runtime({.cores = 2, .gpus = 0});
  const std::vector<Index> sizes(60, 8);
  const BlockLayout layout = make_block_layout(runtime, sizes, sizes);
  const BlockSparseMatrix<double> a = make_problem<double>(runtime, layout, 1, 0.3).matrix,
                                  b = make_problem<double>(runtime, layout, 2, 0.3).matrix;
  const double norm = frobenius_norm(a), expected_dot = dot(a, b);
  const auto round = [&] {
    BlockSparseMatrix<double> c;
    run_sequence(runtime, [&](Sequence& sequence) {
      c = copy(sequence, a);
      add(sequence, 1.0, c, 1e-6, b);
    });
    const Index before = c.pattern().blocks();
    // The filter keeps the blocks of A and drops those that only B has.
    const Index dropped = filter(c, 1e-3);
    EXPECT_EQ(before - dropped, a.pattern().blocks());
    run_sequence(runtime, [&](Sequence& sequence) {
      add(sequence, 1.0, c, -1.0, a);
      c = transpose(sequence, c);
    });
    EXPECT_LT(frobenius_norm(c), 1e-5 * norm);
  };
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) round();
    return settled();
  };
  // The first rounds fill StarPU's internal caches.
  const std::int64_t first = rounds(30), then = rounds(100);
  // Leaks must stand out: one matrix per round would add up to a hundred matrices, one handle per
  // panel and round to some megabytes. StarPU stores 32 bytes for each task that reads a piece
  // until the piece is written again, which is far less.
  const std::int64_t matrix = a.pattern().elements() * std::int64_t(sizeof(double));
  EXPECT_LT(then - first, matrix / 4) << "of " << first << " bytes, a matrix has " << matrix;
  EXPECT_EQ(dot(a, b), expected_dot);
}

/// Matrices larger than the machine's memory are refused before any value is written.
TEST(BlockSparseMemory, MatricesBeyondTheMachineAreRefused) {
  Runtime runtime({.cores = 1, .gpus = 0});
  const std::vector<Index> sizes(64, 32000);
  BlockSparseBuilder<double> builder(runtime, make_block_layout(runtime, sizes, sizes));
  builder.reserve_all();
  try {
    builder.finalize();
    ADD_FAILURE() << "30 TiB were found";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("a block-sparse matrix needs 31250.0 GiB"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tessera
