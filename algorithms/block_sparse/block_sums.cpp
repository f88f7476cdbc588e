// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/block_sparse/block_sums.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// The panels that may have elements of the diagonal.
std::vector<bool> holds_diagonal(const BlockPattern& pattern) {
  std::vector<bool> holds(static_cast<std::size_t>(pattern.panels()), false);
  if (pattern.rows().same_panels(pattern.cols())) {
    for (Index p = 0; p < pattern.row_panels(); ++p)
      holds[static_cast<std::size_t>(pattern.panel(p, p))] = true;
    return holds;
  }
  for (const auto& [row, col] : blocks_on_diagonal(pattern.layout()))
    holds[static_cast<std::size_t>(
        pattern.panel(pattern.rows().panel_of(row), pattern.cols().panel_of(col)))] = true;
  return holds;
}

/// For a number for each block of this rank.
Data room_for_norms(const BlockPattern& pattern) {
  Index blocks = 0;
  for (const std::int32_t p : local_panels(pattern)) blocks += pattern.panel_blocks(p);
  return Data::bytes(pattern.runtime(), static_cast<std::size_t>(blocks) * sizeof(double), Data::every_rank);
}

}  // namespace

std::vector<std::int32_t> local_panels(const BlockPattern& pattern) {
  std::vector<std::int32_t> panels;
  for (Index p = 0; p < pattern.panels(); ++p)
    if (pattern.panel_local(p) && pattern.panel_blocks(p) > 0) panels.push_back(word_of(p));
  return panels;
}

template <class T>
void insert_norms(Sequence& sequence, const BlockSparseMatrix<T>& matrix,
                  std::span<const std::int32_t> panels, const Data& norms, Index before,
                  const TaskOptions& options) {
  while (!panels.empty()) {
    const auto some = panels.first(std::min<std::size_t>(panels.size(), NormedPanels::most));
    NormedPanels taken{.count = word_of(static_cast<Index>(some.size())), .before = word_of(before)};
    std::vector<const Data*> values;
    for (const std::int32_t p : some) {
      taken.number[values.size()] = p;
      values.push_back(&matrix.panel(p));
    }
    sequence.insert(
        BlockNorms<T>{
            .pattern = matrix.pattern().packed(), .norms = norms, .values = values, .panels = taken},
        options);
    panels = panels.subspan(some.size());
  }
}

template <class T>
Data local_norms(Sequence& sequence, const BlockSparseMatrix<T>& matrix) {
  const std::vector<std::int32_t> panels = local_panels(matrix.pattern());
  if (panels.empty()) return {};
  Data norms = room_for_norms(matrix.pattern());
  insert_norms(sequence, matrix, panels, norms, 0, {.execute_on = sequence.runtime().rank()});
  return norms;
}

template <class T>
BlockSums<T>::BlockSums(Sequence& sequence, const BlockSparseMatrix<T>& matrix, const WantedSums<T>& wanted)
    : pattern_(matrix.pattern_pointer()) {
  WantedSums<T> here = wanted;
  if (wanted.other && matrix.symmetry() != Symmetry::none && wanted.other->symmetry() == Symmetry::none) {
    const BlockSparseMatrix<T> whole = desymmetrize(sequence, matrix);
    of_both_ =
        std::make_unique<BlockSums>(sequence, whole, WantedSums<T>{.other = wanted.other, .eps = wanted.eps});
    here.other = nullptr;
  } else if (wanted.other) {
    BlockLayout places = matrix.layout();
    places.symmetry = matrix.symmetry() == Symmetry::none ? Symmetry::none : wanted.other->symmetry();
    if (!wanted.other->layout().same_places(places)) {
      moved_ = redistribute(sequence, *wanted.other, places);
      here.other = &moved_;
    }
  }
  if (here.any()) insert(sequence, matrix, here);
}

