// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/algorithms/block_sparse/copy_matching.hpp>
#include <tessera/algorithms/block_sparse/diagonal_symmetry.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// A dimension for at most `owner_count` owners: the same if it has no more.
BlockDimensionPointer fit_owners(const BlockDimensionPointer& dimension, int owner_count) {
  if (dimension->owner_count() <= owner_count) return dimension;
  std::vector<Index> sizes(dimension->sizes().begin(), dimension->sizes().end());
  std::vector<int> owners = dimension->owners();
  for (int& owner : owners) owner %= owner_count;
  return BlockDimension::make(std::move(sizes), owner_count, std::move(owners), dimension->panel_elements());
}

/// The blocks of `pattern` with the values of A; A has them all.
template <class T>
BlockSparseMatrix<T> part_of(Sequence& sequence, const BlockSparseMatrix<T>& a, BlockPatternPointer pattern) {
  BlockSparseMatrix<T> part(std::move(pattern));
  copy_into_existing(sequence, a, part);
  return part;
}

template <class T>
void submit_into_existing(Sequence& sequence, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                          T factor) {
  if (&a == &b) return scale(sequence, factor, b);
  const BlockPattern &from = a.pattern(), &to = b.pattern();
  const bool same_places = from.layout().same_places(to.layout());
  if (same_places && !(from.identity() == to.identity())) return copy_matching(sequence, a, b, factor);
  for (Index p = 0; p < to.panels() && !same_places; ++p)
    if (b.panel(p).valid()) sequence.insert(FillValues<T>{.values = b.panel(p), .value = T(0)});
  copy_blocks<T>(sequence, factor, a, b);
  if (a.symmetry() == Symmetry::none && b.symmetry() != Symmetry::none) impose_symmetry(sequence, b);
}

template <class T>
BlockSparseMatrix<T> submit_transpose(Sequence& sequence, const BlockSparseMatrix<T>& a, bool conjugated) {
  const Symmetry symmetry = a.symmetry();
  if (symmetry == Symmetry::none) {
    const BlockLayout& layout = a.layout();
    const BlockLayout transposed{fit_owners(layout.cols, layout.grid.rows),
                                 fit_owners(layout.rows, layout.grid.cols), layout.grid};
    return make_image<T>(sequence, T(1), a, transposed, Op::transpose, conjugated);
  }
  // The transposed matrix is the matrix itself, its negative, or its conjugate.
  BlockSparseMatrix<T> result(a.pattern_pointer());
  copy_blocks<T>(sequence, symmetry == Symmetry::antisymmetric ? T(-1) : T(1), a, result,
                 {.conjugated = conjugated != (symmetry == Symmetry::hermitian)});
  return result;
}

