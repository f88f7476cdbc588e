// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/two_species_tables.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
/// Values of a job that go into shared memory: more are read where they lie.
constexpr std::uint32_t largest_shared = 512;

std::uint32_t counted(std::size_t count, const char* what) {
  if (count >= none)
    throw InvalidArgument("structure", fmt::format("{} {}", count, what), fmt::format("fewer than 2^32 {}", what));
  return static_cast<std::uint32_t>(count);
}

/// Number of the sector of each state.
std::vector<std::uint32_t> sectors_of(const Species& species) {
  std::vector<std::uint32_t> of(static_cast<std::size_t>(species.sectors.back()));
  for (std::size_t s = 0; s + 1 < species.sectors.size(); ++s)
    std::fill(of.begin() + species.sectors[s], of.begin() + species.sectors[s + 1], static_cast<std::uint32_t>(s));
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
        moves(species.moves, species.sectors.back(), [](const SpeciesMove& m) { return m.to; },
              [](const SpeciesMove& a, const SpeciesMove& b) {
                return std::tie(a.channel, a.from, a.number) < std::tie(b.channel, b.from, b.number);
              }),
        elements(species.elements, species.sectors.back(), [](const SpeciesElement& e) { return e.row; },
                 [](const SpeciesElement& a, const SpeciesElement& b) { return a.column < b.column; }) {
    for (const SpeciesMove& move : species.moves) channels = std::max<std::size_t>(channels, move.channel + 1u);
    source.assign(channels * (sectors.size() - 1), none);
    for (const SpeciesMove& move : species.moves) {
      std::uint32_t& from = source[sector_of[move.to] * channels + move.channel];
      const std::uint32_t sector = sector_of[move.from];
      if (from != none && from != sector)
        throw InvalidArgument("moves",
                              fmt::format("of channel {} into sector {} from sectors {} and {}", move.channel,
                                          sector_of[move.to], from, sector),
                              "from one sector");
      from = sector;
    }
  }
  std::uint32_t local(std::uint32_t state) const noexcept {
    return state - static_cast<std::uint32_t>(sectors[sector_of[state]]);
  }
  std::uint32_t size(std::uint32_t sector) const noexcept {
    return static_cast<std::uint32_t>(sectors[sector + 1] - sectors[sector]);
  }
  /// The sector that a channel's moves into a sector come from, or none.
  std::uint32_t source_of(std::uint32_t sector, std::size_t channel) const noexcept {
    return channel < channels ? source[sector * channels + channel] : none;
  }

  const std::vector<Index>& sectors;
  std::vector<std::uint32_t> sector_of;
  ByState<SpeciesMove> moves;
  ByState<SpeciesElement> elements;
  std::size_t channels = 0;
  std::vector<std::uint32_t> source;  ///< by sector and channel
};

/// A dense or sparse block of a species' own Hamiltonian, into a sector from another one.
struct OwnBlock {
  std::uint32_t from = 0;
  bool dense = false;
  std::int64_t values = 0;   ///< dense: the first one
  std::uint32_t list = none;  ///< sparse, of the second species, with so many values:
  std::uint32_t places = 0;
};

template <class T>
class TableMaker {
 public:
  TableMaker(const TwoSpeciesStructure& structure, SpeciesStorage storage, Index fewest_dense)
      : structure_(structure), storage_(storage), fewest_dense_(fewest_dense), first_(structure.first), second_(structure.second) {}

  TwoSpeciesTables<T> make() {
    store_strengths();
    first_blocks_ = own_blocks(first_, false);
    second_blocks_ = own_blocks(second_, true);
    list_groups();
    for (std::uint32_t g = 0; g < tables_.host.groups.size(); ++g) list_lines(g);
    counted(tables_.jobs.size(), "jobs");
    return std::move(tables_);
  }

 private:
  std::uint32_t group_of(std::uint32_t first, std::uint32_t second) const noexcept {
    return group_[first * (second_.sectors.size() - 1) + second];
  }

