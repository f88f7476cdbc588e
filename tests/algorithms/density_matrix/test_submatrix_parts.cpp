// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <tessera/algorithms/density_matrix/inverse_root_levels.hpp>
#include <tessera/algorithms/density_matrix/submatrix_graph.hpp>

namespace tessera {
using namespace detail;
namespace {

/// z^2 s of the levels' z, for numbers.
TEST(InverseRootLevels, GiveTheInverseRoot) {
  for (const double lower : {0.9, 0.5, 0.1, 1e-3, 1e-6})
    for (const double upper : {1.0, 1.4, 7.0})
      for (const double tolerance : {1e-6, 1e-14}) {
        SCOPED_TRACE(::testing::Message() << lower << " to " << upper << ", " << tolerance);
        const auto levels = inverse_root_levels({lower, upper}, tolerance);
        ASSERT_FALSE(levels.empty());
        for (int k = 0; k <= 300; ++k) {
          const double s = lower * std::pow(upper / lower, k / 300.0);
          double z = 1;
          for (const RootLevel& level : levels) {
            const double y = z * z * s;
            double q = 0;
            for (std::size_t power = level.q.size(); power-- > 0;) q = q * y + level.q[power];
            for (std::size_t power = static_cast<std::size_t>(level.degree) + 1; power < level.q.size();
                 ++power)
              ASSERT_EQ(level.q[power], 0);
            z *= q;
          }
          ASSERT_GT(z, 0);
          // Powers of y lose some digits where the interval is wide.
          ASSERT_NEAR(z * z * s, 1, tolerance + 1e-13) << "s = " << s;
        }
      }
  EXPECT_TRUE(inverse_root_levels({1, 1}, 1e-15).empty());
}

/// Of a well-conditioned overlap, of a basis that is orthonormal within molecules: three products. In double: eight.
TEST(InverseRootLevels, AreFew) {
  const auto levels = inverse_root_levels({0.77, 1.28}, 2e-6);
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].degree, 6);
  const auto exact = inverse_root_levels({0.77, 1.28}, 1e-15);
  ASSERT_EQ(exact.size(), 3u);
  EXPECT_EQ(exact[0].degree, 3);
  EXPECT_EQ(exact[2].degree, 1);
}

/// Blocks of sizes 1 to 3 with random couplings.
BlockGraph random_graph(Index blocks, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> uniform;
  std::vector<std::vector<BlockGraph::Edge>> edges(static_cast<std::size_t>(blocks));
  for (Index i = 0; i < blocks; ++i)
    for (Index j = 0; j < i; ++j)
      if (uniform(random) < 0.1F) {
        const float coupling = uniform(random);
        edges[static_cast<std::size_t>(i)].push_back({static_cast<std::int32_t>(j), coupling});
        edges[static_cast<std::size_t>(j)].push_back({static_cast<std::int32_t>(i), coupling});
      }
  BlockGraph graph;
  graph.begin.push_back(0);
  for (Index i = 0; i < blocks; ++i) {
    auto& of_block = edges[static_cast<std::size_t>(i)];
    std::sort(of_block.begin(), of_block.end(),
              [](const auto& x, const auto& y) { return x.coupling > y.coupling; });
    graph.sizes.push_back(1 + i % 3);
    graph.edges.insert(graph.edges.end(), of_block.begin(), of_block.end());
    graph.begin.push_back(static_cast<Index>(graph.edges.size()));
  }
  return graph;
}

TEST(BlockGroups, HaveEveryBlockOnce) {
  for (const Index blocks : {0, 1, 60})
    for (const Index order : {1, 8, 1000}) {
      const BlockGraph graph = random_graph(blocks, 3);
      std::vector<int> found(static_cast<std::size_t>(blocks), 0);
      for (const auto& group : groups_of_blocks(graph, order)) {
        Index elements = 0;
        for (const Index block : group) {
          ++found[static_cast<std::size_t>(block)];
          elements += graph.sizes[static_cast<std::size_t>(block)];
        }
        EXPECT_FALSE(group.empty());
        EXPECT_LE(elements, order + 2);  // a block more at most
      }
      for (const int times : found) EXPECT_EQ(times, 1);
    }
}

/// Against the largest products by repeated relaxation of all edges.
TEST(BlockGroups, EnvironmentsAreThoseOfTheLargestProducts) {
  const BlockGraph graph = random_graph(80, 5);
  GraphSearch search(graph);
  for (const double scale : {0.5, 0.9})
    for (const double least : {0.3, 0.02}) {
      const std::vector<Index> group{7, 30};
      std::vector<double> best(80, 0);
      for (const Index block : group) best[static_cast<std::size_t>(block)] = 1;
      for (int round = 0; round < 80; ++round)
        for (Index i = 0; i < 80; ++i)
          for (const auto& edge : graph.edges_of(i))
            best[static_cast<std::size_t>(edge.block)] =
                std::max(best[static_cast<std::size_t>(edge.block)],
                         best[static_cast<std::size_t>(i)] * scale * static_cast<double>(edge.coupling));
      const auto found = search.environment(group, scale, least, 1000);
      ASSERT_EQ(found[0], 7);
      ASSERT_EQ(found[1], 30);
      std::vector<char> is_found(80, 0);
      double last = 1;
      Index order = 0;
      for (std::size_t k = 0; k < found.size(); ++k) {
        const auto block = static_cast<std::size_t>(found[k]);
        is_found[block] = 1;
        order += graph.sizes[block];
        EXPECT_LE(best[block], last + 1e-12);  // by falling estimate
        last = best[block];
      }
      for (std::size_t b = 0; b < 80; ++b) EXPECT_EQ(is_found[b] != 0, best[b] >= least) << b;
      // No more than an order, the nearest ones.
      const auto limited = search.environment(group, scale, least, order / 2);
      ASSERT_LT(limited.size(), found.size());
      for (std::size_t k = 0; k < limited.size(); ++k) EXPECT_EQ(limited[k], found[k]);
    }
}

}  // namespace
}  // namespace tessera
