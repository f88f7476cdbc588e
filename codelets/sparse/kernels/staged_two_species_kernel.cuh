// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_shared.cuh>
#include <tessera/codelets/sparse/kernels/two_species_kernels.cuh>

/// The kernel of MultiplyTwoSpecies for source lines that fit into shared memory, where the entries of lists find them.
namespace tessera::detail::device {

/// Two blocks of threads share a multiprocessor, or more smaller ones: some copy while others compute.
constexpr int staged_threads = 512;
/// Columns that a thread reads at once: 16 bytes.
template <class T>
constexpr int chunk_columns = 16 / static_cast<int>(sizeof(T));
/// Source lines that are in shared memory at once, at most.
constexpr int most_staged_jobs = 4;
/// Rows of a window that a thread sums, at most.
constexpr int staged_rows = 5;

/// A thread's place: `lanes` threads a row, with a chunk of it each.
struct StagedPlace {
  std::uint32_t row, step;       ///< of source rows that are copied: row, row + step, ...
  std::uint32_t first_byte;      ///< of a row
  std::uint32_t row_bytes;       ///< in shared memory
  int column, left;              ///< its first column; how many there are from there on
  std::uint32_t sum_step;        ///< of rows that are summed
  std::uint32_t first, end_row;  ///< the first row that it sums, and the end of the window's

