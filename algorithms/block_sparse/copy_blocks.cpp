// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tuple>

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
struct Way {
  bool transposed, conjugated;
  T factor;
  bool diagonal = true;  ///< diagonal blocks go this way, too
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
  std::vector<Way<T>> ways{{op != Op::none, conjugated != (op == Op::adjoint), factor}};
  if (symmetry != Symmetry::none && ways.front().transposed) mirror(symmetry, ways.front());
  add_mirror_images(symmetry, ways);
  return ways;
}

/// The same from the way of the stored blocks, without a factor.
std::vector<Way<double>> ways_of(Symmetry symmetry, const BlockWay& way) {
  std::vector<Way<double>> ways{{way.transposed, way.conjugated, way.negated ? -1.0 : 1.0}};
  add_mirror_images(symmetry, ways);
  return ways;
}

bool touches(const ElementWindow& window, const BlockLayout& layout, Index row, Index col) {
  const Index first_row = layout.rows->first(row), end_row = layout.rows->first(row + 1);
  const Index first_col = layout.cols->first(col), end_col = layout.cols->first(col + 1);
  return std::max(first_row, window.first_row) < std::min(end_row, window.end_row) &&
         std::max(first_col, window.first_col) < std::min(end_col, window.end_col);
}

bool covers(const ElementWindow& window, const BlockLayout& layout) {
  return window.first_row <= 0 && window.end_row >= layout.rows->elements() && window.first_col <= 0 &&
         window.end_col >= layout.cols->elements();
}

/// New numbers of the blocks of op(A); without any, block rows and columns keep theirs.
struct Renumbering {
  std::span<const Index> rows{}, cols{};
};

/// Calls visit(row, column, block) for the blocks of one panel that go a way, by their new numbers in op(A).
template <class T, class Visit>
void for_each_image(const BlockPattern& pattern, Index panel, const Way<T>& way,
                    const Renumbering& renumbering, const Visit& visit) {
  const auto place = [&](Index row, Index col, Index block) {
    if (renumbering.rows.empty())
      visit(row, col, block);
    else
      visit(renumbering.rows[static_cast<std::size_t>(row)], renumbering.cols[static_cast<std::size_t>(col)],
            block);
  };
  const PanelIndex& index = pattern.index(panel);
  if (index.blocks() == 0) return;
  const auto panel_rows = pattern.rows().panel(pattern.row_panel(panel)),
             panel_cols = pattern.cols().panel(pattern.col_panel(panel));
  for (std::size_t i = 0; i < panel_rows.size(); ++i)
    for (Index b = index.row_begin[i]; b < index.row_begin[i + 1]; ++b) {
      const Index row = panel_rows[i],
                  col = panel_cols[static_cast<std::size_t>(index.column[static_cast<std::size_t>(b)])];
      if (row == col && !way.diagonal) continue;
      if (way.transposed)
        place(col, row, b);
      else
        place(row, col, b);
    }
}

/// The part of a block that lies in the window, or nothing.
std::optional<BlockMove> move_of(Index source, const BlockPattern& to, Index destination, Index row,
                                 Index col, bool transposed, const ElementWindow& window) {
  const Index block_row = to.rows().first(row), block_col = to.cols().first(col);
  const Index ld = to.rows().size(row), cols = to.cols().size(col);
  const Index i = std::max<Index>(window.first_row - block_row, 0),
              end_i = std::min(window.end_row - block_row, ld);
  const Index j = std::max<Index>(window.first_col - block_col, 0),
              end_j = std::min(window.end_col - block_col, cols);
  if (i >= end_i || j >= end_j) return std::nullopt;
  const Index source_ld = transposed ? cols : ld;
  return BlockMove{.source = source + (transposed ? j + i * source_ld : i + j * source_ld),
                   .destination = destination + i + j * ld,
                   .rows = static_cast<std::int32_t>(end_i - i),
                   .cols = static_cast<std::int32_t>(end_j - j),
                   .source_ld = static_cast<std::int32_t>(source_ld),
                   .destination_ld = static_cast<std::int32_t>(ld)};
}

/// The moves from one panel of A to one of B. Every rank knows that there are some; the owner of B's panel,
/// where the task runs, lists them.
struct PanelMoves {
  Index destination;
  bool listed;
  std::vector<BlockMove> moves;
};

/// One after the other, the panels of A and what goes from them to B.
class MoveFinder {
 public:
  MoveFinder(const BlockPattern& from, const BlockPattern& to, const ElementWindow& window,
             const Renumbering& renumbering)
      : from_(from),
        to_(to),
        window_(window),
        renumbering_(renumbering),
        slot_(static_cast<std::size_t>(to.panels()), -1) {}

