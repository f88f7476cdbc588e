// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/symbolic/list_rows.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int warp = 32, max_parts = 16, max_filtered_parts = 8;

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
  std::int32_t room;  ///< of ListScratch of list_rows

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

/// Thread block (row, stack), each warp with a part of the row.
__global__ void __launch_bounds__(max_parts* warp, 2)
    count_listed_kernel(const __grid_constant__ Listing listing) {
  extern __shared__ std::int32_t memory[];
  const auto row = static_cast<std::int32_t>(blockIdx.x);
  const ProductRow at = listing.row(row);
  if (at.size == 0 || at.old().blocks == 0) return;
  const RowTeam team;
  if (!counts_by_lengths(listing.shape, listing.stack()))
    count_listed_row(team, RowGroup(), at, listing.panels(),
                     ListScratch(memory, listing.shape.columns, at.cols.classes, team.parts, 0),
                     listing.counts_of(row));
  else if (team.part == 0)
    count_complete_row(RowGroup(), at, listing.panels(), listing.counts_of(row));
}

/// Warp (number, stack): the rows of one class of products.
__global__ void __launch_bounds__(warp) sum_rows_kernel(const __grid_constant__ Listing listing) {
  const ProductRow any = listing.row(0);
  const auto number = static_cast<std::int32_t>(blockIdx.x);
  const std::int32_t stride = listing.stride();
  sum_rows(RowGroup(), any.rows, any.row_panel, 2 * number / stride,
           listing.begins[listing.stack().first_class + number], listing.counts_of(0) + 2 * number % stride,
           stride);
}

/// Thread block (row, stack), each warp with a part of the row. What waits for memory is hidden by other
/// warps: enough of them must fit.
template <bool with_filter>
__global__ void __launch_bounds__((with_filter ? max_filtered_parts : max_parts) * warp, with_filter ? 3 : 2)
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
  const RowTeam team;
  list_row<with_filter>(team, RowGroup(), at, listing.panels(), filter,
                        ListScratch(memory, listing.shape.columns, at.cols.classes, team.parts, listing.room),
                        listing.counts_of(row), entries,
                        reinterpret_cast<StackRun*>(entries + listing.stack().products), filtered);
}

template <class Operand>
auto pointer_of(const Operand& operand) {
  return operand ? operand.view().data() : nullptr;
}

/// How a row is shared out: to so many warps, with room for its entries in shared memory.
struct RowShape {
  std::int32_t parts, room;
};
std::size_t shared_bytes(const ListProducts& task, RowShape shape) {
  return ListScratch::bytes(task.shape.columns, task.shape.col_classes, shape.parts, shape.room);
}

/// A warp for every few hundred products: long rows by one warp each would leave most of a GPU idle. The room
/// holds the entries of nearly all rows; it is worth its memory if rows have few, or many warps write them.
RowShape shape_of_rows(const ListProducts& task) {
  constexpr double few = 3000;
  const double products_each = task.filtered ? 1024 : 512;
  constexpr std::size_t most_counters = 64 * 1024, most_in_all = 200 * 1024;
  double products = 0;
  for (std::int32_t s = 0; s < task.stacks.count; ++s)
    products = std::max(products, double(task.stacks.stack[s].products) / std::max(task.shape.rows, 1));
  RowShape shape{1, 0};
  const std::int32_t most_parts = task.filtered ? max_filtered_parts : max_parts;
  while (2 * shape.parts <= most_parts && 2 * shape.parts * products_each <= products &&
         shared_bytes(task, {2 * shape.parts, 0}) <= most_counters)
    shape.parts *= 2;
  const double entries = 1.25 * products + 32;
  if (task.shape.col_classes > 1 || (entries > few && (task.filtered || shape.parts < max_parts / 2)))
    return shape;
  const RowShape with_room{shape.parts, static_cast<std::int32_t>(std::min(entries, 1e6))};
  return shared_bytes(task, with_room) <= most_in_all ? with_room : shape;
}

}  // namespace
}  // namespace device

void run(const DeviceContext& on, const ListProducts& task) {
  using namespace device;
  if (task.stacks.count == 0) return;
  const RowShape shape = shape_of_rows(task);
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
                  .room = shape.room};
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
  const auto list_rows = task.filtered ? list_rows_kernel<true> : list_rows_kernel<false>;
  const auto threads = static_cast<unsigned>(shape.parts) * warp;
  const bool by_lengths =
      std::all_of(task.stacks.stack, task.stacks.stack + count,
                  [&](const ListedStack& stack) { return counts_by_lengths(task.shape, stack); });
  const std::size_t count_bytes = by_lengths ? 0 : shared_bytes(task, {shape.parts, 0}),
                    list_bytes = shared_bytes(task, shape);
  allow_shared_memory(count_listed_kernel, count_bytes);
  allow_shared_memory(list_rows, list_bytes);
  count_listed_kernel<<<rows, by_lengths ? warp : threads, count_bytes, on.stream>>>(listing);
  sum_rows_kernel<<<classes, warp, 0, on.stream>>>(listing);
  list_rows<<<rows, threads, list_bytes, on.stream>>>(listing);
}
TESSERA_DEFINE_ON_GPU(ListProducts)

}  // namespace tessera::detail
