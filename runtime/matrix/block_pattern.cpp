// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include <tessera/block_pattern.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>

namespace tessera::detail {

namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& v) {
  return std::as_bytes(std::span<const T>(v));
}

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

/// Where blocks begin in a panel's data, row by row; `cols`: sizes by position.
std::vector<Index> offsets_of(const PanelIndex& index, const BlockDimension& rows,
                              std::span<const Index> panel_rows, const std::vector<Index>& cols) {
  std::vector<Index> offsets(index.column.size() + 1);
  Index offset = 0;
  for (std::size_t row = 0; row < panel_rows.size(); ++row) {
    const Index m = rows.size(panel_rows[row]);
    for (auto b = static_cast<std::size_t>(index.row_begin[row]);
         b < static_cast<std::size_t>(index.row_begin[row + 1]); ++b) {
      offsets[b] = offset;
      offset += m * cols[static_cast<std::size_t>(index.column[b])];
    }
  }
  offsets.back() = offset;
  return offsets;
}

/// The size classes of a dimension's blocks, panel by panel.
struct SizeClasses {
  std::vector<std::int32_t> of_block;
  std::map<Index, std::int32_t> number;
  explicit SizeClasses(const BlockDimension& dimension) {
    for (Index p = 0; p < dimension.panels(); ++p)
      for (const Index block : dimension.panel(p))
        of_block.push_back(number.try_emplace(dimension.size(block), static_cast<std::int32_t>(number.size()))
                               .first->second);
  }
};

/// A side of a packed pattern.
void pack_side(const BlockDimension& dimension, const SizeClasses& classes, std::int32_t* words) {
  *words++ = 0;
  for (Index p = 0; p < dimension.panels(); ++p, ++words)
    *words = words[-1] + word_of(static_cast<Index>(dimension.panel(p).size()));
  std::int32_t *const numbers = words + 2 * dimension.blocks(), *const elements =
                                                                    numbers + dimension.blocks();
  std::copy(classes.of_block.begin(), classes.of_block.end(), words + dimension.blocks());
  Index at = 0;
  for (Index p = 0; p < dimension.panels(); ++p)
    for (const Index block : dimension.panel(p)) {
      words[at] = word_of(dimension.size(block));
      elements[at] = word_of(dimension.first(block));
      numbers[at++] = word_of(block);
    }
}

}  // namespace

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
    const std::vector<BlockCoordinate> mine(local_blocks.begin(), local_blocks.end());
    const auto pieces = runtime.all_gather(bytes_of(mine));
    pattern->compress([&](const auto& visit) {
      for (const std::vector<std::byte>& piece : pieces)
        for (std::size_t at = 0; at < piece.size(); at += sizeof(BlockCoordinate)) {
          BlockCoordinate block;
          std::memcpy(&block, piece.data() + at, sizeof block);
          visit(block);
        }
    });
    return std::shared_ptr<const BlockPattern>(pattern);
  });
}

std::shared_ptr<const BlockPattern> BlockPattern::make_replicated(
    Runtime& runtime, const BlockLayout& layout, std::span<const BlockCoordinate> all_blocks) {
  layout.require_valid(runtime);
  require_places(layout, all_blocks);
  const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
  pattern->compress([&](const auto& visit) { std::for_each(all_blocks.begin(), all_blocks.end(), visit); });
  return pattern;
}

/// Indices of the blocks that for_each_block(visit) visits, in any order, some of them perhaps repeatedly.
template <class Visit>
void BlockPattern::compress(const Visit& for_each_block) {
  std::vector<std::vector<Position>> positions(static_cast<std::size_t>(panels()));
  for_each_block([&](const BlockCoordinate& block) {
    const Index at = panel(rows().panel_of(block.row), cols().panel_of(block.col));
    positions[static_cast<std::size_t>(at)].emplace_back(rows().position(block.row),
                                                         cols().position(block.col));
  });
  for (Index p = 0; p < panels(); ++p)
    index_.push_back(panel_index(positions[static_cast<std::size_t>(p)], rows().panel(row_panel(p)).size()));
  complete();
}

std::shared_ptr<const BlockPattern> BlockPattern::from_panels(Runtime& runtime, const BlockLayout& layout,
                                                              std::vector<PanelIndex> panels) {
  const auto check = [&] {
    layout.require_valid(runtime);
    const Index count = layout.rows->panels() * layout.cols->panels();
    if (static_cast<Index>(panels.size()) != count)
      throw InvalidArgument("panels", fmt::to_string(panels.size()), fmt::to_string(count));
  };
  return collectively(runtime, "BlockPattern::from_panels", layout.hash(runtime), check,
                      [&] { return gathered(runtime, layout, std::move(panels)); });
}

