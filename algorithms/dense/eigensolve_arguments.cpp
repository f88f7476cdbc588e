// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <tessera/algorithms/dense/eigensolve_arguments.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

namespace {

/// All ranks but the first have no part of it: how it is cut up does not matter.
bool whole_on_one_rank(const TileLayout& layout) {
  return layout.grid.rows == 1 && layout.grid.cols == 1;
}

template <class T>
void check_block_cyclic(const Runtime& runtime, const std::string& name, const T* local, Index ld,
                        const TileLayout& layout) {
  try {
    TiledMatrix<T>::require_block_cyclic(runtime, local, ld, layout);
  } catch (const InvalidArgument& wrong) {
    throw InvalidArgument(name + "." + wrong.name(), wrong.value(), wrong.expected());
  }
}

/// m x n entries from (row, col) on.
void check_part(const std::string& name, const TileLayout& layout, Index row, Index col, Index m, Index n) {
  if (row < 0 || col < 0 || row + m > layout.rows || col + n > layout.cols)
    throw InvalidArgument(name, fmt::format("{} x {} from ({}, {}) on", m, n, row, col),
                          fmt::format("a part of {} x {}", layout.rows, layout.cols));
}

/// An array in LAPACK's layout.
void check_array(const Runtime& runtime, const std::string& name, const void* array, Index ld, Index n) {
  if (n > 0 && !array) throw InvalidArgument(name, "null", "an array");
  if (runtime.size() > 1)
    throw InvalidArgument(name, fmt::format("a whole array on {} ranks", runtime.size()),
                          "a block-cyclic array or a TiledMatrix");
  if (ld < std::max<Index>(n, 1))
    throw InvalidArgument(name + ".ld", fmt::to_string(ld), fmt::format("at least n = {}", n));
}

}  // namespace

template <class T>
void check_input(const Runtime& runtime, const std::string& name, const MatrixInput<T>& input) {
  const TileLayout& layout = input.layout();
  const Index n = input.order();
  if (n < 0) throw InvalidArgument(name + ".n", fmt::to_string(n), "at least 0");
  if (!input.is_submatrix() && layout.rows != layout.cols)
    throw InvalidArgument(name, fmt::format("{} x {}", layout.rows, layout.cols), "a square matrix");
  if (input.tiles() && n > 0 && !input.tiles()->valid())
    throw InvalidArgument(name, "tiles that were never made, or are released", "a matrix");
  if (input.kind() == MatrixKind::block_cyclic) {
    check_block_cyclic(runtime, name, input.array(), input.ld(), layout);
    check_part(name, layout, input.row(), input.col(), n, n);
  }
  if (input.kind() == MatrixKind::array) check_array(runtime, name, input.array(), input.ld(), n);
}

template <class T>
void check_output(const Runtime& runtime, const MatrixOutput<T>& output, Index n,
                  const EigensolveOptions& options) {
  const std::string name = "vectors_to";
  const TileLayout& layout = output.layout();
  const Index columns = max_vectors(n, options);
  switch (output.kind()) {
    case MatrixKind::none:
      return;
    case MatrixKind::array:
      return check_array(runtime, name, output.array(), output.ld(), n);
    case MatrixKind::block_cyclic:
      check_block_cyclic(runtime, name, output.array(), output.ld(), layout);
      check_part(name, layout, output.row(), output.col(), n, columns);
      break;
    case MatrixKind::tiles:
      if (n > 0 && columns > 0 && !output.tiles()->valid())
        throw InvalidArgument(name, "tiles that were never made, or are released", "a matrix");
      if (layout.rows != n || layout.cols < columns)
        throw InvalidArgument(name, fmt::format("{} x {}", layout.rows, layout.cols),
                              fmt::format("{} rows and at least {} columns", n, columns));
  }
  if (layout.uplo != Uplo::general) throw InvalidArgument(name, "a triangle of tiles", "all tiles");
}

template <class T>
std::uint64_t hash_of(const MatrixInput<T>& input) {
  return argument_hash(sizeof(T), is_complex<T>, input.kind(), hash_of(input.layout()), input.row(),
                       input.col(), input.order());
}

template <class T>
std::uint64_t hash_of(const MatrixOutput<T>& output) {
  return argument_hash(sizeof(T), is_complex<T>, output.kind(), hash_of(output.layout()), output.row(),
                       output.col());
}

template <class T>
T* local_part(const Runtime& runtime, T* local, Index ld, const TileLayout& layout, Index row, Index col) {
  const ProcessGrid& grid = layout.grid;
  const int rank = runtime.rank();
  if (!local || rank >= grid.rows * grid.cols) return nullptr;
  // The blocks before those that the part begins in.
  const auto before = [](Index entries, Index block, int index, int count, int first) {
    return local_extent(entries / block * block, block, index, count, first);
  };
  return local +
         before(layout.row_offset + row, layout.tile_rows, grid.row_of(rank), grid.rows, layout.first_row) +
         before(layout.col_offset + col, layout.tile_cols, grid.col_of(rank), grid.cols, layout.first_col) *
             ld;
}

template <class T>
InputTiles<T>::InputTiles(Runtime& runtime, const MatrixInput<T>& input, Index tile) : tiles_(input.tiles()) {
  if (tiles_ || !input) return;
  T* memory = const_cast<T*>(input.array());
  const Index n = input.order(), ld = std::max<Index>(input.ld(), 1);
  const TileLayout& layout = input.layout();
  if (whole_on_one_rank(layout)) {
    if (memory) memory += input.row() + input.col() * ld;
    own_ = TiledMatrix<T>::wrap(runtime, memory, std::max(ld, n), {n, n, tile, tile, {}, layout.uplo});
  } else {
    own_ = TiledMatrix<T>::wrap_block_cyclic(
        runtime, local_part(runtime, memory, ld, layout, input.row(), input.col()), ld,
        layout.part(input.row(), input.col(), n, n));
  }
  tiles_ = &*own_;
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template void check_input<T>(const Runtime&, const std::string&, const MatrixInput<T>&);                \
  template void check_output<T>(const Runtime&, const MatrixOutput<T>&, Index, const EigensolveOptions&); \
  template std::uint64_t hash_of<T>(const MatrixInput<T>&);                                               \
  template std::uint64_t hash_of<T>(const MatrixOutput<T>&);                                              \
  template T* local_part<T>(const Runtime&, T*, Index, const TileLayout&, Index, Index);                  \
  template class InputTiles<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
