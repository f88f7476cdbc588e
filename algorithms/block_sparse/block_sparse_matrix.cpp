// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_sparse_matrix.hpp>
#include <tessera/codelets/block_sparse/block_values.hpp>

namespace tessera {
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

/// Column-major values of a view, or of its mirror image.
template <class T>
std::vector<T> packed(MatrixView<const T> values, bool mirror, Symmetry symmetry) {
  std::vector<T> result;
  result.reserve(static_cast<std::size_t>(values.rows * values.cols));
  const Index rows = mirror ? values.cols : values.rows, cols = mirror ? values.rows : values.cols;
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i)
      result.push_back(mirror ? mirrored(symmetry, values(j, i)) : values(i, j));
  return result;
}

}  // namespace

template <class T>
BlockSparseMatrix<T>::BlockSparseMatrix(BlockPatternPointer pattern) : pattern_(std::move(pattern)) {
  for (Index p = 0; p < pattern_->panels(); ++p) {
    panels_.emplace_back();
    const PanelIndex& index = pattern_->index(p);
    if (index.blocks() == 0) continue;
    const auto bytes = static_cast<std::size_t>(std::max<Index>(index.elements(), 1)) * sizeof(T);
    panels_.back() = Data::bytes(runtime(), bytes, pattern_->panel_owner(p));
  }
}

template <class T>
void BlockSparseMatrix<T>::put_block(Index block_row, Index block_col, MatrixView<const T> values) {
  require_inside(layout(), block_row, block_col);
  const auto at = pattern_->find(block_row, block_col);
  if (!at) throw InvalidArgument("block", text(block_row, block_col), "a stored block");
  require_shape(layout(), block_row, block_col, values.rows, values.cols);
  const HostAccess access(panel(at->panel), HostAccess::Mode::read_write);
  const std::vector<T> columns = packed(values, false, symmetry());
  const Index offset = pattern_->index(at->panel).offset[static_cast<std::size_t>(at->block)];
  std::copy(columns.begin(), columns.end(), access.array<T>().begin() + offset);
}

template <class T>
std::optional<std::vector<T>> BlockSparseMatrix<T>::get_block(Index block_row, Index block_col) const {
  require_inside(layout(), block_row, block_col);
  const bool mirror = !layout().stores(block_row, block_col);
  if (mirror) std::swap(block_row, block_col);
  if (layout().owner(block_row, block_col) != runtime().rank())
    throw InvalidArgument("block", text(block_row, block_col), "a block of this rank");
  const auto at = pattern_->find(block_row, block_col);
  if (!at) return std::nullopt;
  const HostAccess access(panel(at->panel), HostAccess::Mode::read);
  const Index rows = pattern_->rows().size(block_row), cols = pattern_->cols().size(block_col);
  const T* values =
      access.array<const T>().data() + pattern_->index(at->panel).offset[static_cast<std::size_t>(at->block)];
  return packed<T>({values, rows, cols, rows}, mirror, symmetry());
}

template <class T>
void BlockSparseMatrix<T>::for_each_block(
    const std::function<void(Index, Index, MatrixView<const T>)>& visit) const {
  for (Index p = 0; p < pattern_->panels(); ++p) {
    if (!pattern_->panel_local(p) || pattern_->index(p).blocks() == 0) continue;
    const HostAccess access(panel(p), HostAccess::Mode::read);
    const auto coordinates = pattern_->coordinates(p);
    for (std::size_t b = 0; b < coordinates.size(); ++b) {
      const Index rows = pattern_->rows().size(coordinates[b].row),
                  cols = pattern_->cols().size(coordinates[b].col);
      visit(coordinates[b].row, coordinates[b].col,
            {access.array<const T>().data() + pattern_->index(p).offset[b], rows, cols, rows});
    }
  }
}

template <class T>
void BlockSparseMatrix<T>::for_each_block_mutable(
    const std::function<void(Index, Index, MatrixView<T>)>& visit) {
  for (Index p = 0; p < pattern_->panels(); ++p) {
    if (!pattern_->panel_local(p) || pattern_->index(p).blocks() == 0) continue;
    const HostAccess access(panel(p), HostAccess::Mode::read_write);
    const auto coordinates = pattern_->coordinates(p);
    for (std::size_t b = 0; b < coordinates.size(); ++b) {
      const Index rows = pattern_->rows().size(coordinates[b].row),
                  cols = pattern_->cols().size(coordinates[b].col);
      visit(coordinates[b].row, coordinates[b].col,
            {access.array<T>().data() + pattern_->index(p).offset[b], rows, cols, rows});
    }
  }
}

