// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <tessera/algorithms/sparse/csb_sharing.hpp>

namespace tessera::detail {

namespace {

/// Where the workers of a single rank add up: for each domain and group a sum, if anything is dealt to it.
class Sums {
 public:
  Sums(const CsbCut& cut, Index domains)
      : cut_(cut), domains_(domains), added_(static_cast<std::size_t>(domains * cut.group_count())) {}

  /// What is done one after the other, when `work` is dealt to a domain: what is added to the larger sum of
  /// its two groups, and new sums that have to be added up in the end.
  double time_with(double work, const CsbSubMatrix& at, Index domain) const {
    const double of_row = with(work, domain, at.row), of_column = with(work, domain, at.column);
    return std::max(of_row, of_column) + to_add_up(domain, at.row) +
           (at.row == at.column ? 0 : to_add_up(domain, at.column));
  }
  void add(double work, const CsbSubMatrix& at, Index domain) {
    const double of_row = with(work, domain, at.row), of_column = with(work, domain, at.column);
    added_[place(domain, at.row)] = of_row;
    added_[place(domain, at.column)] = of_column;
  }
  /// The domain with most for a group.
  Index largest(Index group) const {
    Index largest = 0;
    for (Index domain = 1; domain < domains_; ++domain)
      if (added_[place(domain, group)] > added_[place(largest, group)]) largest = domain;
    return largest;
  }

 private:
  std::size_t place(Index domain, Index group) const {
    return static_cast<std::size_t>(group * domains_ + domain);
  }
  /// The time to clear a group's sum, or to add it to another one, in units of the time of an entry: 2.5 for
  /// each of its rows.
  double pass(Index group) const {
    return 2.5 * static_cast<double>(cut_.group_begin(group + 1) - cut_.group_begin(group));
  }
  double with(double work, Index domain, Index group) const {
    const double before = added_[place(domain, group)];
    return work + (before > 0 ? before : pass(group));
  }
  double to_add_up(Index domain, Index group) const {
    const bool is_there = added_[place(domain, group)] > 0,
               is_first = added_[place(largest(group), group)] == 0;
    return is_there || is_first ? 0 : pass(group);
  }

  const CsbCut& cut_;
  Index domains_;
  std::vector<double> added_;  ///< in entries; 0: nothing
};

/// The workers of a single rank without GPUs: a domain is a set of sums that any of them adds to, and each
/// segment is a group.
class SumsOfWorkers final : public CsbSharing {
 public:
  explicit SumsOfWorkers(Index workers) : workers_(workers) {}
  Index usual_groups(const CsbSize& size) const override { return segments(size); }
  Index usual_segments(const CsbSize& size, Index groups) const override {
    return std::max<Index>(segments(size) / groups, 1);
  }
  int domains_per_rank(Index segments) const override;
  CsbDeal deal(const RowSurvey& survey, const CsbCut& cut) const override;

 private:
  Index segments(const CsbSize& size) const;
  Index workers_;
};

/// Three for two workers, so that products of different pairs can be in flight together, and where those are
/// fewer than eight equally many for each worker; fewer where that is not worth a task. More would cost more
/// than they gain, as every product reads two segments of X and Y, and the more tasks there are the later do
/// those of the next step begin. With one segment a worker they would wait longer.
Index SumsOfWorkers::segments(const CsbSize& size) const {
  constexpr Index least = 8;
  constexpr double least_bytes = 1 << 20;
  if (workers_ == 1) return 1;
  const auto of_vectors =
      static_cast<Index>(csb_bytes_of_row * static_cast<double>(size.order) / least_bytes);
  const Index three_for_two = 3 * workers_ / 2,
              max_count = three_for_two >= least ? three_for_two : ceil_div(least, workers_) * workers_,
              wanted =
                  std::clamp<Index>(max_csb_segments(size.bytes), std::min(of_vectors, workers_), max_count);
  if (wanted == max_count) return max_count;
  return wanted < workers_ ? std::max<Index>(wanted, 1) : wanted / workers_ * workers_;
}

/// A domain has at most half as many products in flight as segments; in all there may be about twice as many
/// as workers, so that few of them wait. But sums of more domains must be added up.
int SumsOfWorkers::domains_per_rank(Index segments) const {
  constexpr Index max_domains = 8;
  if (workers_ == 1) return 1;
  return static_cast<int>(std::clamp<Index>((4 * workers_ + segments / 2) / segments, 1, max_domains));
}

/// The largest first, each to the domain that is then done first. Matrices with few entries a row thus get
/// few sums.
CsbDeal SumsOfWorkers::deal(const RowSurvey& survey, const CsbCut& cut) const {
  const std::vector<CsbSubMatrix> all = balanced_sub_matrices(cut.group_count());
  const std::vector<double> work = csb_work(survey, cut, all);
  const Index domains = domains_per_rank(cut.segment_count());
  std::vector<std::size_t> largest_first(all.size());
  std::iota(largest_first.begin(), largest_first.end(), std::size_t(0));
  std::stable_sort(largest_first.begin(), largest_first.end(),
                   [&](std::size_t a, std::size_t b) { return work[a] > work[b]; });
  CsbDeal deal{.sub_matrix = std::vector<int>(all.size()), .home = {}};
  Sums sums(cut, domains);
  for (const std::size_t i : largest_first) {
    Index best = 0;
    for (Index domain = 1; domain < domains; ++domain)
      if (sums.time_with(work[i], all[i], domain) < sums.time_with(work[i], all[i], best)) best = domain;
    sums.add(work[i], all[i], best);
    deal.sub_matrix[CsbPartition::sub_matrix_place(all[i].row, all[i].column)] = static_cast<int>(best);
  }
  for (Index group = 0; group < cut.group_count(); ++group)
    for (Index s = cut.groups[static_cast<std::size_t>(group)];
         s < cut.groups[static_cast<std::size_t>(group) + 1]; ++s)
      deal.home.push_back(static_cast<int>(sums.largest(group)));
  return deal;
}

}  // namespace

std::unique_ptr<const CsbSharing> share_among_workers(Index workers) {
  return std::make_unique<SumsOfWorkers>(workers);
}

}  // namespace tessera::detail
