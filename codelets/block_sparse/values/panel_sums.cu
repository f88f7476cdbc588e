// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/block_sparse/values/panel_sums.hpp>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace device {
namespace {

using Pair = Complex<double>;

/// What the kernels read.
template <class S>
struct Summed {
  const std::int32_t *pattern, *other_pattern;
  const double* norms;
  SummedPanels panels;
  Symmetry symmetry, other_symmetry;
  const S* values[SummedPanels::most];
  const S* others[SummedPanels::most];
};

struct Sums {
  double squares = 0;
  Pair trace{0.0}, dot{0.0};
};

template <class S>
__device__ Pair wide(S x) {
  return {double(device::real(x)), double(device::imag(x))};
}

/// A lane's part of what a block adds to the sums.
template <class S>
__device__ void add_block(const Summed<S>& of, const S* block, const S* other, Index rows, Index cols,
                          Index first_row, Index first_col, bool image, Sums& sums) {
  const Index lane = threadIdx.x % 32;
  if (of.panels.trace && block) {
    const Index end = min(first_row + rows, first_col + cols);
    for (Index i = max(first_row, first_col) + lane; i < end; i += 32)
      sums.trace += wide(block[(i - first_row) + (i - first_col) * rows]);
  }
  if (!other) return;
  for (Index i = lane; i < rows * cols; i += 32) {
    const Pair a = wide(block[i]), b = wide(other[i]);
    sums.dot += device::conj(a) * b;
    if (image && of.other_symmetry != Symmetry::none)
      sums.dot += device::conj(mirror_image(of.symmetry, a)) * mirror_image(of.other_symmetry, b);
  }
}

/// The sums of the threads of a block, in an order that their number alone fixes, to partial[0 .. size).
__device__ void join(const Sums& mine, double* partial) {
  constexpr int warps = panel_threads / 32;
  __shared__ double parts[SumLayout::size][warps];
  const double values[SumLayout::size] = {mine.squares, mine.trace.re, mine.trace.im, mine.dot.re,
                                          mine.dot.im};
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

/// Part blockIdx.x of panel blockIdx.y of the task's; each warp has as many blocks that follow each other.
template <class S>
__global__ void __launch_bounds__(panel_threads)
    sum_kernel(const __grid_constant__ Summed<S> of, double* partial) {
  const PackedPattern pattern(of.pattern);
  const std::int32_t number = of.panels.number[blockIdx.y], row_panels = pattern.header().row_panels,
                     row_panel = number % row_panels, col_panel = number / row_panels;
  const PackedPanel panel = pattern.panel(row_panel, col_panel);
  const S *const values = of.values[blockIdx.y], *const others = of.others[blockIdx.y];
  const PackedPanel other =
      others ? PackedPattern(of.other_pattern).panel(row_panel, col_panel) : PackedPanel();
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  constexpr int warps = panel_threads / 32;
  const std::int64_t warp = blockIdx.x * warps + threadIdx.x / 32;
  const auto begin_of = [&](std::int64_t share) {
    return static_cast<std::int32_t>(panel.blocks * share / (panel_sum_parts * warps));
  };
  const std::int32_t begin = begin_of(warp), end = begin_of(warp + 1);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Sums sums;
  for (std::int32_t first = begin; first < end; first += 32) {
    // Each lane looks a block up; then all go through their values.
    const std::int32_t b = first + lane;
    std::int32_t i = 0, j = 0, at = -1, other_at = -1;
    bool image = false;
    if (b < end) {
      const std::int32_t row = row_of_block(panel, rows.blocks(row_panel), b);
      i = rows.first[row_panel] + row;
      j = cols.first[col_panel] + panel.column[b];
      image = of.symmetry != Symmetry::none && rows.number[i] != cols.number[j];
      const double norm = of.norms ? of.norms[panel.before + b] : 0;
      if (!of.norms || !(sqrt(norm) < of.panels.eps)) {
        sums.squares += image ? 2 * norm : norm;
        at = panel.offset[b];
        const std::int32_t found = values && others ? find_block(other, row, panel.column[b]) : -1;
        if (found >= 0) other_at = other.offset[found];
      }
    }
    for (int k = 0; values && k < 32 && first + k < end; ++k) {
      const std::int32_t here = of_lane(at, k), other_here = of_lane(other_at, k), row = of_lane(i, k),
                         col = of_lane(j, k);
      if (here >= 0)
        add_block(of, values + here, other_here < 0 ? nullptr : others + other_here, Index(rows.size[row]),
                  Index(cols.size[col]), Index(rows.element[row]), Index(cols.element[col]),
                  of_lane(image, k), sums);
    }
  }
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
                             .norms = task.norms.view().data(),
                             .panels = task.panels,
                             .symmetry = task.symmetry,
                             .other_symmetry = task.other_symmetry};
  for (int p = 0; p < task.panels.count; ++p) {
    of.values[p] = operand(task.panels.values[p]);
    of.others[p] = operand(task.panels.others[p]);
  }
  double* const partial = task.work.view().data();
  const auto count = static_cast<unsigned>(task.panels.count);
  sum_kernel<<<dim3(panel_sum_parts, count), panel_threads, 0, on.stream>>>(of, partial);
  finish_sums_kernel<<<count, 32, 0, on.stream>>>(partial, task.sums.view().data());
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(SumPanels<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