template <class T>
BlockSparseMatrix<T> submit_upper_triangle(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                           bool cut_diagonal) {
  const BlockDimension &rows = *a.layout().rows, &cols = *a.layout().cols;
  BlockSparseMatrix<T> result = part_of(
      sequence, a, select(a.pattern(), [&](Index, Index, BlockCoordinate at) {
        return rows.size(at.row) > 0 && cols.size(at.col) > 0 && rows.first(at.row) < cols.first(at.col + 1);
      }));
  if (cut_diagonal)
    for (const Index p : panels_on_diagonal(result.pattern()))
      sequence.insert(
          CutBelowDiagonal<T>{.blocks = result.pattern().blocks_of(p), .values = result.panel(p)});
  return result;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
BlockSparseMatrix<T> copy(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  return collectively(
      sequence.runtime(), "copy", shape_hash(a), [&] { require_made("a", a); },
      [&] { return part_of(sequence, a, a.pattern_pointer()); });
}

template <class To, class From>
BlockSparseMatrix<To> convert(Sequence& sequence, const BlockSparseMatrix<From>& a) {
  return collectively(
      sequence.runtime(), "convert", argument_hash(sizeof(To), shape_hash(a)), [&] { require_made("a", a); },
      [&] {
        BlockSparseMatrix<To> result(a.pattern_pointer());
        for (Index p = 0; p < a.pattern().panels(); ++p)
          if (a.panel(p).valid())
            sequence.insert(ConvertValues<From, To>{.source = a.panel(p), .destination = result.panel(p)});
        if (sizeof(To) > sizeof(From) && a.symmetry() != Symmetry::none) impose_symmetry(sequence, result);
        return result;
      });
}

template <class T>
void copy_into_existing(Sequence& sequence, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                        T factor) {
  const auto check = [&] {
    require_made("a", a);
    require_made("b", b);
    require_sizes("b", b.layout(), a.layout());
    require_symmetry<T>("a", a.symmetry(), b.symmetry(), true);
    require_factor("factor", factor, b.symmetry());
  };
  collectively(sequence.runtime(), "copy_into_existing", argument_hash(factor, shape_hash(a), shape_hash(b)),
               check, [&] { submit_into_existing(sequence, a, b, factor); });
}

template <class T>
BlockSparseMatrix<T> transpose(Sequence& sequence, const BlockSparseMatrix<T>& a, bool conjugated) {
  return collectively(
      sequence.runtime(), "transpose", argument_hash(conjugated, shape_hash(a)),
      [&] { require_made("a", a); }, [&] { return submit_transpose(sequence, a, conjugated); });
}

template <class T>
BlockSparseMatrix<T> desymmetrize(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  return collectively(
      sequence.runtime(), "desymmetrize", shape_hash(a), [&] { require_made("a", a); },
      [&] {
        BlockLayout layout = a.layout();
        layout.symmetry = Symmetry::none;
        return redistribute(sequence, a, layout);
      });
}

template <class T>
BlockSparseMatrix<T> redistribute(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                  const BlockLayout& layout) {
  const auto check = [&] {
    require_made("a", a);
    layout.require_valid(a.runtime());
    require_sizes("layout", layout, a.layout());
    require_symmetry<T>("a", a.symmetry(), layout.symmetry, true);
  };
  const std::uint64_t hash = argument_hash(layout.hash(sequence.runtime()), shape_hash(a));
  return collectively(sequence.runtime(), "redistribute", hash, check, [&] {
    if (layout == a.layout()) return copy(sequence, a);
    return part_of(sequence, a, image_pattern(a, layout));
  });
}

template <class T>
BlockSparseMatrix<T> upper_triangle(Sequence& sequence, const BlockSparseMatrix<T>& a, bool cut_diagonal) {
  const auto check = [&] {
    require_made("a", a);
    if (a.symmetry() != Symmetry::none)
      throw InvalidArgument("a", "of symmetry " + text_of(a.symmetry()), "of symmetry N");
  };
  return collectively(sequence.runtime(), "upper_triangle", argument_hash(cut_diagonal, shape_hash(a)), check,
                      [&] { return submit_upper_triangle(sequence, a, cut_diagonal); });
}

template <class T>
BlockSparseMatrix<T> block_diagonal(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  const auto check = [&] {
    require_made("a", a);
    if (!a.layout().rows->same_sizes(*a.layout().cols))
      throw InvalidArgument("a", "rows and columns of other block sizes",
                            "rows and columns of the same blocks");
  };
  return collectively(sequence.runtime(), "block_diagonal", shape_hash(a), check, [&] {
    return part_of(sequence, a,
                   select(a.pattern(), [](Index, Index, BlockCoordinate at) { return at.row == at.col; }));
  });
}

template <class T>
void reserve_blocks(BlockSparseMatrix<T>& a, std::span<const BlockCoordinate> blocks) {
  std::vector<BlockCoordinate> wanted(blocks.begin(), blocks.end());
  const auto check = [&] {
    for (auto& [row, col] : wanted)
      if (!a.layout().stores(row, col)) std::swap(row, col);
    BlockPattern::require_places(a.layout(), wanted);
  };
  collectively(runtime_of("a", a), "reserve_blocks", shape_hash(a), check, [&] {
    const auto named = BlockPattern::make(a.runtime(), a.layout(), wanted);
    Sequence sequence(a.runtime());
    const BlockPatternPointer all = unite(sequence, a.pattern_pointer(), *named);
    if (all == a.pattern_pointer()) return;
    BlockSparseMatrix<T> larger = part_of(sequence, a, all);
    finish(sequence);
    a = std::move(larger);
  });
}

template <class T>
void clear(BlockSparseMatrix<T>& a) {
  collectively(runtime_of("a", a), "clear", shape_hash(a), [&] {
    a = BlockSparseMatrix<T>(select(a.pattern(), [](Index, Index, BlockCoordinate) { return false; }));
  });
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template BlockSparseMatrix<T> copy<T>(Sequence&, const BlockSparseMatrix<T>&);                             \
  template void copy_into_existing<T>(Sequence&, const BlockSparseMatrix<T>&, const BlockSparseMatrix<T>&,   \
                                      T);                                                                    \
  template BlockSparseMatrix<T> transpose<T>(Sequence&, const BlockSparseMatrix<T>&, bool);                  \
  template BlockSparseMatrix<T> desymmetrize<T>(Sequence&, const BlockSparseMatrix<T>&);                     \
  template BlockSparseMatrix<T> redistribute<T>(Sequence&, const BlockSparseMatrix<T>&, const BlockLayout&); \
  template BlockSparseMatrix<T> upper_triangle<T>(Sequence&, const BlockSparseMatrix<T>&, bool);             \
  template BlockSparseMatrix<T> block_diagonal<T>(Sequence&, const BlockSparseMatrix<T>&);                   \
  template void reserve_blocks<T>(BlockSparseMatrix<T>&, std::span<const BlockCoordinate>);                  \
  template void clear<T>(BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#define TESSERA_INSTANTIATE_CONVERSION(From, To) \
  template BlockSparseMatrix<To> convert<To, From>(Sequence&, const BlockSparseMatrix<From>&);
TESSERA_FOR_CONVERSIONS(TESSERA_INSTANTIATE_CONVERSION)

}  // namespace tessera
