// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <tessera/algorithms/sparse/csb_pieces.hpp>
#include <tessera/block_vectors.hpp>
#include <tessera/codelets/sparse/sum_vectors.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// The work of one task of y := A x: a piece, or one side of it. A task of a domain that is not a segment's
/// home adds to a partial sum of y.
struct CsbProduct {
  CsbPieceContents contents;           ///< the piece's; its domain is the task's, its shape that of the index
  std::size_t piece;                   ///< number
  Data index{};                        ///< where GPUs take part
  std::optional<std::size_t> tiles{};  ///< the piece of diagonal tiles that the index has, too
  bool has_task = true;                ///< not diagonal tiles that the task of another piece multiplies
  Index row_partial = -1, column_partial = -1;  ///< -1: y itself
};

/// The tasks of y := A x, for the pieces of all ranks; equal on all ranks.
class CsbProducts {
 public:
  /// Where several GPUs of one rank multiply, each one has the rows of Y that it is home to
  /// (CsbPartition::gpus_multiply_rows): a piece between the segments of two of them is two products. Where
  /// only GPUs multiply, a segment's diagonal tiles are multiplied with the first piece between its rows:
  /// they have rows of X in common.
  /// `partition` must outlive this.
  CsbProducts(Runtime& runtime, const CsbPartition& partition, std::span<const CsbPieceContents> pieces);
  CsbProducts(Runtime&, CsbPartition&&, std::span<const CsbPieceContents>) = delete;

  /// At first in the order of the pieces.
  std::vector<CsbProduct>& all() noexcept { return products_; }
  const std::vector<CsbProduct>& all() const noexcept { return products_; }

  /// Puts the products into the order of their tasks, and finds the pieces that they write and the pieces
  /// that must be moved.
  void plan();

  /// Sums for segments of y that are not at home where they are formed, without contents.
  template <class U>
  std::vector<Data> make_partials(Index columns) const {
    std::vector<Data> data;
    for (const Partial& partial : partials_)
      data.push_back(Data::matrix(runtime_, columns, partition_.segments->size(partial.segment), sizeof(U),
                                  partition_.rank_of(partial.domain)));
    return data;
  }
  /// Copies x to all GPUs at once as soon as it is computed: without this a task would request it only when
  /// the task before has ended.
  template <class U>
  void prefetch(const BlockVectors<U>& x) const {
    for (const Visit& visit : visits_) x.segment(visit.segment).prefetch(visit.gpu, false);
  }
  /// Calls insert_product(product, y_rows, y_columns) for all tasks, which write or add to the pieces of y
  /// that their shape names (WriteOrAdd), and inserts the sums of their partial sums.
  template <class U, class Insert>
  void insert(Sequence& sequence, const BlockVectors<U>& y, Index columns, const std::vector<Data>& partial,
              const Insert& insert_product) const;

 private:
  /// The contributions of a domain to a segment of y.
  struct Partial {
    Index segment;
    int domain;
  };
  /// A segment of x of this rank that one of its GPUs reads and another one is home to.
  struct Visit {
    Index segment;
    int gpu;
  };

  bool at_home(Index segment, int domain) const noexcept {
    return partition_.home[static_cast<std::size_t>(segment)] == domain;
  }
  template <class Sum>
  void order(const Sum& sum);
  void note_visits();

  Runtime& runtime_;
  const CsbPartition& partition_;
  std::vector<CsbProduct> products_;
  std::vector<Partial> partials_;  ///< by segment, then by domain
  std::vector<bool> direct_;       ///< whether some task writes the segment of y itself
  std::vector<Visit> visits_;
};

template <class U, class Insert>
void CsbProducts::insert(Sequence& sequence, const BlockVectors<U>& y, Index columns,
                         const std::vector<Data>& partial, const Insert& insert_product) const {
  const auto target = [&](Index place, Index segment) -> const Data& {
    return place < 0 ? y.segment(segment) : partial[static_cast<std::size_t>(place)];
  };
  // The first task of a sum overwrites it.
  for (Index s = 0; s < partition_.segments->count(); ++s) y.segment(s).forget();
  for (const Data& data : partial) data.forget();
  for (const CsbProduct& product : products_)
    if (product.has_task)
      insert_product(product, target(product.row_partial, product.contents.row),
                     target(product.column_partial, product.contents.column));
  // Between GPUs of this rank contributions travel when they are complete, while others are still computed.
  for (std::size_t p = 0; p < partials_.size(); ++p) {
    const auto& [segment, domain] = partials_[p];
    const int home = partition_.home[static_cast<std::size_t>(segment)];
    if (partition_.gpu_of(home) >= 0 && partition_.rank_of(home) == partition_.rank_of(domain))
      partial[p].prefetch(partition_.gpu_of(home), false);
  }
  std::size_t next = 0;
  for (Index s = 0; s < partition_.segments->count(); ++s) {
    std::vector<const Data*> terms;
    for (; next < partials_.size() && partials_[next].segment == s; ++next) terms.push_back(&partial[next]);
    if (direct_[static_cast<std::size_t>(s)] && terms.empty()) continue;
    insert_sum_vectors(
        sequence,
        SumVectors<U>{
            .y = y.segment(s), .columns = static_cast<int>(columns), .rows = partition_.segments->size(s)},
        terms, {.gpu = partition_.segments->gpu(s)});
    // The next product begins with a write: until then no memory is held.
    for (const Data* term : terms) term->invalidate();
  }
}

}  // namespace tessera::detail
