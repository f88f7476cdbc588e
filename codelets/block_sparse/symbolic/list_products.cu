// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/symbolic/list_rows.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int list_threads = 32;

/// What the kernels read and write. In all of them blockIdx.y is the number of a stack.
struct Listing {
  const std::int32_t *a, *b, *c, *inner, *row_blocks;
  const ClassBegin* begins;
  const double *norms_a, *norms_b;
  std::int64_t* filtered;  ///< null: there is no filter
  std::int32_t* counts;
  StackEntry* lists[ListedStacks::most];
  ListedShape shape;
  ListedStacks stacks;
  ListFilter filter;
  std::int32_t room;  ///< of ListScratch

  __device__ const ListedStack& stack() const { return stacks.stack[blockIdx.y]; }
  __device__ ProductRow row(std::int32_t number) const {
    return {PackedPattern(a), PackedPattern(b), PackedPattern(c), shape.mask, stack().panel, number};
  }
  __device__ InnerPanels panels() const { return {inner + stack().first_inner, stack().inner}; }
  __device__ std::int32_t stride() const { return 2 * shape.col_classes * shape.inner_classes; }
  __device__ std::int32_t* counts_of(std::int32_t number) const {
    return counts + (std::int64_t(blockIdx.y) * shape.rows + number) * stride();
  }
};

/// Warp (row, stack).
__global__ void __launch_bounds__(list_threads) count_listed_kernel(const __grid_constant__ Listing listing) {
  extern __shared__ std::int32_t memory[];
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  const ProductRow at = listing.row(row);
  if (at.size == 0 || at.old().blocks == 0) return;
  count_listed_row(RowGroup(), at, listing.panels(),
                   ListScratch(memory, listing.shape.columns, at.cols.classes, 0), listing.counts_of(row));
}

/// Warp (number, stack): the rows of one class of products.
__global__ void __launch_bounds__(list_threads) sum_rows_kernel(const __grid_constant__ Listing listing) {
  const ProductRow any = listing.row(0);
  const auto number = static_cast<std::int32_t>(blockIdx.x);
  const std::int32_t stride = listing.stride();
  sum_rows(RowGroup(), any.rows, any.row_panel, 2 * number / stride,
           listing.begins[listing.stack().first_class + number], listing.counts_of(0) + 2 * number % stride,
           stride);
}

/// Warp (row, stack). What waits for memory is hidden by other warps: enough of them must fit.
template <bool with_filter>
__global__ void __launch_bounds__(list_threads, 16)
    list_rows_kernel(const __grid_constant__ Listing listing) {
  extern __shared__ std::int32_t memory[];
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  const ProductRow at = listing.row(row);
  if (at.size == 0 || at.old().blocks == 0) return;
  RowFilter filter{};
  std::int64_t* filtered = nullptr;
  if constexpr (with_filter) {
    filter = row_filter(at, listing.filter, listing.row_blocks, listing.norms_a, listing.norms_b);
    filtered = listing.filtered + blockIdx.y * listing.shape.row_classes * listing.shape.col_classes *
                                      listing.shape.inner_classes;
  }
  StackEntry* const entries = listing.lists[blockIdx.y];
  list_row<with_filter>(RowGroup(), at, listing.panels(), filter,
                        ListScratch(memory, listing.shape.columns, at.cols.classes, listing.room),
                        listing.counts_of(row), entries,
                        reinterpret_cast<StackRun*>(entries + listing.stack().products), filtered);
}

template <class Operand>
auto pointer_of(const Operand& operand) {
  return operand ? operand.view().data() : nullptr;
}

/// Entries of a row that are kept in shared memory: those of nearly all rows where rows have few.
std::int32_t room_for_rows(const ListProducts& task) {
  constexpr double most = 3000;
  double entries = 0;
  for (std::int32_t s = 0; s < task.stacks.count; ++s)
    entries = std::max(entries, 1.25 * task.stacks.stack[s].products / std::max(task.shape.rows, 1) + 32);
  return task.shape.col_classes == 1 && entries <= most ? static_cast<std::int32_t>(entries) : 0;
}

}  // namespace
}  // namespace device

void run(const DeviceContext& on, const ListProducts& task) {
  using namespace device;
  if (task.stacks.count == 0) return;
  Listing listing{.a = task.a.view().data(),
                  .b = task.b.view().data(),
                  .c = task.c.view().data(),
                  .inner = task.inner.view().data(),
                  .row_blocks = pointer_of(task.row_blocks),
                  .begins = task.begins.view().data(),
                  .norms_a = pointer_of(task.norms_a),
                  .norms_b = pointer_of(task.norms_b),
                  .filtered = pointer_of(task.filtered),
                  .counts = task.work.view().data(),
                  .lists = {},
                  .shape = task.shape,
                  .stacks = task.stacks,
                  .filter = task.filter,
                  .room = room_for_rows(task)};
  if (task.filtered)
    cudaMemsetAsync(task.filtered.view().data(), 0, task.filtered.view().size_bytes(), on.stream);
  for (std::int32_t s = 0; s < task.stacks.count; ++s) {
    const ListedStack& stack = task.stacks.stack[s];
    listing.lists[s] = task.lists[s].data();
    if (!stack.all_runs)
      cudaMemsetAsync(listing.lists[s] + stack.products, 0,
                      static_cast<std::size_t>(stack.runs) * sizeof(StackRun), on.stream);
  }
  const auto count = static_cast<unsigned>(task.stacks.count);
  cudaMemsetAsync(listing.counts, 0,
                  count * static_cast<std::size_t>(task.shape.rows) *
                      static_cast<std::size_t>(2 * task.shape.pairs()) * sizeof(std::int32_t),
                  on.stream);
  const dim3 rows(static_cast<unsigned>(task.shape.rows), count),
      classes(static_cast<unsigned>(task.shape.classes()), count);
  const auto shared = [&](std::int32_t room) {
    return ListScratch::bytes(task.shape.columns, task.shape.col_classes, room);
  };
  const auto list_rows = task.filtered ? list_rows_kernel<true> : list_rows_kernel<false>;
  allow_shared_memory(count_listed_kernel, shared(0));
  allow_shared_memory(list_rows, shared(listing.room));
  count_listed_kernel<<<rows, list_threads, shared(0), on.stream>>>(listing);
  sum_rows_kernel<<<classes, list_threads, 0, on.stream>>>(listing);
  list_rows<<<rows, list_threads, shared(listing.room), on.stream>>>(listing);
}
TESSERA_DEFINE_ON_GPU(ListProducts)

}  // namespace tessera::detail
