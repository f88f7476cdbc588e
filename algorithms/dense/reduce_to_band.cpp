// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/trailing_matrix.hpp>
#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera::detail {

namespace {

/// The algorithm: outer blocks of kb columns, which are panels of b columns each.
template <class T>
void reduce(TrailingMatrix<T>& a, Index n, Index kb, Index b, bool keep_reflectors) {
  for (Index block = 0; block < n; block += kb) {
    const Index end = std::min(block + kb, n);
    a.begin_block(block);
    for (Index column = block; column < end; column += b) {
      const PanelPosition panel{.n = n, .column = column, .done = column - block, .kb = kb, .b = b};
      if (panel.done > 0) a.update_panel(panel);  // P := P - Vacc Zacc^H - Zacc Vacc^H
      a.factor_panel(panel);                      // D into the band, P = (I - V T V^H) [S R; 0] below it
      if (panel.last()) break;                    // nothing is below D
      a.form_reflectors(panel);                   // V into P's place, W = V T, S R into the band
      a.two_sided_product(panel);                 // Y = A0 W
      a.form_z(panel);  // Z = Y - Vacc (Zacc^H W) - Zacc (Vacc^H W) - V (1/2 W^H A W)
    }
    if (end < n) a.update(end);  // A0 := A0 - V Z^H - Z V^H, with V and Z of all panels of the block
    if (!keep_reflectors) a.release_before(end);
  }
}

template <class T>
std::unique_ptr<TrailingMatrix<T>> trailing_matrix(Sequence& sequence, TiledMatrix<T>&& a, Index update_width,
                                                   const BandMatrix<T>& band, int column_groups,
                                                   bool split_products) {
  if (column_groups > 0)
    return trailing_column_groups<T>(sequence, std::move(a), update_width, band, column_groups,
                                     split_products);
  if (a.row_tiles() == 1)
    return trailing_one_tile<T>(sequence, std::move(a), update_width, band, split_products);
  return trailing_tiles<T>(sequence, std::move(a), update_width, band, split_products);
}

template <class T>
void insert(Sequence& sequence, TiledMatrix<T>&& a, Index update_width, const BandMatrix<T>& band,
            BandReflectors<T>* reflectors, int column_groups, bool split_products) {
  for (Index s = 0; s < band.segment_count(); ++s)
    sequence.insert(SetZero<T>{.a = band.segment(s)}, {.priority = ReductionPriority::panel});
  const auto trailing =
      trailing_matrix<T>(sequence, std::move(a), update_width, band, column_groups, split_products);
  reduce(*trailing, band.size(), update_width, band.bandwidth(), reflectors != nullptr);
  if (reflectors) *reflectors = trailing->reflectors();
}

template <class T>
void check(const Runtime& runtime, const TiledMatrix<T>& a, Index update_width, const BandMatrix<T>& band,
           int column_groups) {
  require_lower_tiles("a", a.layout());
  const Index tile = a.layout().tile_rows, b = band.bandwidth();
  if (band.size() != a.rows())
    throw InvalidArgument("band", fmt::format("{} rows", band.size()),
                          fmt::format("{} rows, as a", a.rows()));
  if (update_width < 1 || tile % update_width != 0 || update_width % b != 0)
    throw InvalidArgument(
        "update_width", fmt::format("{}", update_width),
        fmt::format("a divisor of the tile size {} and a multiple of the band {}", tile, b));
  if (column_groups < 0 || column_groups > max_column_groups || (column_groups > 0 && runtime.size() > 1))
    throw InvalidArgument("column_groups", fmt::format("{}", column_groups),
                          fmt::format("0 to {}, and 0 on several ranks", max_column_groups));
  require_gpu_band(runtime, b, a.row_tiles() <= 1, column_groups);
}

}  // namespace

void require_gpu_band(const Runtime& runtime, Index band, bool one_tile, int column_groups) {
  if (runtime.gpus() > 0 && band > panel_cuda::widest_cholesky_panel && !one_tile && column_groups == 0)
    throw InvalidArgument(
        "band", fmt::format("{}", band),
        fmt::format("at most {} on GPUs, or one tile, or column groups", panel_cuda::widest_cholesky_panel));
}

template <class T>
void reduce_to_band(Sequence& sequence, TiledMatrix<T>&& a, Index update_width, const BandMatrix<T>& band,
                    BandReflectors<T>* reflectors, int column_groups, bool split_products) {
  const std::uint64_t arguments = argument_hash(hash_of(a), update_width, hash_of(band),
                                                reflectors != nullptr, column_groups, split_products);
  collectively(
      sequence.runtime(), "reduce_to_band", arguments,
      [&] { check(sequence.runtime(), a, update_width, band, column_groups); },
      [&] { insert(sequence, std::move(a), update_width, band, reflectors, column_groups, split_products); });
}

#define TESSERA_INSTANTIATE(T)                                                              \
  template void reduce_to_band<T>(Sequence&, TiledMatrix<T>&&, Index, const BandMatrix<T>&, \
                                  BandReflectors<T>*, int, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
