// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/block_permutation.hpp>

struct tessera_block_builder {
  std::variant<tessera::BlockSparseBuilder<float>, tessera::BlockSparseBuilder<double>,
               tessera::BlockSparseBuilder<std::complex<float>>,
               tessera::BlockSparseBuilder<std::complex<double>>>
      builder;
  tessera::Runtime* runtime;
  tessera::BlockLayout layout;
};

using namespace tessera;
using namespace tessera::c_interface;

namespace {

std::vector<Index> sizes_of(const Index* sizes, Index blocks, std::string_view name) {
  if (blocks < 0) throw InvalidArgument(name, std::to_string(blocks), "a number of blocks, at least 0");
  required(sizes, name, blocks);
  return blocks > 0 ? std::vector<Index>(sizes, sizes + blocks) : std::vector<Index>();
}

/// Where the sizes along the columns are not given, they are those of the rows.
BlockLayout distributed_layout(Index row_blocks, const Index* row_sizes, const int* row_owners,
                               Index col_blocks, const Index* col_sizes, const int* col_owners,
                               const ProcessGrid& grid, int symmetry) {
  const bool square = !col_sizes && col_blocks == 0;
  required(row_owners, "row_owners", row_blocks);
  required(col_owners, "col_owners", square ? row_blocks : col_blocks);
  const auto rows = sizes_of(row_sizes, row_blocks, "row_sizes");
  const auto cols = square ? rows : sizes_of(col_sizes, col_blocks, "col_sizes");
  return {.rows = BlockDimension::make(rows, grid.rows, {row_owners, row_owners + rows.size()}),
          .cols = BlockDimension::make(cols, grid.cols, {col_owners, col_owners + cols.size()}),
          .grid = grid,
          .symmetry = symmetry_of(symmetry)};
}

template <class T>
MatrixView<const T> block_view(const void* values, Index rows, Index cols, Index ld) {
  required(values, "values", rows * cols);
  return {static_cast<const T*>(values), rows, cols, ld};
}

/// The view of the caller's values for a block, of the size that the dimensions say.
/// @throws InvalidArgument outside the matrix
template <class T>
MatrixView<const T> block_view(const BlockLayout& layout, Index i, Index j, const void* values, Index ld) {
  if (i < 0 || i >= layout.rows->blocks())
    throw InvalidArgument("block_row", std::to_string(i),
                          "0 to " + std::to_string(layout.rows->blocks() - 1));
  if (j < 0 || j >= layout.cols->blocks())
    throw InvalidArgument("block_col", std::to_string(j),
                          "0 to " + std::to_string(layout.cols->blocks() - 1));
  if (ld < std::max<Index>(1, layout.rows->size(i)))
    throw InvalidArgument("ld", std::to_string(ld), "at least the rows of the block");
  return block_view<T>(values, layout.rows->size(i), layout.cols->size(j), ld);
}

template <class Work>
int with_builder(tessera_block_builder* builder, const Work& work) {
  return call([&] {
    tessera_block_builder& given = required(builder, "builder");
    std::visit(
        [&]<class T>(BlockSparseBuilder<T>& typed) { work(typed, given.layout, std::type_identity<T>{}); },
        given.builder);
  });
}

}  // namespace

int tessera_block_layout_create(tessera_runtime* runtime, tessera_index row_blocks,
                                const tessera_index* row_sizes, tessera_index col_blocks,
                                const tessera_index* col_sizes, int symmetry, tessera_block_layout** layout) {
  return call_on(runtime, [&] {
    required(layout, "layout") = nullptr;
    Runtime& on = runtime_of(runtime);
    auto rows = sizes_of(row_sizes, row_blocks, "row_sizes");
    auto cols = !col_sizes && col_blocks == 0 ? rows : sizes_of(col_sizes, col_blocks, "col_sizes");
    *layout = new tessera_block_layout{
        &on, make_block_layout(on, std::move(rows), std::move(cols), symmetry_of(symmetry))};
  });
}

int tessera_block_layout_create_distributed(tessera_runtime* runtime, tessera_index row_blocks,
                                            const tessera_index* row_sizes, const int* row_owners,
                                            tessera_index col_blocks, const tessera_index* col_sizes,
                                            const int* col_owners, int grid_rows, int grid_cols,
                                            int column_major, int symmetry, tessera_block_layout** layout) {
  return call_on(runtime, [&] {
    required(layout, "layout") = nullptr;
    Runtime& on = runtime_of(runtime);
    const BlockLayout made =
        distributed_layout(row_blocks, row_sizes, row_owners, col_blocks, col_sizes, col_owners,
                           {grid_rows, grid_cols, column_major != 0}, symmetry);
    made.require_valid(on);
    *layout = new tessera_block_layout{&on, made};
  });
}

int tessera_block_layout_homogenized(const tessera_block_layout* layout, uint64_t seed,
                                     tessera_block_layout** homogenized) {
  return call([&] {
    const tessera_block_layout& given = required(layout, "layout");
    required(homogenized, "homogenized") =
        new tessera_block_layout{given.runtime, homogenized_layout(given.layout, seed)};
  });
}

int tessera_block_layout_owner(const tessera_block_layout* layout, tessera_index block_row,
                               tessera_index block_col, int* rank) {
  return call([&] {
    const BlockLayout& of = required(layout, "layout").layout;
    (void)block_view<char>(of, block_row, block_col, "", std::numeric_limits<Index>::max());
    required(rank, "rank") = of.owner(block_row, block_col);
  });
}

