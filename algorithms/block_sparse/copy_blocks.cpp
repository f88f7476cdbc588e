// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/copy_blocks.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/codelets/block_sparse/block_values.hpp>
#include <tessera/codelets/block_sparse/panel_values.hpp>

namespace tessera {
namespace {

/// How the element that is stored makes the one that is wanted.
template <class T>
struct Way {
  Op op;
  bool conjugated;
  T factor;
};

/// The way of A's mirrored blocks: op after the symmetry's own transposition.
template <class T>
Way<T> through_symmetry(const Way<T>& straight, Symmetry symmetry) {
  const bool transposed = straight.op == Op::none;  // the two transpositions cancel otherwise
  const bool conjugated =
      (straight.conjugated != (straight.op == Op::adjoint)) != (symmetry == Symmetry::hermitian);
  return {transposed ? Op::transpose : Op::none, conjugated,
          symmetry == Symmetry::antisymmetric ? -straight.factor : straight.factor};
}

void require_sizes(const BlockDimension& a, const BlockDimension& b, const char* name) {
  if (!a.same_sizes(b))
    throw InvalidArgument(
        name, fmt::format("{} blocks, {} elements", b.blocks(), b.elements()),
        fmt::format("the block sizes of op(A): {} blocks, {} elements", a.blocks(), a.elements()));
}

bool touches(const ElementWindow& window, const BlockLayout& layout, Index row, Index col) {
  const Index first_row = layout.rows->first(row), end_row = layout.rows->first(row + 1);
  const Index first_col = layout.cols->first(col), end_col = layout.cols->first(col + 1);
  return std::max(first_row, window.first_row) < std::min(end_row, window.end_row) &&
         std::max(first_col, window.first_col) < std::min(end_col, window.end_col);
}

/// Calls visit(row, column, panel, block, mirrored) for the blocks of op(A), stored or there by symmetry, by
/// their numbers in op(A).
template <class T, class Visit>
void for_each_image(const BlockSparseMatrix<T>& a, Op op, const Visit& visit) {
  const BlockPattern& pattern = a.pattern();
  for (Index panel = 0; panel < pattern.panels(); ++panel) {
    const auto coordinates = pattern.coordinates(panel);
    for (std::size_t b = 0; b < coordinates.size(); ++b) {
      auto [row, col] = coordinates[b];
      if (op != Op::none) std::swap(row, col);
      visit(row, col, panel, static_cast<Index>(b), false);
      if (a.symmetry() != Symmetry::none && row != col) visit(col, row, panel, static_cast<Index>(b), true);
    }
  }
}

/// The moves of one task: between two panels, one way.
struct MoveKey {
  Index destination, source;
  bool mirrored;
  auto operator<=>(const MoveKey&) const = default;
};

/// The part of a block that lies in the window, or nothing.
std::optional<BlockMove> move_of(const BlockPattern& from, BlockPattern::Location source,
                                 const BlockPattern& to, BlockPattern::Location destination, Index row,
                                 Index col, bool transposed, const ElementWindow& window) {
  const Index first_row = std::max(to.rows().first(row), window.first_row),
              end_row = std::min(to.rows().first(row + 1), window.end_row);
  const Index first_col = std::max(to.cols().first(col), window.first_col),
              end_col = std::min(to.cols().first(col + 1), window.end_col);
  if (first_row >= end_row || first_col >= end_col) return std::nullopt;
  const Index i = first_row - to.rows().first(row), j = first_col - to.cols().first(col);
  const Index ld = to.rows().size(row), source_ld = transposed ? to.cols().size(col) : ld;
  BlockMove move;
  move.source = from.index(source.panel).offset[static_cast<std::size_t>(source.block)] +
                (transposed ? j + i * source_ld : i + j * source_ld);
  move.destination =
      to.index(destination.panel).offset[static_cast<std::size_t>(destination.block)] + i + j * ld;
  move.rows = static_cast<std::int32_t>(end_row - first_row);
  move.cols = static_cast<std::int32_t>(end_col - first_col);
  move.source_ld = static_cast<std::int32_t>(source_ld);
  move.destination_ld = static_cast<std::int32_t>(ld);
  return move;
}

bool covers(const ElementWindow& window, const BlockPattern& pattern) {
  return window.first_row <= 0 && window.first_col <= 0 && window.end_row >= pattern.rows().elements() &&
         window.end_col >= pattern.cols().elements();
}

/// The list of moves as tasks read it, where the destination is.
Data make_table(Runtime& runtime, const std::vector<BlockMove>& list, int owner) {
  Data table = Data::bytes(runtime, list.size() * sizeof(BlockMove), owner);
  if (table.local()) {
    const HostAccess access(table, HostAccess::Mode::write);
    std::copy(list.begin(), list.end(), access.array<BlockMove>().begin());
  }
  return table;
}

/// Between matrices whose blocks have the same places: panel by panel, in the longest pieces.
template <class T>
void copy_in_place(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                   const CopyBlocksOptions& options) {
  const BlockPattern &from = a.pattern(), &to = b.pattern();
  for (Index p = 0; p < to.panels(); ++p) {
    if (!a.panel(p).valid() || !b.panel(p).valid()) continue;
    if (from.index(p).same_blocks(to.index(p))) {
      if (options.add)
        insert_add_panel<T>(sequence, 0, factor, options.conjugated, a.panel(p), T(1), b.panel(p));
      else
        insert_copy_panel<T>(sequence, 0, factor, options.conjugated, a.panel(p), b.panel(p));
      continue;
    }
    std::vector<BlockMove> moves;
    for (const CommonRun& run : common_runs(from, to, p))
      // The parts of a piece that 32 bits count.
      for (Index done = 0, most = Index(1) << 30; done < run.count; done += most) {
        const auto count = static_cast<std::int32_t>(std::min(most, run.count - done));
        moves.push_back({run.first + done, run.second + done, count, 1, count, count});
      }
    if (moves.empty()) continue;
    insert_move_blocks<T>(sequence, 0, Op::none, options.conjugated, factor, options.add,
                          make_table(sequence.runtime(), moves, to.panel_owner(p)), a.panel(p), b.panel(p));
  }
}

}  // namespace

template <class T>
void copy_blocks(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                 const CopyBlocksOptions& options) {
  const BlockPattern &from = a.pattern(), &to = b.pattern();
  const bool transposed = options.op != Op::none;
  require_sizes(transposed ? from.cols() : from.rows(), to.rows(), "rows of B");
  require_sizes(transposed ? from.rows() : from.cols(), to.cols(), "columns of B");
  if (!transposed && from.layout().same_places(to.layout()) && covers(options.window, to))
    return copy_in_place(sequence, factor, a, b, options);
  const Way<T> straight{options.op, options.conjugated, factor},
      mirrored = through_symmetry(straight, a.symmetry());
  std::map<MoveKey, std::vector<BlockMove>> moves;
  for_each_image(a, options.op, [&](Index row, Index col, Index panel, Index block, bool by_symmetry) {
    if (!b.layout().stores(row, col)) return;
    const auto at = to.find(row, col);
    if (!at) return;
    const Op op = by_symmetry ? mirrored.op : straight.op;
    const auto move = move_of(from, {panel, block}, to, *at, row, col, op != Op::none, options.window);
    if (move) moves[{at->panel, panel, by_symmetry}].push_back(*move);
  });
  Runtime& runtime = sequence.runtime();
  for (const auto& [key, list] : moves) {
    const int owner = to.panel_owner(key.destination);
    const Data table = make_table(runtime, list, owner);
    const Way<T>& way = key.mirrored ? mirrored : straight;
    insert_move_blocks<T>(sequence, 0, way.op, way.conjugated, way.factor, options.add, table,
                          a.panel(key.source), b.panel(key.destination));
  }
}

template <class T>
BlockPatternPointer image_pattern(const BlockSparseMatrix<T>& a, const BlockLayout& layout, Op op,
                                  const ElementWindow& window) {
  // Every rank knows all blocks; it names those that it owns.
  std::vector<BlockCoordinate> blocks;
  for_each_image(a, op, [&](Index row, Index col, Index, Index, bool) {
    if (layout.stores(row, col) && layout.owner(row, col) == a.runtime().rank() &&
        touches(window, layout, row, col))
      blocks.push_back({row, col});
  });
  return BlockPattern::make(a.runtime(), layout, blocks);
}

template <class T>
BlockSparseMatrix<T> make_image(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a,
                                const BlockLayout& layout, Op op, bool conjugated,
                                const ElementWindow& window) {
  BlockSparseMatrix<T> image = zero_matrix<T>(sequence, image_pattern(a, layout, op, window));
  copy_blocks(sequence, factor, a, image, {.op = op, .conjugated = conjugated, .window = window});
  return image;
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void copy_blocks<T>(Sequence&, T, const BlockSparseMatrix<T>&, const BlockSparseMatrix<T>&,       \
                               const CopyBlocksOptions&);                                                    \
  template BlockPatternPointer image_pattern<T>(const BlockSparseMatrix<T>&, const BlockLayout&, Op,         \
                                                const ElementWindow&);                                       \
  template BlockSparseMatrix<T> make_image<T>(Sequence&, T, const BlockSparseMatrix<T>&, const BlockLayout&, \
                                              Op, bool, const ElementWindow&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