  /// Each number twice as is and with the other sign, so that signs are places: row 2 a + (sign of the
  /// first), column 2 b + (sign of the second).
  void store_strengths() {
    couplings_.resize(first_.channels);
    for (const SpeciesCoupling& coupling : structure_.couplings) {
      if (coupling.first_channel >= first_.channels) continue;
      const auto rows = static_cast<std::size_t>(coupling.first_count),
                 cols = static_cast<std::size_t>(coupling.second_count);
      couplings_[coupling.first_channel].push_back(
          {coupling.second_channel, static_cast<std::int64_t>(tables_.values.size()),
           static_cast<std::int64_t>(2 * cols)});
      for (std::size_t a = 0; a < 2 * rows; ++a)
        for (std::size_t b = 0; b < 2 * cols; ++b) {
          const double value = coupling.strengths[a / 2 * cols + b / 2];
          tables_.values.push_back(static_cast<T>((a + b) % 2 == 0 ? value : -value));
        }
    }
    for (auto& of_channel : couplings_)
      std::sort(of_channel.begin(), of_channel.end(),
                [](const Coupling& a, const Coupling& b) { return a.channel < b.channel; });
  }

  /// Of each sector, by the sector that they come from.
  std::vector<std::vector<OwnBlock>> own_blocks(const SortedSpecies& species, bool lists) {
    const std::size_t sectors = species.sectors.size() - 1;
    std::vector<std::vector<OwnBlock>> all(sectors);
    std::vector<std::size_t> counts(sectors);
    for (std::uint32_t s = 0; s < sectors; ++s) {
      std::fill(counts.begin(), counts.end(), 0);
      for (Index k = species.sectors[s]; k < species.sectors[s + 1]; ++k)
        for (const SpeciesElement& element : species.elements.of(static_cast<std::size_t>(k)))
          ++counts[species.sector_of[element.column]];
      for (std::uint32_t from = 0; from < sectors; ++from) {
        if (counts[from] == 0) continue;
        OwnBlock block{from};
        const double whole = static_cast<double>(species.size(s)) * species.size(from);
        block.dense = storage_ == SpeciesStorage::dense ||
                      (storage_ == SpeciesStorage::automatic && std::min(species.size(s), species.size(from)) >= fewest_dense_ &&
                       16. * static_cast<double>(counts[from]) >= whole);
        if (block.dense) store_dense(species, s, block);
        if (!block.dense && lists) store_list(species, s, block);
        all[s].push_back(block);
      }
    }
    return all;
  }
  void store_dense(const SortedSpecies& species, std::uint32_t sector, OwnBlock& block) {
    const std::size_t columns = species.size(block.from);
    block.values = static_cast<std::int64_t>(tables_.values.size());
    tables_.values.resize(tables_.values.size() + species.size(sector) * columns, T(0));
    T* const values = tables_.values.data() + block.values;
    for (std::uint32_t k = 0; k < species.size(sector); ++k)
      for (const SpeciesElement& element : species.elements.of(static_cast<std::size_t>(species.sectors[sector]) + k))
        if (species.sector_of[element.column] == block.from)
          values[k * columns + species.local(element.column)] = static_cast<T>(element.value);
  }
  /// Entries of all states of a sector, whose values are their own numbers.
  void store_list(const SortedSpecies& species, std::uint32_t sector, OwnBlock& block) {
    block.list = counted(tables_.begins.size(), "list places");
    block.values = static_cast<std::int64_t>(tables_.values.size());
    std::uint32_t next = 0;
    for (std::uint32_t k = 0; k < species.size(sector); ++k) {
      tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
      for (const SpeciesElement& element : species.elements.of(static_cast<std::size_t>(species.sectors[sector]) + k))
        if (species.sector_of[element.column] == block.from) {
          tables_.entries.push_back({species.local(element.column), next++});
          tables_.values.push_back(static_cast<T>(element.value));
        }
    }
    tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
    block.places = next;
  }