  template <class T>
  const std::vector<PanelMoves>& find(Index source, const Way<T>& way) {
    for (const PanelMoves& found : found_) slot_[static_cast<std::size_t>(found.destination)] = -1;
    found_.clear();
    const PanelIndex& index = from_.index(source);
    for_each_image(from_, source, way, renumbering_, [&](Index row, Index col, Index block) {
      if (!to_.layout().stores(row, col)) return;
      const Index panel = to_.panel(to_.rows().panel_of(row), to_.cols().panel_of(col));
      auto& slot = slot_[static_cast<std::size_t>(panel)];
      if (slot >= 0 && !found_[static_cast<std::size_t>(slot)].listed) return;
      const Index at = to_.index(panel).find(to_.rows().position(row), to_.cols().position(col));
      if (at < 0) return;
      const auto move =
          move_of(index.offset[static_cast<std::size_t>(block)], to_,
                  to_.index(panel).offset[static_cast<std::size_t>(at)], row, col, way.transposed, window_);
      if (!move) return;
      if (slot < 0) {
        slot = static_cast<Index>(found_.size());
        found_.push_back({panel, to_.panel_local(panel), {}});
      }
      if (PanelMoves& pair = found_[static_cast<std::size_t>(slot)]; pair.listed) pair.moves.push_back(*move);
    });
    return found_;
  }

 private:
  const BlockPattern &from_, &to_;
  const ElementWindow& window_;
  const Renumbering& renumbering_;
  std::vector<Index> slot_;  // of the panels of B: number in found_, or -1
  std::vector<PanelMoves> found_;
};

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
  MoveFinder finder(from, to, options.window, renumbering);
  for (Index source = 0; source < from.panels(); ++source) {
    for (const Way<T>& way : ways)
      for (const auto& [destination, listed, moves] : finder.find(source, way)) {
        const Data table = make_task_list(runtime, moves, to.panel_owner(destination));
        sequence.insert(MoveBlocks<T>{.moves = table,
                                      .source = a.panel(source),
                                      .destination = b.panel(destination),
                                      .factor = way.factor,
                                      .op = way.transposed ? Op::transpose : Op::none,
                                      .conjugated = way.conjugated,
                                      .add = options.add});
      }
    if (from.panel_blocks(source) > 0) a.panel(source).flush_remote_copies();
  }
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
  std::vector<BlockCoordinate> blocks;
  blocks.reserve(static_cast<std::size_t>(a.pattern().blocks()));
  for (const Way<T>& way : ways_of(a.symmetry(), Op::none, false, T(1)))
    for (Index panel = 0; panel < a.pattern().panels(); ++panel)
      for_each_image(a.pattern(), panel, way, renumbering, [&](Index row, Index col, Index) {
        if (layout.stores(row, col)) blocks.push_back({row, col});
      });
  auto result =
      zero_matrix<T>(sequence, BlockPattern::make_replicated(a.runtime(), layout, std::move(blocks)));
  submit_copy(sequence, T(1), a, result, {}, renumbering);
  return result;
}

}  // namespace

BlockWay image_way(Symmetry symmetry, Op op, bool is_complex) {
  const Way<double> way = ways_of(symmetry, op, false, 1.0).front();
  return {way.transposed, is_complex && way.conjugated, way.factor < 0};
}

BlockPatternPointer image_pattern(const BlockPatternPointer& a, const BlockLayout& layout, bool transposed,
                                  const ElementWindow& window) {
  const bool whole = covers(window, layout);
  if (whole && !transposed && layout == a->layout()) return a;
  std::vector<BlockCoordinate> blocks;
  blocks.reserve(static_cast<std::size_t>(a->blocks()));
  for (const Way<double>& way : ways_of(a->layout().symmetry, BlockWay{.transposed = transposed}))
    for (Index panel = 0; panel < a->panels(); ++panel)
      for_each_image(*a, panel, way, {}, [&](Index row, Index col, Index) {
        if (layout.stores(row, col) && (whole || touches(window, layout, row, col)))
          blocks.push_back({row, col});
      });
  return BlockPattern::make_replicated(a->runtime(), layout, blocks);
}

void for_each_image_move(const BlockPattern& a, const BlockPattern& image, const BlockWay& stored,
                         const ElementWindow& window,
                         const std::function<void(const ImageMovesOfPanels&)>& visit) {
  const Renumbering none;
  MoveFinder finder(a, image, window, none);
  const auto ways = ways_of(a.layout().symmetry, stored);
  for (Index source = 0; source < a.panels(); ++source)
    for (const Way<double>& way : ways)
      for (const auto& [destination, listed, moves] : finder.find(source, way))
        visit({source, destination, {way.transposed, way.conjugated, way.factor < 0}, moves});
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
  require_image(a, layout, op);
  return image_pattern(a.pattern_pointer(), layout, image_way(a.symmetry(), op, is_complex<T>).transposed,
                       window);
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
