// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include <tessera/algorithms/sparse/csb_order.hpp>

namespace tessera::detail {

namespace {

class OpenShop {
 public:
  OpenShop(std::span<const CsbTask> tasks, Index sums)
      : tasks_(tasks),
        left_(static_cast<std::size_t>(sums), 0),
        of_sum_(left_.size()),
        started_(tasks.size(), false) {
    for (std::size_t t = 0; t < tasks.size(); ++t) add_to_sums(static_cast<Index>(t));
    for (Index s = 0; s < sums; ++s) free_.emplace(-left(s), s);
  }

  /// The task to begin with now; -1: all that are left add to sums that are in use.
  Index choose() {
    for (const auto& [negative, sum] : free_) {
      auto& tasks = of_sum_[static_cast<std::size_t>(sum)];
      std::erase_if(tasks, [&](Index t) { return started_[static_cast<std::size_t>(t)]; });
      Index best = -1;
      double most = -1;
      for (const Index t : tasks) {
        const double other = left(other_sum(t, sum));
        if (other > most && is_free(other_sum(t, sum))) best = t, most = other;
      }
      if (best >= 0) return best;
    }
    return -1;
  }

  void start(Index task) {
    started_[static_cast<std::size_t>(task)] = true;
    for_sums(task, [&](Index sum) {
      free_.erase({-left(sum), sum});
      left_[static_cast<std::size_t>(sum)] -= cost(task);
    });
  }
  void finish(Index task) {
    for_sums(task, [&](Index sum) { free_.emplace(-left(sum), sum); });
  }
  double cost(Index task) const { return tasks_[static_cast<std::size_t>(task)].cost; }

 private:
  template <class Visit>
  void for_sums(Index task, const Visit& visit) const {
    const CsbTask& t = tasks_[static_cast<std::size_t>(task)];
    visit(t.rows);
    if (t.columns != t.rows) visit(t.columns);
  }
  void add_to_sums(Index task) {
    for_sums(task, [&](Index sum) {
      left_[static_cast<std::size_t>(sum)] += cost(task);
      of_sum_[static_cast<std::size_t>(sum)].push_back(task);
    });
  }
  double left(Index sum) const { return left_[static_cast<std::size_t>(sum)]; }
  bool is_free(Index sum) const { return free_.contains({-left(sum), sum}); }
  Index other_sum(Index task, Index sum) const {
    const CsbTask& t = tasks_[static_cast<std::size_t>(task)];
    return t.rows == sum ? t.columns : t.rows;
  }

  std::span<const CsbTask> tasks_;
  std::vector<double> left_;                 // to be added to each sum
  std::vector<std::vector<Index>> of_sum_;   // tasks, some of which may have begun
  std::vector<bool> started_;                // of each task
  std::set<std::pair<double, Index>> free_;  // sums in no use: what is left, negative, and the number
};

}  // namespace

std::vector<Index> order_csb_tasks(std::span<const CsbTask> tasks, Index sums, Index workers) {
  OpenShop shop(tasks, sums);
  using Running = std::pair<double, Index>;  // its end, the task
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
  std::vector<Index> order;
  double now = 0;
  while (order.size() < tasks.size()) {
    const Index task = static_cast<Index>(running.size()) < workers ? shop.choose() : -1;
    if (task >= 0) {
      shop.start(task);
      running.emplace(now + shop.cost(task), task);
      order.push_back(task);
    } else {
      now = running.top().first;
      shop.finish(running.top().second);
      running.pop();
    }
  }
  return order;
}

}  // namespace tessera::detail