/// Every rank's panels, on all.
std::shared_ptr<const BlockPattern> BlockPattern::gathered(Runtime& runtime, const BlockLayout& layout,
                                                           std::vector<PanelIndex> panels) {
  const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
  const auto panel_rows = [&](Index p) { return layout.rows->panel(pattern->row_panel(p)).size(); };
  for (Index p = 0; p < pattern->panels(); ++p)
    if (PanelIndex& index = panels[static_cast<std::size_t>(p)]; index.row_begin.empty())
      index.row_begin.assign(panel_rows(p) + 1, 0);
  if (runtime.size() > 1) {
    // Every rank's panels one after the other: beginnings of the rows, then columns.
    std::vector<std::int32_t> mine;
    for (Index panel = 0; panel < pattern->panels(); ++panel) {
      if (!pattern->panel_local(panel)) continue;
      const PanelIndex& index = panels[static_cast<std::size_t>(panel)];
      mine.insert(mine.end(), index.row_begin.begin(), index.row_begin.end());
      mine.insert(mine.end(), index.column.begin(), index.column.end());
    }
    const auto all = runtime.all_gather(bytes_of(mine));
    std::vector<std::size_t> at(all.size(), 0);
    for (Index panel = 0; panel < pattern->panels(); ++panel) {
      const auto owner = static_cast<std::size_t>(pattern->panel_owner(panel));
      const auto take = [&](std::vector<std::int32_t>& to, std::size_t count) {
        to.resize(count);
        std::memcpy(to.data(), all[owner].data() + at[owner], count * sizeof(std::int32_t));
        at[owner] += count * sizeof(std::int32_t);
      };
      PanelIndex& index = panels[static_cast<std::size_t>(panel)];
      take(index.row_begin, panel_rows(panel) + 1);
      take(index.column, static_cast<std::size_t>(index.row_begin.back()));
    }
  }
  return from_known_panels(runtime, layout, std::move(panels));
}

std::shared_ptr<const BlockPattern> BlockPattern::from_known_panels(Runtime& runtime,
                                                                    const BlockLayout& layout,
                                                                    std::vector<PanelIndex> panels) {
  const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
  pattern->index_ = std::move(panels);
  pattern->complete();
  return pattern;
}

/// Offsets, where they are not known yet, and totals.
void BlockPattern::complete() {
  entries_.resize(static_cast<std::size_t>(panels()));
  described_ = std::make_unique<std::once_flag[]>(entries_.size());
  std::vector<Index> col_sizes;
  for (Index p = 0; p < panels(); ++p) {
    PanelIndex& index = index_[static_cast<std::size_t>(p)];
    if (p % row_panels() == 0) {
      col_sizes.clear();
      for (const Index col : cols().panel(col_panel(p))) col_sizes.push_back(cols().size(col));
    }
    if (index.offset.size() != index.column.size() + 1)
      index.offset = offsets_of(index, rows(), rows().panel(row_panel(p)), col_sizes);
    blocks_before_.push_back(blocks_);
    panel_blocks_.push_back(index.blocks());
    panel_elements_.push_back(index.elements());
    blocks_ += index.blocks();
    elements_ += index.elements();
  }
}

std::shared_ptr<const BlockPattern> BlockPattern::from_packed(Runtime& runtime, const BlockLayout& layout,
                                                              Data packed, std::vector<Index> panel_blocks,
                                                              std::vector<Index> panel_elements,
                                                              Identity identity) {
  const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
  pattern->packed_ = std::move(packed);
  pattern->packed_first_ = true;
  pattern->identity_ = identity;
  pattern->blocks_ = std::accumulate(panel_blocks.begin(), panel_blocks.end(), Index{0});
  pattern->elements_ = std::accumulate(panel_elements.begin(), panel_elements.end(), Index{0});
  pattern->blocks_before_.resize(panel_blocks.size());
  std::exclusive_scan(panel_blocks.begin(), panel_blocks.end(), pattern->blocks_before_.begin(), Index{0});
  pattern->panel_blocks_ = std::move(panel_blocks);
  pattern->panel_elements_ = std::move(panel_elements);
  pattern->entries_.resize(static_cast<std::size_t>(pattern->panels()));
  pattern->described_ = std::make_unique<std::once_flag[]>(pattern->entries_.size());
  return pattern;
}

BlockPattern::Identity BlockPattern::identity() const {
  if (!packed_first_)
    std::call_once(identifying_, [&] {
      for (Index p = 0; p < panels(); ++p) {
        const PanelIndex& index = index_[static_cast<std::size_t>(p)];
        for (std::size_t row = 0; row + 1 < index.row_begin.size(); ++row)
          for (auto b = index.row_begin[row]; b < index.row_begin[row + 1]; ++b) {
            const Index column = index.column[static_cast<std::size_t>(b)], r = static_cast<Index>(row);
            identity_.first += block_identity(p, r, column, first_identity_seed);
            identity_.second += block_identity(p, r, column, second_identity_seed);
          }
      }
    });
  return identity_;
}

const Data& BlockPattern::packed() const {
  if (!packed_first_) std::call_once(packing_, [&] { packed_ = pack(); });
  return packed_;
}

