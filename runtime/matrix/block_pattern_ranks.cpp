// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// BlockPattern with several ranks: what they tell each other.
#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include <tessera/block_pattern.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/matrix/block_offsets.hpp>

namespace tessera {

using namespace detail;

/// The numbers of all panels on all ranks, from those of each rank's panels. Collective.
void BlockPattern::share_numbers() {
  if (runtime_->size() == 1) return;
  struct Sums {
    Identity identity;
    Index diagonal_elements;
  };
  struct Numbers {
    Index blocks, elements;
  };
  const Sums mine{identity_of_known(), diagonal_of_known()};
  std::vector<std::byte> bytes(sizeof mine);
  std::memcpy(bytes.data(), &mine, sizeof mine);
  for (Index p = 0; p < panels(); ++p) {
    if (!panel_local(p)) continue;
    const Numbers numbers{panel_blocks(p), panel_elements(p)};
    const auto some = std::as_bytes(std::span(&numbers, 1));
    bytes.insert(bytes.end(), some.begin(), some.end());
  }
  const auto all = runtime_->all_gather(bytes);
  std::vector<const std::byte*> next;
  for (const auto& piece : all) {
    Sums sums;
    std::memcpy(&sums, piece.data(), sizeof sums);
    next.push_back(piece.data() + sizeof sums);
    identity_.first += sums.identity.first;
    identity_.second += sums.identity.second;
    diagonal_elements_ += sums.diagonal_elements;
  }
  for (Index p = 0; p < panels(); ++p) {
    const std::byte*& from = next[static_cast<std::size_t>(panel_owner(p))];
    Numbers numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    from += sizeof numbers;
    panel_blocks_[static_cast<std::size_t>(p)] = numbers.blocks;
    panel_elements_[static_cast<std::size_t>(p)] = numbers.elements;
  }
}

/// The same where this rank has the indices of all panels: the others' go when they are counted.
void BlockPattern::forget_others() {
  if (runtime_->size() == 1) return;
  identity_ = identity_of_known();
  diagonal_elements_ = diagonal_of_known();
  for (Index p = 0; p < panels(); ++p)
    if (!panel_local(p)) index_[static_cast<std::size_t>(p)].reset();
}

std::shared_ptr<const BlockPattern> BlockPattern::gathered(std::span<const Index> wanted) const {
  const auto check = [&] {
    for (const Index p : wanted)
      if (p < 0 || p >= panels())
        throw InvalidArgument("panels", fmt::to_string(p), fmt::format("0 to {}", panels() - 1));
  };
  return collectively(*runtime_, "BlockPattern::gathered", argument_hash(blocks_, elements_), check,
                      [&] { return runtime_->size() == 1 ? shared_from_this() : exchanged(wanted); });
}

std::shared_ptr<const BlockPattern> BlockPattern::gathered() const {
  std::vector<Index> all(static_cast<std::size_t>(panels()));
  std::iota(all.begin(), all.end(), Index{0});
  return gathered(all);
}

/// Every rank asks the owners, every owner answers.
std::shared_ptr<const BlockPattern> BlockPattern::exchanged(std::span<const Index> wanted) const {
  std::vector<Index> panels(wanted.begin(), wanted.end());
  std::sort(panels.begin(), panels.end());
  panels.erase(std::unique(panels.begin(), panels.end()), panels.end());
  std::erase_if(panels, [&](Index p) { return knows(p); });
  std::vector<std::vector<std::byte>> questions(static_cast<std::size_t>(runtime_->size()));
  for (const Index p : panels) {
    auto& question = questions[static_cast<std::size_t>(panel_owner(p))];
    const auto bytes = std::as_bytes(std::span(&p, 1));
    question.insert(question.end(), bytes.begin(), bytes.end());
  }
  std::vector<std::vector<std::byte>> answers;
  for (const auto& question : runtime_->all_to_all(std::move(questions)))
    answers.push_back(indices_of(question));
  answers = runtime_->all_to_all(std::move(answers));
  const std::shared_ptr<BlockPattern> result(new BlockPattern(*runtime_, layout_));
  result->index_ = index_;
  result->panel_blocks_ = panel_blocks_;
  result->panel_elements_ = panel_elements_;
  result->identity_ = identity_;
  result->diagonal_elements_ = diagonal_elements_;
  std::vector<const std::byte*> next;
  for (const auto& answer : answers) next.push_back(answer.data());
  for (const Index p : panels)
    result->index_[static_cast<std::size_t>(p)] =
        std::make_shared<const PanelIndex>(received(p, next[static_cast<std::size_t>(panel_owner(p))]));
  result->complete();
  return result;
}

/// Of panels of this rank, one after the other: beginnings of the rows, then columns.
std::vector<std::byte> BlockPattern::indices_of(std::span<const std::byte> panels) const {
  std::vector<std::byte> bytes;
  const auto append = [&](const std::vector<std::int32_t>& numbers) {
    const auto some = std::as_bytes(std::span(numbers));
    bytes.insert(bytes.end(), some.begin(), some.end());
  };
  for (std::size_t at = 0; at < panels.size(); at += sizeof(Index)) {
    Index p;
    std::memcpy(&p, panels.data() + at, sizeof p);
    if (panel_blocks(p) == 0) continue;
    append(index(p).row_begin);
    append(index(p).column);
  }
  return bytes;
}

/// A panel as its owner has sent it; `from` goes to what follows.
PanelIndex BlockPattern::received(Index p, const std::byte*& from) const {
  const auto panel_rows = rows().panel(row_panel(p));
  PanelIndex index;
  if (panel_blocks(p) == 0) {
    index.row_begin.assign(panel_rows.size() + 1, 0);
    index.offset.assign(1, 0);
    return index;
  }
  const auto take = [&](std::vector<std::int32_t>& to, std::size_t count) {
    to.resize(count);
    std::memcpy(to.data(), from, count * sizeof(std::int32_t));
    from += count * sizeof(std::int32_t);
  };
  take(index.row_begin, panel_rows.size() + 1);
  take(index.column, static_cast<std::size_t>(panel_blocks(p)));
  std::vector<Index> col_sizes;
  for (const Index col : cols().panel(col_panel(p))) col_sizes.push_back(cols().size(col));
  index.offset = block_offsets(index, rows(), panel_rows, col_sizes);
  return index;
}

}  // namespace tessera
