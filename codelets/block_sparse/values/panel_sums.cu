// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/panel_norms.cuh>
#include <tessera/codelets/block_sparse/values/panel_sums.hpp>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace device {
namespace {

/// What the kernels read.
template <class S>
struct Summed {
  const std::int32_t *pattern, *other_pattern;
  const double* norms;  ///< or null
  SummedPanels panels;
  Symmetry symmetry, other_symmetry;
  const S* values[SummedPanels::most];
  const S* others[SummedPanels::most];
  Index elements[SummedPanels::most];
};

/// A number in double.
template <class R>
__device__ double wide(R x) {
  return double(x);
}
template <class R>
__device__ Complex<double> wide(Complex<R> x) {
  return {double(x.re), double(x.im)};
}

template <class S>
struct Sums {
  using Wide = decltype(wide(S()));
  double squares = 0;
  Wide trace{0.0}, dot{0.0};
};

/// A block of the matrix, and what of it is summed.
struct SummedBlock {
  std::int32_t at = 0, count = 0;
  std::int32_t other = -1;                                 ///< where the other's values are; -1: nowhere
  std::int32_t image = 0;                                  ///< whether its mirror image counts, too
  std::int32_t diagonal = 0, diagonal_at = 0, stride = 0;  ///< its elements on the matrix' diagonal
  __device__ bool any() const { return other >= 0 || diagonal > 0; }
};

/// A lane's part of what a block adds to the trace and to the scalar product.
template <class S>
__device__ void add_block(const Summed<S>& of, const S* values, const S* others, const SummedBlock& block,
                          int lane, int lanes, Sums<S>& sums) {
  for (std::int32_t i = lane; i < block.diagonal; i += lanes)
    sums.trace += wide(values[block.diagonal_at + Index(i) * block.stride]);
  if (block.other < 0) return;
  for (std::int32_t i = lane; i < block.count; i += lanes) {
    const auto a = wide(values[block.at + i]), b = wide(others[block.other + i]);
    sums.dot += device::conj(a) * b;
    if (block.image && of.other_symmetry != Symmetry::none)
      sums.dot += device::conj(mirror_image(of.symmetry, a)) * mirror_image(of.other_symmetry, b);
  }
}

/// The sums of the threads of a block, in an order that their number alone fixes, to partial[0 .. size).
template <class S>
__device__ void join(const Sums<S>& mine, double* partial) {
  constexpr int warps = panel_threads / 32;
  __shared__ double parts[SumLayout::size][warps];
  const double values[SumLayout::size] = {mine.squares, device::real(mine.trace), device::imag(mine.trace),
                                          device::real(mine.dot), device::imag(mine.dot)};
  for (int k = 0; k < SumLayout::size; ++k) {
    const double sum = warp_sum(values[k]);
    if (threadIdx.x % 32 == 0) parts[k][threadIdx.x / 32] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= SumLayout::size) return;
  double sum = 0;
  for (int w = 0; w < warps; ++w) sum += parts[threadIdx.x][w];
  partial[threadIdx.x] = sum;
}

/// The panel of a thread block, in both matrices.
template <class S>
struct SummedPanel {
  PackedSide rows, cols;
  std::int32_t row_panel, col_panel;
  PackedPanel panel, other;
  const S *values, *others;
  Index elements;

  __device__ explicit SummedPanel(const Summed<S>& of)
      : values(of.values[blockIdx.y]), others(of.others[blockIdx.y]), elements(of.elements[blockIdx.y]) {
    const PackedPattern pattern(of.pattern);
    const std::int32_t number = of.panels.number[blockIdx.y], row_panels = pattern.header().row_panels;
    row_panel = number % row_panels;
    col_panel = number / row_panels;
    rows = pattern.rows();
    cols = pattern.cols();
    panel = pattern.panel(row_panel, col_panel);
    if (others) other = PackedPattern(of.other_pattern).panel(row_panel, col_panel);
  }

