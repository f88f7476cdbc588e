// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/block_sparse_files.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

/// A matrix that `make(runtime, type)` gives becomes the caller's. Collective.
template <class Make>
int make_matrix(tessera_runtime* runtime, int type, tessera_block_matrix** matrix, const Make& make) {
  return call_on(runtime, [&] {
    required(matrix, "matrix") = nullptr;
    for_type(type, [&](auto t) { *matrix = handle_of(make(runtime_of(runtime), t)); });
  });
}

template <class T>
CompressedRows<T> rows_of(const BlockLayout& layout, Index rows_here, const Index* row, const Index* begin,
                          const Index* column, const void* values) {
  if (rows_here < 0) throw InvalidArgument("rows_here", std::to_string(rows_here), "at least 0");
  required(row, "row", rows_here);
  required(begin, "begin", rows_here);
  CompressedRows<T> rows;
  rows.rows = layout.rows->elements();
  rows.cols = layout.cols->elements();
  if (rows_here == 0) {
    rows.row_begin = {0};
    return rows;
  }
  if (begin[0] != 0) throw InvalidArgument("begin", std::to_string(begin[0]), "0 first");
  for (Index i = 0; i < rows_here; ++i)
    if (begin[i + 1] < begin[i])
      throw InvalidArgument("begin", std::to_string(begin[i + 1]), "ascending numbers");
  const Index entries = begin[rows_here];
  required(column, "column", entries);
  required(values, "values", entries);
  rows.row.assign(row, row + rows_here);
  rows.row_begin.assign(begin, begin + rows_here + 1);
  rows.column.assign(column, column + entries);
  rows.value.assign(static_cast<const T*>(values), static_cast<const T*>(values) + entries);
  return rows;
}

}  // namespace

int tessera_block_matrix_from_dense(tessera_runtime* runtime, int type, const tessera_block_layout* layout,
                                    const void* values, tessera_index ld, double threshold,
                                    tessera_block_matrix** matrix) {
  return make_matrix(runtime, type, matrix, [&](Runtime& on, auto t) {
    using T = typename decltype(t)::type;
    const BlockLayout& in = required(layout, "layout").layout;
    const Index rows = in.rows->elements(), cols = in.cols->elements();
    required(values, "values", rows * cols);
    if (ld < std::max<Index>(1, rows)) throw InvalidArgument("ld", std::to_string(ld), "at least the rows");
    return from_dense<T>(on, {static_cast<const T*>(values), rows, cols, ld}, in, threshold);
  });
}

int tessera_block_matrix_to_dense(const tessera_block_matrix* matrix, void* values, tessera_index ld) {
  return call_on(matrix, [&] {
    visit(matrix, "matrix", [&](const auto& of, auto t) {
      using T = typename decltype(t)::type;
      required(values, "values", of.rows() * of.cols());
      if (ld < std::max<Index>(1, of.rows()))
        throw InvalidArgument("ld", std::to_string(ld), "at least the rows");
      const std::vector<T> dense = to_dense(of);
      for (Index j = 0; j < of.cols(); ++j)
        std::copy_n(dense.data() + j * of.rows(), of.rows(), static_cast<T*>(values) + j * ld);
    });
  });
}

int tessera_block_matrix_from_csr(tessera_runtime* runtime, int type, const tessera_block_layout* layout,
                                  tessera_index rows_here, const tessera_index* row,
                                  const tessera_index* begin, const tessera_index* column, const void* values,
                                  tessera_block_matrix** matrix) {
  return make_matrix(runtime, type, matrix, [&](Runtime& on, auto t) {
    using T = typename decltype(t)::type;
    const BlockLayout& in = required(layout, "layout").layout;
    return from_compressed_rows<T>(on, rows_of<T>(in, rows_here, row, begin, column, values), in);
  });
}

int tessera_block_matrix_to_csr(const tessera_block_matrix* matrix, double threshold, int on_root,
                                tessera_index* rows_here, tessera_index* entries, tessera_index* row,
                                tessera_index* begin, tessera_index* column, void* values) {
  return call_on(matrix, [&] {
    visit(matrix, "matrix", [&](const auto& of, auto t) {
      using T = typename decltype(t)::type;
      const CompressedRows<T> rows = to_compressed_rows(of, threshold, on_root != 0);
      required(rows_here, "rows_here") = static_cast<Index>(rows.row.size());
      required(entries, "entries") = static_cast<Index>(rows.value.size());
      if (row) std::copy(rows.row.begin(), rows.row.end(), row);
      if (begin) {
        if (rows.row_begin.empty()) begin[0] = 0;
        std::copy(rows.row_begin.begin(), rows.row_begin.end(), begin);
      }
      if (column) std::copy(rows.column.begin(), rows.column.end(), column);
      if (values) std::copy(rows.value.begin(), rows.value.end(), static_cast<T*>(values));
    });
  });
}

int tessera_block_matrix_read_matrix_market(tessera_runtime* runtime, int type, const char* path,
                                            const char* sizes_path, tessera_block_matrix** matrix) {
  return make_matrix(runtime, type, matrix, [&](Runtime& on, auto t) {
    return read_matrix_market<typename decltype(t)::type>(on, required(path, "path"),
                                                          required(sizes_path, "sizes_path"));
  });
}

int tessera_block_matrix_read_matrix_market_in(tessera_runtime* runtime, int type, const char* path,
                                               const tessera_block_layout* layout,
                                               tessera_block_matrix** matrix) {
  return make_matrix(runtime, type, matrix, [&](Runtime& on, auto t) {
    return read_matrix_market<typename decltype(t)::type>(on, required(path, "path"),
                                                          required(layout, "layout").layout);
  });
}

int tessera_block_matrix_write_matrix_market(const tessera_block_matrix* matrix, const char* path,
                                             double threshold) {
  return call_on(matrix, [&] {
    visit(matrix, "matrix",
          [&](const auto& of, auto) { write_matrix_market(required(path, "path"), of, threshold); });
  });
}

int tessera_block_matrix_read_hdf5(tessera_runtime* runtime, int type, const char* path,
                                   tessera_block_matrix** matrix) {
  return make_matrix(runtime, type, matrix, [&](Runtime& on, auto t) {
    return read_hdf5<typename decltype(t)::type>(on, required(path, "path"));
  });
}

int tessera_block_matrix_read_hdf5_in(tessera_runtime* runtime, int type, const char* path,
                                      const tessera_block_layout* layout, tessera_block_matrix** matrix) {
  return make_matrix(runtime, type, matrix, [&](Runtime& on, auto t) {
    return read_hdf5<typename decltype(t)::type>(on, required(path, "path"),
                                                 required(layout, "layout").layout);
  });
}

int tessera_block_matrix_write_hdf5(const tessera_block_matrix* matrix, const char* path) {
  return call_on(matrix, [&] {
    visit(matrix, "matrix", [&](const auto& of, auto) { write_hdf5(required(path, "path"), of); });
  });
}
