// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include <tessera/algorithms/sparse/csb_sharing.hpp>

namespace tessera::detail {

namespace {

/// Cuts segments into at most max_runs runs of about the same cost, none of them empty: the run of each
/// segment.
std::vector<int> runs_of_segments(const std::vector<double>& cost, Index max_runs) {
  const auto count = static_cast<Index>(cost.size());
  const Index runs = std::min(max_runs, count);
  std::vector<double> before{0};
  for (const double of_segment : cost) before.push_back(before.back() + of_segment);
  std::vector<int> run_of(cost.size());
  Index begin = 0;
  for (Index run = 1; run < runs; ++run) {
    const double wanted = before.back() * static_cast<double>(run) / static_cast<double>(runs);
    const auto distance = [&](Index s) { return std::abs(before[static_cast<std::size_t>(s)] - wanted); };
    ++begin;
    while (begin < count - (runs - run) && distance(begin + 1) <= distance(begin)) ++begin;
    for (Index s = begin; s < count; ++s) run_of[static_cast<std::size_t>(s)] = static_cast<int>(run);
  }
  return run_of;
}

/// Several GPUs of one rank (CsbPartition::gpus_multiply_rows): a group of rows for each. Segments are dealt
/// in runs of about equally many rows and entries of both triangles; sub-matrices are the rank's.
class RowsOfGpus final : public CsbSharing {
 public:
  explicit RowsOfGpus(int gpus) : gpus_(gpus) {}
  Index usual_groups(const CsbSize&) const override { return gpus_; }
  Index usual_segments(const CsbSize&, Index groups) const override { return ceil_div(Index(gpus_), groups); }
  int domains_per_rank(Index) const override { return gpus_; }
  /// In entries that a GPU multiplies, each for its row and for its column (12 bytes each time).
  double more_of_row() const override { return csb_bytes_of_row / 12; }
  CsbDeal deal(const RowSurvey& survey, const CsbCut& cut) const override {
    std::vector<double> cost;
    for (Index s = 0; s < cut.segment_count(); ++s)
      cost.push_back(survey.work(cut.segment_begin(s), cut.segment_begin(s + 1), more_of_row()));
    const Index groups = cut.group_count();
    return {.sub_matrix = std::vector<int>(static_cast<std::size_t>(groups * (groups + 1) / 2)),
            .home = runs_of_segments(cost, gpus_)};
  }

 private:
  int gpus_;
};

/// Between ranks, where the vectors' messages cost more than the product, and on a single GPU: every domain,
/// a GPU or a rank, has sub-matrices.
class SubMatricesOfDomains final : public CsbSharing {
 public:
  explicit SubMatricesOfDomains(const CsbDomains& on) : on_(on) {}
  Index usual_groups(const CsbSize& size) const override;
  Index usual_segments(const CsbSize& size, Index groups) const override;
  int domains_per_rank(Index) const override { return std::max(on_.gpus, 1); }
  CsbDeal deal(const RowSurvey& survey, const CsbCut& cut) const override;

 private:
  void deal_in_runs(const std::vector<CsbSubMatrix>& all, const std::vector<double>& work, Index groups,
                    CsbDeal& deal) const;
  void deal_homes(const RowSurvey& survey, const CsbCut& cut, CsbDeal& deal) const;

