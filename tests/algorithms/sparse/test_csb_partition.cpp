// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <tests/support/symmetric_rows.hpp>

#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/matgen.hpp>

/// How matrices are distributed to ranks and GPUs. The machine needs no GPU and only one rank.
namespace tessera::test {
using namespace detail;
namespace {

/// All elements of the triangle, in tiles of eight rows.
class FullRows final : public SymmetricRows {
 public:
  explicit FullRows(Index order) : order_(order) {
    for (Index begin = 0; begin < order; begin += 8) tiles_.push_back(begin);
    tiles_.push_back(order);
  }
  Index order() const override { return order_; }
  std::span<const Index> tiles() const override { return tiles_; }
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override {
    for (Index row = first_row; row < end_row; ++row)
      for (Index column = first_column; column < std::min(end_column, row + 1); ++column)
        out.push_back({static_cast<std::uint32_t>(row - first_row),
                       static_cast<std::uint32_t>(column - first_column), 1.0});
  }

 private:
  Index order_;
  std::vector<Index> tiles_;
};

class CsbPartitionTest : public ::testing::Test {
 protected:
  CsbPartition cut(const SymmetricRows& rows, const CsbDomains& domains, const CsbOptions& options = {}) {
    return csb_partition(runtime_, rows, options, domains);
  }
  Runtime runtime_{{.cores = 1, .gpus = 0}};
};

/// Number of rows whose home is each domain.
std::vector<Index> rows_of_domains(const CsbPartition& partition, Index domains) {
  std::vector<Index> rows(static_cast<std::size_t>(domains));
  for (Index s = 0; s < partition.segments->count(); ++s)
    rows[static_cast<std::size_t>(partition.home[static_cast<std::size_t>(s)])] +=
        partition.segments->size(s);
  return rows;
}

/// Pairs of groups of the domain's sub-matrices.
std::set<Index> touched(const CsbPartition& partition, int domain) {
  std::set<Index> groups;
  for (Index row = 0; row < partition.group_count(); ++row)
    for (Index column = 0; column <= row; ++column)
      if (partition.domain_of(row, column) == domain) groups.insert({row, column});
  return groups;
}

TEST_F(CsbPartitionTest, SegmentsKnowRankAndGpuOfTheirHome) {
  const FullRows rows(2000);
  for (const auto& [ranks, gpus] : {std::pair(1, 4), {3, 2}, {2, 3}, {3, 1}, {4, 0}, {1, 0}}) {
    SCOPED_TRACE(::testing::Message() << ranks << " ranks with " << gpus << " GPUs");
    const CsbDomains domains(ranks, gpus, 16);
    const CsbPartition partition = cut(rows, domains);
    EXPECT_EQ(partition.domains_per_rank, domains.per_rank(partition.segments->count()));
    for (Index s = 0; s < partition.segments->count(); ++s) {
      const int home = partition.home[static_cast<std::size_t>(s)];
      EXPECT_TRUE(partition.gpus_multiply_rows() || touched(partition, home).contains(partition.group_of(s)));
      EXPECT_EQ(partition.segments->owner(s), home / partition.domains_per_rank);
      EXPECT_EQ(partition.segments->gpu(s), gpus > 1 ? home % gpus : -1);
      EXPECT_EQ(partition.gpu_of(home), partition.segments->gpu(s));
    }
  }
}

/// Calls visit(row, column) for each entry of the stored half.
template <class Visit>
void for_entries(const SymmetricRows& rows, const Visit& visit) {
  std::vector<Index> tiles(rows.tiles().begin(), rows.tiles().end());
  if (tiles.empty()) tiles = {0, rows.order()};
  for (std::size_t t = 0; t + 1 < tiles.size(); ++t) {
    std::vector<SparseEntry> entries;
    rows.entries(tiles[t], tiles[t + 1], 0, rows.order(), entries);
    for (const SparseEntry& entry : entries) visit(tiles[t] + entry.row, Index(entry.column));
  }
}

/// Number of entries that are added to the sum of each domain and group.
std::map<std::pair<int, Index>, double> entries_of_sums(const CsbPartition& partition,
                                                        const SymmetricRows& rows) {
  std::map<std::pair<int, Index>, double> sums;
  for_entries(rows, [&](Index i, Index j) {
    const Index row = partition.group_of(partition.segments->segment_of(i)),
                column = partition.group_of(partition.segments->segment_of(j));
    const int domain = partition.domain_of(row, column);
    sums[{domain, row}] += 1;
    if (row != column) sums[{domain, column}] += 1;
  });
  return sums;
}

double entries_of(const SymmetricRows& rows) {
  double count = 0;
  for_entries(rows, [&](Index, Index) { ++count; });
  return count;
}

/// Updates of one sum run one after the other. No sum may take much longer than the total work of
/// all workers divided by their number, so that workers need not wait
/// (CsbOrder.IsNearTheShortestTime).
TEST_F(CsbPartitionTest, NoSumTakesMuchLongerThanAllWorkers) {
  const SparseGenerator shell = make_sparse_generator("shell:24Mg");
  const FullRows full(2000);
  for (const SymmetricRows* rows : {static_cast<const SymmetricRows*>(&full), shell.a.get()})
    for (const Index workers : {2, 3, 4, 6, 8, 15, 31}) {
      SCOPED_TRACE(::testing::Message() << rows->order() << " rows, " << workers << " workers");
      const CsbPartition partition = cut(*rows, {1, 0, workers});
      const auto sums = entries_of_sums(partition, *rows);
      double largest = 0;
      for (const auto& [sum, entries] : sums) largest = std::max(largest, entries);
      EXPECT_LE(largest, 1.1 * entries_of(*rows) / static_cast<double>(workers));
    }
  EXPECT_EQ(cut(full, {1, 0, 1}).segments->count(), 1);
  EXPECT_EQ(cut(full, {1, 0, 1}).domains_per_rank, 1);
}

/// Three segments for two workers, or equally many for each of few workers. If these segments are
/// too small for tasks, each worker gets one. Every segment is a group.
TEST_F(CsbPartitionTest, WorkersHaveAFewSegmentsEach) {
  const FullRows large(4000);
  const SparseGenerator shell = make_sparse_generator("shell:24Mg"),
                        chain = make_sparse_generator("laplacian1d:1000");
  const auto expect = [&](const SymmetricRows& rows, Index workers, Index segments, int domains) {
    const CsbPartition partition = cut(rows, {1, 0, workers});
    EXPECT_EQ(partition.segments->count(), segments) << workers;
    EXPECT_EQ(partition.group_count(), segments) << workers;
    EXPECT_EQ(partition.domains_per_rank, domains) << workers;
  };
  expect(large, 1, 1, 1);
  expect(large, 2, 8, 1);
  expect(large, 3, 9, 1);
  expect(large, 4, 8, 2);
  expect(large, 5, 10, 2);
  expect(large, 6, 9, 3);
  expect(large, 8, 12, 3);
  expect(large, 15, 22, 3);
  expect(*shell.a, 15, 15, 4);
  expect(*chain.a, 15, 3, 8);
}

/// With few entries per row, adding partial sums costs more than multiplying, so each row has one
/// sum.
TEST_F(CsbPartitionTest, MatricesWithFewEntriesHaveNoSumsToAddUp) {
  for (const char* name : {"laplacian1d:20000", "laplacian2d:150", "laplacian3d:30"}) {
    const SparseGenerator laplacian = make_sparse_generator(name);
    for (const Index workers : {4, 15}) {
      const CsbPartition partition = cut(*laplacian.a, {1, 0, workers});
      EXPECT_GE(partition.segments->count(), workers) << name;
      EXPECT_GT(partition.domains_per_rank, 1);
      for (const auto& [at, entries] : entries_of_sums(partition, *laplacian.a))
        EXPECT_EQ(at.first, partition.home[static_cast<std::size_t>(at.second)]) << name << ' ' << workers;
    }
  }
}

/// Each GPU of one rank has a segment with about equal numbers of rows and of entries (both
/// triangles).
TEST_F(CsbPartitionTest, GpusHaveASegmentEach) {
  const SparseGenerator shell = make_sparse_generator("shell:24Mg");
  const FullRows full(2000);
  for (const SymmetricRows* rows : {static_cast<const SymmetricRows*>(&full), shell.a.get()}) {
    const CsbPartition partition = cut(*rows, {1, 4, 8});
    EXPECT_TRUE(partition.gpus_multiply_rows());
    EXPECT_EQ(partition.home, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(partition.sub_matrix, std::vector<int>(10, 0));
    for (const Index of_domain : rows_of_domains(partition, 4))
      EXPECT_NEAR(static_cast<double>(of_domain) / static_cast<double>(rows->order()), 0.25, 0.03);
    std::vector<double> of_gpu(4);
    for_entries(*rows, [&](Index i, Index j) {
      for (const Index row : {i, j})
        of_gpu[static_cast<std::size_t>(partition.segments->segment_of(row))] += 1;
    });
    for (const double count : of_gpu) EXPECT_NEAR(count / (2 * entries_of(*rows)), 0.25, 0.03);
  }
  // With more segments than GPUs, each GPU gets consecutive segments.
  CsbOptions options;
  options.groups = 6;
  EXPECT_EQ(cut(full, {1, 2, 8}, options).home, (std::vector<int>{0, 0, 0, 1, 1, 1}));
}

/// A few rows hold almost all entries, so the cost of the vectors must count as well.
TEST_F(CsbPartitionTest, GpusShareRowsWithoutEntriesToo) {
  class DenseCorner final : public SymmetricRows {
   public:
    Index order() const override { return 20000; }
    void entries(Index first_row, Index end_row, Index first_column, Index end_column,
                 std::vector<SparseEntry>& out) const override {
      for (Index row = first_row; row < end_row; ++row)
        for (Index column = first_column; column < std::min(end_column, row + 1); ++column)
          if (row < 300 || row == column)
            out.push_back({static_cast<std::uint32_t>(row - first_row),
                           static_cast<std::uint32_t>(column - first_column), 1.0});
    }
  };
  for (const Index of_domain : rows_of_domains(cut(DenseCorner(), {1, 2, 8}), 2)) {
    EXPECT_GT(of_domain, 9000);
    EXPECT_LT(of_domain, 11000);
  }
}

/// With an odd number of ranks each has equally many rows and entries, and reads equally many
/// segments of other ranks.
TEST_F(CsbPartitionTest, OddRanksHaveAColumnEach) {
  const FullRows rows(2100);
  for (const int ranks : {3, 5, 7}) {
    const CsbPartition partition = cut(rows, {ranks, 1, 4});
    ASSERT_EQ(partition.group_count(), ranks);
    EXPECT_EQ(partition.segments->count(), ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(partition.segments->owner(rank), rank);
      std::set<Index> expected;
      for (Index distance = 0; distance <= ranks / 2; ++distance) expected.insert((rank + distance) % ranks);
      EXPECT_EQ(touched(partition, rank), expected);
    }
  }
}

/// As in Maris et al. 2022, each of six ranks has one sub-matrix. Two ranks have several
/// sub-matrices each, with equal sums of entries over all their GPUs.
TEST_F(CsbPartitionTest, SubMatricesOfRanksAndOfGpus) {
  const FullRows rows(2400);
  const CsbPartition of_ranks = cut(rows, {6, 1, 4});
  ASSERT_EQ(of_ranks.group_count(), 3);
  EXPECT_EQ(std::set<int>(of_ranks.sub_matrix.begin(), of_ranks.sub_matrix.end()).size(), 6u);
  for (const Index of_rank : rows_of_domains(of_ranks, 6)) EXPECT_NEAR(double(of_rank), 400, 16);
  for (const auto& [ranks, gpus] : {std::pair(2, 1), {2, 2}, {4, 1}, {2, 4}}) {
    const int domains = ranks * gpus;
    const CsbPartition partition = cut(rows, {ranks, gpus, 4});
    EXPECT_EQ(partition.group_count() % domains, 0);
    std::vector<double> entries(static_cast<std::size_t>(domains));
    for (Index row = 0; row < partition.group_count(); ++row)
      for (Index column = 0; column <= row; ++column) {
        const auto size = [&](Index group) {
          return double(partition.segments->size(partition.groups[static_cast<std::size_t>(group)]));
        };
        entries[static_cast<std::size_t>(partition.domain_of(row, column))] +=
            size(row) * size(column) / (row == column ? 2 : 1);
      }
    for (const double here : entries) EXPECT_NEAR(here * domains / (2400. * 2400 / 2), 1, 0.12) << domains;
    for (const Index here : rows_of_domains(partition, domains))
      EXPECT_NEAR(double(here) * domains / 2400, 1, 0.08) << domains;
  }
}

}  // namespace
}  // namespace tessera::test
