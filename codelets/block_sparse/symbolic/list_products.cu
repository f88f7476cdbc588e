// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/symbolic/product_rows.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int warp = 32;

/// What the kernels of one stack read.
struct Listing {
  const std::int32_t *a, *b, *c, *row_blocks;
  std::int32_t panel;
  ListedPanels listed;
  ProductMask mask;
  double eps;

  __device__ ProductRow row(std::int32_t number) const {
    return {PackedPattern(a), PackedPattern(b), PackedPattern(c), mask, panel, number};
  }
};
struct Norms {
  const double *a[max_stack_panels], *b[max_stack_panels];
};

__global__ void __launch_bounds__(warp)
    count_listed_kernel(const __grid_constant__ Listing listing, std::int32_t columns, std::int32_t stride,
                        std::int32_t* counts) {
  extern __shared__ std::int32_t memory[];
  const ProductRow at = listing.row(static_cast<std::int32_t>(blockIdx.x));
  if (at.size == 0 || at.old().blocks == 0) return;
  count_listed_row(RowGroup(), at, listing.listed, ListScratch(memory, columns, at.cols.classes),
                   counts + std::int64_t(blockIdx.x) * stride);
}

/// Warp (number): the rows of one class of products.
__global__ void __launch_bounds__(warp)
    sum_rows_kernel(const __grid_constant__ Listing listing, const ClassBegin* begins, std::int32_t stride,
                    std::int32_t* counts) {
  const ProductRow any = listing.row(0);
  const auto number = static_cast<std::int32_t>(blockIdx.x);
  sum_rows(RowGroup(), any.rows, any.row_panel, 2 * number / stride, begins[number],
           counts + 2 * number % stride, stride);
}

__global__ void __launch_bounds__(warp)
    list_rows_kernel(const __grid_constant__ Listing listing, const __grid_constant__ Norms norms,
                     std::int32_t columns, std::int32_t stride, const std::int32_t* counts,
                     StackEntry* entries, StackRun* runs, std::int64_t* filtered) {
  extern __shared__ std::int32_t memory[];
  const RowGroup group;
  const ProductRow at = listing.row(static_cast<std::int32_t>(blockIdx.x));
  if (at.size == 0 || at.old().blocks == 0) return;
  RowFilter filter{};
  if (filtered) {
    const std::int32_t blocks =
        listing.row_blocks ? listing.row_blocks[at.first_row + at.row] : at.blocks_of_a();
    filter = {norms.a, norms.b, listing.eps / max(blocks, 1)};
  }
  list_row(group, at, listing.listed, filter, ListScratch(memory, columns, at.cols.classes),
           counts + std::int64_t(blockIdx.x) * stride, entries, runs, filtered);
}

}  // namespace
}  // namespace device

void run(const DeviceContext& on, const ListProducts& task) {
  using namespace device;
  StackEntry* const entries = task.stack.view().data();
  auto* const runs = reinterpret_cast<StackRun*>(entries + task.shape.products);
  std::int32_t* const counts = task.work.view().data();
  std::int64_t* const filtered = task.filtered ? task.filtered.view().data() : nullptr;
  if (filtered) cudaMemsetAsync(filtered, 0, task.filtered.view().size_bytes(), on.stream);
  if (!task.all_runs)
    cudaMemsetAsync(runs, 0, static_cast<std::size_t>(task.shape.runs) * sizeof(StackRun), on.stream);
  const Listing listing{task.a.view().data(),
                        task.b.view().data(),
                        task.c.view().data(),
                        task.row_blocks ? task.row_blocks.view().data() : nullptr,
                        task.shape.panel,
                        task.listed,
                        task.mask,
                        task.eps};
  Norms norms{};
  for (int i = 0; 2 * i + 1 < task.norms.size(); ++i) {
    norms.a[i] = task.norms[2 * i].data();
    norms.b[i] = task.norms[2 * i + 1].data();
  }
  const std::int32_t stride = 2 * task.shape.col_classes * task.shape.inner_classes;
  const auto rows = static_cast<unsigned>(task.shape.rows),
             classes = static_cast<unsigned>(task.shape.row_classes * stride / 2);
  const std::size_t shared = ListScratch::bytes(task.shape.columns, task.shape.col_classes);
  allow_shared_memory(count_listed_kernel, shared);
  allow_shared_memory(list_rows_kernel, shared);
  cudaMemsetAsync(
      counts, 0,
      static_cast<std::size_t>(task.shape.rows) * static_cast<std::size_t>(stride) * sizeof(std::int32_t),
      on.stream);
  count_listed_kernel<<<rows, warp, shared, on.stream>>>(listing, task.shape.columns, stride, counts);
  sum_rows_kernel<<<classes, warp, 0, on.stream>>>(
      listing, task.begins.view().data() + task.shape.first_class, stride, counts);
  list_rows_kernel<<<rows, warp, shared, on.stream>>>(listing, norms, task.shape.columns, stride, counts,
                                                      entries, runs, filtered);
}
TESSERA_DEFINE_ON_GPU(ListProducts)

}  // namespace tessera::detail
