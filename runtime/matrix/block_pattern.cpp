// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tessera/block_pattern.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/matrix/block_offsets.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>

namespace tessera::detail {

namespace {

using Position = std::pair<std::int32_t, std::int32_t>;

/// Blocks of one panel, by (row, column) position.
PanelIndex panel_index(std::vector<Position>& positions, std::size_t rows) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  PanelIndex index;
  index.row_begin.assign(rows + 1, 0);
  index.column.reserve(positions.size());
  for (const auto& [row, col] : positions) {
    ++index.row_begin[static_cast<std::size_t>(row) + 1];
    index.column.push_back(col);
  }
  for (std::size_t row = 0; row < rows; ++row) index.row_begin[row + 1] += index.row_begin[row];
  return index;
}

/// The blocks that the ranks name, at the ranks that own them; nothing in one process. Collective.
std::vector<std::vector<std::byte>> at_their_owners(const Runtime& runtime, const BlockLayout& layout,
                                                    std::span<const BlockCoordinate> blocks) {
  if (runtime.size() == 1) return {};
  std::vector<std::vector<std::byte>> pieces(static_cast<std::size_t>(runtime.size()));
  for (const BlockCoordinate& block : blocks) {
    auto& piece = pieces[static_cast<std::size_t>(layout.owner(block.row, block.col))];
    const auto bytes = std::as_bytes(std::span(&block, 1));
    piece.insert(piece.end(), bytes.begin(), bytes.end());
  }
  return runtime.all_to_all(std::move(pieces));
}

template <class Visit>
void for_each_named(std::span<const std::vector<std::byte>> pieces, const Visit& visit) {
  for (const std::vector<std::byte>& piece : pieces)
    for (std::size_t at = 0; at < piece.size(); at += sizeof(BlockCoordinate)) {
      BlockCoordinate block;
      std::memcpy(&block, piece.data() + at, sizeof block);
      visit(block);
    }
}

}  // namespace