void tessera_block_layout_free(tessera_block_layout* layout) {
  delete layout;
}

void tessera_block_matrix_free(tessera_block_matrix* matrix) {
  delete matrix;
}

int tessera_block_builder_create(tessera_runtime* runtime, int type, const tessera_block_layout* layout,
                                 tessera_block_builder** builder) {
  return call_on(runtime, [&] {
    required(builder, "builder") = nullptr;
    const BlockLayout& of = required(layout, "layout").layout;
    Runtime& on = runtime_of(runtime);
    for_type(type, [&](auto t) {
      *builder = new tessera_block_builder{BlockSparseBuilder<typename decltype(t)::type>(on, of), &on, of};
    });
  });
}

int tessera_block_builder_reserve(tessera_block_builder* builder, tessera_index block_row,
                                  tessera_index block_col) {
  return with_builder(builder,
                      [&](auto& typed, const BlockLayout&, auto) { typed.reserve(block_row, block_col); });
}

int tessera_block_builder_put(tessera_block_builder* builder, tessera_index block_row,
                              tessera_index block_col, const void* values, tessera_index ld) {
  return with_builder(builder, [&](auto& typed, const BlockLayout& of, auto t) {
    using T = typename decltype(t)::type;
    typed.put(block_row, block_col, block_view<T>(of, block_row, block_col, values, ld));
  });
}

int tessera_block_builder_add(tessera_block_builder* builder, tessera_index block_row,
                              tessera_index block_col, const void* values, tessera_index ld) {
  return with_builder(builder, [&](auto& typed, const BlockLayout& of, auto t) {
    using T = typename decltype(t)::type;
    typed.add(block_row, block_col, block_view<T>(of, block_row, block_col, values, ld));
  });
}

int tessera_block_builder_finalize(tessera_block_builder* builder, tessera_block_matrix** matrix) {
  return with_builder(builder, [&](auto& typed, const BlockLayout&, auto) {
    guarded(*builder->runtime, [&] { required(matrix, "matrix") = handle_of(typed.finalize()); });
  });
}

void tessera_block_builder_free(tessera_block_builder* builder) {
  delete builder;
}

int tessera_block_matrix_get_info(const tessera_block_matrix* matrix, tessera_block_matrix_info* info) {
  return call([&] {
    visit(matrix, "matrix", [&](const auto& of, auto t) {
      required(info, "info") = {.type = type_letter<typename decltype(t)::type>,
                                .symmetry = static_cast<int>(of.symmetry()),
                                .rows = of.rows(),
                                .cols = of.cols(),
                                .block_rows = of.block_rows(),
                                .block_cols = of.block_cols(),
                                .stored_blocks = of.pattern().blocks(),
                                .occupation = occupation(of)};
    });
  });
}

int tessera_block_matrix_sizes(const tessera_block_matrix* matrix, tessera_index* row_sizes,
                               tessera_index* col_sizes) {
  return call([&] {
    visit(matrix, "matrix", [&](const auto& of, auto) {
      const auto rows = of.layout().rows->sizes(), cols = of.layout().cols->sizes();
      if (row_sizes) std::copy(rows.begin(), rows.end(), row_sizes);
      if (col_sizes) std::copy(cols.begin(), cols.end(), col_sizes);
    });
  });
}

int tessera_block_matrix_layout(const tessera_block_matrix* matrix, tessera_block_layout** layout) {
  return call([&] {
    visit(matrix, "matrix", [&](const auto& of, auto) {
      required(layout, "layout") = new tessera_block_layout{&of.runtime(), of.layout()};
    });
  });
}

int tessera_block_matrix_put(tessera_block_matrix* matrix, tessera_index block_row, tessera_index block_col,
                             const void* values, tessera_index ld) {
  return call([&] {
    visit(matrix, "matrix", [&](auto& of, auto t) {
      of.put_block(block_row, block_col,
                   block_view<typename decltype(t)::type>(of.layout(), block_row, block_col, values, ld));
    });
  });
}

int tessera_block_matrix_get(const tessera_block_matrix* matrix, tessera_index block_row,
                             tessera_index block_col, void* values, tessera_index ld, int* stored) {
  return call([&] {
    visit(matrix, "matrix", [&](const auto& of, auto t) {
      using T = typename decltype(t)::type;
      const auto to = block_view<T>(of.layout(), block_row, block_col, values, ld);
      const auto block = of.get_block(block_row, block_col);
      required(stored, "stored") = block.has_value();
      if (!block) return;
      for (Index j = 0; j < to.cols; ++j)
        std::copy_n(block->data() + j * to.rows, to.rows, static_cast<T*>(values) + j * ld);
    });
  });
}

int tessera_block_matrix_for_each(const tessera_block_matrix* matrix, tessera_block_visitor visitor,
                                  void* user) {
  return call([&] {
    if (!visitor) throw InvalidArgument("visitor", "null", "a function");
    visit(matrix, "matrix", [&](const auto& of, auto t) {
      using T = typename decltype(t)::type;
      of.for_each_block([&](Index i, Index j, MatrixView<const T> block) {
        require_callback("visitor", visitor(i, j, block.rows, block.cols, block.data, block.ld, user));
      });
    });
  });
}