  void list_groups() {
    group_.assign((first_.sectors.size() - 1) * (second_.sectors.size() - 1), none);
    std::int64_t row = 0, line = 0;
    for (const SpeciesGroup& group : structure_.groups) {
      const auto p = static_cast<std::uint32_t>(group.first_sector), n = static_cast<std::uint32_t>(group.second_sector);
      group_[p * (second_.sectors.size() - 1) + n] = static_cast<std::uint32_t>(tables_.host.groups.size());
      tables_.host.groups.push_back({row, line, first_.size(p), second_.size(n), 0, 0, 0, 0});
      row += static_cast<std::int64_t>(first_.size(p)) * second_.size(n);
      line += first_.size(p);
    }
    for (std::size_t g = 0; g < structure_.groups.size(); ++g) {
      const auto p = static_cast<std::uint32_t>(structure_.groups[g].first_sector),
                 n = static_cast<std::uint32_t>(structure_.groups[g].second_sector);
      auto& blocks = tables_.host.blocks;
      const auto add = [&](std::uint32_t from, std::int64_t values) {
        if (from != none) blocks.push_back({from, 0, values});
      };
      TwoSpeciesGroup& group = tables_.host.groups[g];
      group.first_begin = counted(blocks.size(), "blocks");
      for (const OwnBlock& block : first_blocks_[p])
        if (block.dense) add(group_of(block.from, n), block.values);
      group.first_end = group.second_begin = counted(blocks.size(), "blocks");
      for (const OwnBlock& block : second_blocks_[n])
        if (block.dense) add(group_of(p, block.from), block.values);
      group.second_end = counted(blocks.size(), "blocks");
    }
  }

  /// The moves of a channel into a sector of the second species, with the places of their strengths.
  std::uint32_t move_list(std::uint32_t sector, std::uint16_t channel) {
    std::uint32_t& list = move_lists_.try_emplace({sector, channel}, none).first->second;
    if (list != none) return list;
    list = counted(tables_.begins.size(), "list places");
    for (std::uint32_t k = 0; k < second_.size(sector); ++k) {
      tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
      for (const SpeciesMove& move : second_.moves.of(static_cast<std::size_t>(second_.sectors[sector]) + k))
        if (move.channel == channel)
          tables_.entries.push_back({second_.local(move.from), 2u * move.number + (move.sign < 0 ? 1u : 0u)});
    }
    tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
    return list;
  }
  /// One entry a row, itself with the first value.
  std::uint32_t identity_list(std::uint32_t rows) {
    std::uint32_t& list = identity_lists_.try_emplace(rows, none).first->second;
    if (list != none) return list;
    list = counted(tables_.begins.size(), "list places");
    for (std::uint32_t k = 0; k <= rows; ++k) {
      tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
      if (k < rows) tables_.entries.push_back({k, 0});
    }
    return list;
  }
  double list_entries(std::uint32_t list, std::uint32_t rows) const {
    return static_cast<double>(tables_.begins[list + rows]) - tables_.begins[list];
  }

