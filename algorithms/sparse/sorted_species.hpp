// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/two_species_operator.hpp>

namespace tessera::detail {

/// Of a sector, pair or list that is not there.
inline constexpr std::uint32_t no_number = std::numeric_limits<std::uint32_t>::max();

/// Number of the sector of each state.
inline std::vector<std::uint32_t> sectors_of(const Species& species) {
  std::vector<std::uint32_t> of(static_cast<std::size_t>(species.sectors.back()));
  for (std::size_t s = 0; s + 1 < species.sectors.size(); ++s)
    std::fill(of.begin() + species.sectors[s], of.begin() + species.sectors[s + 1],
              static_cast<std::uint32_t>(s));
  return of;
}

/// Items sorted by a state, those of state k from begins[k] on.
template <class Item>
struct ByState {
  std::vector<std::size_t> begins;
  std::vector<Item> items;

  template <class State, class Before>
  ByState(const std::vector<Item>& given, Index states, const State& state, const Before& before)
      : begins(static_cast<std::size_t>(states) + 1, 0), items(given.size()) {
    for (const Item& item : given) ++begins[state(item) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
    for (const Item& item : given) items[next[state(item)]++] = item;
    for (std::size_t k = 0; k + 1 < begins.size(); ++k)
      std::sort(items.begin() + static_cast<std::ptrdiff_t>(begins[k]),
                items.begin() + static_cast<std::ptrdiff_t>(begins[k + 1]), before);
  }
  std::span<const Item> of(std::size_t state) const noexcept {
    return {items.data() + begins[state], items.data() + begins[state + 1]};
  }
};

/// A species with its moves and elements by the state that they lead to.
struct SortedSpecies {
  explicit SortedSpecies(const Species& species)
      : sectors(species.sectors),
        sector_of(sectors_of(species)),
        moves(
            species.moves, species.sectors.back(), [](const SpeciesMove& m) { return m.to; },
            [](const SpeciesMove& a, const SpeciesMove& b) {
              return std::tie(a.transfer, a.from, a.number) < std::tie(b.transfer, b.from, b.number);
            }),
        elements(
            species.elements, species.sectors.back(), [](const SpeciesElement& e) { return e.row; },
            [](const SpeciesElement& a, const SpeciesElement& b) { return a.column < b.column; }) {
    check_once();
    for (const SpeciesMove& move : species.moves)
      transfers = std::max<std::size_t>(transfers, move.transfer + 1u);
    source.assign(transfers * (sectors.size() - 1), no_number);
    for (const SpeciesMove& move : species.moves) {
      std::uint32_t& from = source[sector_of[move.to] * transfers + move.transfer];
      const std::uint32_t sector = sector_of[move.from];
      if (from != no_number && from != sector)
        throw InvalidArgument("moves",
                              fmt::format("of transfer {} into sector {} from sectors {} and {}",
                                          move.transfer, sector_of[move.to], from, sector),
                              "from one sector");
      from = sector;
    }
  }
  /// Elements and moves are sorted: equal ones are neighbours.
  void check_once() const {
    for (std::size_t k = 0; k < sector_of.size(); ++k) {
      const auto e = elements.of(k);
      for (std::size_t i = 1; i < e.size(); ++i)
        if (e[i].column == e[i - 1].column)
          throw InvalidArgument("elements", fmt::format("({}, {}) twice", k, e[i].column), "each once");
      const auto m = moves.of(k);
      for (std::size_t i = 1; i < m.size(); ++i)
        if (m[i].transfer == m[i - 1].transfer && m[i].from == m[i - 1].from &&
            m[i].number == m[i - 1].number)
          throw InvalidArgument("moves",
                                fmt::format("of operator {} of transfer {} from {} to {} twice", m[i].number,
                                            m[i].transfer, m[i].from, k),
                                "each once");
    }
  }
  /// The moves of a transfer into a state.
  std::span<const SpeciesMove> moves_of(std::size_t state, std::uint16_t transfer) const noexcept {
    const auto all = moves.of(state);
    const auto [begin, end] = std::ranges::equal_range(all, transfer, {}, &SpeciesMove::transfer);
    return {all.data() + (begin - all.begin()), all.data() + (end - all.begin())};
  }
  std::uint32_t local(std::uint32_t state) const noexcept {
    return state - static_cast<std::uint32_t>(sectors[sector_of[state]]);
  }
  std::uint32_t size(std::uint32_t sector) const noexcept {
    return static_cast<std::uint32_t>(sectors[sector + 1] - sectors[sector]);
  }
  /// The sector that a transfer's moves into a sector come from, or none.
  std::uint32_t source_of(std::uint32_t sector, std::size_t transfer) const noexcept {
    return transfer < transfers ? source[sector * transfers + transfer] : no_number;
  }

  const std::vector<Index>& sectors;
  std::vector<std::uint32_t> sector_of;
  ByState<SpeciesMove> moves;
  ByState<SpeciesElement> elements;
  std::size_t transfers = 0;
  std::vector<std::uint32_t> source;  ///< by sector and transfer
};

}  // namespace tessera::detail
