// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include <tests/algorithms/block_sparse/product_checks.hpp>

#include <tessera/runtime/remote_copies.hpp>

/// How many bytes of other ranks' panels wait at a rank during a product.
namespace tessera::test {
namespace {

/// Matrices that a product takes as they are, with many inner panels.
struct Factors {
  BlockSparseMatrix<double> a, b, c;
};

Factors make_factors(Runtime& runtime, bool mixed_blocks) {
  const ProcessGrid grid = ProcessGrid::squarest(runtime.size());
  constexpr Index panel_elements = 16;
  const auto sizes = [&](Index blocks) {
    return mixed_blocks ? repeated({8, 3, 5}, blocks) : repeated({8}, blocks);
  };
  const auto dimension = [&](Index blocks, int owners) {
    return BlockDimension::make(sizes(blocks), owners, {}, panel_elements);
  };
  // At least twelve for each rank of a row or column of the grid.
  const Index inner_blocks = 2 * 12 * std::max(grid.rows, grid.cols) * (mixed_blocks ? 2 : 1);
  const auto inner = dimension(inner_blocks, grid.cols);
  const BlockDimensionPointer rows = dimension(13, grid.rows), cols = dimension(9, grid.cols);
  return {random_blocks<double>(runtime, {rows, inner, grid, Symmetry::none}, {1, 0.8, true}),
          random_blocks<double>(runtime,
                                {BlockDimension::with_owners(*inner, grid.rows), cols, grid, Symmetry::none},
                                {2, 0.8, true}),
          random_blocks<double>(runtime, {rows, cols, grid, Symmetry::none}, {3, 0.5, true})};
}

struct RemoteBytes {
  double largest = 0;  ///< of a step
  double all = 0;
};

/// What this rank needs of others; with a filter with the norms.
RemoteBytes remote_bytes(const Factors& m, Index steps, bool filtered) {
  const BlockPattern &a = m.a.pattern(), &b = m.b.pattern(), &c = m.c.pattern();
  const auto bytes_of = [&](const BlockPattern& pattern, Index p) {
    if (pattern.panel_local(p)) return 0.0;
    return 8.0 * static_cast<double>(pattern.panel_elements(p) + (filtered ? pattern.panel_blocks(p) : 0));
  };
  RemoteBytes result;
  std::vector<double> of_step(static_cast<std::size_t>(steps), 0);
  for (Index inner = 0; inner < a.col_panels(); ++inner) {
    std::set<Index> of_a, of_b;
    for (Index p = 0; p < c.panels(); ++p)
      if (c.panel_local(p)) {
        of_a.insert(a.panel(c.row_panel(p), inner));
        of_b.insert(b.panel(inner, c.col_panel(p)));
      }
    double bytes = 0;
    for (const Index p : of_a) bytes += bytes_of(a, p);
    for (const Index p : of_b) bytes += bytes_of(b, p);
    of_step[static_cast<std::size_t>(inner % steps)] += bytes;
    result.all += bytes;
  }
  result.largest = *std::max_element(of_step.begin(), of_step.end());
  return result;
}

/// StarPU frees a copy a moment after the task that has read it last.
std::size_t bytes_left(const Runtime& runtime) {
  for (int i = 0; i < 1000 && remote_copies(runtime)->bytes() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return remote_copies(runtime)->bytes();
}

/// A step for each inner panel, or as many as Cannon's algorithm has.
void check_bound(bool mixed_blocks, MultiplyOptions options, bool cannon = false) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  Factors m = make_factors(runtime, mixed_blocks);
  const ProcessGrid grid = ProcessGrid::squarest(runtime.size());
  if (!cannon) options.steps = m.a.pattern().col_panels();
  const RemoteBytes needed =
      remote_bytes(m, cannon ? std::lcm(grid.rows, grid.cols) : options.steps, options.filter_eps > 0);
  const DenseMatrix product = gemm(dense(m.a), dense(m.b));
  const BlockSet blocks = stored_blocks(m.c);
  DenseMatrix expected = dense(m.c);
  for (Index j = 0; j < expected.cols(); ++j)
    for (Index i = 0; i < expected.rows(); ++i) expected(i, j) += product(i, j);
  const MultiplyResult result = tessera::multiply({.a = m.a, .b = m.b, .beta = 1.0, .c = m.c}, options);
  ASSERT_TRUE(result) << result.status().message();
  if (runtime.size() > 1) {
    if (!cannon) EXPECT_GT(needed.all, 8 * needed.largest) << "the bound says little";
    if (cannon && runtime.size() >= 6) EXPECT_GT(needed.all, 3 * needed.largest);
    EXPECT_GT(result.remote_bytes_peak, 0);
    EXPECT_LE(result.remote_bytes_peak, 3 * needed.largest);
  } else {
    EXPECT_EQ(result.remote_bytes_peak, 0);
  }
  EXPECT_EQ(bytes_left(runtime), 0u);
  if (options.retain_sparsity) keep_blocks<double>(expected, m.c, &blocks);
  EXPECT_EQ(difference(dense(m.c), expected), 0);
}

TEST(RemotePanels, FewWaitAtARank) {
  check_bound(false, {.dense = UseDense::never});
}

TEST(RemotePanels, ThoseOfThreeStepsWaitAtARank) {
  check_bound(false, {.dense = UseDense::never}, true);
  check_bound(true, {.filter_eps = 1e-9, .dense = UseDense::never}, true);
  check_bound(false, {.dense = UseDense::always}, true);
}

TEST(RemotePanels, FewWaitAtARankForMixedBlocks) {
  check_bound(true, {.dense = UseDense::never});
}

TEST(RemotePanels, FewWaitAtARankForKeptBlocks) {
  check_bound(true, {.retain_sparsity = true, .dense = UseDense::never});
}

/// So small an eps leaves nothing out, but the norms travel.
TEST(RemotePanels, FewWaitAtARankWithAFilter) {
  check_bound(false, {.filter_eps = 1e-9, .dense = UseDense::never});
}

TEST(RemotePanels, FewWaitAtARankWithDensePanels) {
  check_bound(false, {.dense = UseDense::always});
}

}  // namespace
}  // namespace tessera::test