  void list_lines(std::uint32_t g) {
    const auto p = static_cast<std::uint32_t>(structure_.groups[g].first_sector),
               n = static_cast<std::uint32_t>(structure_.groups[g].second_sector);
    const TwoSpeciesGroup group = tables_.host.groups[g];
    double dense = 0;
    for (std::uint32_t b = group.first_begin; b < group.first_end; ++b)
      dense += static_cast<double>(tables_.host.groups[tables_.host.blocks[b].group].lines) * group.line_rows;
    for (std::uint32_t b = group.second_begin; b < group.second_end; ++b)
      dense += static_cast<double>(tables_.host.groups[tables_.host.blocks[b].group].line_rows) * group.line_rows;
    for (std::uint32_t k = 0; k < group.lines; ++k) {
      tables_.lines.push_back({group.first_row + std::int64_t(k) * group.line_rows, g, k,
                               counted(tables_.runs.size(), "runs"), 0, 0, 0});
      products_ = dense;
      list_moves(p, n, k);
      list_sparse(p, n, k, group);
      tables_.lines.back().run_end = counted(tables_.runs.size(), "runs");
      list_batches(tables_.lines.back());
      tables_.line_products.push_back(products_);
    }
  }
  void list_batches(TwoSpeciesLine& line) {
    line.batch_begin = line.batch_end = counted(tables_.batches.size(), "batches");
    if (line.run_begin == line.run_end) return;
    std::uint32_t used = 0;
    const std::uint32_t first = tables_.runs[line.run_begin].job_begin, end = tables_.runs[line.run_end - 1].job_end;
    tables_.batches.push_back({first, first});
    for (std::uint32_t j = first; j < end; ++j) {
      TwoSpeciesJob& job = tables_.jobs[j];
      const std::uint32_t needed = job.places <= largest_shared ? job.places : 0;
      if (j - tables_.batches.back().job_begin == two_species_batch_jobs || used + needed > two_species_batch_values) {
        tables_.batches.push_back({j, j});
        used = 0;
      }
      job.shared = needed > 0 ? used : two_species_not_shared;
      used += needed;
      tables_.batches.back().job_end = j + 1;
    }
    line.batch_end = counted(tables_.batches.size(), "batches");
  }
  void list_moves(std::uint32_t p, std::uint32_t n, std::uint32_t k) {
    const auto moves = first_.moves.of(static_cast<std::size_t>(first_.sectors[p]) + k);
    for (std::size_t begin = 0, end = 0; begin < moves.size(); begin = end) {
      const std::uint16_t channel = moves[begin].channel;
      while (end < moves.size() && moves[end].channel == channel) ++end;
      for (const Coupling& coupling : couplings_[channel]) {
        const std::uint32_t to = second_.source_of(n, coupling.channel);
        if (to == none) continue;
        const std::uint32_t from = group_of(first_.source_of(p, channel), to);
        if (from == none) continue;
        open_run(move_list(n, coupling.channel));
        for (std::size_t m = begin; m < end; ++m)
          add_job(from, first_.local(moves[m].from),
                  coupling.values + (2 * moves[m].number + (moves[m].sign < 0 ? 1 : 0)) * coupling.row,
                  static_cast<std::uint32_t>(coupling.row));
        close_run(second_.size(n));
      }
    }
  }
  /// A and B where they are not dense.
  void list_sparse(std::uint32_t p, std::uint32_t n, std::uint32_t k, const TwoSpeciesGroup& group) {
    for (const OwnBlock& block : first_blocks_[p]) {
      const std::uint32_t from = group_of(block.from, n);
      if (block.dense || from == none) continue;
      open_run(identity_list(group.line_rows));
      for (const SpeciesElement& element : first_.elements.of(static_cast<std::size_t>(first_.sectors[p]) + k))
        if (first_.sector_of[element.column] == block.from) {
          add_job(from, first_.local(element.column), static_cast<std::int64_t>(tables_.values.size()), 1);
          tables_.values.push_back(static_cast<T>(element.value));
        }
      close_run(group.line_rows);
    }
    for (const OwnBlock& block : second_blocks_[n]) {
      const std::uint32_t from = group_of(p, block.from);
      if (block.dense || from == none) continue;
      open_run(block.list);
      add_job(from, k, block.values, block.places);
      close_run(group.line_rows);
    }
  }
  void open_run(std::uint32_t list) {
    const auto jobs = static_cast<std::uint32_t>(tables_.jobs.size());
    tables_.runs.push_back({list, jobs, jobs});
  }
  void add_job(std::uint32_t group, std::uint32_t line, std::int64_t values, std::uint32_t places) {
    const TwoSpeciesGroup& from = tables_.host.groups[group];
    tables_.jobs.push_back(
        {from.first_row + std::int64_t(line) * from.line_rows, values, places, two_species_not_shared});
  }
  void close_run(std::uint32_t rows) {
    TwoSpeciesRun& run = tables_.runs.back();
    run.job_end = counted(tables_.jobs.size(), "jobs");
    const double entries = list_entries(run.list, rows);
    if (entries == 0 || run.job_end == run.job_begin) {
      tables_.jobs.resize(run.job_begin);
      tables_.runs.pop_back();
      return;
    }
    products_ += entries * (run.job_end - run.job_begin);
  }

