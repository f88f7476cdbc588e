// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/sorted_species.hpp>
#include <tessera/algorithms/sparse/two_species_tables.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

namespace {

/// Values of a job that go into shared memory: more are read where they lie.
constexpr std::uint32_t largest_shared = 512;

std::uint32_t counted(std::size_t count, const char* what) {
  // Some room: loops go over several at once.
  constexpr std::uint32_t most = no_number - 1024;
  if (count > most)
    throw InvalidArgument("structure", fmt::format("{} {}", count, what),
                          fmt::format("at most {} {}", most, what));
  return static_cast<std::uint32_t>(count);
}

/// A dense or sparse block of a species' own Hamiltonian, into a sector from another one.
struct OwnBlock {
  std::uint32_t from = 0;
  bool dense = false;
  std::int64_t values = 0;         ///< dense: the first one
  std::uint32_t list = no_number;  ///< sparse, of the second species, with so many values:
  std::uint32_t places = 0;
};

template <class T>
class TableMaker {
 public:
  TableMaker(const TwoSpeciesStructure& structure, SpeciesStorage storage, Index fewest_dense)
      : structure_(structure),
        storage_(storage),
        fewest_dense_(fewest_dense),
        first_(structure.first),
        second_(structure.second) {}

  TwoSpeciesTables<T> make() {
    store_strengths();
    first_blocks_ = own_blocks(first_, false);
    second_blocks_ = own_blocks(second_, true);
    list_pairs();
    for (std::uint32_t g = 0; g < tables_.host.pairs.size(); ++g) list_lines(g);
    counted(tables_.jobs.size(), "jobs");
    counted(tables_.begins.size(), "list places");
    for (const T value : tables_.values)
      if (!std::isfinite(value))
        throw InvalidArgument("structure", "a number beyond the range of the type", "numbers within it");
    return std::move(tables_);
  }

 private:
  struct Coupling {
    std::uint16_t transfer;    ///< of the second species
    std::int64_t values, end;  ///< the first, and the one behind the last
    std::int64_t row;          ///< values of one signed operator of the first species
  };

  std::uint32_t pair_of(std::uint32_t first, std::uint32_t second) const noexcept {
    return pair_[first * (second_.sectors.size() - 1) + second];
  }

  /// Each number twice as is and with the other sign, so that signs are places: row 2 a + (sign of the
  /// first), column 2 b + (sign of the second).
  void store_strengths() {
    couplings_.resize(first_.transfers);
    for (const SpeciesCoupling& coupling : structure_.couplings) {
      if (coupling.first_transfer >= first_.transfers ||
          std::ranges::all_of(coupling.strengths, [](double strength) { return strength == 0; }))
        continue;
      const auto rows = static_cast<std::size_t>(coupling.first_count),
                 cols = static_cast<std::size_t>(coupling.second_count);
      const std::size_t values = tables_.values.size();
      couplings_[coupling.first_transfer].push_back(
          {coupling.second_transfer, static_cast<std::int64_t>(values),
           static_cast<std::int64_t>(values + 4 * rows * cols), static_cast<std::int64_t>(2 * cols)});
      for (std::size_t a = 0; a < 2 * rows; ++a)
        for (std::size_t b = 0; b < 2 * cols; ++b) {
          const double value = coupling.strengths[a / 2 * cols + b / 2];
          tables_.values.push_back(static_cast<T>((a + b) % 2 == 0 ? value : -value));
        }
    }
    for (auto& of_transfer : couplings_)
      std::sort(of_transfer.begin(), of_transfer.end(),
                [](const Coupling& a, const Coupling& b) { return a.transfer < b.transfer; });
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
                      (storage_ == SpeciesStorage::automatic &&
                       std::min(species.size(s), species.size(from)) >= fewest_dense_ &&
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
      for (const SpeciesElement& element :
           species.elements.of(static_cast<std::size_t>(species.sectors[sector]) + k))
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
      for (const SpeciesElement& element :
           species.elements.of(static_cast<std::size_t>(species.sectors[sector]) + k))
        if (species.sector_of[element.column] == block.from) {
          tables_.entries.push_back({species.local(element.column), next++});
          tables_.values.push_back(static_cast<T>(element.value));
        }
    }
    tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
    block.places = next;
  }