  CsbDomains on_;
};

/// One sub-matrix for each GPU or rank if that is possible, or for an odd number of them a whole column of
/// the balanced arrangement for each, whose sub-matrices are equally many. So for three, too: of two groups
/// one rank would have half of the vectors, and another get three quarters of them in messages. Else some
/// columns for each, and enough sub-matrices to balance their sums of entries.
Index SubMatricesOfDomains::usual_groups(const CsbSize&) const {
  constexpr Index sub_matrices_of_domain = 8;
  const Index number = on_.places();
  const auto count = [](Index n) { return n * (n + 1) / 2; };
  if (number == 1) return number;
  for (Index n = 3; count(n) <= number; ++n)
    if (count(n) == number) return n;
  if (number % 2 == 1) return number;
  Index n = number;
  while (count(n) < sub_matrices_of_domain * number) n += number;
  return n;
}

/// On GPUs one for each; on CPUs two a worker, so that products of different pairs can be in flight together,
/// if they are large enough for a task.
Index SubMatricesOfDomains::usual_segments(const CsbSize& size, Index groups) const {
  const Index for_places = ceil_div(on_.places(), groups);
  if (on_.on_gpus) return for_places;
  const Index of_rank = 2 * on_.workers,
              for_workers = std::min(of_rank, ceil_div(of_rank * on_.ranks, groups));
  return std::max(for_places, std::min(max_csb_segments(size.bytes) / groups, for_workers));
}

CsbDeal SubMatricesOfDomains::deal(const RowSurvey& survey, const CsbCut& cut) const {
  const std::vector<CsbSubMatrix> all = balanced_sub_matrices(cut.group_count());
  CsbDeal deal{.sub_matrix = std::vector<int>(all.size()), .home = {}};
  deal_in_runs(all, csb_work(survey, cut, all), cut.group_count(), deal);
  deal_homes(survey, cut, deal);
  return deal;
}

/// One each, or an odd number of groups' columns one each, or runs of them with about equal numbers of
/// entries.
void SubMatricesOfDomains::deal_in_runs(const std::vector<CsbSubMatrix>& all, const std::vector<double>& work,
                                        Index groups, CsbDeal& deal) const {
  const auto count = static_cast<Index>(all.size());
  const Index domains = on_.places();
  const double total = std::accumulate(work.begin(), work.end(), 0.0);
  const bool whole_columns = groups == domains && domains % 2 == 1;
  double before = 0;
  for (Index i = 0; i < count; ++i) {
    const CsbSubMatrix& at = all[static_cast<std::size_t>(i)];
    const double here = work[static_cast<std::size_t>(i)];
    const Index domain =
        count <= domains ? i
        : whole_columns
            ? at.holder
            : std::min(static_cast<Index>((before + here / 2) / total * static_cast<double>(domains)),
                       domains - 1);
    before += here;
    deal.sub_matrix[CsbPartition::sub_matrix_place(at.row, at.column)] = static_cast<int>(domain);
  }
}

/// A run of segments for each domain in the order of the sub-matrices, whose columns are dealt in runs, too.
/// But a home holds some sub-matrix of the group: the domain nearest to the run's that does.
void SubMatricesOfDomains::deal_homes(const RowSurvey& survey, const CsbCut& cut, CsbDeal& deal) const {
  // A segment costs its home its rows and some steps with the entries of its diagonal tiles (of the
  // preconditioner, FomPreconditioner), in bytes.
  constexpr double bytes_of_entry = 4 * 12;
  std::vector<double> cost;
  for (Index s = 0; s < cut.segment_count(); ++s) {
    const Index begin = cut.segment_begin(s), end = cut.segment_begin(s + 1);
    double entries = 0;
    for (auto tile = std::lower_bound(cut.tiles.begin(), cut.tiles.end(), begin); *tile < end; ++tile)
      entries += survey.entries(tile[0], tile[1], tile[0], tile[1]);
    cost.push_back(csb_bytes_of_row * static_cast<double>(end - begin) + bytes_of_entry * entries);
  }
  const std::vector<int> wanted = runs_of_segments(cost, on_.places());
  for (Index group = 0; group < cut.group_count(); ++group)
    for (Index s = cut.groups[static_cast<std::size_t>(group)];
         s < cut.groups[static_cast<std::size_t>(group) + 1]; ++s) {
      const int run = wanted[static_cast<std::size_t>(s)];
      int home = -1;
      for (Index other = 0; other < cut.group_count(); ++other) {
        const int domain =
            deal.sub_matrix[CsbPartition::sub_matrix_place(std::max(group, other), std::min(group, other))];
        if (home < 0 || std::abs(domain - run) < std::abs(home - run)) home = domain;
      }
      deal.home.push_back(home);
    }
}

}  // namespace

Index max_csb_segments(double bytes) {
  constexpr double least_bytes = 1 << 18;
  return static_cast<Index>(std::sqrt(2 * bytes / least_bytes));
}

std::vector<double> csb_work(const RowSurvey& survey, const CsbCut& cut,
                             const std::vector<CsbSubMatrix>& all) {
  std::vector<double> work;
  for (const auto& [row, column, holder] : all)
    work.push_back(1 + survey.entries(cut.group_begin(row), cut.group_begin(row + 1), cut.group_begin(column),
                                      cut.group_begin(column + 1)));
  return work;
}

std::unique_ptr<const CsbSharing> csb_sharing(const CsbDomains& on) {
  if (on.workers_alone()) return share_among_workers(on.workers);
  if (on.ranks == 1 && on.gpus > 1) return std::make_unique<RowsOfGpus>(on.gpus);
  return std::make_unique<SubMatricesOfDomains>(on);
}

}  // namespace tessera::detail