  struct Coupling {
    std::uint16_t channel;  ///< of the second species
    std::int64_t values, row;
  };
  const TwoSpeciesStructure& structure_;
  SpeciesStorage storage_;
  Index fewest_dense_;
  SortedSpecies first_, second_;
  TwoSpeciesTables<T> tables_;
  std::vector<std::vector<Coupling>> couplings_;  ///< by channel of the first species
  std::vector<std::vector<OwnBlock>> first_blocks_, second_blocks_;
  std::vector<std::uint32_t> group_;  ///< by sectors
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint32_t> move_lists_;
  std::map<std::uint32_t, std::uint32_t> identity_lists_;
  double products_ = 0;
};

void check_species(const Species& species, const char* name) {
  const auto refuse = [&](const std::string& what, const std::string& expected) {
    throw InvalidArgument(name, what, expected);
  };
  const std::vector<Index>& sectors = species.sectors;
  if (sectors.size() < 2 || sectors.front() != 0 || !std::is_sorted(sectors.begin(), sectors.end()) ||
      sectors.back() < 1 || sectors.back() >= Index(none))
    refuse("sectors that do not ascend from 0", "sectors of 1 to 2^32 - 2 states");
  const auto states = static_cast<std::uint32_t>(sectors.back());
  for (const SpeciesElement& element : species.elements) {
    if (element.row >= states || element.column >= states)
      refuse(fmt::format("element ({}, {})", element.row, element.column), fmt::format("states below {}", states));
    if (!std::isfinite(element.value)) refuse(fmt::format("the value {}", element.value), "finite values");
  }
  for (const SpeciesMove& move : species.moves) {
    if (move.to >= states || move.from >= states)
      refuse(fmt::format("a move from {} to {}", move.from, move.to), fmt::format("states below {}", states));
    if (move.sign != 1 && move.sign != -1) refuse(fmt::format("the sign {}", move.sign), "1 or -1");
  }
}

/// That the moves of a coupled channel have strengths.
void check_numbers(const Species& species, std::uint16_t channel, Index count, const char* name) {
  for (const SpeciesMove& move : species.moves)
    if (move.channel == channel && move.number >= count)
      throw InvalidArgument(name, fmt::format("operator {} of channel {}", move.number, channel),
                            fmt::format("one of the coupling's {}", count));
}

/// The values' part of an entry's magnitude: of jobs [begin, end), by the value's place.
template <class T>
struct RunSums {
  std::vector<double> others, own;  ///< |value| summed over jobs from other lines; value over those from the line
};

/// What the dense blocks of B give to each row of a group's lines.
struct SecondSums {
  std::vector<double> diagonal, magnitudes;
};
template <class T>
SecondSums measure_second(const TwoSpeciesTables<T>& tables, std::uint32_t number) {
  const TwoSpeciesGroup& group = tables.host.groups[number];
  SecondSums sums{std::vector<double>(group.line_rows), std::vector<double>(group.line_rows)};
  for (std::uint32_t b = group.second_begin; b < group.second_end; ++b) {
    const TwoSpeciesGroup& from = tables.host.groups[tables.host.blocks[b].group];
    const bool here = tables.host.blocks[b].group == number;
    const T* values = tables.values.data() + tables.host.blocks[b].values;
    for (std::uint32_t i = 0; i < group.line_rows; ++i, values += from.line_rows)
      for (std::uint32_t k = 0; k < from.line_rows; ++k)
        if (here && k == i)
          sums.diagonal[i] += values[k];
        else
          sums.magnitudes[i] += std::abs(double(values[k]));
  }
  return sums;
}

