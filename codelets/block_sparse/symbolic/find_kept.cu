// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/symbolic/kept_rows.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int kept_threads = 32;

struct NormsOfPanels {
  const double* of[max_kept_panels];
};

NormsOfPanels norms_of(const ReadAll<Array<double>>& norms) {
  NormsOfPanels result{};
  for (int p = 0; p < norms.size(); ++p) result.of[p] = norms[p].data();
  return result;
}

/// Warp (row, p): a row of blocks of panel number p of the task's.
__global__ void __launch_bounds__(kept_threads)
    find_kept_kernel(const std::int32_t* words, const std::int32_t* panels, KeptPanels part,
                     const __grid_constant__ NormsOfPanels norms, std::int64_t* totals,
                     std::int32_t* row_counts) {
  extern __shared__ RowBits kept[];
  const auto row = static_cast<std::int32_t>(blockIdx.x), p = static_cast<std::int32_t>(blockIdx.y),
             number = part.first + p;
  const ProductRow at = row_of(PackedPattern(words), panels[number], row);
  if (at.exists())
    find_kept_row(RowGroup(), at, norms.of[p], part.eps, kept, totals + number * KeptLayout::size,
                  row_counts + 2 * (std::int64_t(number) * part.all.most_rows + row));
}

__global__ void __launch_bounds__(kept_threads)
    write_kept_directory_kernel(const std::int32_t* words, const std::int32_t* panels, std::int32_t count,
                                const std::int64_t* totals, std::int32_t* result) {
  write_directory(RowGroup(), PackedPattern(words), panels, count, totals, KeptLayout::size, result);
}

__global__ void __launch_bounds__(kept_threads)
    sum_kept_rows_kernel(const std::int32_t* words, const std::int32_t* panels, KeptPanels part,
                         std::int32_t* row_counts, std::int32_t* result) {
  const std::int32_t number = part.first + static_cast<std::int32_t>(blockIdx.x);
  const WrittenPanel to = written_panel(PackedPattern(words), panels[number], result);
  if (to.row_begin)
    sum_row_counts(RowGroup(), to.rows, row_counts + 2 * std::int64_t(number) * part.all.most_rows,
                   to.row_begin);
}

__global__ void __launch_bounds__(kept_threads)
    write_kept_kernel(const std::int32_t* words, const std::int32_t* panels, KeptPanels part,
                      const __grid_constant__ NormsOfPanels norms, const std::int32_t* row_counts,
                      std::int32_t* result) {
  extern __shared__ RowBits kept[];
  const RowGroup group;
  const auto row = static_cast<std::int32_t>(blockIdx.x), p = static_cast<std::int32_t>(blockIdx.y),
             number = part.first + p;
  const PackedPattern pattern(words);
  const WrittenPanel to = written_panel(pattern, panels[number], result);
  if (!to.row_begin || row >= to.rows) return;
  const ProductRow at = row_of(pattern, panels[number], row);
  const std::int32_t* const counts = row_counts + 2 * (std::int64_t(number) * part.all.most_rows + row);
  mark_kept(group, at, norms.of[p], part.eps, kept);
  write_row(group, at, kept, counts[0], counts[1], to.column, to.offset);
}

dim3 grid_of(const KeptPanels& part) {
  return {static_cast<unsigned>(std::max(part.all.most_rows, 1)), static_cast<unsigned>(part.count)};
}
std::size_t shared_of(const KeptPanels& part) {
  return sizeof(RowBits) * ((static_cast<std::size_t>(part.all.most_columns) + 31) / 32);
}

}  // namespace
}  // namespace device

void run(const DeviceContext& on, const FindKept& task) {
  const std::span<std::int64_t> totals = *task.totals;
  const std::span<std::int32_t> row_counts = *task.row_counts;
  if (task.totals.first()) cudaMemsetAsync(totals.data(), 0, totals.size_bytes(), on.stream);
  if (task.row_counts.first()) cudaMemsetAsync(row_counts.data(), 0, row_counts.size_bytes(), on.stream);
  if (task.part.count == 0) return;
  device::find_kept_kernel<<<device::grid_of(task.part), device::kept_threads, device::shared_of(task.part),
                             on.stream>>>(task.pattern.view().data(), task.panels.view().data(), task.part,
                                          device::norms_of(task.norms), totals.data(), row_counts.data());
}
TESSERA_DEFINE_ON_GPU(FindKept)

void run(const DeviceContext& on, const WriteKept& task) {
  const std::int32_t *const words = task.pattern.view().data(), *const panels = task.panels.view().data();
  std::int32_t *const result = task.result.view().data(), *const row_counts = task.row_counts.view().data();
  if (task.result.first())
    device::write_kept_directory_kernel<<<1, device::kept_threads, 0, on.stream>>>(
        words, panels, task.part.all.count, task.totals.view().data(), result);
  if (task.part.count == 0) return;
  device::
      sum_kept_rows_kernel<<<static_cast<unsigned>(task.part.count), device::kept_threads, 0, on.stream>>>(
          words, panels, task.part, row_counts, result);
  device::write_kept_kernel<<<device::grid_of(task.part), device::kept_threads, device::shared_of(task.part),
                              on.stream>>>(words, panels, task.part, device::norms_of(task.norms), row_counts,
                                           result);
}
TESSERA_DEFINE_ON_GPU(WriteKept)

}  // namespace tessera::detail
