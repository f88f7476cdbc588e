// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tuple>

#include <tessera/algorithms/block_sparse/block_moves.hpp>
#include <tessera/algorithms/block_sparse/image_moves.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/block_permutation.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// How stored blocks become blocks of factor op(A).
template <class T>
struct Way : BlockWay {
  bool conjugated;
  T factor;
};

/// Turns the way of blocks into that of their mirror images.
template <class T>
void mirror(Symmetry symmetry, Way<T>& way) {
  way.transposed = !way.transposed;
  if (symmetry == Symmetry::hermitian) way.conjugated = !way.conjugated;
  if (symmetry == Symmetry::antisymmetric) way.factor = -way.factor;
}

/// Where `ways` has that of the stored blocks: those of a half-stored matrix go a second way to their mirror
/// images.
template <class T>
void add_mirror_images(Symmetry symmetry, std::vector<Way<T>>& ways) {
  if (symmetry == Symmetry::none) return;
  ways.push_back(ways.front());
  mirror(symmetry, ways.back());
  ways.back().diagonal = false;
}

/// The ways that lead from A to op(A). A half-stored matrix is, transposed, itself or its conjugate but for
/// the sign.
template <class T>
std::vector<Way<T>> ways_of(Symmetry symmetry, Op op, bool conjugated, T factor) {
  std::vector<Way<T>> ways{{{.transposed = op != Op::none}, conjugated != (op == Op::adjoint), factor}};
  if (symmetry != Symmetry::none && ways.front().transposed) mirror(symmetry, ways.front());
  add_mirror_images(symmetry, ways);
  return ways;
}

/// The same from the way of the stored blocks, without a factor.
std::vector<Way<double>> ways_of(Symmetry symmetry, const ImageWay& way) {
  std::vector<Way<double>> ways{{{.transposed = way.transposed}, way.conjugated, way.negated ? -1.0 : 1.0}};
  add_mirror_images(symmetry, ways);
  return ways;
}

bool covers(const ElementWindow& window, const BlockLayout& layout) {
  return window.first_row <= 0 && window.end_row >= layout.rows->elements() && window.first_col <= 0 &&
         window.end_col >= layout.cols->elements();
}

/// Between matrices whose blocks have the same places: panel by panel.
template <class T>
void copy_in_place(Sequence& sequence, const Way<T>& way, const BlockSparseMatrix<T>& a,
                   const BlockSparseMatrix<T>& b, bool add) {
  const BlockPattern &from = a.pattern(), &to = b.pattern();
  const bool same_blocks = from.identity() == to.identity();
  for (Index p = 0; p < to.panels(); ++p) {
    if (from.panel_blocks(p) == 0 || to.panel_blocks(p) == 0) continue;
    if (same_blocks)
      sequence.insert(CopyValues<T>{.source = a.panel(p),
                                    .destination = add ? add_to(b.panel(p)) : overwrite(b.panel(p)),
                                    .factor = way.factor,
                                    .conjugated = way.conjugated});
    else
      sequence.insert(CopyMatching<T>{.from = from.packed(),
                                      .to = to.packed(),
                                      .source = a.panel(p),
                                      .destination = add_to(b.panel(p)),
                                      .row_panel = static_cast<std::int32_t>(to.row_panel(p)),
                                      .col_panel = static_cast<std::int32_t>(to.col_panel(p)),
                                      .factor = way.factor,
                                      .conjugated = way.conjugated,
                                      .add = add});
  }
}

/// The tasks of copy_blocks.
template <class T>
void submit_copy(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                 const CopyBlocksOptions& options, const Renumbering& renumbering = {}) {
  const BlockPattern &from = a.pattern(), &to = b.pattern();
  const auto ways = ways_of(a.symmetry(), options.op, options.conjugated, factor);
  if (!ways.front().transposed && renumbering.rows.empty() && covers(options.window, to.layout()) &&
      from.layout().same_places(to.layout()))
    return copy_in_place(sequence, ways.front(), a, b, options.add);
  Runtime& runtime = sequence.runtime();
  const std::vector<BlockWay> ways_of_blocks(ways.begin(), ways.end());
  Index flushed = 0;  // panels of A whose moves are all inserted
  const auto flush_before = [&](Index panel) {
    for (; flushed < panel; ++flushed)
      if (a.panel(flushed).valid()) a.panel(flushed).flush_remote_copies();
  };
  for_each_move(from, to, options.window, renumbering, ways_of_blocks,
                [&](const PanelPair& pair, const std::vector<BlockMove>& moves) {
                  flush_before(pair.source);
                  const Way<T>& way = ways[static_cast<std::size_t>(pair.way)];
                  const Data table = make_task_list(runtime, moves, to.panel_owner(pair.destination));
                  sequence.insert(MoveBlocks<T>{.moves = table,
                                                .source = a.panel(pair.source),
                                                .destination = b.panel(pair.destination),
                                                .factor = way.factor,
                                                .op = way.transposed ? Op::transpose : Op::none,
                                                .conjugated = way.conjugated,
                                                .add = options.add});
                });
  flush_before(from.panels());
}

