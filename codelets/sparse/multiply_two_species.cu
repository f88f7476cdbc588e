// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/sparse/multiply_two_species.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int block_threads = 256;
/// Jobs whose addresses are in shared memory at once.
constexpr int jobs_at_once = 256;
/// Columns of a thread: one load of vectors that lie at even places.
constexpr int lane_columns = 2;

template <class T>
struct Pair {
  T first, second;
};

/// Two columns of a row, as one load where `aligned`.
template <bool aligned, class T>
__device__ Pair<T> load_pair(const T* p, bool both) {
  if constexpr (aligned) {
    using Vector = std::conditional_t<sizeof(T) == 8, double2, float2>;
    const Vector v = *reinterpret_cast<const Vector*>(p);
    return {v.x, v.y};
  } else {
    return {p[0], both ? p[1] : T(0)};
  }
}

template <class T>
struct Source {
  const T *x, *values;
};

/// One entry list of a row times `count` jobs.
template <int count, bool aligned, class T>
__device__ void add_jobs(const TwoSpeciesEntry* __restrict__ entries, std::uint32_t e, std::uint32_t end,
                         const Source<T>* sources, std::int64_t ldx, int column, bool both, Pair<T>& sum) {
  Source<T> source[count];
#pragma unroll
  for (int j = 0; j < count; ++j) source[j] = {sources[j].x + column, sources[j].values};
  for (; e < end; ++e) {
    const TwoSpeciesEntry entry = entries[e];
    const std::int64_t offset = std::int64_t(entry.row) * ldx;
#pragma unroll
    for (int j = 0; j < count; ++j) {
      const T value = source[j].values[entry.value];
      const Pair<T> x = load_pair<aligned>(source[j].x + offset, both);
      sum.first += value * x.first;
      sum.second += value * x.second;
    }
  }
}

/// Y += all runs of a line, a block of threads a line: `lanes` threads a row, two columns each.
template <class T, bool aligned>
__global__ void __launch_bounds__(block_threads)
    two_species_kernel(TwoSpeciesView<T> tables, TwoSpeciesSources<T> x, T* __restrict__ y, std::int64_t ldy,
                       std::int64_t first_line, std::int64_t first_row, int columns, int lanes) {
  __shared__ Source<T> sources[jobs_at_once];
  const TwoSpeciesLine line = tables.lines[first_line + blockIdx.x];
  if (line.run_begin == line.run_end) return;
  const std::uint32_t rows = tables.groups[line.group].line_rows;
  T* const to = y + (line.first_row - first_row) * ldy;
  const int row = static_cast<int>(threadIdx.x) / lanes, column = lane_columns * (static_cast<int>(threadIdx.x) % lanes),
            rows_at_once = block_threads / lanes;
  const bool both = column + 1 < columns;
  const std::uint32_t job_end = tables.runs[line.run_end - 1].job_end;
  for (std::uint32_t first = tables.runs[line.run_begin].job_begin; first < job_end; first += jobs_at_once) {
    const std::uint32_t stop = first + jobs_at_once < job_end ? first + jobs_at_once : job_end;
    __syncthreads();
    for (std::uint32_t j = first + threadIdx.x; j < stop; j += block_threads) {
      const TwoSpeciesJob job = tables.jobs[j];
      sources[j - first] = {x.row(job.first_row), tables.values + job.values};
    }
    __syncthreads();
    if (row >= rows_at_once) continue;
    for (std::uint32_t i = static_cast<std::uint32_t>(row); i < rows; i += static_cast<std::uint32_t>(rows_at_once)) {
      Pair<T> sum{0, 0};
      for (std::uint32_t r = line.run_begin; r < line.run_end; ++r) {
        const TwoSpeciesRun run = tables.runs[r];
        std::uint32_t j = run.job_begin > first ? run.job_begin : first;
        const std::uint32_t end = run.job_end < stop ? run.job_end : stop;
        if (j >= end) continue;
        const std::uint32_t e = tables.begins[run.list + i], e_end = tables.begins[run.list + i + 1];
        if (e == e_end) continue;
        const auto add = [&]<int count>() {
          add_jobs<count, aligned>(tables.entries, e, e_end, sources + (j - first), x.ld, column, both, sum);
        };
        for (; j + 4 <= end; j += 4) add.template operator()<4>();
        if (end - j == 3)
          add.template operator()<3>();
        else if (end - j == 2)
          add.template operator()<2>();
        else if (end - j == 1)
          add.template operator()<1>();
      }
      T* const place = to + std::int64_t(i) * ldy + column;
      place[0] += sum.first;
      if (both) place[1] += sum.second;
    }
  }
}

