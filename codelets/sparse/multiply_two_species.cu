// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/sparse/kernels/staged_two_species_kernel.cuh>
#include <tessera/codelets/sparse/kernels/two_species_kernels.cuh>
#include <tessera/codelets/sparse/multiply_two_species.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace {

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + device::two_species_threads - 1) / device::two_species_threads);
}

/// All rows at multiples of so many bytes.
template <class T>
bool is_aligned(const TwoSpeciesSources<T>& x, std::size_t bytes) {
  if (static_cast<std::size_t>(x.ld) * sizeof(T) % bytes != 0) return false;
  for (int s = 0; s < x.count; ++s)
    if (reinterpret_cast<std::uintptr_t>(x.data[s]) % bytes != 0) return false;
  return true;
}

/// y(:, n, p) += sum_q A(p, q) x(:, n, q); see the CPUs' body.
template <class T>
void add_first_part(cublasHandle_t handle, const TwoSpeciesDensePart<T>& part, int columns, std::int64_t ldx,
                    std::int64_t ldy) {
  if (ldx == ldy && 2 * columns > ldx)
    cublas::gemm<T>(handle, Op::none, Op::none, part.target_rows * ldx, part.target_lines, part.source_lines,
                    T(1), part.x, part.source_rows * ldx, part.values, part.ld_values, T(1), part.y,
                    part.target_rows * ldy);
  else
    cublas::gemm_strided_batched<T>(handle, Op::none, Op::none, columns, part.target_lines, part.source_lines,
                                    T(1), part.x, part.source_rows * ldx, ldx, part.values, part.ld_values, 0,
                                    T(1), part.y, part.target_rows * ldy, ldy, part.target_rows);
}

/// y(:, n, p) += sum_m B(n, m) x(:, m, p) with lines and rows swapped, so that one product has all lines.
template <class T>
void add_second_part(const DeviceContext& on, const TwoSpeciesDensePart<T>& part, int columns,
                     std::int64_t ldx, std::int64_t ldy, std::span<T> work) {
  const std::int64_t line_elements = (part.source_rows + part.target_rows) * columns;
  const std::int64_t at_once =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(work.size()) / line_elements);
  for (std::int64_t first = 0; first < part.target_lines; first += at_once) {
    const std::int64_t lines = std::min(at_once, part.target_lines - first), m = lines * columns;
    T *const x = work.data(), *const y = x + m * part.source_rows;
    device::swap_lines_and_rows<T>
        <<<blocks_for(m * part.source_rows), device::two_species_threads, 0, on.stream>>>(
            part.x + first * part.source_rows * ldx, ldx, lines, part.source_rows, columns, x);
    cublas::gemm<T>(on.cublas, Op::none, Op::none, m, part.target_rows, part.source_rows, T(1), x, m,
                    part.values, part.ld_values, T(0), y, m);
    device::add_swapped<T><<<blocks_for(m * part.target_rows), device::two_species_threads, 0, on.stream>>>(
        y, lines, part.target_rows, columns, part.y + first * part.target_rows * ldy, ldy);
  }
}

template <int count, class T>
void launch_runs(const DeviceContext& on, const MultiplyTwoSpecies<T>& task, const TwoSpeciesView<T>& tables,
                 const TwoSpeciesSources<T>& x, const MatrixView<T>& y) {
  const int lanes = (task.columns + count - 1) / count;
  const auto lines = static_cast<unsigned>(task.end_line - task.first_line);
  const auto launch = [&]<bool aligned>() {
    device::two_species_kernel<count, aligned, T><<<lines, device::two_species_threads, 0, on.stream>>>(
        tables, x, y.data, y.ld, task.first_line, task.first_row, task.columns, lanes);
  };
  if (is_aligned(x, 2 * sizeof(T)))
    launch.template operator()<true>();
  else
    launch.template operator()<false>();
}

