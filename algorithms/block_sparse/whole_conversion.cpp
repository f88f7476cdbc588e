// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <utility>
#include <vector>

#include <tessera/algorithms/block_sparse/chosen_pattern.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/whole_conversion.hpp>
#include <tessera/codelets/block_sparse/symbolic/find_above.hpp>
#include <tessera/codelets/block_sparse/values/dense_parts.hpp>
#include <tessera/codelets/block_sparse/values/whole_panels.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

bool converts_whole(const Runtime& runtime, const TileLayout& tiles, const BlockLayout& layout) {
  constexpr Index most_flags = Index(1) << 28;
  return runtime.size() == 1 && tiles.row_tiles() == 1 && tiles.col_tiles() == 1 &&
         layout.rows->blocks() * layout.cols->blocks() <= most_flags;
}

template <class T>
void submit_to_whole(Sequence& sequence, const BlockSparseMatrix<T>& a, const TiledMatrix<T>& whole) {
  const BlockPattern& pattern = a.pattern();
  const Data& tile = whole.tile(0, 0);
  sequence.insert(GatherBlocks<T>{.matrix = overwrite(tile)});
  for (Index p = 0; p < pattern.panels(); ++p)
    if (a.panel(p).valid())
      sequence.insert(PanelToDense<T>{.pattern = pattern.packed(),
                                      .values = a.panel(p),
                                      .matrix = tile,
                                      .row_panel = word_of(pattern.row_panel(p)),
                                      .col_panel = word_of(pattern.col_panel(p)),
                                      .blocks = pattern.panel_blocks(p),
                                      .symmetry = a.symmetry()});
}

template <class T>
BlockPatternPointer pattern_of_whole(const TiledMatrix<T>& whole, Runtime& runtime, const BlockLayout& layout,
                                     double threshold) {
  const BlockPatternPointer like = BlockPattern::make(runtime, layout, {});
  const Index row_blocks = layout.rows->blocks(), col_blocks = layout.cols->blocks();
  std::vector<std::int32_t> panels(static_cast<std::size_t>(like->panels()));
  std::iota(panels.begin(), panels.end(), 0);
  const Data flags =
      Data::bytes(runtime, static_cast<std::size_t>(row_blocks * col_blocks), Data::every_rank);
  ChosenPattern chosen(like, std::move(panels));
  Sequence sequence(runtime);
  sequence.begin_stage("from_tiled");
  sequence.insert(FlagBlocks<T>{.pattern = like->packed(),
                                .matrix = whole.tile(0, 0),
                                .flags = flags,
                                .threshold = threshold,
                                .row_blocks = row_blocks,
                                .col_blocks = col_blocks,
                                .counted = whole.layout().uplo,
                                .half_stored = layout.symmetry != Symmetry::none});
  chosen.count(
      sequence,
      FindAbove{
          .pattern = like->packed(), .panels = {}, .flags = flags, .totals = {}, .row_counts = {}, .of = {}});
  // How many blocks there are is known only from the elements.
  finish(sequence);
  chosen.take();
  Sequence writing(runtime);
  writing.begin_stage("from_tiled");
  auto pattern = chosen.write(writing, WriteAbove{.pattern = like->packed(),
                                                  .panels = {},
                                                  .flags = flags,
                                                  .totals = {},
                                                  .row_counts = {},
                                                  .result = {},
                                                  .of = {}});
  finish(writing);
  return pattern;
}

template <class T>
BlockSparseMatrix<T> submit_from_whole(Sequence& sequence, const TiledMatrix<T>& whole,
                                       BlockPatternPointer shared_pattern) {
  BlockSparseMatrix<T> result(std::move(shared_pattern));
  const BlockPattern& pattern = result.pattern();
  for (Index p = 0; p < pattern.panels(); ++p)
    if (result.panel(p).valid())
      sequence.insert(PanelFromDense<T>{.pattern = pattern.packed(),
                                        .matrix = whole.tile(0, 0),
                                        .values = result.panel(p),
                                        .row_panel = word_of(pattern.row_panel(p)),
                                        .col_panel = word_of(pattern.col_panel(p)),
                                        .blocks = pattern.panel_blocks(p),
                                        .counted = whole.layout().uplo,
                                        .symmetry = result.symmetry()});
  return result;
}

#define TESSERA_INSTANTIATE(T)                                                                          \
  template void submit_to_whole<T>(Sequence&, const BlockSparseMatrix<T>&, const TiledMatrix<T>&);      \
  template BlockPatternPointer pattern_of_whole<T>(const TiledMatrix<T>&, Runtime&, const BlockLayout&, \
                                                   double);                                             \
  template BlockSparseMatrix<T> submit_from_whole<T>(Sequence&, const TiledMatrix<T>&, BlockPatternPointer);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
