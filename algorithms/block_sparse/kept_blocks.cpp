// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/block_sparse/kept_blocks.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_success.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

template <class T>
KeptBlocks<T>::KeptBlocks(Sequence& sequence, const BlockSparseMatrix<T>& matrix, double eps)
    : pattern_(matrix.pattern_pointer()), eps_(eps), panels_(local_panels(*pattern_)) {
  Runtime& runtime = sequence.runtime();
  for (const std::int32_t p : panels_) {
    const Index rows = pattern_->row_panel(p), cols = pattern_->col_panel(p);
    all_.most_rows =
        std::max(all_.most_rows, word_of(static_cast<Index>(pattern_->rows().panel(rows).size())));
    all_.most_columns =
        std::max(all_.most_columns, word_of(static_cast<Index>(pattern_->cols().panel(cols).size())));
  }
  all_.count = word_of(static_cast<Index>(panels_.size()));
  if (panels_.empty()) return;
  numbers_ = make_task_list(runtime, panels_);
  totals_ = Data::bytes(runtime, panels_.size() * KeptLayout::size * sizeof(std::int64_t), Data::every_rank);
  row_counts_ = Data::bytes(
      runtime, panels_.size() * 2 * static_cast<std::size_t>(all_.most_rows) * sizeof(std::int32_t),
      Data::every_rank);
  norms_ = local_norms(sequence, matrix);
  sequence.insert(FindKept{.pattern = pattern_->packed(),
                           .panels = numbers_,
                           .norms = norms_,
                           .totals = totals_,
                           .row_counts = row_counts_,
                           .of = all_,
                           .eps = eps_},
                  {.execute_on = runtime.rank()});
  totals_.fetch_to_host();
}

template <class T>
DroppedBlocks KeptBlocks<T>::take(BlockSparseMatrix<T>& matrix) {
  Runtime& runtime = pattern_->runtime();
  blocks_.assign(static_cast<std::size_t>(pattern_->panels()), 0);
  elements_ = blocks_;
  double dropped[2] = {0, 0};
  if (!panels_.empty()) {
    const HostAccess access(totals_, HostAccess::Mode::read);
    const auto totals = access.array<const std::int64_t>();
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const auto mine = totals.subspan(i * KeptLayout::size, KeptLayout::size);
      const auto p = static_cast<std::size_t>(panels_[i]);
      blocks_[p] = mine[TotalsLayout::blocks];
      elements_[p] = mine[TotalsLayout::elements];
      identity_.first += static_cast<std::uint64_t>(mine[KeptLayout::identity]);
      identity_.second += static_cast<std::uint64_t>(mine[KeptLayout::identity + 1]);
      dropped[0] += static_cast<double>(pattern_->panel_blocks(panels_[i]) - blocks_[p]);
      dropped[1] += static_cast<double>(mine[KeptLayout::not_zero]);
    }
  }
  runtime.all_reduce_sum(dropped, 2);
  if (dropped[0] == 0) return {0, 0};
  Sequence sequence(runtime);
  BlockSparseMatrix<T> smaller(kept_pattern(sequence));
  for (Index p = 0; p < pattern_->panels(); ++p)
    if (smaller.panel(p).valid())
      sequence.insert(CopyMatching<T>{.from = pattern_->packed(),
                                      .to = smaller.pattern().packed(),
                                      .source = matrix.panel(p),
                                      .destination = overwrite(smaller.panel(p)),
                                      .row_panel = word_of(pattern_->row_panel(p)),
                                      .col_panel = word_of(pattern_->col_panel(p)),
                                      .factor = T(1)});
  finish(sequence);
  matrix = std::move(smaller);
  return {static_cast<Index>(dropped[0]), static_cast<Index>(dropped[1])};
}

/// The pattern of the blocks that are kept; of one process nothing waits for it.
template <class T>
BlockPatternPointer KeptBlocks<T>::kept_pattern(Sequence& sequence) {
  Runtime& runtime = pattern_->runtime();
  Index words = PackedPattern::words_without_panels(pattern_->rows().panels(), pattern_->rows().blocks(),
                                                    pattern_->cols().panels(), pattern_->cols().blocks());
  for (const Index p : panels_)
    words +=
        PackedPattern::panel_words(static_cast<Index>(pattern_->rows().panel(pattern_->row_panel(p)).size()),
                                   blocks_[static_cast<std::size_t>(p)]);
  Data packed =
      Data::bytes(runtime, static_cast<std::size_t>(words) * sizeof(std::int32_t), Data::every_rank);
  if (!panels_.empty())
    sequence.insert(WriteKept{.pattern = pattern_->packed(),
                              .panels = numbers_,
                              .norms = norms_,
                              .totals = totals_,
                              .row_counts = row_counts_,
                              .result = packed,
                              .of = all_,
                              .eps = eps_},
                    {.execute_on = runtime.rank()});
  const auto found = BlockPattern::from_packed(runtime, pattern_->layout(), std::move(packed), blocks_,
                                               elements_, identity_);
  if (runtime.size() == 1) return found;
  std::vector<PanelIndex> index(static_cast<std::size_t>(pattern_->panels()));
  for (const Index p : panels_) index[static_cast<std::size_t>(p)] = found->index(p);
  return BlockPattern::from_panels(runtime, pattern_->layout(), std::move(index));
}

template <class T>
Completion<FilterResult> find_and_drop(BlockSparseMatrix<T>& a, double eps) {
  auto sequence = std::make_unique<Sequence>(a.runtime());
  const auto kept = std::make_shared<KeptBlocks<T>>(*sequence, a, eps);
  auto result = std::make_shared<FilterResult>();
  // The norms decide which blocks there are: they are waited for.
  auto work = work_of(std::move(sequence), [kept, result, &a] {
    const DroppedBlocks dropped = kept->take(a);
    result->dropped_blocks = dropped.all;
    result->nonzero_blocks = dropped.not_zero;
  });
  return {std::move(work), std::move(result)};
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
Completion<FilterResult> submit_filter(BlockSparseMatrix<T>& a, double eps) {
  const auto check = [&] {
    if (!(eps >= 0)) throw InvalidArgument("eps", fmt::to_string(eps), "at least 0");
  };
  return collectively(runtime_of("a", a), "filter", argument_hash(eps, shape_hash(a)), check,
                      [&] { return find_and_drop(a, eps); });
}

template <class T>
Index filter(BlockSparseMatrix<T>& a, double eps) {
  const FilterResult result = submit_filter(a, eps).result();
  require_success(a.runtime(), result.status());
  return result.dropped_blocks;
}

#define TESSERA_INSTANTIATE(T)                                                       \
  template class detail::KeptBlocks<T>;                                              \
  template Completion<FilterResult> submit_filter<T>(BlockSparseMatrix<T>&, double); \
  template Index filter<T>(BlockSparseMatrix<T>&, double);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