Data BlockPattern::pack() const {
  const SizeClasses row_classes(rows()), col_classes(cols());
  constexpr Index header_words = sizeof(PackedHeader) / sizeof(std::int32_t);
  const Index rows_at = header_words,
              cols_at = rows_at + PackedPattern::side_words(rows().panels(), rows().blocks()),
              directory_at = cols_at + PackedPattern::side_words(cols().panels(), cols().blocks());
  Index words = directory_at + 3 * panels();
  for (Index p = 0; p < panels(); ++p)
    words +=
        PackedPattern::panel_words(static_cast<Index>(rows().panel(row_panel(p)).size()), panel_blocks(p));
  if (words > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("pattern", fmt::format("of {} words", words), "a pattern of fewer than 2^31 words");
  if (const Index longest = std::max(rows().elements(), cols().elements());
      longest > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("pattern", fmt::format("with {} rows or columns", longest), "fewer than 2^31");
  Data data =
      Data::bytes(*runtime_, static_cast<std::size_t>(words) * sizeof(std::int32_t), Data::every_rank);
  const HostAccess access(data, HostAccess::Mode::write);
  std::int32_t* const at = access.array<std::int32_t>().data();
  *reinterpret_cast<PackedHeader*>(at) = {word_of(rows().panels()),
                                          word_of(cols().panels()),
                                          word_of(rows().blocks()),
                                          word_of(cols().blocks()),
                                          word_of(static_cast<Index>(row_classes.number.size())),
                                          word_of(static_cast<Index>(col_classes.number.size())),
                                          word_of(rows_at),
                                          word_of(cols_at),
                                          word_of(directory_at)};
  pack_side(rows(), row_classes, at + rows_at);
  pack_side(cols(), col_classes, at + cols_at);
  std::int32_t *directory = at + directory_at, *next = directory + 3 * panels();
  for (Index p = 0; p < panels(); ++p, directory += 3) {
    const PanelIndex& index = this->index(p);
    directory[0] = index.blocks() == 0 ? 0 : word_of(next - at);
    directory[1] = word_of(index.blocks());
    directory[2] = word_of(blocks_before(p));
    if (index.blocks() == 0) continue;
    next = std::copy(index.row_begin.begin(), index.row_begin.end(), next);
    next = std::copy(index.column.begin(), index.column.end(), next);
    next = std::transform(index.offset.begin(), index.offset.end() - 1, next, word_of);
  }
  return data;
}

/// The index from the packed pattern.
void BlockPattern::unpack() const {
  std::call_once(packing_, [&] {
    index_.resize(static_cast<std::size_t>(panels()));
    const HostAccess access(packed_, HostAccess::Mode::read);
    for (Index p = 0; p < panels(); ++p) unpack_panel(access.array<const std::int32_t>(), p);
  });
}

void BlockPattern::unpack_panel(std::span<const std::int32_t> words, Index p) const {
  PanelIndex& index = index_[static_cast<std::size_t>(p)];
  const PackedPanel panel = PackedPattern(words.data()).panel(word_of(row_panel(p)), word_of(col_panel(p)));
  const std::size_t rows = this->rows().panel(row_panel(p)).size();
  if (panel.blocks == 0) {
    index.row_begin.assign(rows + 1, 0);
    index.offset.assign(1, 0);
    return;
  }
  index.row_begin.assign(panel.row_begin, panel.row_begin + rows + 1);
  index.column.assign(panel.column, panel.column + panel.blocks);
  index.offset.reserve(index.column.size() + 1);
  index.offset.assign(panel.offset, panel.offset + panel.blocks);
  index.offset.push_back(panel_elements(p));
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
  const PanelIndex& index = this->index(p);
  const std::size_t count = local ? index.column.size() : 1;
  Data entries = Data::bytes(*runtime_, count * sizeof(PanelBlock), Data::every_rank);
  if (!local) return entries;
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

std::optional<BlockPattern::Location> BlockPattern::find(Index block_row, Index block_col) const {
  const Index p = panel(rows().panel_of(block_row), cols().panel_of(block_col));
  const Index block = index(p).find(rows().position(block_row), cols().position(block_col));
  if (block < 0) return std::nullopt;
  return Location{p, block};
}

Index BlockPattern::blocks_in_row(Index block_row) const {
  const Index p = rows().panel_of(block_row);
  const auto row = static_cast<std::size_t>(rows().position(block_row));
  Index count = 0;
  for (Index q = 0; q < col_panels(); ++q) {
    const PanelIndex& i = index(panel(p, q));
    count += i.row_begin[row + 1] - i.row_begin[row];
  }
  return count;
}

std::vector<BlockCoordinate> BlockPattern::coordinates(Index panel) const {
  const PanelIndex& i = index(panel);
  const auto panel_rows = rows().panel(row_panel(panel)), panel_cols = cols().panel(col_panel(panel));
  std::vector<BlockCoordinate> result;
  result.reserve(i.column.size());
  for (std::size_t row = 0; row < panel_rows.size(); ++row)
    for (auto b = i.row_begin[row]; b < i.row_begin[row + 1]; ++b)
      result.push_back(
          {panel_rows[row], panel_cols[static_cast<std::size_t>(i.column[static_cast<std::size_t>(b)])]});
  return result;
}

}  // namespace tessera
