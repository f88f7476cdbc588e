// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <tessera/algorithms/sparse/row_survey.hpp>
#include <tessera/codelets/sparse/csb_layout.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

/// How a half-stored symmetric matrix is cut and dealt; equal on all ranks. A domain has its own
/// memory and sums: a GPU of a rank, a rank without GPUs, or, on a single rank without GPUs, a set of sums
/// that its workers add to.
struct CsbPartition {
  std::vector<Index> tiles;  ///< first row of each and, last, the order; at most 65536 rows each
  std::vector<Index>
      bands;  ///< the same of the rows of cells: tiles, tiny ones taken together, large ones cut
  std::vector<Index> groups;  ///< first segment of each group and, last, the segments' number
  std::shared_ptr<const RowSegments> segments;
  std::vector<int> home;        ///< of each segment: the domain whose contributions go into y itself
  std::vector<int> sub_matrix;  ///< domain of the sub-matrix (I, J), I >= J, at I (I + 1) / 2 + J; its rank's
                                ///< first one where GPUs multiply rows
  int ranks = 1, domains_per_rank = 1, gpus_per_rank = 0;
  std::shared_ptr<const RowSurvey> survey;  ///< by which it was cut

  Index group_count() const noexcept { return static_cast<Index>(groups.size()) - 1; }
  Index group_of(Index segment) const noexcept;
  int domain_of(Index row_group, Index column_group) const noexcept {
    return sub_matrix[sub_matrix_place(row_group, column_group)];
  }
  /// Of (I, J), I >= J, among the sub-matrices.
  static std::size_t sub_matrix_place(Index row_group, Index column_group) noexcept {
    return static_cast<std::size_t>(row_group * (row_group + 1) / 2 + column_group);
  }
  int rank_of(int domain) const noexcept { return domain / domains_per_rank; }
  /// Several GPUs of one rank: each multiplies the rows that it is home to, with both triangles, and needs
  /// all of X, but sums nothing for others. The links between GPUs are fast enough for that, and a GPU's
  /// product is the faster the more of a row's entries it has (csb_index.hpp).
  bool gpus_multiply_rows() const noexcept { return ranks == 1 && gpus_per_rank > 1; }
  /// TaskOptions::gpu of a domain's tasks: unset where ranks have one GPU or none.
  int gpu_of(int domain) const noexcept { return gpus_per_rank > 1 ? domain % gpus_per_rank : -1; }
};

/// The domains to which a matrix is dealt.
struct CsbDomains {
  int ranks = 1;
  int gpus = 0;          ///< of each rank; 0: some rank has none
  bool on_gpus = false;  ///< some rank has GPUs
  Index workers = 1;     ///< of each rank

  explicit CsbDomains(const Runtime& runtime);
  CsbDomains(int rank_count, int gpus_of_rank, Index workers_of_rank)
      : ranks(rank_count), gpus(gpus_of_rank), on_gpus(gpus_of_rank > 0), workers(workers_of_rank) {}
  /// A single rank without GPUs.
  bool workers_alone() const noexcept { return ranks == 1 && !on_gpus; }
  /// GPUs, or ranks without.
  Index places() const noexcept { return Index(ranks) * std::max(gpus, 1); }
  /// The domains of each rank, for `segments` segments in all.
  int per_rank(Index segments) const;
};

/// Of `rows`, or as options.like says. Collective; does not depend on the values' type.
/// @throws InvalidArgument, on all ranks, for bad options, orders and tiles, and where they differ between
/// ranks
CsbPartition csb_partition(const Runtime& runtime, const SymmetricRows& rows, const CsbOptions& options,
                           const CsbDomains& domains);
/// For the ranks and GPUs of the runtime.
inline CsbPartition csb_partition(const Runtime& runtime, const SymmetricRows& rows,
                                  const CsbOptions& options) {
  return csb_partition(runtime, rows, options, CsbDomains(runtime));
}

/// What both ask of their arguments. @throws InvalidArgument, and what the rows throw
void check_arguments(const SymmetricRows& rows, const CsbOptions& options);
/// Of the options' numbers.
std::uint64_t options_hash(const CsbOptions& options);

/// The sub-matrices (I, J), I >= J, column by column of the balanced arrangement: to column c belong the
/// pairs {c, c}, {c, c + 1}, ..., modulo the groups' number n, (n + 1) / 2 for each column when n is odd.
struct CsbSubMatrix {
  Index row, column;  ///< groups, row >= column
  Index holder;       ///< c
};
std::vector<CsbSubMatrix> balanced_sub_matrices(Index groups);

}  // namespace tessera::detail