/// Sums of one line.
template <class T>
void measure_line(const TwoSpeciesTables<T>& tables, std::size_t l, const SecondSums& of_second, RunSums<T>& sums,
                  double* diagonal, double* magnitudes) {
  const TwoSpeciesLine& line = tables.lines[l];
  const TwoSpeciesGroup& group = tables.host.groups[line.group];
  const std::uint32_t rows = group.line_rows;
  std::fill_n(magnitudes, rows, 0.0);
  const auto line_of = [&](const TwoSpeciesGroup& of, std::uint32_t k) {
    return of.first_row + std::int64_t(k) * of.line_rows;
  };
  for (std::uint32_t b = group.first_begin; b < group.first_end; ++b) {
    const TwoSpeciesGroup& from = tables.host.groups[tables.host.blocks[b].group];
    const T* const values = tables.values.data() + tables.host.blocks[b].values + std::int64_t(line.state) * from.lines;
    double sum = 0, own = 0;
    for (std::uint32_t k = 0; k < from.lines; ++k)
      (line_of(from, k) == line.first_row ? own : sum) +=
          line_of(from, k) == line.first_row ? double(values[k]) : std::abs(double(values[k]));
    for (std::uint32_t i = 0; i < rows; ++i) magnitudes[i] += sum, diagonal[i] += own;
  }
  for (std::uint32_t i = 0; i < rows; ++i) {
    magnitudes[i] += of_second.magnitudes[i];
    diagonal[i] += of_second.diagonal[i];
  }
  for (std::uint32_t r = line.run_begin; r < line.run_end; ++r) {
    const TwoSpeciesRun& run = tables.runs[r];
    std::uint32_t places = 0;
    for (std::uint32_t e = tables.begins[run.list]; e < tables.begins[run.list + rows]; ++e)
      places = std::max(places, tables.entries[e].value + 1);
    sums.others.assign(places, 0);
    sums.own.assign(places, 0);
    for (std::uint32_t j = run.job_begin; j < run.job_end; ++j) {
      const T* const values = tables.values.data() + tables.jobs[j].values;
      const bool own = tables.jobs[j].first_row == line.first_row;
      for (std::uint32_t v = 0; v < places; ++v)
        if (own)
          sums.own[v] += values[v];
        else
          sums.others[v] += std::abs(double(values[v]));
    }
    for (std::uint32_t i = 0; i < rows; ++i)
      for (std::uint32_t e = tables.begins[run.list + i]; e < tables.begins[run.list + i + 1]; ++e) {
        const TwoSpeciesEntry& entry = tables.entries[e];
        magnitudes[i] += sums.others[entry.value];
        if (entry.row == i)
          diagonal[i] += sums.own[entry.value];
        else
          magnitudes[i] += std::abs(sums.own[entry.value]);
      }
  }
}

}  // namespace

template <class T>
TwoSpeciesShape TwoSpeciesTables<T>::shape() const noexcept {
  const auto count = [](const auto& items) { return static_cast<std::int64_t>(items.size()); };
  return {count(lines), count(host.groups), count(host.blocks), count(runs),  count(batches),
          count(jobs),  count(begins),      count(entries),     count(values)};
}

template <class T>
void TwoSpeciesTables<T>::store(void* memory) const {
  TwoSpeciesView<T> view{lines.data(), host.groups.data(), host.blocks.data(), runs.data(),  batches.data(),
                         jobs.data(),  begins.data(),      entries.data(),     values.data()};
  const TwoSpeciesShape counts = shape();
  const std::int64_t sizes[] = {counts.lines, counts.groups, counts.blocks,  counts.runs,  counts.batches,
                                counts.jobs,  counts.begins, counts.entries, counts.values};
  const std::int64_t* size = sizes;
  for_two_species_parts<T>(counts, view, [&](const auto& from, std::int64_t offset) {
    if (*size > 0)
      std::memcpy(static_cast<char*>(memory) + offset, from, static_cast<std::size_t>(*size) * sizeof(*from));
    ++size;
  });
}

