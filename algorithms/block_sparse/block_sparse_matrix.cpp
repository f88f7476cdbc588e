// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_memory.hpp>
#include <tessera/algorithms/block_sparse/new_panel.hpp>
#include <tessera/block_sparse_matrix.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

std::string text(Index row, Index col) {
  return fmt::format("({}, {})", row, col);
}

void require_inside(const BlockLayout& layout, Index row, Index col) {
  const auto check = [](const char* name, Index value, Index count) {
    if (value < 0 || value >= count)
      throw InvalidArgument(name, fmt::to_string(value), fmt::format("0 to {}", count - 1));
  };
  check("block row", row, layout.rows->blocks());
  check("block column", col, layout.cols->blocks());
}

void require_shape(const BlockLayout& layout, Index row, Index col, Index rows, Index cols) {
  if (rows != layout.rows->size(row) || cols != layout.cols->size(col))
    throw InvalidArgument(
        "values", fmt::format("{} x {}", rows, cols),
        fmt::format("{} x {} for block {}", layout.rows->size(row), layout.cols->size(col), text(row, col)));
}

void require_owner(const Runtime& runtime, const BlockLayout& layout, Index row, Index col) {
  const int owner = layout.owner(row, col);
  if (owner != runtime.rank())
    throw InvalidArgument("block", text(row, col),
                          fmt::format("a block of rank {}, not of rank {}", runtime.rank(), owner));
}

/// Column-major without gaps: what place(to, value) makes of a view's values, or of those of its mirror
/// image.
template <class T, class Place>
void pack(MatrixView<const T> values, bool mirror, Symmetry symmetry, T* to, const Place& place) {
  const Index rows = mirror ? values.cols : values.rows, cols = mirror ? values.rows : values.cols;
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) place(*to++, mirror ? mirrored(symmetry, values(j, i)) : values(i, j));
}

template <class T>
void replace(T& to, const T& value) {
  to = value;
}

