// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>

/// The norms of blocks on GPUs.
namespace tessera::detail::device {

/// The values of the panels whose norms are formed.
template <class S>
struct NormedValues {
  const S* values[NormedPanels::most];
  Index elements[NormedPanels::most];
  template <class T>
  void set(int p, std::span<const T> panel) {
    values[p] = device_cast(panel.data());
    elements[p] = static_cast<Index>(panel.size());
  }
};

struct NormedBlock {
  std::int32_t number = -1, at = 0, count = 0;
};

/// Of panel blockIdx.y of the task's.
template <class S>
__global__ void __launch_bounds__(panel_threads)
    norms_kernel(const std::int32_t* words, const __grid_constant__ NormedPanels panels,
                 const __grid_constant__ NormedValues<S> of, double* norms) {
  const PackedPattern pattern(words);
  const std::int32_t number = panels.number[blockIdx.y], row_panels = pattern.header().row_panels;
  const PackedPanel panel = pattern.panel(number % row_panels, number / row_panels);
  const Index elements = of.elements[blockIdx.y];
  const S* const values = of.values[blockIdx.y];
  norms += panel.before - panels.before;
  const auto look = [&](std::int32_t b) {
    return NormedBlock{b, panel.offset[b], elements_of(panel, b, elements)};
  };
  const auto norm = [&](const NormedBlock& block, int lane, int lanes) {
    const double sum = sum_of_squares(values + block.at, block.count, lane, lanes);
    if (block.number >= 0 && lane == 0) norms[block.number] = sum;
  };
  visit_blocks(panel.blocks, elements, look, norm);
}

/// Inserts the kernel that forms them (BlockNorms).
template <class S>
void form_norms(cudaStream_t stream, const std::int32_t* pattern, const NormedPanels& panels,
                const NormedValues<S>& of, double* norms) {
  const dim3 grid(blocks_for(full_grid, panels.count), static_cast<unsigned>(panels.count));
  norms_kernel<<<grid, panel_threads, 0, stream>>>(pattern, panels, of, norms);
}

}  // namespace tessera::detail::device
