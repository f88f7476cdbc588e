// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/algorithms/sparse/row_survey.hpp>

namespace tessera::detail {

/// How the rows of a matrix are cut, before they are dealt to ranks.
struct CsbCut {
  std::vector<Index> tiles;           ///< first row of each and, last, the order
  std::vector<Index> group_begins;    ///< first row of each group and, last, the order
  std::vector<Index> groups;          ///< first segment of each group and, last, the segments' number
  std::vector<Index> segment_begins;  ///< first row of each segment and, last, the order

  Index segment_count() const noexcept { return static_cast<Index>(segment_begins.size()) - 1; }
  Index group_count() const noexcept { return static_cast<Index>(groups.size()) - 1; }
  Index segment_begin(Index segment) const { return segment_begins[static_cast<std::size_t>(segment)]; }
  Index group_begin(Index group) const { return group_begins[static_cast<std::size_t>(group)]; }
};

/// What is dealt to the domains: CsbPartition's members.
struct CsbDeal {
  std::vector<int> sub_matrix, home;
};

/// A matrix's size, as far as the numbers of its parts depend on it.
struct CsbSize {
  Index order = 0;
  double bytes = 0;  ///< of the stored half, with double values
};

/// Who multiplies what and adds it up where. One of three, chosen once (csb_sharing): the workers of a single
/// rank without GPUs, several GPUs of a single rank, or domains of which each has sub-matrices.
class CsbSharing {
 public:
  virtual ~CsbSharing() = default;
  /// Groups of rows, and segments in each group, where the options leave that open.
  virtual Index usual_groups(const CsbSize& size) const = 0;
  virtual Index usual_segments(const CsbSize& size, Index groups) const = 0;
  /// For `segments` segments in all.
  virtual int domains_per_rank(Index segments) const = 0;
  /// What a row costs beside its entries where rows are cut into equal work (RowSurvey::work).
  virtual double more_of_row() const { return 0; }
  virtual CsbDeal deal(const RowSurvey& survey, const CsbCut& cut) const = 0;
};
std::unique_ptr<const CsbSharing> csb_sharing(const CsbDomains& on);

/// Of a single rank without GPUs (csb_worker_sums.cpp).
std::unique_ptr<const CsbSharing> share_among_workers(Index workers);

/// The most segments: each must be large enough for a task.
Index max_csb_segments(double bytes);

/// What a row costs its home in an iteration beside the product, in bytes: about forty passes over blocks of
/// a dozen vectors.
inline constexpr double csb_bytes_of_row = 40. * 12 * sizeof(double);

/// Stored entries of each sub-matrix, and one more.
std::vector<double> csb_work(const RowSurvey& survey, const CsbCut& cut,
                             const std::vector<CsbSubMatrix>& all);

}  // namespace tessera::detail