/// Calls visit(coordinate, elements in front of the block in its panel, rows, columns) for the blocks of one
/// panel.
template <class Visit>
void for_each_place(const BlockPattern& pattern, Index panel, const Visit& visit) {
  const auto coordinates = pattern.coordinates(panel);
  for (std::size_t b = 0; b < coordinates.size(); ++b)
    visit(coordinates[b], pattern.index(panel).offset[b], pattern.rows().size(coordinates[b].row),
          pattern.cols().size(coordinates[b].col));
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
BlockSparseMatrix<T>::BlockSparseMatrix(BlockPatternPointer pattern) : pattern_(std::move(pattern)) {
  const auto make = [&] {
    panels_.resize(static_cast<std::size_t>(pattern_->panels()));
    for (Index p = 0; p < pattern_->panels(); ++p)
      if (pattern_->panel_blocks(p) > 0) panels_[static_cast<std::size_t>(p)] = new_panel<T>(*pattern_, p);
  };
  collectively(runtime(), "BlockSparseMatrix", argument_hash(pattern_->blocks(), pattern_->elements()), make);
}

template <class T>
BlockSparseMatrix<T>::BlockSparseMatrix(BlockPatternPointer pattern,
                                        std::vector<std::shared_ptr<const Data>> panels) noexcept
    : pattern_(std::move(pattern)), panels_(std::move(panels)) {}

template <class T>
void BlockSparseMatrix<T>::put_block(Index block_row, Index block_col, MatrixView<const T> values) {
  require_inside(layout(), block_row, block_col);
  require_shape(layout(), block_row, block_col, values.rows, values.cols);
  const bool mirror = !layout().stores(block_row, block_col);
  if (mirror) std::swap(block_row, block_col);
  require_owner(runtime(), layout(), block_row, block_col);
  const auto at = pattern_->find(block_row, block_col);
  if (!at) throw InvalidArgument("block", text(block_row, block_col), "a stored block");
  const HostAccess access(panel(at->panel), HostAccess::Mode::read_write);
  T* const to =
      access.array<T>().data() + pattern_->index(at->panel).offset[static_cast<std::size_t>(at->block)];
  pack(values, mirror, symmetry(), to, replace<T>);
}

template <class T>
std::optional<std::vector<T>> BlockSparseMatrix<T>::get_block(Index block_row, Index block_col) const {
  require_inside(layout(), block_row, block_col);
  const bool mirror = !layout().stores(block_row, block_col);
  if (mirror) std::swap(block_row, block_col);
  require_owner(runtime(), layout(), block_row, block_col);
  const auto at = pattern_->find(block_row, block_col);
  if (!at) return std::nullopt;
  const HostAccess access(panel(at->panel), HostAccess::Mode::read);
  const Index rows = pattern_->rows().size(block_row), cols = pattern_->cols().size(block_col);
  const T* const from =
      access.array<const T>().data() + pattern_->index(at->panel).offset[static_cast<std::size_t>(at->block)];
  std::vector<T> values(static_cast<std::size_t>(rows * cols));
  pack<T>({from, rows, cols, rows}, mirror, symmetry(), values.data(), replace<T>);
  return values;
}

template <class T>
void BlockSparseMatrix<T>::for_each_block(
    const std::function<void(Index, Index, MatrixView<const T>)>& visit) const {
  for (Index p = 0; p < pattern_->panels(); ++p) {
    if (!pattern_->panel_local(p) || pattern_->panel_blocks(p) == 0) continue;
    const HostAccess access(panel(p), HostAccess::Mode::read);
    for_each_place(*pattern_, p, [&](BlockCoordinate at, Index offset, Index rows, Index cols) {
      visit(at.row, at.col, {access.array<const T>().data() + offset, rows, cols, rows});
    });
  }
}

template <class T>
void BlockSparseMatrix<T>::for_each_block_mutable(
    const std::function<void(Index, Index, MatrixView<T>)>& visit) {
  for (Index p = 0; p < pattern_->panels(); ++p) {
    if (!pattern_->panel_local(p) || pattern_->panel_blocks(p) == 0) continue;
    const HostAccess access(panel(p), HostAccess::Mode::read_write);
    for_each_place(*pattern_, p, [&](BlockCoordinate at, Index offset, Index rows, Index cols) {
      visit(at.row, at.col, {access.array<T>().data() + offset, rows, cols, rows});
    });
  }
}

template <class T>
struct BlockSparseBuilder<T>::Detail {
  Detail(Runtime& of, const BlockLayout& with) : runtime(of), layout(with), finalize(of) {}
  BlockCoordinate place(Index block_row, Index block_col) const;
  T* allocate(Index count);
  void store(Index block_row, Index block_col, MatrixView<const T> values, bool sum);
  BlockSparseMatrix<T> filled(BlockPatternPointer made);

  Runtime& runtime;
  BlockLayout layout;
  /// Values by block row + block column * block rows; null where only reserved.
  std::unordered_map<Index, T*> blocks;
  std::vector<std::vector<T>> chunks;  ///< what the values lie in: they never move
  ComingAgreement finalize;
};

template <class T>
BlockSparseBuilder<T>::BlockSparseBuilder(Runtime& runtime, const BlockLayout& layout)
    : detail_(new Detail(runtime, layout)) {
  detail_->finalize.watch([&] { layout.require_valid(runtime); });
}

template <class T>
BlockSparseBuilder<T>::~BlockSparseBuilder() = default;
template <class T>
BlockSparseBuilder<T>::BlockSparseBuilder(BlockSparseBuilder&& other) noexcept = default;

/// Where the storage scheme has a block, which must be on this rank.
template <class T>
BlockCoordinate BlockSparseBuilder<T>::Detail::place(Index block_row, Index block_col) const {
  require_inside(layout, block_row, block_col);
  if (!layout.stores(block_row, block_col)) std::swap(block_row, block_col);
  require_owner(runtime, layout, block_row, block_col);
  return {block_row, block_col};
}

template <class T>
int BlockSparseBuilder<T>::owner(Index block_row, Index block_col) const noexcept {
  const BlockLayout& layout = detail_->layout;
  return layout.stores(block_row, block_col) ? layout.owner(block_row, block_col)
                                             : layout.owner(block_col, block_row);
}

template <class T>
void BlockSparseBuilder<T>::reserve(Index block_row, Index block_col) {
  Detail& d = *detail_;
  const auto [row, col] = d.finalize.watch([&] { return d.place(block_row, block_col); });
  d.blocks.try_emplace(row + col * d.layout.rows->blocks(), nullptr);
}

template <class T>
void BlockSparseBuilder<T>::reserve_all() {
  const BlockLayout& layout = detail_->layout;
  for (Index j = 0; j < layout.cols->blocks(); ++j)
    for (Index i = 0; i < layout.rows->blocks(); ++i)
      if (layout.stores(i, j) && owner(i, j) == detail_->runtime.rank()) reserve(i, j);
}

template <class T>
void BlockSparseBuilder<T>::reserve_diagonal() {
  const BlockLayout& layout = detail_->layout;
  for (Index i = 0; i < std::min(layout.rows->blocks(), layout.cols->blocks()); ++i)
    if (owner(i, i) == detail_->runtime.rank()) reserve(i, i);
}

template <class T>
void BlockSparseBuilder<T>::put(Index block_row, Index block_col, MatrixView<const T> values) {
  detail_->finalize.watch([&] { detail_->store(block_row, block_col, values, false); });
}

template <class T>
void BlockSparseBuilder<T>::add(Index block_row, Index block_col, MatrixView<const T> values) {
  detail_->finalize.watch([&] { detail_->store(block_row, block_col, values, true); });
}

/// Memory for `count` values.
template <class T>
T* BlockSparseBuilder<T>::Detail::allocate(Index count) {
  constexpr std::size_t usual = std::size_t{1} << 16;
  const auto size = static_cast<std::size_t>(count);
  if (chunks.empty() || chunks.back().capacity() - chunks.back().size() < size)
    chunks.emplace_back().reserve(std::max(usual, size));
  std::vector<T>& chunk = chunks.back();
  chunk.resize(chunk.size() + size);
  return chunk.data() + (chunk.size() - size);
}

template <class T>
void BlockSparseBuilder<T>::Detail::store(Index block_row, Index block_col, MatrixView<const T> values,
                                          bool sum) {
  const auto [row, col] = place(block_row, block_col);
  require_shape(layout, block_row, block_col, values.rows, values.cols);
  const bool mirror = !layout.stores(block_row, block_col);
  T*& stored = blocks.try_emplace(row + col * layout.rows->blocks(), nullptr).first->second;
  if (!stored) {
    stored = allocate(values.rows * values.cols);
    pack(values, mirror, layout.symmetry, stored, replace<T>);
  } else if (sum) {
    pack(values, mirror, layout.symmetry, stored, [](T& to, const T& value) { to += value; });
  } else {
    throw InvalidArgument("block", text(block_row, block_col), "a block that was not put before");
  }
}

template <class T>
BlockSparseMatrix<T> BlockSparseBuilder<T>::finalize() {
  Detail& d = *detail_;
  std::vector<BlockCoordinate> coordinates;
  const auto list = [&] {
    const Index block_rows = d.layout.rows->blocks();
    coordinates.reserve(d.blocks.size());
    for (const auto& [key, values] : d.blocks) coordinates.push_back({key % block_rows, key / block_rows});
  };
  d.finalize.conclude();
  return collectively(d.runtime, "BlockSparseBuilder::finalize", d.layout.hash(d.runtime), list,
                      [&] { return d.filled(BlockPattern::make(d.runtime, d.layout, coordinates)); });
}

/// A matrix of the blocks that were collected.
template <class T>
BlockSparseMatrix<T> BlockSparseBuilder<T>::Detail::filled(BlockPatternPointer made) {
  const Index block_rows = layout.rows->blocks();
  require_memory(runtime, "a block-sparse matrix", values_memory(*made, sizeof(T)));
  BlockSparseMatrix<T> matrix(std::move(made));
  const BlockPattern& pattern = matrix.pattern();
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (!pattern.panel_local(p) || pattern.panel_blocks(p) == 0) continue;
    const HostAccess access(matrix.panel(p), HostAccess::Mode::write);
    const auto array = access.array<T>();
    std::fill(array.begin(), array.end(), T(0));
    for_each_place(pattern, p, [&](BlockCoordinate at, Index offset, Index rows, Index cols) {
      if (const T* values = blocks.at(at.row + at.col * block_rows))
        std::copy(values, values + rows * cols, array.begin() + offset);
    });
  }
  blocks.clear();
  chunks.clear();
  return matrix;
}

template <class T>
BlockSparseMatrix<T> zero_matrix(Sequence& sequence, BlockPatternPointer pattern) {
  const std::uint64_t hash = argument_hash(pattern->blocks(), pattern->elements());
  return collectively(sequence.runtime(), "zero_matrix", hash, [&] {
    require_memory(sequence.runtime(), "a block-sparse matrix", values_memory(*pattern, sizeof(T)));
    BlockSparseMatrix<T> matrix(std::move(pattern));
    for (Index p = 0; p < matrix.pattern().panels(); ++p)
      if (matrix.panel(p).valid()) sequence.insert(FillValues<T>{.values = matrix.panel(p), .value = T(0)});
    return matrix;
  });
}

#define TESSERA_INSTANTIATE(T)          \
  template class BlockSparseMatrix<T>;  \
  template class BlockSparseBuilder<T>; \
  template BlockSparseMatrix<T> zero_matrix<T>(Sequence&, BlockPatternPointer);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
