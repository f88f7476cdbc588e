// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <tessera/block_layout.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

namespace {

/// Kernels keep a bit for each pair of a panel's block rows and columns. Only panels of empty blocks, or of
/// blocks of one element, reach this number.
constexpr Index max_blocks_of_panel = 1 << 15;

/// How a dimension is cut: into so many panels for every owner, of so many elements.
struct PanelRule {
  Index panels, least, most;
};
constexpr PanelRule without_gpus{8, 256, 8192}, with_gpus{5, 736, 8192}, with_one_gpu{3, 3000, 16384};

Index choose_panel_elements(Index elements, int owner_count, const PanelRule& rule = without_gpus) {
  return std::clamp<Index>(ceil_div(elements, rule.panels * owner_count), rule.least, rule.most);
}

}  // namespace

namespace {

std::uint64_t hash_of(const BlockDimension& dimension) {
  std::uint64_t hash = argument_hash(dimension.blocks(), dimension.owner_count());
  for (Index block = 0; block < dimension.blocks(); ++block)
    hash = argument_hash(hash, dimension.size(block), dimension.panel_of(block), dimension.owner(block));
  return hash;
}

void require_owners(const std::vector<int>& owners, int owner_count) {
  for (const int owner : owners)
    if (owner < 0 || owner >= owner_count)
      throw InvalidArgument("owners", fmt::to_string(owner), fmt::format("0 to {}", owner_count - 1));
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

BlockDimension::BlockDimension(std::vector<Index> sizes, int owner_count)
    : sizes_(std::move(sizes)), first_{0}, owner_count_(owner_count) {
  if (owner_count < 1) throw InvalidArgument("owner_count", fmt::to_string(owner_count), "at least 1");
  constexpr Index most = std::numeric_limits<std::int32_t>::max();  // tasks count in 32 bits
  if (blocks() > most)
    throw InvalidArgument("block sizes", fmt::format("{} of them", blocks()),
                          fmt::format("at most {}", most));
  for (const Index size : sizes_) {
    if (size < 0 || size > most)
      throw InvalidArgument("block sizes", fmt::to_string(size), fmt::format("0 to {}", most));
    first_.push_back(first_.back() + size);
  }
}

std::shared_ptr<const BlockDimension> BlockDimension::make(std::vector<Index> sizes, int owner_count,
                                                           std::vector<int> owners, Index panel_elements) {
  if (panel_elements < 0)
    throw InvalidArgument("panel_elements", fmt::to_string(panel_elements), "at least 0");
  if (!owners.empty() && owners.size() != sizes.size())
    throw InvalidArgument("owners", fmt::format("{} of them", owners.size()),
                          fmt::format("one for each of the {} blocks", sizes.size()));
  const std::shared_ptr<BlockDimension> d(new BlockDimension(std::move(sizes), owner_count));
  require_owners(owners, owner_count);
  d->panel_elements_ =
      panel_elements > 0 ? panel_elements : choose_panel_elements(d->elements(), owner_count);
  // The panel that each owner is filling.
  std::vector<Index> open(static_cast<std::size_t>(owner_count), -1), filled = open;
  int dealt = 0;
  for (Index block = 0; block < d->blocks(); ++block) {
    const int owner = owners.empty() ? dealt : owners[static_cast<std::size_t>(block)];
    auto& panel = open[static_cast<std::size_t>(owner)];
    if (panel < 0) {
      panel = d->panels();
      filled[static_cast<std::size_t>(owner)] = 0;
      d->panels_.emplace_back();
      d->extents_.push_back(0);
      d->panel_owner_.push_back(owner);
    }
    d->panel_of_.push_back(panel);
    auto& members = d->panels_[static_cast<std::size_t>(panel)];
    d->position_.push_back(static_cast<Index>(members.size()));
    members.push_back(block);
    d->extents_[static_cast<std::size_t>(panel)] += d->size(block);
    filled[static_cast<std::size_t>(owner)] += d->size(block);
    if (filled[static_cast<std::size_t>(owner)] >= d->panel_elements_ ||
        static_cast<Index>(members.size()) == max_blocks_of_panel) {
      panel = -1;
      dealt = (dealt + 1) % owner_count;
    }
  }
  return d;
}

std::shared_ptr<const BlockDimension> BlockDimension::with_panels(std::vector<Index> sizes,
                                                                  std::vector<Index> panel_of,
                                                                  std::vector<int> panel_owners,
                                                                  int owner_count) {
  if (panel_of.size() != sizes.size())
    throw InvalidArgument("panel_of", fmt::format("{} of them", panel_of.size()),
                          fmt::format("one for each of the {} blocks", sizes.size()));
  const std::shared_ptr<BlockDimension> d(new BlockDimension(std::move(sizes), owner_count));
  require_owners(panel_owners, owner_count);
  d->panels_.resize(panel_owners.size());
  d->panel_owner_ = std::move(panel_owners);
  d->panel_of_ = std::move(panel_of);
  d->extents_.assign(d->panels_.size(), 0);
  for (Index block = 0; block < d->blocks(); ++block) {
    const Index panel = d->panel_of(block);
    if (panel < 0 || panel >= d->panels())
      throw InvalidArgument("panel_of", fmt::to_string(panel), fmt::format("0 to {}", d->panels() - 1));
    auto& members = d->panels_[static_cast<std::size_t>(panel)];
    d->position_.push_back(static_cast<Index>(members.size()));
    members.push_back(block);
    d->extents_[static_cast<std::size_t>(panel)] += d->size(block);
  }
  for (const auto& members : d->panels_)
    if (members.empty() || static_cast<Index>(members.size()) > max_blocks_of_panel)
      throw InvalidArgument("panel_of", fmt::format("{} blocks of a panel", members.size()),
                            fmt::format("1 to {}", max_blocks_of_panel));
  d->panel_elements_ =
      d->extents_.empty() ? 1 : std::max<Index>(1, *std::max_element(d->extents_.begin(), d->extents_.end()));
  return d;
}

std::shared_ptr<const BlockDimension> BlockDimension::with_owners(const BlockDimension& panels,
                                                                  int owner_count) {
  if (owner_count < 1) throw InvalidArgument("owner_count", fmt::to_string(owner_count), "at least 1");
  const std::shared_ptr<BlockDimension> d(new BlockDimension(panels));
  d->owner_count_ = owner_count;
  for (std::size_t p = 0; p < d->panel_owner_.size(); ++p)
    d->panel_owner_[p] = static_cast<int>(p % static_cast<std::size_t>(owner_count));
  return d;
}

Index BlockDimension::block_of(Index element) const noexcept {
  return std::upper_bound(first_.begin(), first_.end(), element) - first_.begin() - 1;
}

std::vector<int> BlockDimension::owners() const {
  std::vector<int> result;
  for (Index block = 0; block < blocks(); ++block) result.push_back(owner(block));
  return result;
}

bool BlockDimension::operator==(const BlockDimension& other) const noexcept {
  return this == &other || (sizes_ == other.sizes_ && panel_of_ == other.panel_of_ &&
                            panel_owner_ == other.panel_owner_ && owner_count_ == other.owner_count_);
}

bool BlockLayout::operator==(const BlockLayout& other) const noexcept {
  return same_places(other) && symmetry == other.symmetry;
}

bool BlockLayout::same_places(const BlockLayout& other) const noexcept {
  return *rows == *other.rows && *cols == *other.cols && grid.rows == other.grid.rows &&
         grid.cols == other.grid.cols && grid.column_major == other.grid.column_major &&
         (symmetry == Symmetry::none) == (other.symmetry == Symmetry::none);
}

void BlockLayout::require_valid(const Runtime& runtime) const {
  if (!rows || !cols) throw InvalidArgument("layout", "without a dimension", "rows and columns");
  if (grid.rows < 1 || grid.cols < 1 || grid.rows * grid.cols > runtime.size())
    throw InvalidArgument("grid", fmt::format("{} x {}", grid.rows, grid.cols),
                          fmt::format("at most {} ranks", runtime.size()));
  if (rows->owner_count() > grid.rows)
    throw InvalidArgument("rows", fmt::format("{} owners", rows->owner_count()),
                          fmt::format("at most the {} rows of the grid", grid.rows));
  if (cols->owner_count() > grid.cols)
    throw InvalidArgument("cols", fmt::format("{} owners", cols->owner_count()),
                          fmt::format("at most the {} columns of the grid", grid.cols));
  if (symmetry != Symmetry::none && !rows->same_sizes(*cols))
    throw InvalidArgument("symmetry", std::string(1, static_cast<char>(symmetry)),
                          "N where rows and columns have other block sizes");
}

std::uint64_t BlockLayout::hash(const Runtime& runtime) const {
  if (runtime.size() == 1) return 0;
  return argument_hash(rows ? hash_of(*rows) : 0, cols ? hash_of(*cols) : 0, grid.rows, grid.cols,
                       grid.column_major, symmetry);
}

Index suitable_panel_elements(const Runtime& runtime, Index elements, int owner_count) {
  if (runtime.gpus() == 1 && runtime.size() == 1)
    return choose_panel_elements(elements, owner_count, with_one_gpu);
  if (runtime.gpus() > 0) return choose_panel_elements(elements, owner_count, with_gpus);
  PanelRule rule = without_gpus;
  rule.panels =
      std::max(rule.panels,
               static_cast<Index>(std::ceil(4 * std::sqrt(static_cast<double>(runtime.common_workers())))));
  return choose_panel_elements(elements, owner_count, rule);
}

int owners_for_panels(const ProcessGrid& grid) noexcept {
  const int shorter = std::min(grid.rows, grid.cols), longer = std::max(grid.rows, grid.cols);
  return longer == 2 * shorter ? shorter : longer;
}

BlockLayout make_block_layout(const Runtime& runtime, std::vector<Index> row_sizes,
                              std::vector<Index> col_sizes, Symmetry symmetry) {
  BlockLayout layout;
  const auto make = [&] {
    const ProcessGrid grid = ProcessGrid::squarest(runtime.size());
    const int owners = owners_for_panels(grid);
    const auto dimension = [&](std::vector<Index> sizes, int owner_count) {
      const Index elements = std::accumulate(sizes.begin(), sizes.end(), Index(0));
      const Index panel = suitable_panel_elements(runtime, elements, owners);
      return BlockDimension::make(std::move(sizes), owner_count, {}, panel);
    };
    layout = {dimension(std::move(row_sizes), grid.rows), dimension(std::move(col_sizes), grid.cols), grid,
              symmetry};
    layout.require_valid(runtime);
  };
  const auto hash_of_sizes = [&](const std::vector<Index>& sizes) {
    return runtime.size() == 1 ? 0
                               : tessera::hash_of({reinterpret_cast<const char*>(sizes.data()),
                                                   sizes.size() * sizeof(Index)});
  };
  const std::uint64_t hash = argument_hash(hash_of_sizes(row_sizes), hash_of_sizes(col_sizes), symmetry);
  collectively(runtime, "make_block_layout", hash, make, [] {});
  return layout;
}

}  // namespace tessera