template <class T>
void BlockSums<T>::insert(Sequence& sequence, const BlockSparseMatrix<T>& matrix,
                          const WantedSums<T>& wanted) {
  Runtime& runtime = sequence.runtime();
  const bool by_norms = wanted.squares || wanted.eps > 0;
  const std::vector<bool> diagonal = holds_diagonal(*pattern_);
  const auto has_trace = [&](Index p) { return wanted.trace && diagonal[static_cast<std::size_t>(p)]; };
  for (const std::int32_t p : local_panels(*pattern_))
    if (by_norms || has_trace(p) || (wanted.other && wanted.other->panel(p).valid())) panels_.push_back(p);
  if (panels_.empty()) return;
  if (by_norms) norms_ = room_for_norms(*pattern_);
  const std::size_t most = std::min<std::size_t>(panels_.size(), SummedPanels::most);
  work_ = Data::scratch(runtime, runtime.gpus() > 0 ? panel_sum_bytes(most) : sizeof(double));
  for (std::span<const std::int32_t> left = panels_; !left.empty();) {
    const auto some = left.first(std::min<std::size_t>(left.size(), SummedPanels::most));
    left = left.subspan(some.size());
    SummedPanels taken{.trace = wanted.trace, .eps = wanted.eps};
    std::vector<const Data*> values;
    const auto operand = [&](const Data& panel) {
      values.push_back(&panel);
      return word_of(static_cast<Index>(values.size()) - 1);
    };
    for (const std::int32_t p : some) {
      const bool scalar_product = wanted.other && wanted.other->panel(p).valid();
      taken.number[taken.count] = p;
      taken.values[taken.count] = by_norms || scalar_product || has_trace(p) ? operand(matrix.panel(p)) : -1;
      // A matrix times itself has each panel once.
      const bool itself = scalar_product && wanted.other->panel(p).handle() == matrix.panel(p).handle();
      taken.others[taken.count] = !scalar_product ? -1
                                  : itself        ? taken.values[taken.count]
                                                  : operand(wanted.other->panel(p));
      ++taken.count;
    }
    sums_.push_back(Data::bytes(runtime, some.size() * SumLayout::size * sizeof(double), Data::every_rank));
    SumPanels<T> task{.pattern = pattern_->packed(),
                      .values = values,
                      .sums = sums_.back(),
                      .work = work_,
                      .panels = taken,
                      .symmetry = matrix.symmetry()};
    if (by_norms) task.norms = norms_;
    if (wanted.other) {
      task.other_pattern = wanted.other->pattern().packed();
      task.other_symmetry = wanted.other->symmetry();
    }
    sequence.insert(task, {.execute_on = runtime.rank()});
    sums_.back().fetch_to_host();
  }
}

template <class T>
BlockTotals BlockSums<T>::total() const {
  // Every number comes from one rank; the others add -0, which changes nothing (not even the sign of a zero).
  std::vector<double> all(static_cast<std::size_t>(pattern_->panels()) * SumLayout::size, -0.0);
  std::span<const std::int32_t> left = panels_;
  for (const Data& piece : sums_) {
    const HostAccess access(piece, HostAccess::Mode::read);
    const double* sums = access.array<const double>().data();
    for (std::size_t i = 0; i < SummedPanels::most && !left.empty(); ++i, sums += SumLayout::size) {
      std::copy_n(sums, SumLayout::size, all.begin() + std::int64_t(left.front()) * SumLayout::size);
      left = left.subspan(1);
    }
  }
  pattern_->runtime().all_reduce_sum(all.data(), static_cast<Index>(all.size()));
  BlockTotals totals;
  for (std::size_t at = 0; at < all.size(); at += SumLayout::size) {
    totals.squares += all[at + SumLayout::squares];
    totals.trace += std::complex<double>(all[at + SumLayout::trace], all[at + SumLayout::trace + 1]);
    totals.dot += std::complex<double>(all[at + SumLayout::dot], all[at + SumLayout::dot + 1]);
  }
  if (of_both_) totals.dot = of_both_->total().dot;
  return totals;
}

#define TESSERA_INSTANTIATE(T)                                                                         \
  template class BlockSums<T>;                                                                         \
  template void insert_norms<T>(Sequence&, const BlockSparseMatrix<T>&, std::span<const std::int32_t>, \
                                const Data&, Index, const TaskOptions&);                               \
  template Data local_norms<T>(Sequence&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
