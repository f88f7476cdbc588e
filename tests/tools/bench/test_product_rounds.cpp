// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "product_rounds.hpp"
#include "random_stack.hpp"

/// Stacks for cuBLAS's batched products.
namespace {

using namespace tessera;
using namespace tessera::program;

using Product = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  ///< where A, B and C begin

StackItem item_of(const RandomStack& stack) {
  StackItem item;
  item.classes = {stack.shape};
  item.entries = stack.entries;
  item.runs = stack.runs;
  return item;
}

/// The products of each block of C, in their order.
std::map<std::int32_t, std::vector<Product>> listed(const StackItem& item) {
  std::map<std::int32_t, std::vector<Product>> products;
  for (const StackRun& run : item.runs)
    for (std::int32_t e = run.first; e < run.first + run.count; ++e) {
      const StackEntry& entry = item.entries[static_cast<std::size_t>(e)];
      products[run.c].emplace_back(entry.a, entry.b, run.c);
    }
  return products;
}

TEST(ProductRounds, HaveEachBlockOfCOnceAndAllProductsInOrder) {
  for (const Index products : {1, 17, 500, 16005}) {
    const StackItem item = item_of(random_stack(3, 4, 5, products, 7));
    std::map<std::int32_t, std::vector<Product>> found;
    std::size_t longest = 0;
    for (const StackRun& run : item.runs) longest = std::max(longest, static_cast<std::size_t>(run.count));
    const auto rounds = product_rounds(item);
    EXPECT_EQ(rounds.size(), longest) << "no more calls than needed";
    for (const ProductRound& round : rounds) {
      EXPECT_EQ(round.m, 3);
      EXPECT_EQ(round.n, 4);
      EXPECT_EQ(round.k, 5);
      ASSERT_EQ(round.a.size(), round.c.size());
      ASSERT_EQ(round.b.size(), round.c.size());
      EXPECT_EQ(std::set<std::int32_t>(round.c.begin(), round.c.end()).size(), round.c.size());
      for (std::size_t p = 0; p < round.c.size(); ++p)
        found[round.c[p]].emplace_back(round.a[p], round.b[p], round.c[p]);
    }
    EXPECT_EQ(found, listed(item)) << products;
  }
}

TEST(ProductRounds, OfSeveralShapesAreApart) {
  StackItem item;
  item.classes = {{1, 2, 3, 0, 2, 0, 3}, {4, 5, 6, 2, 1, 3, 2}};
  item.entries = {{0, 0}, {3, 6}, {6, 0}, {100, 200}, {124, 230}};
  item.runs = {{0, 0, 2}, {2, 2, 1}, {0, 3, 2}};
  const auto rounds = product_rounds(item);
  ASSERT_EQ(rounds.size(), 4u);
  EXPECT_EQ(rounds[0].c, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(rounds[1].a, (std::vector<std::int32_t>{3}));
  EXPECT_EQ(rounds[2].m, 4);
  EXPECT_EQ(rounds[2].b, (std::vector<std::int32_t>{200}));
  EXPECT_EQ(rounds[3].b, (std::vector<std::int32_t>{230}));
  EXPECT_TRUE(product_rounds({}).empty());
}

TEST(RandomStack, HasAllProductsOnce) {
  const RandomStack stack = random_stack(23, 5, 7, 16005, 1);
  EXPECT_EQ(stack.entries.size(), 16005u);
  EXPECT_EQ(stack.shape.runs, static_cast<std::int32_t>(stack.runs.size()));
  std::int32_t next = 0;
  for (const StackRun& run : stack.runs) {
    EXPECT_EQ(run.first, next);
    EXPECT_GE(run.count, 1);
    next += run.count;
  }
  EXPECT_EQ(next, 16005);
  for (const StackEntry& entry : stack.entries) {
    EXPECT_LT(entry.a, random_stack_blocks * 23 * 7);
    EXPECT_LT(entry.b, random_stack_blocks * 7 * 5);
  }
}

}  // namespace