template <class T>
__global__ void clear_columns(T* y, std::int64_t ldy, std::int64_t rows, int first, int width) {
  const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const int columns = width - first;
  if (i < rows * columns) y[i / columns * ldy + first + i % columns] = T(0);
}

template <class T>
bool is_aligned(const TwoSpeciesSources<T>& x, int columns) {
  if (x.ld % lane_columns != 0 || (columns % lane_columns != 0 && columns >= x.ld)) return false;
  for (int s = 0; s < x.count; ++s)
    if (reinterpret_cast<std::uintptr_t>(x.data[s]) % (lane_columns * sizeof(T)) != 0) return false;
  return true;
}

}  // namespace
}  // namespace device

namespace {

/// See add_dense_part of the CPUs' body.
template <class T>
void add_dense_part(cublasHandle_t handle, const TwoSpeciesDensePart<T>& part, bool of_first, int columns,
                    std::int64_t ldx, std::int64_t ldy) {
  if (!of_first) {
    cublas::gemm_strided_batched<T>(handle, Op::none, Op::none, columns, part.target_rows, part.source_rows, T(1),
                                    part.x, ldx, part.source_rows * ldx, part.values, part.ld_values, 0, T(1),
                                    part.y, ldy, part.target_rows * ldy, part.target_lines);
  } else if (ldx == ldy && 2 * columns > ldx) {
    cublas::gemm<T>(handle, Op::none, Op::none, part.target_rows * ldx, part.target_lines, part.source_lines, T(1),
                    part.x, part.source_rows * ldx, part.values, part.ld_values, T(1), part.y,
                    part.target_rows * ldy);
  } else {
    cublas::gemm_strided_batched<T>(handle, Op::none, Op::none, columns, part.target_lines, part.source_lines, T(1),
                                    part.x, part.source_rows * ldx, ldx, part.values, part.ld_values, 0, T(1),
                                    part.y, part.target_rows * ldy, ldy, part.target_rows);
  }
}

}  // namespace

template <class T>
void run(const DeviceContext& on, const MultiplyTwoSpecies<T>& task) {
  const TwoSpeciesSources<T> x = sources_of(task);
  const auto y = *task.y;
  const auto tables = two_species_view<T>(task.tables.view().data(), task.shape);
  la::set_zero(on, y);
  for_dense_parts(task, x, y.data, y.ld, tables.values, [&](const TwoSpeciesDensePart<T>& part, bool of_first) {
    add_dense_part(on.cublas, part, of_first, task.columns, x.ld, y.ld);
  });
  const int lanes = (task.columns + device::lane_columns - 1) / device::lane_columns;
  const auto lines = static_cast<unsigned>(task.end_line - task.first_line);
  const auto launch = [&]<bool aligned>() {
    device::two_species_kernel<T, aligned><<<lines, device::block_threads, 0, on.stream>>>(
        tables, x, y.data, y.ld, task.first_line, task.first_row, task.columns, lanes);
  };
  if (device::is_aligned(x, task.columns))
    launch.template operator()<true>();
  else
    launch.template operator()<false>();
  if (task.columns < y.rows) {
    const std::int64_t count = y.cols * (y.rows - task.columns);
    device::clear_columns<T><<<static_cast<unsigned>((count + 255) / 256), 256, 0, on.stream>>>(
        y.data, y.ld, y.cols, task.columns, static_cast<int>(y.rows));
  }
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(MultiplyTwoSpecies<T>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera::detail
