// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include <tessera/codelets/sparse/two_species_layout.hpp>

/// Kernels of MultiplyTwoSpecies.
namespace tessera::detail::device {

constexpr int two_species_threads = 256;

/// `count` columns of a row, by loads of two where `aligned` (vectors that lie at even places); else those
/// from `left` on count as zero.
template <int count, bool aligned, class T>
struct RowPart {
  T values[count];

  static __device__ RowPart load(const T* p, int left) {
    RowPart part;
    if constexpr (aligned) {
      using Two = std::conditional_t<sizeof(T) == 8, double2, float2>;
#pragma unroll
      for (int k = 0; k < count; k += 2) {
        const Two two = k < left ? *reinterpret_cast<const Two*>(p + k) : Two{0, 0};
        part.values[k] = two.x;
        part.values[k + 1] = two.y;
      }
    } else {
#pragma unroll
      for (int k = 0; k < count; ++k) part.values[k] = k < left ? p[k] : T(0);
    }
    return part;
  }
};

template <class T>
struct TwoSpeciesSource {
  const T *x, *values;
};

/// Rows of a line that a thread adds to, one after the other, with the same jobs: they share the addresses, and
/// find source rows in the cache that others have just read. As far as sums fit into registers.
template <int count>
constexpr int two_species_rows = count > 2 ? 1 : 4;

/// `jobs` jobs of a run into rows first, first + step, ... of a line.
template <int jobs, int count, bool aligned, class T>
__device__ void add_jobs(const TwoSpeciesView<T>& tables, std::uint32_t list, std::uint32_t first,
                         std::uint32_t step, std::uint32_t rows, const TwoSpeciesSource<T>* sources,
                         std::int64_t ldx, int column, int left, T (&sum)[two_species_rows<count>][count]) {
  TwoSpeciesSource<T> source[jobs];
#pragma unroll
  for (int j = 0; j < jobs; ++j) source[j] = {sources[j].x + column, sources[j].values};
#pragma unroll
  for (int r = 0; r < two_species_rows<count>; ++r) {
    const std::uint32_t i = first + r * step;
    if (i >= rows) continue;
    const std::uint32_t end = tables.begins[list + i + 1];
    for (std::uint32_t e = tables.begins[list + i]; e < end; ++e) {
      const TwoSpeciesEntry entry = tables.entries[e];
      const std::int64_t offset = std::int64_t(entry.row) * ldx;
#pragma unroll
      for (int j = 0; j < jobs; ++j) {
        const T value = source[j].values[entry.value];
        const auto x = RowPart<count, aligned, T>::load(source[j].x + offset, left);
#pragma unroll
        for (int k = 0; k < count; ++k) sum[r][k] += value * x.values[k];
      }
    }
  }
}

/// Addresses and values of a batch's jobs, into shared memory.
template <class T>
__device__ void load_batch(const TwoSpeciesView<T>& tables, const TwoSpeciesSources<T>& x,
                           const TwoSpeciesBatch& batch, TwoSpeciesSource<T>* sources, T* shared_values) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (std::uint32_t j = batch.job_begin + warp; j < batch.job_end; j += blockDim.x / 32) {
    const TwoSpeciesJob job = tables.jobs[j];
    const T* values = tables.values + job.values;
    if (job.shared != two_species_not_shared) {
      for (std::uint32_t v = lane; v < job.places; v += 32) shared_values[job.shared + v] = values[v];
      values = shared_values + job.shared;
    }
    if (lane == 0) sources[j - batch.job_begin] = {x.row(job.first_row), values};
  }
}

/// Y += all runs of a line, a block of threads a line: `lanes` threads a row, `count` columns each.
/// @param y row `first_row` of the whole
template <int count, bool aligned, class T>
__global__ void __launch_bounds__(two_species_threads)
    two_species_kernel(TwoSpeciesView<T> tables, TwoSpeciesSources<T> x, T* __restrict__ y, std::int64_t ldy,
                       std::int64_t first_line, std::int64_t first_row, int columns, int lanes) {
  __shared__ TwoSpeciesSource<T> sources[two_species_batch_jobs];
  __shared__ T shared_values[two_species_batch_values];
  const TwoSpeciesLine line = tables.lines[first_line + blockIdx.x];
  const std::uint32_t rows = tables.pairs[line.pair].line_rows;
  T* const to = y + (line.first_row - first_row) * ldy;
  const int thread = static_cast<int>(threadIdx.x), row = thread / lanes, column = count * (thread % lanes),
            left = columns - column;
  const std::uint32_t step = two_species_threads / lanes;
  for (std::uint32_t b = line.batch_begin; b < line.batch_end; ++b) {
    const TwoSpeciesBatch batch = tables.batches[b];
    __syncthreads();
    load_batch(tables, x, batch, sources, shared_values);
    __syncthreads();
    if (row >= step) continue;
    for (std::uint32_t first = row; first < rows; first += two_species_rows<count> * step) {
      T sum[two_species_rows<count>][count] = {};
      for (std::uint32_t r = line.run_begin; r < line.run_end; ++r) {
        const TwoSpeciesRun run = tables.runs[r];
        std::uint32_t j = run.job_begin > batch.job_begin ? run.job_begin : batch.job_begin;
        const std::uint32_t end = run.job_end < batch.job_end ? run.job_end : batch.job_end;
        const auto add = [&]<int jobs>() {
          add_jobs<jobs, count, aligned>(tables, run.list, first, step, rows, sources + (j - batch.job_begin),
                                         x.ld, column, left, sum);
        };
        for (; j + 4 <= end; j += 4) add.template operator()<4>();
        if (j + 3 == end)
          add.template operator()<3>();
        else if (j + 2 == end)
          add.template operator()<2>();
        else if (j + 1 == end)
          add.template operator()<1>();
      }
#pragma unroll
      for (int r = 0; r < two_species_rows<count>; ++r) {
        const std::uint32_t i = first + r * step;
        T* const place = to + std::int64_t(i) * ldy + column;
#pragma unroll
        for (int k = 0; k < count; ++k)
          if (i < rows && k < left) place[k] += sum[r][k];
      }
    }
  }
}

/// to(:, l, i) := from(:, i, l) for rows i of lines l, the columns of `to` without gaps.
template <class T>
__global__ void swap_lines_and_rows(const T* from, std::int64_t ld, std::int64_t lines, std::int64_t rows,
                                    int columns, T* to) {
  const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= lines * rows * columns) return;
  const std::int64_t place = k / columns, line = place % lines, row = place / lines;
  to[k] = from[(line * rows + row) * ld + k % columns];
}

/// to(:, i, l) += from(:, l, i), the columns of `from` without gaps.
template <class T>
__global__ void add_swapped(const T* from, std::int64_t lines, std::int64_t rows, int columns, T* to,
                            std::int64_t ld) {
  const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= lines * rows * columns) return;
  const std::int64_t place = k / columns, row = place % rows, line = place / rows;
  to[place * ld + k % columns] += from[(row * lines + line) * columns + k % columns];
}

template <class T>
__global__ void clear_columns(T* y, std::int64_t ldy, std::int64_t rows, int first, int width) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int columns = width - first;
  if (i < rows * columns) y[i / columns * ldy + first + i % columns] = T(0);
}

}  // namespace tessera::detail::device