void check_structure(const TwoSpeciesStructure& structure) {
  check_species(structure.first, "first");
  check_species(structure.second, "second");
  std::set<std::pair<Index, Index>> groups;
  for (const SpeciesGroup& group : structure.groups) {
    const auto inside = [](const Species& species, Index sector) {
      return sector >= 0 && sector + 1 < static_cast<Index>(species.sectors.size());
    };
    if (!inside(structure.first, group.first_sector) || !inside(structure.second, group.second_sector) ||
        !groups.emplace(group.first_sector, group.second_sector).second)
      throw InvalidArgument("groups", fmt::format("({}, {})", group.first_sector, group.second_sector),
                            "pairs of sectors that there are, none twice");
  }
  if (structure.order() < 1) throw InvalidArgument("groups", "no rows", "at least one row");
  std::set<std::pair<int, int>> channels;
  for (const SpeciesCoupling& coupling : structure.couplings) {
    if (!channels.emplace(coupling.first_channel, coupling.second_channel).second)
      throw InvalidArgument("couplings",
                            fmt::format("channels {} and {} twice", coupling.first_channel, coupling.second_channel),
                            "one coupling of two channels");
    if (coupling.first_count < 0 || coupling.second_count < 0 || coupling.first_count > 65536 ||
        coupling.second_count > 65536 ||
        static_cast<Index>(coupling.strengths.size()) != coupling.first_count * coupling.second_count)
      throw InvalidArgument("strengths", fmt::format("{} numbers", coupling.strengths.size()),
                            fmt::format("{} x {}", coupling.first_count, coupling.second_count));
    for (const double value : coupling.strengths)
      if (!std::isfinite(value)) throw InvalidArgument("strengths", fmt::format("{}", value), "finite values");
    check_numbers(structure.first, coupling.first_channel, coupling.first_count, "first");
    check_numbers(structure.second, coupling.second_channel, coupling.second_count, "second");
  }
}

template <class T>
TwoSpeciesTables<T> make_two_species_tables(const TwoSpeciesStructure& structure, SpeciesStorage storage,
                                            Index fewest_dense) {
  return TableMaker<T>(structure, storage, fewest_dense).make();
}

template <class T>
TwoSpeciesNorm measure_two_species(int threads, const TwoSpeciesTables<T>& tables) {
  const TwoSpeciesGroup& last = tables.host.groups.back();
  TwoSpeciesNorm norm;
  norm.diagonal.assign(static_cast<std::size_t>(last.first_row + std::int64_t(last.lines) * last.line_rows), 0.0);
  std::vector<SecondSums> of_second(tables.host.groups.size());
  parallel_for(threads, static_cast<Index>(of_second.size()), [&](Index g, int) {
    of_second[static_cast<std::size_t>(g)] = measure_second(tables, static_cast<std::uint32_t>(g));
  });
  std::vector<double> largest(tables.lines.size());
  parallel_for(threads, static_cast<Index>(tables.lines.size()), [&](Index l, int) {
    const TwoSpeciesLine& line = tables.lines[static_cast<std::size_t>(l)];
    const std::uint32_t rows = tables.host.groups[line.group].line_rows;
    std::vector<double> magnitudes(rows);
    RunSums<T> sums;
    double* const diagonal = norm.diagonal.data() + line.first_row;
    measure_line(tables, static_cast<std::size_t>(l), of_second[line.group], sums, diagonal, magnitudes.data());
    for (std::uint32_t i = 0; i < rows; ++i)
      largest[static_cast<std::size_t>(l)] =
          std::max(largest[static_cast<std::size_t>(l)], magnitudes[i] + std::abs(diagonal[i]));
  });
  norm.bound = *std::max_element(largest.begin(), largest.end());
  return norm;
}

#define TESSERA_INSTANTIATE(T)                                                                          \
  template struct TwoSpeciesTables<T>;                                                                  \
  template TwoSpeciesTables<T> make_two_species_tables(const TwoSpeciesStructure&, SpeciesStorage, Index); \
  template TwoSpeciesNorm measure_two_species(int, const TwoSpeciesTables<T>&);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail

namespace tessera {

Index TwoSpeciesStructure::order() const {
  Index rows = 0;
  const auto size = [](const Species& species, Index sector) {
    return species.sectors[static_cast<std::size_t>(sector) + 1] - species.sectors[static_cast<std::size_t>(sector)];
  };
  for (const SpeciesGroup& group : groups) rows += size(first, group.first_sector) * size(second, group.second_sector);
  return rows;
}

}  // namespace tessera
