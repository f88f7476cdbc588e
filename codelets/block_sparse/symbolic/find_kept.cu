// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/symbolic/kept_rows.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr unsigned directory_parts = 64;  ///< warps that write a directory
constexpr int kept_threads = 32;

/// What the kernels read.
struct Kept {
  const std::int32_t *words, *panels;
  const double* norms;
  PanelsOfC of;
  double eps;
};

/// Warp (row, p): a row of blocks of panel number p of those that are looked at.
__global__ void __launch_bounds__(kept_threads)
    find_kept_kernel(Kept kept, std::int64_t* totals, std::int32_t* row_counts) {
  extern __shared__ RowBits bits[];
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  for (auto p = static_cast<std::int32_t>(blockIdx.y); p < kept.of.count;
       p += static_cast<std::int32_t>(gridDim.y)) {
    const ProductRow at = row_of(PackedPattern(kept.words), kept.panels[p], row);
    if (at.exists())
      find_kept_row(RowGroup(), at, kept.norms, kept.eps, bits, totals + p * KeptLayout::size,
                    row_counts + 2 * (std::int64_t(p) * kept.of.most_rows + row));
    __syncwarp();
  }
}

__global__ void __launch_bounds__(kept_threads)
    write_kept_directory_kernel(Kept kept, const std::int64_t* totals, std::int32_t* result) {
  write_directory(RowGroup(), static_cast<std::int32_t>(blockIdx.x), static_cast<std::int32_t>(gridDim.x),
                  PackedPattern(kept.words), kept.panels, kept.of.count, totals, KeptLayout::size, result);
}

__global__ void __launch_bounds__(kept_threads)
    sum_kept_rows_kernel(Kept kept, std::int32_t* row_counts, std::int32_t* result) {
  const auto p = static_cast<std::int32_t>(blockIdx.x);
  const WrittenPanel to = written_panel(PackedPattern(kept.words), kept.panels[p], result);
  if (to.row_begin)
    sum_row_counts(RowGroup(), to.rows, row_counts + 2 * std::int64_t(p) * kept.of.most_rows, to.row_begin);
}

__global__ void __launch_bounds__(kept_threads)
    write_kept_kernel(Kept kept, const std::int32_t* row_counts, std::int32_t* result) {
  extern __shared__ RowBits bits[];
  const RowGroup group;
  const PackedPattern pattern(kept.words);
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  for (auto p = static_cast<std::int32_t>(blockIdx.y); p < kept.of.count;
       p += static_cast<std::int32_t>(gridDim.y)) {
    const WrittenPanel to = written_panel(pattern, kept.panels[p], result);
    if (!to.row_begin || row >= to.rows) continue;
    const ProductRow at = row_of(pattern, kept.panels[p], row);
    const std::int32_t* const counts = row_counts + 2 * (std::int64_t(p) * kept.of.most_rows + row);
    mark_kept(group, at, kept.norms, kept.eps, bits);
    write_row(group, at, bits, counts[0], counts[1], to.column, to.offset);
    __syncwarp();
  }
}

dim3 kept_grid(const PanelsOfC& of) {
  return {static_cast<unsigned>(std::max(of.most_rows, 1)),
          static_cast<unsigned>(std::clamp(of.count, 1, 65535))};
}
std::size_t kept_shared(const PanelsOfC& of) {
  return sizeof(RowBits) * ((static_cast<std::size_t>(of.most_columns) + 31) / 32);
}
template <class Task>
Kept kept_of(const Task& task) {
  return {task.pattern.view().data(), task.panels.view().data(), task.norms.view().data(), task.of, task.eps};
}

}  // namespace
}  // namespace device

void run(const DeviceContext& on, const FindKept& task) {
  using namespace device;
  const std::span<std::int64_t> totals = *task.totals;
  const std::span<std::int32_t> row_counts = *task.row_counts;
  cudaMemsetAsync(totals.data(), 0, totals.size_bytes(), on.stream);
  cudaMemsetAsync(row_counts.data(), 0, row_counts.size_bytes(), on.stream);
  find_kept_kernel<<<kept_grid(task.of), kept_threads, kept_shared(task.of), on.stream>>>(
      kept_of(task), totals.data(), row_counts.data());
}
TESSERA_DEFINE_ON_GPU(FindKept)

void run(const DeviceContext& on, const WriteKept& task) {
  using namespace device;
  std::int32_t *const result = task.result.view().data(), *const row_counts = task.row_counts.view().data();
  const Kept kept = kept_of(task);
  write_kept_directory_kernel<<<directory_parts, kept_threads, 0, on.stream>>>(
      kept, task.totals.view().data(), result);
  if (task.of.count == 0) return;
  sum_kept_rows_kernel<<<static_cast<unsigned>(task.of.count), kept_threads, 0, on.stream>>>(kept, row_counts,
                                                                                             result);
  write_kept_kernel<<<kept_grid(task.of), kept_threads, kept_shared(task.of), on.stream>>>(kept, row_counts,
                                                                                           result);
}
TESSERA_DEFINE_ON_GPU(WriteKept)

}  // namespace tessera::detail
