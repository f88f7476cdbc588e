// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// BlockPattern as tasks read it: packed, or the blocks of a panel as an array.
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <tessera/block_pattern.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace {

/// The size classes of a dimension's blocks, panel by panel.
struct SizeClasses {
  std::vector<std::int32_t> of_block;
  std::map<Index, std::int32_t> number;
  explicit SizeClasses(const BlockDimension& dimension) {
    of_block.reserve(static_cast<std::size_t>(dimension.blocks()));
    // Mostly a block is as large as the one before.
    auto last = number.end();
    for (Index p = 0; p < dimension.panels(); ++p)
      for (const Index block : dimension.panel(p)) {
        const Index size = dimension.size(block);
        if (last == number.end() || last->first != size)
          last = number.try_emplace(size, static_cast<std::int32_t>(number.size())).first;
        of_block.push_back(last->second);
      }
  }
};

/// A side of a packed pattern.
void pack_side(const BlockDimension& dimension, const SizeClasses& classes, std::int32_t* words) {
  *words++ = 0;
  for (Index p = 0; p < dimension.panels(); ++p, ++words)
    *words = words[-1] + word_of(static_cast<Index>(dimension.panel(p).size()));
  std::int32_t* const numbers = words + 2 * dimension.blocks();
  std::int32_t* const elements = numbers + dimension.blocks();
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

std::shared_ptr<const BlockPattern> BlockPattern::from_packed(Runtime& runtime, const BlockLayout& layout,
                                                              Data packed, std::vector<PanelCounts> panels,
                                                              Identity identity) {
  const std::shared_ptr<BlockPattern> pattern(new BlockPattern(runtime, layout));
  pattern->packed_ = std::move(packed);
  pattern->packed_first_ = true;
  pattern->identity_ = identity;
  for (const PanelCounts& counts : panels) {
    pattern->panel_blocks_.push_back(counts.blocks);
    pattern->panel_elements_.push_back(counts.elements);
    pattern->diagonal_elements_ += counts.diagonal_elements;
  }
  pattern->counts_ = std::move(panels);
  pattern->complete();
  return pattern;
}

const Data& BlockPattern::packed() const {
  if (!packed_first_) std::call_once(packing_, [&] { packed_ = pack(); });
  return packed_;
}

/// With the panels that this rank knows.
Index BlockPattern::packed_words() const noexcept {
  Index words =
      PackedPattern::words_without_panels(rows().panels(), rows().blocks(), cols().panels(), cols().blocks());
  for (Index p = 0; p < panels(); ++p)
    if (knows(p))
      words +=
          PackedPattern::panel_words(static_cast<Index>(rows().panel(row_panel(p)).size()), panel_blocks(p));
  return words;
}

Data BlockPattern::pack() const {
  const SizeClasses row_classes(rows()), col_classes(cols());
  constexpr Index header_words = sizeof(PackedHeader) / sizeof(std::int32_t);
  const Index rows_at = header_words,
              cols_at = rows_at + PackedPattern::side_words(rows().panels(), rows().blocks()),
              directory_at = cols_at + PackedPattern::side_words(cols().panels(), cols().blocks());
  const Index words = packed_words();
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
    const bool stored = knows(p) && panel_blocks(p) > 0;
    directory[0] = stored ? word_of(next - at) : 0;
    directory[1] = stored ? word_of(panel_blocks(p)) : 0;
    directory[2] = word_of(blocks_before(p));
    if (!stored) continue;
    const PanelIndex& index = this->index(p);
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
    const auto words = access.array<const std::int32_t>();
    for (Index p = 0; p < panels(); ++p)
      index_[static_cast<std::size_t>(p)] = std::make_shared<const PanelIndex>(unpack_panel(words, p));
  });
}

PanelIndex BlockPattern::unpack_panel(std::span<const std::int32_t> words, Index p) const {
  PanelIndex index;
  const PackedPanel panel = PackedPattern(words.data()).panel(word_of(row_panel(p)), word_of(col_panel(p)));
  const std::size_t rows = this->rows().panel(row_panel(p)).size();
  if (panel.blocks == 0) {
    index.row_begin.assign(rows + 1, 0);
    index.offset.assign(1, 0);
    return index;
  }
  index.row_begin.assign(panel.row_begin, panel.row_begin + rows + 1);
  index.column.assign(panel.column, panel.column + panel.blocks);
  index.offset.reserve(index.column.size() + 1);
  index.offset.assign(panel.offset, panel.offset + panel.blocks);
  index.offset.push_back(panel_elements(p));
  return index;
}

}  // namespace tessera
