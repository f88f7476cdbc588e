// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/symbolic/chosen_blocks.hpp>
#include <tessera/data.hpp>
#include <tessera/runtime/require_success.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// Of the tasks that find patterns, ahead of copies, images and norms, which the GPU makes while the host waits for the
/// pattern.
inline constexpr int symbolic_priority = 1;

/// What tasks know of some panels of a pattern.
PanelsOfC panels_of(const BlockPattern& pattern, std::span<const std::int32_t> panels);
/// Words of a packed pattern of the same dimensions with blocks in these panels; `counts`: of each of all panels.
Index packed_words(const BlockPattern& pattern, std::span<const std::int32_t> panels,
                   std::span<const PanelCounts> counts) noexcept;
/// From the numbers that a task has found for a panel (TotalsLayout).
PanelCounts counts_of(std::span<const std::int64_t> totals) noexcept;

/// A pattern of blocks that a pair of tasks chooses (ChosenLayout), each rank's panels by tasks of that rank:
/// the patterns that they read, and the new one, are where the tasks run; the host learns how many blocks there
/// are.
class ChosenPattern {
 public:
  /// @param like has the layout of the new pattern
  /// @param panels of this rank in which blocks are looked for
  ChosenPattern(BlockPatternPointer like, std::vector<std::int32_t> panels);

  /// Inserts the task that counts, whose own operands are set; nothing if this rank looks at no panel.
  template <class Task>
  void count(Sequence& sequence, Task task) {
    if (panels_.empty()) return;
    insert(sequence, task);
    if (!expected_) totals_.fetch_to_host();
  }
  /// When that is over: its numbers.
  void take();
  /// Instead of that, before the task is inserted: its numbers, where the caller knows them.
  void expect(std::vector<PanelCounts> counts, BlockPattern::Identity identity);
  /// Of this rank: the blocks less those of `like` in the panels, and the sum of ChosenLayout::counted.
  Index difference() const noexcept { return difference_; }
  Index counted() const noexcept { return counted_; }
  /// Of the packed pattern of this rank.
  Index words() const noexcept { return packed_words(*like_, panels_, counts_); }
  /// The pattern, by the task that writes it. In one process nothing waits for that; of several ranks each
  /// needs its index on the host. Collective.
  template <class Task>
  BlockPatternPointer write(Sequence& sequence, Task task) {
    Data packed = make_packed();
    if (!panels_.empty()) {
      task.result = packed;
      insert(sequence, task);
    }
    return pattern_of(std::move(packed));
  }
  /// The same in a sequence of its own, which the given one keeps: what has failed in that one before, or will, must
  /// not leave a pattern unwritten that others read. Collective.
  template <class Task>
  BlockPatternPointer write_apart(Sequence& sequence, Task task) {
    const auto writing = std::make_shared<Sequence>(like_->runtime());
    BlockPatternPointer pattern = write(*writing, std::move(task));
    if (like_->runtime().size() == 1)
      sequence.keep(writing);
    else
      finish(*writing);
    return pattern;
  }

 private:
  template <class Task>
  void insert(Sequence& sequence, Task& task) {
    task.panels = numbers_;
    task.totals = totals_;
    task.row_counts = row_counts_;
    task.of = of_;
    sequence.insert(task, {.priority = symbolic_priority, .execute_on = like_->runtime().rank()});
  }
  Data make_packed() const;
  BlockPatternPointer pattern_of(Data packed) const;
  const BlockPatternPointer like_;
  const std::vector<std::int32_t> panels_;
  const PanelsOfC of_;
  Data numbers_, totals_, row_counts_;
  bool expected_ = false;  ///< the numbers are known before the task is over
  Index difference_ = 0, counted_ = 0;
  std::vector<PanelCounts> counts_;    // of each panel
  BlockPattern::Identity identity_{};  // of this rank's panels
};

}  // namespace tessera::detail