  /// Looks up what is summed of block b.
  __device__ void look_up(const Summed<S>& of, std::int32_t b, SummedBlock& block) const {
    const std::int32_t row = row_of_block(panel, rows.blocks(row_panel), b), column = panel.column[b],
                       i = rows.first[row_panel] + row, j = cols.first[col_panel] + column;
    block.at = panel.offset[b];
    block.count = elements_of(panel, b, elements);
    block.image = of.symmetry != Symmetry::none && rows.number[i] != cols.number[j];
    const std::int32_t found = others ? find_block(other, row, column) : -1;
    if (found >= 0) block.other = other.offset[found];
    if (!of.panels.trace || !values) return;
    const std::int32_t first = max(rows.element[i], cols.element[j]),
                       end = min(rows.element[i] + rows.size[i], cols.element[j] + cols.size[j]);
    block.diagonal = end - first;
    block.diagonal_at = block.at + (first - rows.element[i]) + (first - cols.element[j]) * rows.size[i];
    block.stride = rows.size[i] + 1;
  }
};

/// This warp's share of the blocks of a panel. Most may be left out: the others are looked up, and their values read.
template <int lanes, class S>
__device__ void sum_blocks(const Summed<S>& of, const SummedPanel<S>& at, Sums<S>& sums) {
  constexpr int groups = 32 / lanes;
  const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / lanes;
  const auto [begin, end] = share_of_warp(at.panel.blocks);
  for (std::int32_t first = begin; first < end; first += 32) {
    const std::int32_t b = first + lane;
    const bool there = b < end;
    SummedBlock mine;
    const double norm = there && of.norms ? of.norms[at.panel.before + b] : 0;
    if (there && !(of.norms && sqrt(norm) < of.panels.eps)) {
      at.look_up(of, b, mine);
      sums.squares += mine.image ? 2 * norm : norm;
    }
    // The groups take turns: each has every so many of the lanes that have found a block.
    unsigned left = __ballot_sync(0xffffffffu, mine.any());
    while (left != 0) {
      int from = -1;
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        if (g == group) from = __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
      }
      const SummedBlock block = of_lane(mine, from & 31);
      if (from >= 0) add_block(of, at.values, at.others, block, lane % lanes, lanes, sums);
    }
  }
}

/// Part blockIdx.x of panel blockIdx.y of the task's.
template <class S>
__global__ void __launch_bounds__(panel_threads)
    sum_kernel(const __grid_constant__ Summed<S> of, double* partial) {
  const SummedPanel<S> at(of);
  Sums<S> sums;
  if (small_blocks(at.panel.blocks, at.elements))
    sum_blocks<lanes_of_small_blocks>(of, at, sums);
  else
    sum_blocks<32>(of, at, sums);
  join(sums, partial + SumLayout::size * (std::int64_t(blockIdx.y) * panel_sum_parts + blockIdx.x));
}

/// Of panel blockIdx.x, from its parts.
__global__ void finish_sums_kernel(const double* partial, double* sums) {
  partial += std::int64_t(blockIdx.x) * panel_sum_parts * SumLayout::size;
  for (int k = 0; k < SumLayout::size; ++k) {
    double sum = 0;
    for (int part = static_cast<int>(threadIdx.x); part < panel_sum_parts; part += 32)
      sum += partial[part * SumLayout::size + k];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x * SumLayout::size + k] = sum;
  }
}

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const SumPanels<T>& task) {
  using namespace device;
  if (task.panels.count == 0) return;
  const auto operand = [&](std::int32_t number) {
    return number < 0 ? nullptr : device_cast(task.values[number].data());
  };
  Summed<DeviceScalar<T>> of{.pattern = task.pattern.view().data(),
                             .other_pattern = task.other_pattern.view().data(),
                             .norms = task.norms ? task.norms.view().data() : nullptr,
                             .panels = task.panels,
                             .symmetry = task.symmetry,
                             .other_symmetry = task.other_symmetry};
  for (int p = 0; p < task.panels.count; ++p) {
    of.values[p] = operand(task.panels.values[p]);
    of.others[p] = operand(task.panels.others[p]);
    if (of.values[p]) of.elements[p] = static_cast<Index>(task.values[task.panels.values[p]].size());
  }
  if (task.norms) {
    NormedPanels panels{.count = task.panels.count};
    NormedValues<DeviceScalar<T>> normed{};
    for (int p = 0; p < task.panels.count; ++p) {
      panels.number[p] = task.panels.number[p];
      normed.set(p, task.values[task.panels.values[p]]);
    }
    form_norms(on.stream, of.pattern, panels, normed, task.norms.view().data());
  }
  double* const partial = task.work.view().data();
  const auto count = static_cast<unsigned>(task.panels.count);
  sum_kernel<<<dim3(panel_sum_parts, count), panel_threads, 0, on.stream>>>(of, partial);
  finish_sums_kernel<<<count, 32, 0, on.stream>>>(partial, task.sums.view().data());
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(SumPanels<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