template <class T>
BlockSparseBuilder<T>::BlockSparseBuilder(Runtime& runtime, const BlockLayout& layout)
    : runtime_(&runtime), layout_(layout) {
  layout_.require_valid(runtime);
}

/// Where the storage scheme has a block, which must be on this rank.
template <class T>
BlockCoordinate BlockSparseBuilder<T>::place(Index block_row, Index block_col) const {
  require_inside(layout_, block_row, block_col);
  const bool mirror = !layout_.stores(block_row, block_col);
  const BlockCoordinate at =
      mirror ? BlockCoordinate{block_col, block_row} : BlockCoordinate{block_row, block_col};
  if (owner(block_row, block_col) != runtime_->rank())
    throw InvalidArgument(
        "block", text(block_row, block_col),
        fmt::format("a block of rank {}, not of rank {}", runtime_->rank(), owner(block_row, block_col)));
  return at;
}

template <class T>
int BlockSparseBuilder<T>::owner(Index block_row, Index block_col) const noexcept {
  return layout_.stores(block_row, block_col) ? layout_.owner(block_row, block_col)
                                              : layout_.owner(block_col, block_row);
}

template <class T>
void BlockSparseBuilder<T>::reserve(Index block_row, Index block_col) {
  blocks_.try_emplace(place(block_row, block_col));
}

template <class T>
void BlockSparseBuilder<T>::reserve_all() {
  for (Index j = 0; j < layout_.cols->blocks(); ++j)
    for (Index i = 0; i < layout_.rows->blocks(); ++i)
      if (layout_.stores(i, j) && owner(i, j) == runtime_->rank()) reserve(i, j);
}

template <class T>
void BlockSparseBuilder<T>::reserve_diagonal() {
  for (Index i = 0; i < std::min(layout_.rows->blocks(), layout_.cols->blocks()); ++i)
    if (owner(i, i) == runtime_->rank()) reserve(i, i);
}

template <class T>
void BlockSparseBuilder<T>::put(Index block_row, Index block_col, MatrixView<const T> values) {
  store(block_row, block_col, values, false);
}

template <class T>
void BlockSparseBuilder<T>::add(Index block_row, Index block_col, MatrixView<const T> values) {
  store(block_row, block_col, values, true);
}

template <class T>
void BlockSparseBuilder<T>::store(Index block_row, Index block_col, MatrixView<const T> values, bool sum) {
  const BlockCoordinate at = place(block_row, block_col);
  require_shape(layout_, block_row, block_col, values.rows, values.cols);
  const std::vector<T> columns = packed(values, !layout_.stores(block_row, block_col), layout_.symmetry);
  std::vector<T>& stored = blocks_[at];
  if (stored.empty()) {
    stored = columns;
  } else if (sum) {
    for (std::size_t i = 0; i < columns.size(); ++i) stored[i] += columns[i];
  } else {
    throw InvalidArgument("block", text(block_row, block_col), "a block that was not put before");
  }
}

template <class T>
BlockSparseMatrix<T> BlockSparseBuilder<T>::finalize() {
  std::vector<BlockCoordinate> coordinates;
  for (const auto& [at, values] : blocks_) coordinates.push_back(at);
  BlockSparseMatrix<T> matrix(BlockPattern::make(*runtime_, layout_, coordinates));
  const BlockPattern& pattern = matrix.pattern();
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (!pattern.panel_local(p) || pattern.index(p).blocks() == 0) continue;
    const HostAccess access(matrix.panel(p), HostAccess::Mode::write);
    const auto array = access.array<T>();
    std::fill(array.begin(), array.end(), T(0));
    const auto members = pattern.coordinates(p);
    for (std::size_t b = 0; b < members.size(); ++b) {
      const std::vector<T>& values = blocks_.at(members[b]);
      std::copy(values.begin(), values.end(), array.begin() + pattern.index(p).offset[b]);
    }
  }
  blocks_.clear();
  return matrix;
}

template <class T>
BlockSparseMatrix<T> zero_matrix(Sequence& sequence, BlockPatternPointer pattern) {
  BlockSparseMatrix<T> matrix(std::move(pattern));
  for (Index p = 0; p < matrix.pattern().panels(); ++p)
    if (matrix.panel(p).valid()) insert_fill_values<T>(sequence, 0, T(0), matrix.panel(p));
  return matrix;
}

#define TESSERA_INSTANTIATE(T)          \
  template class BlockSparseMatrix<T>;  \
  template class BlockSparseBuilder<T>; \
  template BlockSparseMatrix<T> zero_matrix<T>(Sequence&, BlockPatternPointer);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
