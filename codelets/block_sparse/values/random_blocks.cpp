// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/block_sparse/values/random_blocks.hpp>
#include <tessera/codelets/common/splitmix.hpp>

namespace tessera::detail {

namespace {

/// Uniform in [-1, 1): as many leading bits as the type holds.
template <class R>
R uniform(std::uint64_t bits) noexcept {
  if constexpr (sizeof(R) == 4)
    return static_cast<R>(bits >> 40) * R(0x1p-23) - R(1);
  else
    return static_cast<R>(bits >> 11) * R(0x1p-52) - R(1);
}

/// Value number k of the block with this key.
template <class T>
T random_value(std::uint64_t key, Index k) noexcept {
  using R = RealOf<T>;
  if constexpr (is_complex<T>)
    return {uniform<R>(splitmix(key, static_cast<std::uint64_t>(2 * k))),
            uniform<R>(splitmix(key, static_cast<std::uint64_t>(2 * k + 1)))};
  else
    return uniform<R>(splitmix(key, static_cast<std::uint64_t>(k)));
}

template <class T>
void fill_block(T* values, const PanelBlock& block, std::uint64_t seed, Symmetry symmetry, T factor) {
  const Index rows = block.rows, cols = block.cols;
  const auto key_of = [&](std::int32_t i, std::int32_t j) {
    return splitmix(splitmix(seed, static_cast<std::uint64_t>(i)), static_cast<std::uint64_t>(j));
  };
  if (symmetry != Symmetry::none && block.block_row < block.block_col) {
    const std::uint64_t key = key_of(block.block_col, block.block_row);
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i)
        values[i + j * rows] = mirrored(symmetry, factor * random_value<T>(key, j + i * cols));
    return;
  }
  const std::uint64_t key = key_of(block.block_row, block.block_col);
  for (Index k = 0; k < rows * cols; ++k) values[k] = factor * random_value<T>(key, k);
  if (symmetry == Symmetry::none || block.block_row != block.block_col) return;
  for (Index j = 0; j < cols; ++j) {
    T& diagonal = values[j + j * rows];
    if (symmetry == Symmetry::antisymmetric) diagonal = T(0);
    if (symmetry == Symmetry::hermitian) diagonal = T(real_part(diagonal));
    for (Index i = 0; i < j; ++i) values[i + j * rows] = mirrored(symmetry, values[j + i * rows]);
  }
}

}  // namespace

double PeriodicSites::distance_squared(Index a, Index b) const noexcept {
  double sum = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    double x = std::abs(position[static_cast<std::size_t>(a)][d] - position[static_cast<std::size_t>(b)][d]);
    x = std::min(x, side - x);
    sum += x * x;
  }
  return sum;
}

template <class T>
void run(const HostContext&, const RandomBlocks<T>& task) {
  T* const values = task.values.view().data();
  for (const PanelBlock& block : *task.blocks) {
    T factor(1);
    if (const PeriodicSites* sites = task.sites) {
      const double r = std::sqrt(sites->distance_squared(block.block_row / sites->blocks_per_site,
                                                         block.block_col / sites->blocks_per_site));
      factor = T(static_cast<RealOf<T>>(std::exp(-r / sites->decay_length)));
    }
    fill_block(values + block.offset, block, task.seed, task.symmetry, factor);
  }
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(RandomBlocks<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