/// The blocks of op(A) that the layout stores and `wanted`, with new numbers. Collective.
template <class T, class Wanted>
BlockPatternPointer pattern_of_images(const BlockPattern& from, const std::vector<Way<T>>& ways,
                                      const Renumbering& renumbering, const BlockLayout& layout,
                                      const Wanted& wanted) {
  std::vector<BlockCoordinate> blocks;
  for (const Way<T>& way : ways)
    for (Index panel = 0; panel < from.panels(); ++panel)
      if (from.panel_local(panel))
        for_each_image(from, panel, way, renumbering, [&](Index row, Index col, Index) {
          if (layout.stores(row, col) && wanted(row, col)) blocks.push_back({row, col});
        });
  return BlockPattern::make(from.runtime(), layout, blocks);
}

/// What a layout for op(A) must be.
template <class T>
void require_image(const BlockSparseMatrix<T>& a, const BlockLayout& layout, Op op) {
  require_made("A", a);
  layout.require_valid(a.runtime());
  const BlockPattern& from = a.pattern();
  require_blocks("rows of the layout", *layout.rows, "op(A)", op != Op::none ? from.cols() : from.rows());
  require_blocks("columns of the layout", *layout.cols, "op(A)", op != Op::none ? from.rows() : from.cols());
}

void require_permutation(const char* name, std::span<const Index> permutation, Index blocks) {
  if (static_cast<Index>(permutation.size()) != blocks)
    throw InvalidArgument(name, fmt::format("{} numbers", permutation.size()),
                          fmt::format("one for each of {} blocks", blocks));
  std::ignore = inverse_permutation(permutation);
}

/// The dimension whose block permutation[i] has the size of block i.
BlockDimensionPointer permuted(const BlockDimension& dimension, std::span<const Index> permutation) {
  std::vector<Index> sizes(permutation.size());
  for (Index block = 0; block < dimension.blocks(); ++block)
    sizes[static_cast<std::size_t>(permutation[static_cast<std::size_t>(block)])] = dimension.size(block);
  return BlockDimension::make(std::move(sizes), dimension.owner_count(), {}, dimension.panel_elements());
}

template <class T>
BlockSparseMatrix<T> submit_permuted(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                     const Renumbering& renumbering) {
  BlockLayout layout = a.layout();
  layout.rows = permuted(a.pattern().rows(), renumbering.rows);
  layout.cols = permuted(a.pattern().cols(), renumbering.cols);
  const std::vector<Way<T>> ways = ways_of(a.symmetry(), Op::none, false, T(1));
  auto result = zero_matrix<T>(
      sequence, pattern_of_images(a.pattern(), ways, renumbering, layout, [](Index, Index) { return true; }));
  submit_copy(sequence, T(1), a, result, {}, renumbering);
  return result;
}

}  // namespace

ImageWay image_way(Symmetry symmetry, Op op, bool is_complex) {
  const Way<double> way = ways_of(symmetry, op, false, 1.0).front();
  return {way.transposed, is_complex && way.conjugated, way.factor < 0};
}

ImageWay mirrored(Symmetry symmetry, ImageWay way) noexcept {
  return {!way.transposed, way.conjugated != (symmetry == Symmetry::hermitian),
          way.negated != (symmetry == Symmetry::antisymmetric)};
}

BlockPatternPointer image_pattern(const BlockPatternPointer& a, const BlockLayout& layout, bool transposed,
                                  const ElementWindow& window) {
  const bool whole = covers(window, layout);
  if (whole && !transposed && layout == a->layout()) return a;
  const auto ways = ways_of(a->layout().symmetry, ImageWay{.transposed = transposed});
  return pattern_of_images(*a, ways, {}, layout,
                           [&](Index row, Index col) { return whole || touches(window, layout, row, col); });
}

