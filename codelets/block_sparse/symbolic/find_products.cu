// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/symbolic/pattern_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_rows.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int warp = 32, most_parts = 8;

/// What the kernels read: the patterns, and the panels of C that are looked at.
struct Patterns {
  const std::int32_t *a, *b, *c, *panels;
  PanelsOfC of_c;
};

/// Thread block (row, p), each warp with a part of the row: a row of blocks of panel number p of those that are
/// looked at.
__global__ void __launch_bounds__(most_parts* warp, 3)
    find_products_kernel(Patterns patterns, TotalsLayout layout, std::int64_t* totals,
                         std::int32_t* row_counts) {
  extern __shared__ std::int32_t memory[];
  const RowTeam team;
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  for (auto p = static_cast<std::int32_t>(blockIdx.y); p < patterns.of_c.count;
       p += static_cast<std::int32_t>(gridDim.y)) {
    const ProductRow at(PackedPattern(patterns.a), PackedPattern(patterns.b), PackedPattern(patterns.c),
                        patterns.of_c.mask, patterns.panels[p], row);
    if (at.exists())
      count_row(team, RowGroup(), at, layout, CountScratch(memory, at.columns), totals + p * layout.size(),
                row_counts + 2 * (std::int64_t(p) * patterns.of_c.most_rows + row));
  }
}

__global__ void __launch_bounds__(warp)
    write_directory_kernel(Patterns patterns, const std::int64_t* totals, std::int64_t totals_size,
                           std::int32_t* words) {
  write_directory(RowGroup(), static_cast<std::int32_t>(blockIdx.x), PackedPattern(patterns.c),
                  patterns.panels, patterns.of_c.count, totals, totals_size, words);
}

__global__ void __launch_bounds__(warp)
    sum_row_counts_kernel(Patterns patterns, std::int32_t* row_counts, std::int32_t* words) {
  const auto p = static_cast<std::int32_t>(blockIdx.x);
  const WrittenPanel to = written_panel(PackedPattern(patterns.c), patterns.panels[p], words);
  if (to.row_begin)
    sum_row_counts(RowGroup(), to.rows, row_counts + 2 * std::int64_t(p) * patterns.of_c.most_rows,
                   to.row_begin);
}

__global__ void __launch_bounds__(most_parts* warp, 3)
    write_rows_kernel(Patterns patterns, const std::int32_t* row_counts, std::int32_t* words) {
  extern __shared__ std::int32_t memory[];
  RowBits* const found = reinterpret_cast<RowBits*>(memory);
  const RowTeam team;
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  for (auto p = static_cast<std::int32_t>(blockIdx.y); p < patterns.of_c.count;
       p += static_cast<std::int32_t>(gridDim.y)) {
    const PackedPattern c(patterns.c);
    const WrittenPanel to = written_panel(c, patterns.panels[p], words);
    if (!to.row_begin || row >= to.rows) continue;
    const ProductRow at(PackedPattern(patterns.a), PackedPattern(patterns.b), c, patterns.of_c.mask,
                        patterns.panels[p], row);
    const std::int32_t* const counts = row_counts + 2 * (std::int64_t(p) * patterns.of_c.most_rows + row);
    mark_result(team, RowGroup(), at, found, found + words_for(at.columns));
    if (team.part == 0) write_row(RowGroup(), at, found, counts[0], counts[1], to.column, to.offset);
    team.sync();
  }
}

dim3 grid_of(const PanelsOfC& panels) {
  return {static_cast<unsigned>(std::max(panels.most_rows, 1)),
          static_cast<unsigned>(std::clamp(panels.count, 1, 65535))};
}

/// Several warps share a row where one each would leave most of a GPU idle.
unsigned threads_of(const PanelsOfC& panels) {
  constexpr std::int64_t enough_warps = 8192;
  unsigned parts = 1;
  while (parts < most_parts && 2 * parts * std::int64_t(panels.most_rows) * panels.count <= enough_warps)
    parts *= 2;
  return parts * warp;
}

}  // namespace
}  // namespace device

void run(const DeviceContext& on, const FindProducts& task) {
  const std::span<std::int64_t> totals = *task.totals;
  const std::span<std::int32_t> row_counts = *task.row_counts;
  cudaMemsetAsync(totals.data(), 0, totals.size_bytes(), on.stream);
  cudaMemsetAsync(row_counts.data(), 0, row_counts.size_bytes(), on.stream);
  const std::size_t shared = CountScratch::bytes(task.of_c.most_columns, task.of_c.col_classes);
  device::allow_shared_memory(device::find_products_kernel, shared);
  device::
      find_products_kernel<<<device::grid_of(task.of_c), device::threads_of(task.of_c), shared, on.stream>>>(
          {task.a.view().data(), task.b.view().data(), task.c.view().data(), task.panels.view().data(),
           task.of_c},
          task.layout, totals.data(), row_counts.data());
}
TESSERA_DEFINE_ON_GPU(FindProducts)

void run(const DeviceContext& on, const WriteProductPattern& task) {
  const device::Patterns patterns{task.a.view().data(), task.b.view().data(), task.c.view().data(),
                                  task.panels.view().data(), task.of_c};
  std::int32_t *const words = task.result.view().data(), *const row_counts = task.row_counts.view().data();
  device::write_directory_kernel<<<directory_parts, device::warp, 0, on.stream>>>(
      patterns, task.totals.view().data(), task.totals_size, words);
  if (task.of_c.count == 0) return;
  device::sum_row_counts_kernel<<<static_cast<unsigned>(task.of_c.count), device::warp, 0, on.stream>>>(
      patterns, row_counts, words);
  const std::size_t shared =
      2 * sizeof(RowBits) * ((static_cast<std::size_t>(task.of_c.most_columns) + 31) / 32);
  device::write_rows_kernel<<<device::grid_of(task.of_c), device::threads_of(task.of_c), shared, on.stream>>>(
      patterns, row_counts, words);
}
TESSERA_DEFINE_ON_GPU(WriteProductPattern)

}  // namespace tessera::detail
