// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/block_sparse/symbolic/chosen_rows.hpp>
#include <tessera/runtime/device_task.hpp>

/// The tasks that choose blocks, on GPUs.
namespace tessera::detail::device {

inline constexpr int chosen_threads = 32;

/// Warp (row, p): a row of blocks of panel number p of those that are looked at.
template <class Choice>
__global__ void __launch_bounds__(chosen_threads)
    count_chosen_kernel(Choice choice, PanelsOfC of, const std::int32_t* panels, std::int64_t* totals,
                        std::int32_t* row_counts) {
  extern __shared__ RowBits chosen_bits[];
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  for (auto p = static_cast<std::int32_t>(blockIdx.y); p < of.count;
       p += static_cast<std::int32_t>(gridDim.y)) {
    count_chosen_row(RowGroup(), choice, of, panels, p, row, chosen_bits, totals, row_counts);
    __syncwarp();
  }
}

template <class Choice>
__global__ void __launch_bounds__(chosen_threads)
    write_chosen_directory_kernel(Choice choice, PanelsOfC of, const std::int32_t* panels,
                                  const std::int64_t* totals, std::int32_t* result) {
  write_directory(RowGroup(), static_cast<std::int32_t>(blockIdx.x), choice.pattern, panels, of.count, totals,
                  ChosenLayout::size, result);
}

template <class Choice>
__global__ void __launch_bounds__(chosen_threads)
    sum_chosen_rows_kernel(Choice choice, PanelsOfC of, const std::int32_t* panels, std::int32_t* row_counts,
                           std::int32_t* result) {
  const auto p = static_cast<std::int32_t>(blockIdx.x);
  const WrittenPanel to = written_panel(choice.pattern, panels[p], result);
  if (to.row_begin)
    sum_row_counts(RowGroup(), to.rows, row_counts + 2 * std::int64_t(p) * of.most_rows, to.row_begin);
}

template <class Choice>
__global__ void __launch_bounds__(chosen_threads)
    write_chosen_kernel(Choice choice, PanelsOfC of, const std::int32_t* panels,
                        const std::int32_t* row_counts, std::int32_t* result) {
  extern __shared__ RowBits chosen_bits[];
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  for (auto p = static_cast<std::int32_t>(blockIdx.y); p < of.count;
       p += static_cast<std::int32_t>(gridDim.y)) {
    const WrittenPanel to = written_panel(choice.pattern, panels[p], result);
    if (!to.row_begin || row >= to.rows) continue;
    write_chosen_row(RowGroup(), choice, panels[p], row, chosen_bits,
                     row_counts + 2 * (std::int64_t(p) * of.most_rows + row), to);
    __syncwarp();
  }
}

inline dim3 chosen_grid(const PanelsOfC& of) {
  return {static_cast<unsigned>(std::max(of.most_rows, 1)),
          static_cast<unsigned>(std::clamp(of.count, 1, 65535))};
}
inline std::size_t chosen_shared(const PanelsOfC& of) {
  return sizeof(RowBits) * ((static_cast<std::size_t>(of.most_columns) + 31) / 32);
}

template <class Choice, class Task>
void count_chosen(const DeviceContext& on, const Choice& choice, const Task& task) {
  const std::span<std::int64_t> totals = *task.totals;
  const std::span<std::int32_t> row_counts = *task.row_counts;
  cudaMemsetAsync(totals.data(), 0, totals.size_bytes(), on.stream);
  cudaMemsetAsync(row_counts.data(), 0, row_counts.size_bytes(), on.stream);
  count_chosen_kernel<<<chosen_grid(task.of), chosen_threads, chosen_shared(task.of), on.stream>>>(
      choice, task.of, task.panels.view().data(), totals.data(), row_counts.data());
}

template <class Choice, class Task>
void write_chosen(const DeviceContext& on, const Choice& choice, const Task& task) {
  const std::int32_t* const panels = task.panels.view().data();
  std::int32_t *const result = task.result.view().data(), *const row_counts = task.row_counts.view().data();
  write_chosen_directory_kernel<<<directory_parts, chosen_threads, 0, on.stream>>>(
      choice, task.of, panels, task.totals.view().data(), result);
  if (task.of.count == 0) return;
  sum_chosen_rows_kernel<<<static_cast<unsigned>(task.of.count), chosen_threads, 0, on.stream>>>(
      choice, task.of, panels, row_counts, result);
  write_chosen_kernel<<<chosen_grid(task.of), chosen_threads, chosen_shared(task.of), on.stream>>>(
      choice, task.of, panels, row_counts, result);
}

}  // namespace tessera::detail::device