void for_each_image_move(const BlockPattern& a, const BlockPattern& image, const ImageWay& stored,
                         const ElementWindow& window,
                         const std::function<void(const ImageMovesOfPanels&)>& visit) {
  const auto ways = ways_of(a.layout().symmetry, stored);
  const std::vector<BlockWay> places(ways.begin(), ways.end());
  for_each_move(
      a, image, window, {}, places, [&](const PanelPair& pair, const std::vector<BlockMove>& moves) {
        const Way<double>& way = ways[static_cast<std::size_t>(pair.way)];
        visit({pair.source, pair.destination, {way.transposed, way.conjugated, way.factor < 0}, moves});
      });
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
void copy_blocks(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                 const CopyBlocksOptions& options) {
  const ElementWindow& window = options.window;
  const auto arguments =
      argument_hash(factor, options.op, options.conjugated, options.add, window.first_row, window.end_row,
                    window.first_col, window.end_col, shape_hash(a), shape_hash(b));
  const auto check = [&] {
    require_made("A", a);
    require_made("B", b);
    const BlockPattern &from = a.pattern(), &to = b.pattern();
    if (&a == &b) throw InvalidArgument("B", "A itself", "another matrix");
    const bool transposed = options.op != Op::none;
    require_blocks("rows of B", to.rows(), "op(A)", transposed ? from.cols() : from.rows());
    require_blocks("columns of B", to.cols(), "op(A)", transposed ? from.rows() : from.cols());
  };
  collectively(sequence.runtime(), "copy_blocks", arguments, check,
               [&] { submit_copy(sequence, factor, a, b, options); });
}

template <class T>
BlockPatternPointer image_pattern(const BlockSparseMatrix<T>& a, const BlockLayout& layout, Op op,
                                  const ElementWindow& window) {
  const auto hash = argument_hash(op, window.first_row, window.end_row, window.first_col, window.end_col,
                                  shape_hash(a), layout.hash(runtime_of("A", a)));
  return collectively(
      a.runtime(), "image_pattern", hash, [&] { require_image(a, layout, op); },
      [&] {
        return image_pattern(a.pattern_pointer(), layout,
                             image_way(a.symmetry(), op, is_complex<T>).transposed, window);
      });
}

template <class T>
BlockSparseMatrix<T> make_image(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a,
                                const BlockLayout& layout, Op op, bool conjugated,
                                const ElementWindow& window) {
  const auto hash = argument_hash(factor, op, conjugated, window.first_row, window.end_row, window.first_col,
                                  window.end_col, shape_hash(a), layout.hash(sequence.runtime()));
  const auto check = [&] { require_image(a, layout, op); };
  return collectively(sequence.runtime(), "make_image", hash, check, [&] {
    auto pattern = image_pattern(a, layout, op, window);
    // A copy of all of the same blocks fills them.
    const bool filled = pattern == a.pattern_pointer();
    BlockSparseMatrix<T> image =
        filled ? BlockSparseMatrix<T>(std::move(pattern)) : zero_matrix<T>(sequence, std::move(pattern));
    submit_copy(sequence, factor, a, image, {.op = op, .conjugated = conjugated, .window = window});
    return image;
  });
}

template <class T>
BlockSparseMatrix<T> permute_blocks(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                    std::span<const Index> rows, std::span<const Index> cols) {
  const auto check = [&] {
    require_made("A", a);
    require_permutation("rows", rows, a.block_rows());
    require_permutation("cols", cols, a.block_cols());
    if (a.symmetry() != Symmetry::none && !std::equal(rows.begin(), rows.end(), cols.begin(), cols.end()))
      throw InvalidArgument("cols", "another permutation than that of the rows",
                            "the same, as A is half-stored");
  };
  const auto hash_of_numbers = [&](std::span<const Index> numbers) {
    return hash_of({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  };
  const auto hash = argument_hash(hash_of_numbers(rows), hash_of_numbers(cols), shape_hash(a));
  return collectively(sequence.runtime(), "permute_blocks", hash, check, [&] {
    return submit_permuted<T>(sequence, a, {rows, cols});
  });
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void copy_blocks<T>(Sequence&, T, const BlockSparseMatrix<T>&, const BlockSparseMatrix<T>&,       \
                               const CopyBlocksOptions&);                                                    \
  template BlockPatternPointer image_pattern<T>(const BlockSparseMatrix<T>&, const BlockLayout&, Op,         \
                                                const ElementWindow&);                                       \
  template BlockSparseMatrix<T> make_image<T>(Sequence&, T, const BlockSparseMatrix<T>&, const BlockLayout&, \
                                              Op, bool, const ElementWindow&);                               \
  template BlockSparseMatrix<T> permute_blocks<T>(Sequence&, const BlockSparseMatrix<T>&,                    \
                                                  std::span<const Index>, std::span<const Index>);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