/// Bytes of shared memory for source lines of `line_bytes`, so that `blocks` blocks of threads share a multiprocessor,
/// or that one has it alone; 0: not even one line fits.
std::size_t stage_bytes_for(std::size_t line_bytes, std::size_t own_bytes, int blocks) {
  constexpr std::size_t reserved = 1024;  // of each block by the driver
  int device = 0, of_block = 0, of_multiprocessor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&of_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) !=
          cudaSuccess)
    return 0;
  const auto room = [&](std::size_t all) {
    const std::size_t bytes =
        std::min(all > own_bytes ? all - own_bytes : 0, line_bytes * device::most_staged_jobs);
    return bytes / 16 * 16;
  };
  const std::size_t shared = room(static_cast<std::size_t>(of_multiprocessor / blocks) - reserved),
                    alone = room(static_cast<std::size_t>(of_block));
  return shared >= line_bytes ? shared : alone >= line_bytes ? alone : 0;
}

/// By way of shared memory, where that can be and there is something to gain. Returns whether.
template <class T>
bool launch_staged(const DeviceContext& on, const MultiplyTwoSpecies<T>& task,
                   const TwoSpeciesView<T>& tables, const TwoSpeciesSources<T>& x, const MatrixView<T>& y) {
  // Eight double columns at a time: more of longer lines do not fit.
  constexpr int width = device::chunk_columns<T>, most_lanes = 4;
  const int lanes = std::min((task.columns + width - 1) / width, most_lanes);
  const auto line_bytes = static_cast<std::size_t>(16 * lanes * task.shape.several_rows);
  if (line_bytes == 0 || !is_aligned(x, 16)) return false;
  constexpr auto kernel = device::staged_two_species_kernel<T>;
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) return false;
  // Short lines have too few rows for a large block of threads.
  const int threads = task.shape.line_rows * lanes > 3 * device::staged_threads / 2
                          ? device::staged_threads
                          : device::staged_threads / 2;
  const std::size_t stage =
      stage_bytes_for(line_bytes, attributes.sharedSizeBytes, 2 * device::staged_threads / threads);
  if (stage == 0) return false;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(stage));
  TwoSpeciesSources<T> columns = x;
  for (int first = 0; first < task.columns; first += most_lanes * width) {
    kernel<<<static_cast<unsigned>(task.end_line - task.first_line), threads, stage, on.stream>>>(
        tables, columns, y.data + first, y.ld, task.first_line, task.first_row,
        std::min(task.columns - first, most_lanes * width), lanes, static_cast<std::uint32_t>(stage));
    for (int s = 0; s < columns.count; ++s) columns.data[s] += most_lanes * width;
  }
  return true;
}

}  // namespace

template <class T>
void run(const DeviceContext& on, const MultiplyTwoSpecies<T>& task) {
  const TwoSpeciesSources<T> x = sources_of(task);
  const auto y = *task.y;
  const auto tables = two_species_view<T>(task.tables.view().data(), task.shape);
  la::set_zero(on, y);
  for_dense_parts(task, x, y.data, y.ld, tables.values,
                  [&](const TwoSpeciesDensePart<T>& part, bool of_first) {
                    if (of_first)
                      add_first_part(on.cublas, part, task.columns, x.ld, y.ld);
                    else
                      add_second_part(on, part, task.columns, x.ld, y.ld, task.work.view());
                  });
  // More columns a thread share the loads of entries and values.
  if (!launch_staged(on, task, tables, x, y)) {
    if (task.columns > 8)
      launch_runs<4>(on, task, tables, x, y);
    else
      launch_runs<2>(on, task, tables, x, y);
  }
  if (task.columns < y.rows)
    device::clear_columns<T>
        <<<blocks_for(y.cols * (y.rows - task.columns)), device::two_species_threads, 0, on.stream>>>(
            y.data, y.ld, y.cols, task.columns, static_cast<int>(y.rows));
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(MultiplyTwoSpecies<T>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera::detail
