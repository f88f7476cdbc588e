// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/sparse/two_species_layout.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

/// The parts of the tables that the host reads to call BLAS for dense blocks, also where a GPU multiplies.
struct TwoSpeciesBlocks {
  std::vector<TwoSpeciesPair> pairs;
  std::vector<TwoSpeciesBlock> blocks;
};

/// One segment of rows of y := H x, H a TwoSpeciesOperator:
///   Y_s := sum of dense blocks of A and B, and of all runs of the segment's lines.
/// | operand | mode  | shape                         | what                               |
/// |---------|-------|-------------------------------|------------------------------------|
/// | x       | read  | blocks of vectors             | all segments of X, in order        |
/// | tables  | read  | bytes: two_species_layout.hpp | the lists                          |
/// | y       | write | block of vectors              | Y_s; columns from m on become zero |
/// | work    | scratch | array: two_species_work     | on GPUs lines of B's dense blocks, by rows; absent without such blocks |
/// [2 m a product, m = columns]; whole vectors' width for dense blocks where x and y are equally wide.
/// Sums in the order of the lists. Predicted by the bytes.
template <class T>
struct MultiplyTwoSpecies {
  static constexpr const char* name = "multiply_two_species";
  // A CPU could run the task, too, but in another order of sums.
  static constexpr bool gpu_instead_of_cpu = true;
  using Scalar = T;
  ReadAll<Matrix<T>> x;
  Read<Array<char>> tables;
  Write<Matrix<T>> y;
  GpuScratch<Array<T>> work{};
  TwoSpeciesShape shape;
  const TwoSpeciesBlocks* host = nullptr;  ///< must outlive the task
  std::int64_t first_line = 0, end_line = 0, first_row = 0;
  const std::int64_t* segment_begins = nullptr;  ///< first row of each segment of x; must outlive the task
  double products = 0;                           ///< of a column
  int columns = 0;                               ///< 1 to 32

  double flops() const noexcept { return 2.0 * columns * products; }
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Elements of the work space for up to `columns` columns: x and y of a dense block of B with lines and rows
/// swapped, of as many lines as fit into a limit, but of one at least.
inline std::int64_t two_species_work(const TwoSpeciesBlocks& host, std::int64_t columns) {
  constexpr std::int64_t limit = std::int64_t(1) << 26;
  std::int64_t most = 0, least = 0;
  for (const TwoSpeciesPair& pair : host.pairs)
    for (std::uint32_t b = pair.second_begin; b < pair.second_end; ++b) {
      const std::int64_t rows = std::int64_t(pair.line_rows) + host.pairs[host.blocks[b].pair].line_rows;
      if (rows * pair.lines > most) most = rows * pair.lines;
      if (rows > least) least = rows;
    }
  const std::int64_t bounded = most * columns < limit ? most * columns : limit;
  return bounded > least * columns ? bounded : least * columns;
}

/// A part of a pair that a dense block leads into, from a part of another one that lies in one segment of
/// x: for both kinds of workers.
template <class T>
struct TwoSpeciesDensePart {
  const T* x;       ///< first row of the source part
  T* y;             ///< first row of the target part
  const T* values;  ///< of the part of the block
  std::int64_t target_lines, source_lines;
  std::int64_t target_rows, source_rows;  ///< of a line
  std::int64_t ld_values;                 ///< of the block's rows
};

/// Calls visit(part, of_first) for all dense blocks of the lines [first_line, end_line): parts of A, with
/// source_lines lines that are combined, and parts of B, with as many source as target lines.
/// @param values of the tables, where the worker reads them
template <class T, class Visit>
void for_dense_parts(const MultiplyTwoSpecies<T>& task, const TwoSpeciesSources<T>& x, T* y, std::int64_t ldy,
                     const T* values, const Visit& visit) {
  const auto source_parts = [&](const TwoSpeciesPair& source, std::int64_t first, std::int64_t end,
                                const auto& each) {
    // Segments are cut between lines.
    for (int s = 0; s < x.count; ++s) {
      const std::int64_t begin = x.first_row[s],
                         stop =
                             s + 1 < x.count ? x.first_row[s + 1] : source.first_row + end * source.line_rows,
                         rows = source.line_rows;
      const auto line_of = [&](std::int64_t row) {
        return row <= source.first_row ? 0 : (row - source.first_row) / rows;
      };
      const std::int64_t from = line_of(begin) > first ? line_of(begin) : first,
                         to = line_of(stop) < end ? line_of(stop) : end;
      if (from < to) each(from, to, x.data[s] + (source.first_row + from * rows - begin) * x.ld);
    }
  };
  for (const TwoSpeciesPair& pair : task.host->pairs) {
    const std::int64_t first = task.first_line > pair.first_line ? task.first_line - pair.first_line : 0;
    std::int64_t end = task.end_line - pair.first_line;
    if (end > pair.lines) end = pair.lines;
    if (first >= end) continue;
    const std::int64_t rows = pair.line_rows;
    T* const target = y + (pair.first_row + first * rows - task.first_row) * ldy;
    for (std::uint32_t b = pair.first_begin; b < pair.first_end; ++b) {
      const TwoSpeciesBlock& block = task.host->blocks[b];
      const TwoSpeciesPair& source = task.host->pairs[block.pair];
      source_parts(source, 0, source.lines, [&](std::int64_t from, std::int64_t to, const T* lines) {
        visit(TwoSpeciesDensePart<T>{lines, target, values + block.values + first * source.lines + from,
                                     end - first, to - from, rows, rows, source.lines},
              true);
      });
    }
    for (std::uint32_t b = pair.second_begin; b < pair.second_end; ++b) {
      const TwoSpeciesBlock& block = task.host->blocks[b];
      const TwoSpeciesPair& source = task.host->pairs[block.pair];
      source_parts(source, first, end, [&](std::int64_t from, std::int64_t to, const T* lines) {
        visit(TwoSpeciesDensePart<T>{lines, target + (from - first) * rows * ldy, values + block.values,
                                     to - from, to - from, rows, source.line_rows, source.line_rows},
              false);
      });
    }
  }
}

/// The segments of x as the task has them.
template <class T>
TwoSpeciesSources<T> sources_of(const MultiplyTwoSpecies<T>& task) {
  TwoSpeciesSources<T> sources;
  sources.count = task.x.size();
  sources.ld = task.x[0].ld;
  for (int s = 0; s < sources.count; ++s) {
    sources.first_row[s] = task.segment_begins[s];
    sources.data[s] = task.x[s].data;
  }
  return sources;
}

namespace kernels {

/// Y += the runs of the lines [first_line, end_line), on columns 0, ..., columns - 1.
/// @param y row `first_row` of the whole
#define TESSERA_DECLARE_TWO_SPECIES                                                                          \
  template <class T>                                                                                         \
  void multiply_two_species(const TwoSpeciesView<T>& tables, std::int64_t first_line, std::int64_t end_line, \
                            const TwoSpeciesSources<T>& x, T* y, std::int64_t ldy, std::int64_t first_row,   \
                            int columns) noexcept;
/// At the level of instructions that the processor has (cpu_level).
TESSERA_DECLARE_TWO_SPECIES
namespace level2 {
TESSERA_DECLARE_TWO_SPECIES
}
namespace level3 {
TESSERA_DECLARE_TWO_SPECIES
}
namespace level4 {
TESSERA_DECLARE_TWO_SPECIES
}
#undef TESSERA_DECLARE_TWO_SPECIES

}  // namespace kernels

}  // namespace tessera::detail
