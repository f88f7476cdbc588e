// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/codelets/common/host_device.hpp>

/// The lists of a TwoSpeciesOperator in memory. For CPU and CUDA code.
///
/// A line is what the rows of one state of the first species in one pair are: consecutive, one for each
/// state of the second species. Into a line lead jobs: source lines with factors. A run of jobs shares the
/// list of what happens to the second species.
namespace tessera::detail {

struct TwoSpeciesLine {
  std::int64_t first_row;
  std::uint32_t pair, state;  ///< state of the first species, from the beginning of its sector
  std::uint32_t run_begin, run_end;
  std::uint32_t batch_begin, batch_end;
};

struct TwoSpeciesPair {
  std::int64_t first_row, first_line;
  std::uint32_t lines, line_rows;
  std::uint32_t first_begin, first_end;    ///< dense blocks of A: number of the first one, and of the end
  std::uint32_t second_begin, second_end;  ///< of B
};

/// A dense block, row-major: of A from the lines of another pair (lines x the other's lines), of B from the
/// rows of another pair's lines (line_rows x the other's line_rows).
struct TwoSpeciesBlock {
  std::uint32_t pair;  ///< where it comes from
  std::uint32_t reserved;
  std::int64_t values;  ///< number of its first value
};

/// What a list is like, for the kernels that have a shorter way for it.
enum class TwoSpeciesListKind : std::uint32_t {
  any,
  several,   ///< two entries for each source row or more, in the mean
  itself,    ///< one for each row, itself, with the first value
  numbered,  ///< the same, with the value of the row's number
};

struct TwoSpeciesRun {
  std::uint32_t list;  ///< entries of row i of the line: number begins[list + i] to begins[list + i + 1] - 1
  std::uint32_t job_begin, job_end;
  std::uint32_t source_rows;  ///< of each of the jobs' source lines
  TwoSpeciesListKind kind;
};

struct TwoSpeciesJob {
  std::int64_t first_row;  ///< of the source line
  std::int64_t values;     ///< an entry's value is number values + entry.value
  std::uint32_t places;    ///< values of entries are below it; more than shared memory takes: not known
  std::uint32_t shared;    ///< place of the values among those of its batch, or two_species_not_shared
};
inline constexpr std::uint32_t two_species_not_shared = 0xffffffff;

/// Jobs of a line whose addresses and values a block of GPU threads holds in shared memory at once.
struct TwoSpeciesBatch {
  std::uint32_t job_begin, job_end;
};
inline constexpr std::uint32_t two_species_batch_jobs = 256, two_species_batch_values = 2048;

struct TwoSpeciesEntry {
  std::uint32_t row;  ///< of the source line
  std::uint32_t value;
};

/// How many there are of each.
struct TwoSpeciesShape {
  std::int64_t lines = 0, pairs = 0, blocks = 0, runs = 0, batches = 0, jobs = 0, begins = 0, entries = 0,
               values = 0;
  std::int64_t line_rows = 0;  ///< of the longest line
  std::int64_t several_rows =
      0;  ///< the most source rows of a run with a list of that kind; 0: there is none
};

/// Pointers into the memory of the tables.
template <class T>
struct TwoSpeciesView {
  const TwoSpeciesLine* lines;
  const TwoSpeciesPair* pairs;
  const TwoSpeciesBlock* blocks;
  const TwoSpeciesRun* runs;
  const TwoSpeciesBatch* batches;
  const TwoSpeciesJob* jobs;
  const std::uint32_t* begins;
  const TwoSpeciesEntry* entries;
  const T* values;
};

/// Calls visit(member of the view, offset in bytes) for each part; returns the bytes of all.
template <class T, class View, class Visit>
constexpr std::int64_t for_two_species_parts(const TwoSpeciesShape& shape, View& view, const Visit& visit) {
  std::int64_t offset = 0;
  const auto part = [&](auto& member, std::int64_t count) {
    visit(member, offset);
    offset += (count * static_cast<std::int64_t>(sizeof(*member)) + 63) / 64 * 64;
  };
  part(view.lines, shape.lines);
  part(view.pairs, shape.pairs);
  part(view.blocks, shape.blocks);
  part(view.runs, shape.runs);
  part(view.batches, shape.batches);
  part(view.jobs, shape.jobs);
  part(view.begins, shape.begins);
  part(view.entries, shape.entries);
  part(view.values, shape.values);
  return offset;
}

template <class T>
std::int64_t two_species_bytes(const TwoSpeciesShape& shape) noexcept {
  TwoSpeciesView<T> view{};
  return for_two_species_parts<T>(shape, view, [](auto&, std::int64_t) {});
}

template <class T>
TwoSpeciesView<T> two_species_view(const void* memory, const TwoSpeciesShape& shape) noexcept {
  TwoSpeciesView<T> view{};
  for_two_species_parts<T>(shape, view, [&]<class Member>(Member& member, std::int64_t offset) {
    member = reinterpret_cast<Member>(static_cast<const char*>(memory) + offset);
  });
  return view;
}

/// The most segments of x: their addresses are arguments of a kernel.
inline constexpr int max_two_species_segments = 128;

/// The segments of x, by which a row of the whole is found.
template <class T>
struct TwoSpeciesSources {
  int count = 0;
  std::int64_t ld = 0;
  std::int64_t first_row[max_two_species_segments]{};
  const T* data[max_two_species_segments]{};

  /// The address of a row.
  TESSERA_HOST_DEVICE const T* row(std::int64_t row) const noexcept {
    int s = 0;
    while (s + 1 < count && first_row[s + 1] <= row) ++s;
    return data[s] + (row - first_row[s]) * ld;
  }
};

}  // namespace tessera::detail
