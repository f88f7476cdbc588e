// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/sparse/two_species_tables.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

/// The values' part of an entry's magnitude: of jobs [begin, end), by the value's place.
template <class T>
struct RunSums {
  std::vector<double> others,
      own;  ///< |value| summed over jobs from other lines; value over those from the line
};

/// What the dense blocks of B give to each row of a pair's lines.
struct SecondSums {
  std::vector<double> diagonal, magnitudes;
};
template <class T>
SecondSums measure_second(const TwoSpeciesTables<T>& tables, std::uint32_t number) {
  const TwoSpeciesPair& pair = tables.host.pairs[number];
  SecondSums sums{std::vector<double>(pair.line_rows), std::vector<double>(pair.line_rows)};
  for (std::uint32_t b = pair.second_begin; b < pair.second_end; ++b) {
    const TwoSpeciesPair& from = tables.host.pairs[tables.host.blocks[b].pair];
    const bool here = tables.host.blocks[b].pair == number;
    const T* values = tables.values.data() + tables.host.blocks[b].values;
    for (std::uint32_t i = 0; i < pair.line_rows; ++i, values += from.line_rows)
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
void measure_line(const TwoSpeciesTables<T>& tables, std::size_t l, const SecondSums& of_second,
                  RunSums<T>& sums, double* diagonal, double* magnitudes) {
  const TwoSpeciesLine& line = tables.lines[l];
  const TwoSpeciesPair& pair = tables.host.pairs[line.pair];
  const std::uint32_t rows = pair.line_rows;
  std::fill_n(magnitudes, rows, 0.0);
  const auto line_of = [&](const TwoSpeciesPair& of, std::uint32_t k) {
    return of.first_row + std::int64_t(k) * of.line_rows;
  };
  for (std::uint32_t b = pair.first_begin; b < pair.first_end; ++b) {
    const TwoSpeciesPair& from = tables.host.pairs[tables.host.blocks[b].pair];
    const T* const values =
        tables.values.data() + tables.host.blocks[b].values + std::int64_t(line.state) * from.lines;
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
TwoSpeciesNorm measure_two_species(int threads, const TwoSpeciesTables<T>& tables) {
  const TwoSpeciesPair& last = tables.host.pairs.back();
  TwoSpeciesNorm norm;
  norm.diagonal.assign(static_cast<std::size_t>(last.first_row + std::int64_t(last.lines) * last.line_rows),
                       0.0);
  std::vector<SecondSums> of_second(tables.host.pairs.size());
  parallel_for(threads, static_cast<Index>(of_second.size()), [&](Index g, int) {
    of_second[static_cast<std::size_t>(g)] = measure_second(tables, static_cast<std::uint32_t>(g));
  });
  std::vector<double> largest(tables.lines.size());
  parallel_for(threads, static_cast<Index>(tables.lines.size()), [&](Index l, int) {
    const TwoSpeciesLine& line = tables.lines[static_cast<std::size_t>(l)];
    const std::uint32_t rows = tables.host.pairs[line.pair].line_rows;
    std::vector<double> magnitudes(rows);
    RunSums<T> sums;
    double* const diagonal = norm.diagonal.data() + line.first_row;
    measure_line(tables, static_cast<std::size_t>(l), of_second[line.pair], sums, diagonal,
                 magnitudes.data());
    for (std::uint32_t i = 0; i < rows; ++i)
      largest[static_cast<std::size_t>(l)] =
          std::max(largest[static_cast<std::size_t>(l)], magnitudes[i] + std::abs(diagonal[i]));
  });
  norm.bound = *std::max_element(largest.begin(), largest.end());
  return norm;
}

#define TESSERA_INSTANTIATE(T) template TwoSpeciesNorm measure_two_species(int, const TwoSpeciesTables<T>&);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