  /// Calls visit(number, row) for the rows that it sums.
  template <class Visit>
  __device__ void for_rows(const Visit& visit) const {
#pragma unroll
    for (int r = 0; r < staged_rows; ++r) {
      const std::uint32_t i = first + r * sum_step;
      if (i >= end_row) break;
      visit(r, i);
    }
  }
};

template <class T>
struct StagedSums {
  T of[staged_rows][chunk_columns<T>];
};

/// `jobs` jobs of a run; `staged`: their source lines are in shared memory, from `stage` on, `line_bytes` apart.
template <int jobs, bool staged, class T>
__device__ void add_listed(const TwoSpeciesView<T>& tables, std::uint32_t list, const StagedPlace& place,
                           const TwoSpeciesSource<T>* sources, std::int64_t ldx, std::uint32_t stage,
                           std::uint32_t line_bytes, StagedSums<T>& sum) {
  constexpr int width = chunk_columns<T>;
  const T* values[jobs];
#pragma unroll
  for (int j = 0; j < jobs; ++j) values[j] = sources[j].values;
  place.for_rows([&](int r, std::uint32_t i) {
    std::uint32_t e = tables.begins[list + i];
    const std::uint32_t end = tables.begins[list + i + 1];
    if (e == end) return;
    TwoSpeciesEntry entry = tables.entries[e];
    while (true) {
      T factor[jobs];
#pragma unroll
      for (int j = 0; j < jobs; ++j) factor[j] = values[j][entry.value];
      const std::uint32_t row = entry.row;
      // The next entry is on its way while this one is used.
      const bool more = ++e < end;
      if (more) entry = tables.entries[e];
#pragma unroll
      for (int j = 0; j < jobs; ++j) {
        if constexpr (staged) {
          T x[width];
          load_shared(stage + place.first_byte + j * line_bytes + row * place.row_bytes, x);
#pragma unroll
          for (int k = 0; k < width; ++k) sum.of[r][k] += factor[j] * x[k];
        } else {
          const auto x = RowPart<width, true, T>::load(sources[j].x + std::int64_t(row) * ldx + place.column,
                                                       place.left);
#pragma unroll
          for (int k = 0; k < width; ++k) sum.of[r][k] += factor[j] * x.values[k];
        }
      }
      if (!more) break;
    }
  });
}

/// All jobs of a run whose list leaves rows where they are.
template <bool numbered, class T>
__device__ void add_unmoved(const StagedPlace& place, const TwoSpeciesSource<T>* sources, std::uint32_t count,
                            std::int64_t ldx, StagedSums<T>& sum) {
  constexpr int width = chunk_columns<T>;
  place.for_rows([&](int r, std::uint32_t i) {
#pragma unroll 4
    for (std::uint32_t j = 0; j < count; ++j) {
      const T value = sources[j].values[numbered ? i : 0];
      const auto x =
          RowPart<width, true, T>::load(sources[j].x + std::int64_t(i) * ldx + place.column, place.left);
#pragma unroll
      for (int k = 0; k < width; ++k) sum.of[r][k] += value * x.values[k];
    }
  });
}

/// Copies source lines into shared memory, and waits for them.
template <class T>
__device__ void stage_lines(const TwoSpeciesSource<T>* sources, int jobs, std::uint32_t source_rows,
                            std::int64_t ldx, const StagedPlace& place, std::uint32_t stage) {
  __syncthreads();
  if (place.row < place.step)
    for (int j = 0; j < jobs; ++j) {
      const T* const x = sources[j].x + (place.left > 0 ? place.column : 0);
      const std::uint32_t to = stage + j * source_rows * place.row_bytes + place.first_byte;
      for (std::uint32_t i = place.row; i < source_rows; i += place.step)
        thread_copy<16>(to + i * place.row_bytes, x + std::int64_t(i) * ldx, place.left > 0 ? 16 : 0);
    }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
}

/// Y += all runs of a line, a block of threads a line. Rows of x begin at multiples of 16 bytes.
/// @param y row `first_row` of the whole
/// @param stage_bytes of shared memory: for one source line of several_rows at least
template <class T>
__global__ void __launch_bounds__(staged_threads, 2)
    staged_two_species_kernel(TwoSpeciesView<T> tables, TwoSpeciesSources<T> x, T* __restrict__ y,
                              std::int64_t ldy, std::int64_t first_line, std::int64_t first_row, int columns,
                              int lanes, std::uint32_t stage_bytes) {
  extern __shared__ __align__(128) char memory[];
  __shared__ TwoSpeciesSource<T> sources[two_species_batch_jobs];
  __shared__ T shared_values[two_species_batch_values];
  const TwoSpeciesLine line = tables.lines[first_line + blockIdx.x];
  const std::uint32_t line_rows = tables.pairs[line.pair].line_rows;
  T* const to = y + (line.first_row - first_row) * ldy;
  const int lane = static_cast<int>(threadIdx.x) % lanes, column = lane * chunk_columns<T>;
  StagedPlace place{threadIdx.x / lanes,
                    blockDim.x / lanes,
                    static_cast<std::uint32_t>(16 * lane),
                    static_cast<std::uint32_t>(16 * lanes),
                    column,
                    columns - column,
                    0,
                    0,
                    0};
  // As few windows as possible, equally large ones, and in them equally many rows for each thread.
  const auto parts = [](std::uint32_t count, std::uint32_t most) { return (count + most - 1) / most; };
  const std::uint32_t window = parts(line_rows, parts(line_rows, staged_rows * place.step));
  place.sum_step = parts(window, parts(window, place.step));
  const auto stage = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  for (std::uint32_t b = line.batch_begin; b < line.batch_end; ++b) {
    const TwoSpeciesBatch batch = tables.batches[b];
    __syncthreads();
    load_batch(tables, x, batch, sources, shared_values);
    __syncthreads();
    // All threads take part in each window: they copy source lines together.
    for (std::uint32_t base = 0; base < line_rows; base += window) {
      place.first = base + place.row;
      place.end_row = place.row < place.sum_step ? min(base + window, line_rows) : 0;
      StagedSums<T> sum = {};
      for (std::uint32_t r = line.run_begin; r < line.run_end; ++r) {
        const TwoSpeciesRun run = tables.runs[r];
        std::uint32_t j = run.job_begin > batch.job_begin ? run.job_begin : batch.job_begin;
        const std::uint32_t end = run.job_end < batch.job_end ? run.job_end : batch.job_end;
        if (j >= end) continue;
        const TwoSpeciesSource<T>* from = sources + (j - batch.job_begin);
        if (run.kind == TwoSpeciesListKind::itself) {
          add_unmoved<false>(place, from, end - j, x.ld, sum);
          continue;
        }
        if (run.kind == TwoSpeciesListKind::numbered) {
          add_unmoved<true>(place, from, end - j, x.ld, sum);
          continue;
        }
        const bool staged = run.kind == TwoSpeciesListKind::several;
        const std::uint32_t line_bytes = run.source_rows * place.row_bytes;
        std::uint32_t at_once = most_staged_jobs;
        if (staged) at_once = parts(end - j, parts(end - j, min(at_once, stage_bytes / line_bytes)));
        for (; j < end; j += at_once, from += at_once) {
          const int jobs = static_cast<int>(min(at_once, end - j));
          if (staged) stage_lines(from, jobs, run.source_rows, x.ld, place, stage);
          const auto add = [&]<int count>() {
            if (staged)
              add_listed<count, true>(tables, run.list, place, from, x.ld, stage, line_bytes, sum);
            else
              add_listed<count, false>(tables, run.list, place, from, x.ld, stage, line_bytes, sum);
          };
          switch (jobs) {
            case 1:
              add.template operator()<1>();
              break;
            case 2:
              add.template operator()<2>();
              break;
            case 3:
              add.template operator()<3>();
              break;
            default:
              add.template operator()<4>();
          }
        }
      }
      place.for_rows([&](int r, std::uint32_t i) {
        T* const row = to + std::int64_t(i) * ldy + place.column;
#pragma unroll
        for (int k = 0; k < chunk_columns<T>; ++k)
          if (k < place.left) row[k] += sum.of[r][k];
      });
    }
  }
}

}  // namespace tessera::detail::device