  void list_pairs() {
    pair_.assign((first_.sectors.size() - 1) * (second_.sectors.size() - 1), no_number);
    std::int64_t row = 0, line = 0;
    for (const SectorPair& pair : structure_.pairs) {
      const auto p = static_cast<std::uint32_t>(pair.first_sector),
                 n = static_cast<std::uint32_t>(pair.second_sector);
      // Sectors without states have neither rows nor lines.
      const bool empty = first_.size(p) == 0 || second_.size(n) == 0;
      const std::uint32_t lines = empty ? 0 : first_.size(p), rows = empty ? 0 : second_.size(n);
      if (!empty)
        pair_[p * (second_.sectors.size() - 1) + n] = static_cast<std::uint32_t>(tables_.host.pairs.size());
      tables_.host.pairs.push_back({row, line, lines, rows, 0, 0, 0, 0});
      row += static_cast<std::int64_t>(lines) * rows;
      line += lines;
    }
    for (std::size_t g = 0; g < structure_.pairs.size(); ++g) {
      const auto p = static_cast<std::uint32_t>(structure_.pairs[g].first_sector),
                 n = static_cast<std::uint32_t>(structure_.pairs[g].second_sector);
      auto& blocks = tables_.host.blocks;
      const auto add = [&](std::uint32_t from, std::int64_t values) {
        if (from != no_number) blocks.push_back({from, 0, values});
      };
      TwoSpeciesPair& pair = tables_.host.pairs[g];
      pair.first_begin = counted(blocks.size(), "blocks");
      for (const OwnBlock& block : first_blocks_[p])
        if (block.dense) add(pair_of(block.from, n), block.values);
      pair.first_end = pair.second_begin = counted(blocks.size(), "blocks");
      for (const OwnBlock& block : second_blocks_[n])
        if (block.dense) add(pair_of(p, block.from), block.values);
      pair.second_end = counted(blocks.size(), "blocks");
    }
  }

  /// The moves of a transfer into a sector of the second species, with the places of their strengths. Where most
  /// rows have several that leave the state as it is (occupations), also the list of the others: the sum of those
  /// is one value a row, once an operator of the first species is given (fields).
  struct MoveLists {
    std::uint32_t all = no_number, others = no_number;
  };
  const MoveLists& move_lists(std::uint32_t sector, std::uint16_t transfer) {
    MoveLists& lists = move_lists_[{sector, transfer}];
    if (lists.all != no_number) return lists;
    Index unmoved = 0;
    lists.all = store_moves(sector, transfer, [&](bool moves) {
      if (!moves) ++unmoved;
      return true;
    });
    if (unmoved > Index(second_.size(sector)))
      lists.others = store_moves(sector, transfer, [](bool moves) { return moves; });
    return lists;
  }
  template <class Wanted>
  std::uint32_t store_moves(std::uint32_t sector, std::uint16_t transfer, const Wanted& wanted) {
    const std::uint32_t list = counted(tables_.begins.size(), "list places");
    for (std::uint32_t k = 0; k < second_.size(sector); ++k) {
      tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
      for (const SpeciesMove& move :
           second_.moves_of(static_cast<std::size_t>(second_.sectors[sector]) + k, transfer))
        if (wanted(move.from != move.to))
          tables_.entries.push_back({second_.local(move.from), 2u * move.number + (move.sign < 0 ? 1u : 0u)});
    }
    tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
    return list;
  }
  /// For each signed operator of a coupling's first transfer the sums over the unmoved entries of each row.
  std::int64_t fields(const Coupling& coupling, std::uint32_t sector) {
    const auto [found, is_new] = fields_.try_emplace({coupling.values, sector}, 0);
    if (!is_new) return found->second;
    found->second = static_cast<std::int64_t>(tables_.values.size());
    const std::uint32_t list = move_lists(sector, coupling.transfer).all;
    for (std::int64_t row = coupling.values; row < coupling.end; row += coupling.row)
      for (std::uint32_t i = 0; i < second_.size(sector); ++i) {
        double sum = 0;
        for (std::uint32_t e = tables_.begins[list + i]; e < tables_.begins[list + i + 1]; ++e)
          if (tables_.entries[e].row == i)
            sum += tables_.values[static_cast<std::size_t>(row + tables_.entries[e].value)];
        tables_.values.push_back(static_cast<T>(sum));
      }
    return found->second;
  }
  /// One entry a row, itself, with the first value or the one of the row's number.
  std::uint32_t identity_list(std::uint32_t rows, bool numbered) {
    std::uint32_t& list = identity_lists_.try_emplace({rows, numbered}, no_number).first->second;
    if (list != no_number) return list;
    list = counted(tables_.begins.size(), "list places");
    for (std::uint32_t k = 0; k <= rows; ++k) {
      tables_.begins.push_back(counted(tables_.entries.size(), "entries"));
      if (k < rows) tables_.entries.push_back({k, numbered ? k : 0});
    }
    return list;
  }
  double list_entries(std::uint32_t list, std::uint32_t rows) const {
    return static_cast<double>(tables_.begins[list + rows]) - tables_.begins[list];
  }

