// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/two_species_tables.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

namespace {

void check_species(const Species& species, const char* name) {
  const auto refuse = [&](const std::string& what, const std::string& expected) {
    throw InvalidArgument(name, what, expected);
  };
  const std::vector<Index>& sectors = species.sectors;
  if (sectors.size() < 2 || sectors.front() != 0 || !std::is_sorted(sectors.begin(), sectors.end()) ||
      sectors.back() < 1 || sectors.back() >= Index(std::numeric_limits<std::uint32_t>::max()))
    refuse("sectors that do not ascend from 0", "sectors of 1 to 2^32 - 2 states");
  const auto states = static_cast<std::uint32_t>(sectors.back());
  for (const SpeciesElement& element : species.elements) {
    if (element.row >= states || element.column >= states)
      refuse(fmt::format("element ({}, {})", element.row, element.column),
             fmt::format("states below {}", states));
    if (!std::isfinite(element.value)) refuse(fmt::format("the value {}", element.value), "finite values");
  }
  for (const SpeciesMove& move : species.moves) {
    if (move.to >= states || move.from >= states)
      refuse(fmt::format("a move from {} to {}", move.from, move.to), fmt::format("states below {}", states));
    if (move.sign != 1 && move.sign != -1) refuse(fmt::format("the sign {}", move.sign), "1 or -1");
  }
}

/// The largest number of an operator of each transfer, -1 of those without moves.
std::vector<Index> largest_numbers(const Species& species) {
  std::vector<Index> largest(std::size_t(std::numeric_limits<std::uint16_t>::max()) + 1, -1);
  for (const SpeciesMove& move : species.moves)
    largest[move.transfer] = std::max<Index>(largest[move.transfer], move.number);
  return largest;
}

/// That the moves of a coupled transfer have strengths.
void check_numbers(Index largest, std::uint16_t transfer, Index count, const char* name) {
  if (largest >= count)
    throw InvalidArgument(name, fmt::format("operator {} of transfer {}", largest, transfer),
                          fmt::format("one of the coupling's {}", count));
}

}  // namespace

void check_structure(const TwoSpeciesStructure& structure) {
  check_species(structure.first, "first");
  check_species(structure.second, "second");
  std::set<std::pair<Index, Index>> pairs;
  for (const SectorPair& pair : structure.pairs) {
    const auto inside = [](const Species& species, Index sector) {
      return sector >= 0 && sector + 1 < static_cast<Index>(species.sectors.size());
    };
    if (!inside(structure.first, pair.first_sector) || !inside(structure.second, pair.second_sector) ||
        !pairs.emplace(pair.first_sector, pair.second_sector).second)
      throw InvalidArgument("pairs", fmt::format("({}, {})", pair.first_sector, pair.second_sector),
                            "pairs of sectors that there are, none twice");
  }
  if (structure.order() < 1) throw InvalidArgument("pairs", "no rows", "at least one row");
  const std::vector<Index> of_first = largest_numbers(structure.first),
                           of_second = largest_numbers(structure.second);
  std::set<std::pair<int, int>> transfers;
  for (const SpeciesCoupling& coupling : structure.couplings) {
    if (!transfers.emplace(coupling.first_transfer, coupling.second_transfer).second)
      throw InvalidArgument(
          "couplings",
          fmt::format("transfers {} and {} twice", coupling.first_transfer, coupling.second_transfer),
          "one coupling of two transfers");
    if (coupling.first_count < 0 || coupling.second_count < 0 || coupling.first_count > 65536 ||
        coupling.second_count > 65536 ||
        static_cast<Index>(coupling.strengths.size()) != coupling.first_count * coupling.second_count)
      throw InvalidArgument("strengths", fmt::format("{} numbers", coupling.strengths.size()),
                            fmt::format("{} x {}", coupling.first_count, coupling.second_count));
    for (const double value : coupling.strengths)
      if (!std::isfinite(value))
        throw InvalidArgument("strengths", fmt::format("{}", value), "finite values");
    check_numbers(of_first[coupling.first_transfer], coupling.first_transfer, coupling.first_count, "first");
    check_numbers(of_second[coupling.second_transfer], coupling.second_transfer, coupling.second_count,
                  "second");
  }
}

}  // namespace tessera::detail

namespace tessera {

Index TwoSpeciesStructure::order() const {
  Index rows = 0;
  const auto size = [](const Species& species, Index sector) {
    const auto s = static_cast<std::size_t>(sector);
    if (sector < 0 || s + 1 >= species.sectors.size())
      throw InvalidArgument("pairs", fmt::format("sector {}", sector), "a sector that there is");
    return species.sectors[s + 1] - species.sectors[s];
  };
  for (const SectorPair& pair : pairs) {
    Index more = 0;
    if (__builtin_mul_overflow(size(first, pair.first_sector), size(second, pair.second_sector), &more) ||
        __builtin_add_overflow(rows, more, &rows))
      throw InvalidArgument("pairs", "more than 2^63 rows", "fewer");
  }
  return rows;
}

}  // namespace tessera
