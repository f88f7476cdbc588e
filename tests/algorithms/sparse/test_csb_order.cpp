// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include <tessera/algorithms/sparse/csb_order.hpp>

namespace tessera {
using namespace detail;
namespace {

/// End time of the last task, if tasks that add to the same sum wait for each other in this order
/// and an idle worker takes the task that can begin first.
double seconds(const std::vector<CsbTask>& tasks, const std::vector<Index>& order, Index sums,
               Index workers) {
  std::vector<double> sum_free(static_cast<std::size_t>(sums), 0),
      worker_free(static_cast<std::size_t>(workers), 0);
  std::vector<bool> begun(tasks.size(), false);
  double last = 0;
  for (std::size_t done = 0; done < order.size(); ++done) {
    double first = 1e300;
    std::size_t which = 0;
    std::vector<bool> waited_for(static_cast<std::size_t>(sums), false);
    for (const Index t : order) {
      const auto at = static_cast<std::size_t>(t), rows = static_cast<std::size_t>(tasks[at].rows),
                 columns = static_cast<std::size_t>(tasks[at].columns);
      if (begun[at]) continue;
      const double when = std::max(sum_free[rows], sum_free[columns]);
      if (!waited_for[rows] && !waited_for[columns] && when < first) first = when, which = at;
      waited_for[rows] = waited_for[columns] = true;
    }
    const auto worker = std::min_element(worker_free.begin(), worker_free.end());
    begun[which] = true;
    *worker = std::max(first, *worker) + tasks[which].cost;
    sum_free[static_cast<std::size_t>(tasks[which].rows)] = *worker;
    sum_free[static_cast<std::size_t>(tasks[which].columns)] = *worker;
    last = std::max(last, *worker);
  }
  return last;
}

TEST(CsbOrder, PairsOfFourSumsInThreeRounds) {
  std::vector<CsbTask> tasks;
  for (Index i = 0; i < 4; ++i)
    for (Index j = 0; j < i; ++j) tasks.push_back({i, j, 1});
  const std::vector<Index> order = order_csb_tasks(tasks, 4, 2);
  ASSERT_EQ(order.size(), 6u);
  for (std::size_t round = 0; round < 6; round += 2) {
    std::vector<Index> sums;
    for (const std::size_t k : {round, round + 1}) {
      sums.push_back(tasks[static_cast<std::size_t>(order[k])].rows);
      sums.push_back(tasks[static_cast<std::size_t>(order[k])].columns);
    }
    std::sort(sums.begin(), sums.end());
    EXPECT_EQ(sums, (std::vector<Index>{0, 1, 2, 3})) << round;
  }
  EXPECT_EQ(seconds(tasks, order, 4, 2), 3);
}

/// The time must be close to the lower bound: the larger of the total work per worker and the work
/// of one sum.
TEST(CsbOrder, IsNearTheShortestTime) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> cost(0, 1);
  for (const Index sums : {5, 16, 40})
    for (const Index workers : {1, 2, 8, 16}) {
      std::vector<CsbTask> tasks;
      std::vector<double> of_sum(static_cast<std::size_t>(sums), 0);
      double all = 0;
      for (Index i = 0; i < sums; ++i)
        for (Index j = 0; j <= i; ++j) {
          tasks.push_back({i, j, cost(random)});
          all += tasks.back().cost;
          of_sum[static_cast<std::size_t>(i)] += tasks.back().cost;
          if (i != j) of_sum[static_cast<std::size_t>(j)] += tasks.back().cost;
        }
      const std::vector<Index> order = order_csb_tasks(tasks, sums, workers);
      std::vector<Index> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(sorted.size(), tasks.size());
      for (std::size_t t = 0; t < tasks.size(); ++t) ASSERT_EQ(sorted[t], static_cast<Index>(t));
      const double least =
          std::max(all / static_cast<double>(workers), *std::max_element(of_sum.begin(), of_sum.end()));
      EXPECT_LE(seconds(tasks, order, sums, workers), 1.15 * least) << sums << ' ' << workers;
    }
}

TEST(CsbOrder, OfNothingAndOfOne) {
  EXPECT_TRUE(order_csb_tasks({}, 0, 3).empty());
  const CsbTask one[] = {{0, 0, 0}};
  EXPECT_EQ(order_csb_tasks(one, 1, 1), std::vector<Index>{0});
}

}  // namespace
}  // namespace tessera