  void list_lines(std::uint32_t g) {
    const auto p = static_cast<std::uint32_t>(structure_.pairs[g].first_sector),
               n = static_cast<std::uint32_t>(structure_.pairs[g].second_sector);
    const TwoSpeciesPair pair = tables_.host.pairs[g];
    double dense = 0;
    for (std::uint32_t b = pair.first_begin; b < pair.first_end; ++b)
      dense += static_cast<double>(tables_.host.pairs[tables_.host.blocks[b].pair].lines) * pair.line_rows;
    for (std::uint32_t b = pair.second_begin; b < pair.second_end; ++b)
      dense +=
          static_cast<double>(tables_.host.pairs[tables_.host.blocks[b].pair].line_rows) * pair.line_rows;
    for (std::uint32_t k = 0; k < pair.lines; ++k) {
      tables_.lines.push_back({pair.first_row + std::int64_t(k) * pair.line_rows, g, k,
                               counted(tables_.runs.size(), "runs"), 0, 0, 0});
      products_ = dense;
      list_moves(p, n, k);
      list_sparse(p, n, k, pair);
      tables_.lines.back().run_end = counted(tables_.runs.size(), "runs");
      list_batches(tables_.lines.back());
      tables_.line_products.push_back(products_);
    }
  }
  void list_batches(TwoSpeciesLine& line) {
    line.batch_begin = line.batch_end = counted(tables_.batches.size(), "batches");
    if (line.run_begin == line.run_end) return;
    std::uint32_t used = 0;
    const std::uint32_t first = tables_.runs[line.run_begin].job_begin,
                        end = tables_.runs[line.run_end - 1].job_end;
    tables_.batches.push_back({first, first});
    for (std::uint32_t j = first; j < end; ++j) {
      TwoSpeciesJob& job = tables_.jobs[j];
      const std::uint32_t needed = job.places <= largest_shared ? job.places : 0;
      if (j - tables_.batches.back().job_begin == two_species_batch_jobs ||
          used + needed > two_species_batch_values) {
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
      const std::uint16_t transfer = moves[begin].transfer;
      while (end < moves.size() && moves[end].transfer == transfer) ++end;
      for (const Coupling& coupling : couplings_[transfer]) {
        const std::uint32_t to = second_.source_of(n, coupling.transfer);
        if (to == no_number) continue;
        const std::uint32_t from = pair_of(first_.source_of(p, transfer), to);
        if (from != no_number)
          list_coupling(coupling, moves.subspan(begin, end - begin), n, k, from, from == pair_of(p, n));
      }
    }
  }
  /// Jobs of one coupling. `here`: their lines are in the pair of this line, number k.
  void list_coupling(const Coupling& coupling, std::span<const SpeciesMove> moves, std::uint32_t n,
                     std::uint32_t k, std::uint32_t from, bool here) {
    const MoveLists lists = move_lists(n, coupling.transfer);
    const std::uint32_t rows = second_.size(n);
    const auto signed_number = [](const SpeciesMove& move) {
      return 2 * move.number + (move.sign < 0 ? 1 : 0);
    };
    const auto strengths = [&](const SpeciesMove& move) {
      return coupling.values + signed_number(move) * coupling.row;
    };
    std::vector<SpeciesMove> others, own;
    for (const SpeciesMove& move : moves)
      (here && first_.local(move.from) == k ? own : others).push_back(move);
    // Sums are worth their memory up to some 128 MiB a coupling and sector.
    constexpr std::int64_t most_fields = 1 << 24;
    const bool split = here && lists.others != no_number &&
                       (coupling.end - coupling.values) / coupling.row * std::int64_t(rows) <= most_fields;
    open_run(split ? lists.others : lists.all);
    for (const SpeciesMove& move : others)
      add_job(from, first_.local(move.from), strengths(move), static_cast<std::uint32_t>(coupling.row));
    close_run(rows);
    if (split && !others.empty()) {
      open_run(identity_list(rows, true), TwoSpeciesListKind::numbered);
      const std::int64_t first = fields(coupling, n);
      for (const SpeciesMove& move : others)
        add_job(from, first_.local(move.from), first + signed_number(move) * std::int64_t(rows),
                largest_shared + 1);
      close_run(rows);
    }
    if (own.empty()) return;
    open_run(lists.all);
    // Operators that leave the line as it is act as one, where that saves more than it stores.
    if (static_cast<double>(own.size() - 1) * list_entries(lists.all, rows) >
        static_cast<double>(coupling.row)) {
      const auto sums = static_cast<std::int64_t>(tables_.values.size());
      for (std::int64_t b = 0; b < coupling.row; ++b) {
        double value = 0;
        for (const SpeciesMove& move : own)
          value += tables_.values[static_cast<std::size_t>(strengths(move) + b)];
        tables_.values.push_back(static_cast<T>(value));
      }
      add_job(from, k, sums, static_cast<std::uint32_t>(coupling.row));
    } else {
      for (const SpeciesMove& move : own)
        add_job(from, k, strengths(move), static_cast<std::uint32_t>(coupling.row));
    }
    close_run(rows);
  }
  /// A and B where they are not dense.
  void list_sparse(std::uint32_t p, std::uint32_t n, std::uint32_t k, const TwoSpeciesPair& pair) {
    for (const OwnBlock& block : first_blocks_[p]) {
      const std::uint32_t from = pair_of(block.from, n);
      if (block.dense || from == no_number) continue;
      open_run(identity_list(pair.line_rows, false), TwoSpeciesListKind::itself);
      for (const SpeciesElement& element :
           first_.elements.of(static_cast<std::size_t>(first_.sectors[p]) + k))
        if (first_.sector_of[element.column] == block.from) {
          add_job(from, first_.local(element.column), static_cast<std::int64_t>(tables_.values.size()), 1);
          tables_.values.push_back(static_cast<T>(element.value));
        }
      close_run(pair.line_rows);
    }
    for (const OwnBlock& block : second_blocks_[n]) {
      const std::uint32_t from = pair_of(p, block.from);
      if (block.dense || from == no_number) continue;
      open_run(block.list);
      add_job(from, k, block.values, block.places);
      close_run(pair.line_rows);
    }
  }
  void open_run(std::uint32_t list, TwoSpeciesListKind kind = TwoSpeciesListKind::any) {
    const auto jobs = static_cast<std::uint32_t>(tables_.jobs.size());
    tables_.runs.push_back({list, jobs, jobs, 0, kind});
  }
  void add_job(std::uint32_t pair, std::uint32_t line, std::int64_t values, std::uint32_t places) {
    const TwoSpeciesPair& from = tables_.host.pairs[pair];
    tables_.runs.back().source_rows = from.line_rows;
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
    if (run.kind == TwoSpeciesListKind::any && entries >= 2.0 * run.source_rows)
      run.kind = TwoSpeciesListKind::several;
    products_ += entries * (run.job_end - run.job_begin);
  }

  const TwoSpeciesStructure& structure_;
  SpeciesStorage storage_;
  Index fewest_dense_;
  SortedSpecies first_, second_;
  TwoSpeciesTables<T> tables_;
  std::vector<std::vector<Coupling>> couplings_;  ///< by transfer of the first species
  std::vector<std::vector<OwnBlock>> first_blocks_, second_blocks_;
  std::vector<std::uint32_t> pair_;  ///< by sectors
  std::map<std::pair<std::uint32_t, std::uint16_t>, MoveLists> move_lists_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::int64_t> fields_;  ///< by coupling and sector
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> identity_lists_;
  double products_ = 0;
};

}  // namespace

template <class T>
TwoSpeciesShape TwoSpeciesTables<T>::shape() const noexcept {
  const auto count = [](const auto& items) { return static_cast<std::int64_t>(items.size()); };
  TwoSpeciesShape shape{count(lines), count(host.pairs), count(host.blocks), count(runs),  count(batches),
                        count(jobs),  count(begins),     count(entries),     count(values)};
  for (const TwoSpeciesPair& pair : host.pairs)
    shape.line_rows = std::max<std::int64_t>(shape.line_rows, pair.line_rows);
  for (const TwoSpeciesRun& run : runs)
    if (run.kind == TwoSpeciesListKind::several)
      shape.several_rows = std::max<std::int64_t>(shape.several_rows, run.source_rows);
  return shape;
}

template <class T>
void TwoSpeciesTables<T>::store(void* memory) const {
  TwoSpeciesView<T> view{lines.data(), host.pairs.data(), host.blocks.data(), runs.data(),  batches.data(),
                         jobs.data(),  begins.data(),     entries.data(),     values.data()};
  const TwoSpeciesShape counts = shape();
  const std::int64_t sizes[] = {counts.lines, counts.pairs,  counts.blocks,  counts.runs,  counts.batches,
                                counts.jobs,  counts.begins, counts.entries, counts.values};
  const std::int64_t* size = sizes;
  for_two_species_parts<T>(counts, view, [&](const auto& from, std::int64_t offset) {
    if (*size > 0)
      std::memcpy(static_cast<char*>(memory) + offset, from, static_cast<std::size_t>(*size) * sizeof(*from));
    ++size;
  });
}

template <class T>
TwoSpeciesTables<T> make_two_species_tables(const TwoSpeciesStructure& structure, SpeciesStorage storage,
                                            Index fewest_dense) {
  return TableMaker<T>(structure, storage, fewest_dense).make();
}

#define TESSERA_INSTANTIATE(T)         \
  template struct TwoSpeciesTables<T>; \
  template TwoSpeciesTables<T> make_two_species_tables(const TwoSpeciesStructure&, SpeciesStorage, Index);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