std::vector<Index> block_offsets(const PanelIndex& index, const BlockDimension& rows,
                                 std::span<const Index> panel_rows, std::span<const Index> col_sizes) {
  std::vector<Index> offsets(index.column.size() + 1);
  Index offset = 0;
  for (std::size_t row = 0; row < panel_rows.size(); ++row) {
    const Index m = rows.size(panel_rows[row]);
    for (auto b = static_cast<std::size_t>(index.row_begin[row]);
         b < static_cast<std::size_t>(index.row_begin[row + 1]); ++b) {
      offsets[b] = offset;
      offset += m * col_sizes[static_cast<std::size_t>(index.column[b])];
    }
  }
  offsets.back() = offset;
  return offsets;
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

void BlockPattern::require_places(const BlockLayout& layout, std::span<const BlockCoordinate> blocks) {
  for (const auto& [row, col] : blocks) {
    if (row < 0 || row >= layout.rows->blocks())
      throw InvalidArgument("block row", fmt::to_string(row),
                            fmt::format("0 to {}", layout.rows->blocks() - 1));
    if (col < 0 || col >= layout.cols->blocks())
      throw InvalidArgument("block column", fmt::to_string(col),
                            fmt::format("0 to {}", layout.cols->blocks() - 1));
    if (!layout.stores(row, col))
      throw InvalidArgument("block", fmt::format("({}, {})", row, col),
                            "on or below the diagonal of a matrix that stores its lower half");
  }
}

Index PanelIndex::find(Index row, Index col) const noexcept {
  if (column.empty()) return -1;
  const auto first = column.begin() + row_begin[static_cast<std::size_t>(row)],
             last = column.begin() + row_begin[static_cast<std::size_t>(row) + 1];
  const auto at = std::lower_bound(first, last, static_cast<std::int32_t>(col));
  return at != last && *at == col ? at - column.begin() : -1;
}

std::shared_ptr<const BlockPattern> BlockPattern::make(Runtime& runtime, const BlockLayout& layout,
                                                       std::span<const BlockCoordinate> local_blocks) {
  const auto check = [&] {
    layout.require_valid(runtime);
    require_places(layout, local_blocks);
  };
  return collectively(runtime, "BlockPattern::make", layout.hash(runtime), check, [&] {
    const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
    const auto named = at_their_owners(runtime, layout, local_blocks);
    pattern->compress(
        [&](const auto& visit) {
          if (runtime.size() == 1)
            std::for_each(local_blocks.begin(), local_blocks.end(), visit);
          else
            for_each_named(named, visit);
        },
        false);
    pattern->share_numbers();
    pattern->complete();
    return std::shared_ptr<const BlockPattern>(pattern);
  });
}

std::shared_ptr<const BlockPattern> BlockPattern::make_replicated(
    Runtime& runtime, const BlockLayout& layout, std::span<const BlockCoordinate> all_blocks) {
  layout.require_valid(runtime);
  require_places(layout, all_blocks);
  const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
  pattern->compress([&](const auto& visit) { std::for_each(all_blocks.begin(), all_blocks.end(), visit); },
                    true);
  pattern->forget_others();
  pattern->complete();
  return pattern;
}

/// Indices of the blocks that for_each_block(visit) visits, in any order, some of them perhaps repeatedly: of this
/// rank's panels or of all.
template <class Visit>
void BlockPattern::compress(const Visit& for_each_block, bool all) {
  std::vector<std::vector<Position>> positions(static_cast<std::size_t>(panels()));
  for_each_block([&](const BlockCoordinate& block) {
    const Index at = panel(rows().panel_of(block.row), cols().panel_of(block.col));
    positions[static_cast<std::size_t>(at)].emplace_back(rows().position(block.row),
                                                         cols().position(block.col));
  });
  std::vector<PanelIndex> indices(positions.size());
  for (Index p = 0; p < panels(); ++p)
    if (const auto at = static_cast<std::size_t>(p); all || panel_local(p))
      indices[at] = panel_index(positions[at], rows().panel(row_panel(p)).size());
  take(std::move(indices), all);
}

std::shared_ptr<const BlockPattern> BlockPattern::from_panels(Runtime& runtime, const BlockLayout& layout,
                                                              std::vector<PanelIndex> panels) {
  const auto check = [&] {
    layout.require_valid(runtime);
    const Index count = layout.rows->panels() * layout.cols->panels();
    if (static_cast<Index>(panels.size()) != count)
      throw InvalidArgument("panels", fmt::to_string(panels.size()), fmt::to_string(count));
  };
  return collectively(runtime, "BlockPattern::from_panels", layout.hash(runtime), check, [&] {
    const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
    pattern->take(std::move(panels), false);
    pattern->share_numbers();
    pattern->complete();
    return std::shared_ptr<const BlockPattern>(pattern);
  });
}

/// The indices of this rank's panels, or of all; what is missing in them is filled in. Counts their blocks.
void BlockPattern::take(std::vector<PanelIndex> panels, bool all) {
  index_.resize(panels.size());
  panel_blocks_.resize(panels.size());
  panel_elements_.resize(panels.size());
  std::vector<Index> col_sizes;
  for (Index p = 0; p < this->panels(); ++p) {
    if (p % row_panels() == 0) {
      col_sizes.clear();
      for (const Index col : cols().panel(col_panel(p))) col_sizes.push_back(cols().size(col));
    }
    if (!all && !panel_local(p)) continue;
    const auto at = static_cast<std::size_t>(p);
    PanelIndex& index = panels[at];
    const auto panel_rows = rows().panel(row_panel(p));
    if (index.row_begin.empty()) index.row_begin.assign(panel_rows.size() + 1, 0);
    if (index.offset.size() != index.column.size() + 1)
      index.offset = block_offsets(index, rows(), panel_rows, col_sizes);
    panel_blocks_[at] = index.blocks();
    panel_elements_[at] = index.elements();
    index_[at] = std::make_shared<const PanelIndex>(std::move(index));
  }
}

/// Sums over all panels, whose blocks and elements are counted.
void BlockPattern::complete() {
  entries_.resize(static_cast<std::size_t>(panels()));
  described_ = std::make_unique<std::once_flag[]>(entries_.size());
  Index before = 0;
  for (Index p = 0; p < panels(); ++p) {
    blocks_before_.push_back(before);
    if (knows(p)) before += panel_blocks(p);
    blocks_ += panel_blocks(p);
    elements_ += panel_elements(p);
  }
}

BlockPattern::Identity BlockPattern::identity() const {
  if (!packed_first_ && runtime_->size() == 1)
    std::call_once(identifying_, [&] { identity_ = identity_of_known(); });
  return identity_;
}

/// The part of the panels that this rank knows.
BlockPattern::Identity BlockPattern::identity_of_known() const {
  Identity sum{};
  for (Index p = 0; p < panels(); ++p) {
    if (!knows(p)) continue;
    const PanelIndex& index = *index_[static_cast<std::size_t>(p)];
    for (std::size_t row = 0; row + 1 < index.row_begin.size(); ++row)
      for (auto b = index.row_begin[row]; b < index.row_begin[row + 1]; ++b) {
        const Index column = index.column[static_cast<std::size_t>(b)], r = static_cast<Index>(row);
        sum.first += block_identity(p, r, column, first_identity_seed);
        sum.second += block_identity(p, r, column, second_identity_seed);
      }
  }
  return sum;
}

Index BlockPattern::diagonal_elements() const {
  return runtime_->size() == 1 && !packed_first_ ? diagonal_of_known() : diagonal_elements_;
}

/// The part of the panels that this rank knows.
Index BlockPattern::diagonal_of_known() const {
  Index elements = 0;
  for (Index p = 0; p < panels(); ++p)
    if (knows(p)) elements += counts_of(p).diagonal_elements;
  return elements;
}

PanelCounts BlockPattern::counts_of(Index p) const {
  if (packed_first_) return counts_[static_cast<std::size_t>(p)];
  PanelCounts counts{panel_blocks(p), panel_elements(p)};
  for (const Index i : rows().panel(row_panel(p)))
    if (i < cols().blocks() && cols().panel_of(i) == col_panel(p) && find(i, i)) {
      ++counts.diagonal_blocks;
      counts.diagonal_elements += rows().size(i) * cols().size(i);
    }
  return counts;
}

const Data& BlockPattern::blocks_of(Index p) const {
  const auto at = static_cast<std::size_t>(p);
  if (panel_blocks(p) > 0) std::call_once(described_[at], [&] { entries_[at] = describe(p); });
  return entries_[at];
}

/// The blocks of a panel as an operand of tasks. Each rank makes its piece when it needs it; ranks without
/// the panel never read theirs.
Data BlockPattern::describe(Index p) const {
  const bool local = panel_local(p);
  const std::size_t count = local ? static_cast<std::size_t>(panel_blocks(p)) : 1;
  Data entries = Data::bytes(*runtime_, count * sizeof(PanelBlock), Data::every_rank);
  if (!local) return entries;
  const PanelIndex& index = this->index(p);
  const auto panel_rows = rows().panel(row_panel(p)), panel_cols = cols().panel(col_panel(p));
  const HostAccess access(entries, HostAccess::Mode::write);
  PanelBlock* const blocks = access.array<PanelBlock>().data();
  for (std::size_t row = 0; row < panel_rows.size(); ++row) {
    const Index i = panel_rows[row];
    for (auto b = static_cast<std::size_t>(index.row_begin[row]);
         b < static_cast<std::size_t>(index.row_begin[row + 1]); ++b) {
      const Index j = panel_cols[static_cast<std::size_t>(index.column[b])];
      blocks[b] = {index.offset[b],
                   static_cast<std::int32_t>(rows().size(i)),
                   static_cast<std::int32_t>(cols().size(j)),
                   static_cast<std::int32_t>(i),
                   static_cast<std::int32_t>(j),
                   rows().first(i),
                   cols().first(j)};
    }
  }
  return entries;
}

bool BlockPattern::operator==(const BlockPattern& other) const {
  return this == &other || (runtime_ == other.runtime_ && panel_blocks_ == other.panel_blocks_ &&
                            layout_ == other.layout_ && identity() == other.identity());
}

void BlockPattern::refuse(Index panel) const {
  throw InvalidArgument(
      "panel", fmt::format("{}, of rank {}", panel, panel_owner(panel)),
      fmt::format("a panel of rank {}, or one that was gathered: this rank does not know the "
                  "blocks of others",
                  runtime_->rank()));
}

std::optional<BlockPattern::Location> BlockPattern::find(Index block_row, Index block_col) const {
  const Index p = panel(rows().panel_of(block_row), cols().panel_of(block_col));
  if (panel_blocks(p) == 0) return std::nullopt;
  const Index block = index(p).find(rows().position(block_row), cols().position(block_col));
  if (block < 0) return std::nullopt;
  return Location{p, block};
}

Index BlockPattern::blocks_in_row(Index block_row) const {
  const Index p = rows().panel_of(block_row);
  const auto row = static_cast<std::size_t>(rows().position(block_row));
  Index count = 0;
  for (Index q = 0; q < col_panels(); ++q) {
    if (panel_blocks(panel(p, q)) == 0) continue;
    const PanelIndex& i = index(panel(p, q));
    count += i.row_begin[row + 1] - i.row_begin[row];
  }
  return count;
}

std::size_t BlockPattern::index_bytes() const noexcept {
  std::size_t bytes = panel_blocks_.size() * (3 * sizeof(Index) + sizeof(std::once_flag) + sizeof(Data)) +
                      index_.size() * sizeof(index_.front());
  for (const auto& index : index_)
    if (index)
      bytes += sizeof(PanelIndex) + (index->row_begin.size() + index->column.size()) * sizeof(std::int32_t) +
               index->offset.size() * sizeof(Index);
  for (Index p = 0; p < panels(); ++p)
    if (entries_[static_cast<std::size_t>(p)].valid())
      bytes += (panel_local(p) ? static_cast<std::size_t>(panel_blocks(p)) : 1) * sizeof(PanelBlock);
  if (packed_.valid()) bytes += static_cast<std::size_t>(packed_words()) * sizeof(std::int32_t);
  return bytes;
}

std::vector<BlockCoordinate> BlockPattern::coordinates(Index panel) const {
  std::vector<BlockCoordinate> result;
  if (panel_blocks(panel) == 0) return result;
  const PanelIndex& i = index(panel);
  const auto panel_rows = rows().panel(row_panel(panel)), panel_cols = cols().panel(col_panel(panel));
  result.reserve(i.column.size());
  for (std::size_t row = 0; row < panel_rows.size(); ++row)
    for (auto b = i.row_begin[row]; b < i.row_begin[row + 1]; ++b)
      result.push_back(
          {panel_rows[row], panel_cols[static_cast<std::size_t>(i.column[static_cast<std::size_t>(b)])]});
  return result;
}

}  // namespace tessera
