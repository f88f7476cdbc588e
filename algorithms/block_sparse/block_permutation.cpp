// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include <fmt/format.h>

#include <tessera/block_permutation.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

namespace {

/// Blocks for each panel, in the mean: with the weights below no panel has more than five times as many, which
/// a panel may have.
constexpr Index max_mean_blocks = 6500;

void shuffle(std::span<Index> numbers, std::uint64_t seed) {
  for (std::size_t left = numbers.size(); left > 1; --left)
    std::swap(numbers[left - 1], numbers[splitmix(seed, left) % left]);
}

/// Deals the blocks of a dimension to panels: for each block the number of a panel. There are `panels`, of
/// which `together` that follow each other exchange their blocks. A block weighs its elements, and a quarter
/// of the mean block's, so that blocks without elements are dealt evenly, too.
std::vector<Index> deal_blocks(const BlockDimension& dimension, Index panels, Index together,
                               std::uint64_t seed) {
  const Index blocks = dimension.blocks(), windows = panels / together;
  const auto elements = static_cast<double>(dimension.elements());
  const double least = elements > 0 ? elements / static_cast<double>(4 * blocks) : 1,
               of_window = (elements + least * static_cast<double>(blocks)) / static_cast<double>(windows);
  const auto weight = [&](Index block) { return static_cast<double>(dimension.size(block)) + least; };
  std::vector<Index> panel_of(static_cast<std::size_t>(blocks)), members;
  Index block = 0;
  double passed = 0;
  for (Index window = 0; window < windows; ++window) {
    // The blocks whose middle is in this part of the weight.
    members.clear();
    for (; block < blocks; ++block) {
      if (window + 1 < windows && passed + weight(block) / 2 >= static_cast<double>(window + 1) * of_window)
        break;
      passed += weight(block);
      members.push_back(block);
    }
    shuffle(members, splitmix(seed, static_cast<std::uint64_t>(window)));
    // Each goes to the panel that has the least.
    using Filled = std::pair<double, Index>;
    std::priority_queue<Filled, std::vector<Filled>, std::greater<>> filled;
    for (Index panel = 0; panel < together; ++panel) filled.emplace(0, window * together + panel);
    for (const Index member : members) {
      const auto [of_panel, panel] = filled.top();
      filled.pop();
      panel_of[static_cast<std::size_t>(member)] = panel;
      filled.emplace(of_panel + weight(member), panel);
    }
  }
  return panel_of;
}

/// A dimension with its blocks dealt anew. `owner_of_place`: of the panels of a window, one for each rank.
BlockDimensionPointer deal(const BlockDimension& dimension, int owner_count,
                           std::span<const int> owner_of_place, std::uint64_t seed) {
  const auto together = static_cast<Index>(owner_of_place.size());
  const Index by_elements = ceil_div(dimension.elements(), std::max<Index>(dimension.panel_elements(), 1)),
              windows = std::max<Index>({1, (by_elements + together / 2) / together,
                                         ceil_div(dimension.blocks(), max_mean_blocks * together)});
  std::vector<Index> panel_of = deal_blocks(dimension, windows * together, together, seed);
  // Panels that got no block are left out.
  std::vector<Index> number(static_cast<std::size_t>(windows * together), -1);
  for (const Index panel : panel_of) number[static_cast<std::size_t>(panel)] = 0;
  std::vector<int> owners;
  for (std::size_t panel = 0; panel < number.size(); ++panel)
    if (number[panel] == 0) {
      number[panel] = static_cast<Index>(owners.size());
      owners.push_back(owner_of_place[panel % owner_of_place.size()]);
    }
  for (Index& panel : panel_of) panel = number[static_cast<std::size_t>(panel)];
  return BlockDimension::with_panels({dimension.sizes().begin(), dimension.sizes().end()},
                                     std::move(panel_of), std::move(owners), owner_count);
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

BlockLayout homogenized_layout(const BlockLayout& layout, std::uint64_t seed) {
  if (!layout.rows || !layout.cols)
    throw InvalidArgument("layout", "without a dimension", "rows and columns");
  const ProcessGrid& grid = layout.grid;
  if (grid.rows < 1 || grid.cols < 1)
    throw InvalidArgument("grid", fmt::format("{} x {}", grid.rows, grid.cols), "at least 1 x 1");
  // Panel p of the rows and of the columns meet on the diagonal, on another rank for each p of a window.
  std::vector<int> of_rows, of_cols;
  for (int place = 0; place < grid.rows * grid.cols; ++place) {
    of_rows.push_back(place % grid.rows);
    of_cols.push_back(place / grid.rows);
  }
  BlockLayout result = layout;
  result.rows = deal(*layout.rows, grid.rows, of_rows, seed);
  result.cols = deal(*layout.cols, grid.cols, of_cols, seed);
  return result;
}

std::vector<Index> random_block_permutation(Index blocks, std::uint64_t seed) {
  if (blocks < 0) throw InvalidArgument("blocks", fmt::to_string(blocks), "at least 0");
  std::vector<Index> numbers(static_cast<std::size_t>(blocks));
  std::iota(numbers.begin(), numbers.end(), Index{0});
  shuffle(numbers, seed);
  return numbers;
}

std::vector<Index> inverse_permutation(std::span<const Index> permutation) {
  const auto count = static_cast<Index>(permutation.size());
  std::vector<Index> inverse(permutation.size(), -1);
  for (Index i = 0; i < count; ++i) {
    const Index to = permutation[static_cast<std::size_t>(i)];
    if (to < 0 || to >= count || inverse[static_cast<std::size_t>(to)] >= 0)
      throw InvalidArgument("permutation", fmt::format("{} at {}", to, i),
                            fmt::format("each number from 0 to {} once", count - 1));
    inverse[static_cast<std::size_t>(to)] = i;
  }
  return inverse;
}

}  // namespace tessera
