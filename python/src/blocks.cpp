// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "common.hpp"

/// Block-sparse matrices from arrays, and arrays from them.
namespace tessera::python {
namespace {

std::vector<Index> sizes_of(const HostVector<Index>& sizes) {
  return {sizes.data(), sizes.data() + sizes.shape(0)};
}

Matrix from_dense_array(AnyArray dense, HostVector<Index> row_sizes, HostVector<Index> col_sizes,
                        const std::string& symmetry, double threshold) {
  return with_scalar(dense.dtype(), [&]<class T>() {
    const Call call;
    Runtime& runtime = current_runtime();
    const BlockLayout layout =
        make_block_layout(runtime, sizes_of(row_sizes), sizes_of(col_sizes), symmetry_of(symmetry));
    return Matrix(from_dense<T>(runtime, column_major<T>(dense, "a"), layout, threshold));
  });
}

/// The elements of compressed rows; every rank gives all of them, and rank 0's count.
Matrix from_rows(HostVector<Index> begins, HostVector<Index> columns, AnyArray values,
                 HostVector<Index> row_sizes, HostVector<Index> col_sizes, const std::string& symmetry) {
  return with_scalar(values.dtype(), [&]<class T>() {
    const Call call;
    Runtime& runtime = current_runtime();
    const BlockLayout layout =
        make_block_layout(runtime, sizes_of(row_sizes), sizes_of(col_sizes), symmetry_of(symmetry));
    CompressedRows<T> rows;
    rows.rows = layout.rows->elements();
    rows.cols = layout.cols->elements();
    rows.row_begin = {0};
    if (runtime.rank() == 0) {
      if (static_cast<Index>(begins.shape(0)) != rows.rows + 1)
        throw InvalidArgument("row_sizes", std::to_string(rows.rows) + " rows",
                              "the matrix' " + std::to_string(begins.shape(0) - 1));
      for (Index i = 0; i < rows.rows; ++i) rows.row.push_back(i);
      rows.row_begin.assign(begins.data(), begins.data() + begins.shape(0));
      rows.column.assign(columns.data(), columns.data() + columns.shape(0));
      const T* const v = static_cast<const T*>(values.data());
      rows.value.assign(v, v + columns.shape(0));
    }
    return Matrix(from_compressed_rows<T>(runtime, rows, layout));
  });
}

/// Blocks (rows[k], cols[k]), whose values stand one after the other, each column-major; each rank takes its own ones.
Matrix from_block_arrays(AnyArray values, HostVector<Index> rows, HostVector<Index> cols,
                         HostVector<Index> row_sizes, HostVector<Index> col_sizes,
                         const std::string& symmetry) {
  return with_scalar(values.dtype(), [&]<class T>() {
    const Call call;
    Runtime& runtime = current_runtime();
    const BlockLayout layout =
        make_block_layout(runtime, sizes_of(row_sizes), sizes_of(col_sizes), symmetry_of(symmetry));
    BlockSparseBuilder<T> builder(runtime, layout);
    const T* next = static_cast<const T*>(values.data());
    const T* const end = next + values.size();
    for (std::size_t k = 0; k < rows.shape(0); ++k) {
      const Index i = rows.data()[k], j = cols.data()[k];
      if (i < 0 || i >= layout.rows->blocks() || j < 0 || j >= layout.cols->blocks())
        throw InvalidArgument("blocks", "(" + std::to_string(i) + ", " + std::to_string(j) + ")",
                              "a block of the matrix");
      const Index m = layout.rows->size(i), n = layout.cols->size(j);
      if (end - next < m * n) throw InvalidArgument("values", "too few elements", "those of all blocks");
      if (builder.owner(i, j) == runtime.rank()) builder.add(i, j, {next, m, n, std::max<Index>(m, 1)});
      next += m * n;
    }
    return Matrix(builder.finalize());
  });
}

/// (rows, columns, values) of the stored blocks of this rank, as from_block_arrays takes them.
nb::tuple to_block_arrays(Matrix& matrix) {
  std::vector<Index> rows, cols;
  nb::object values;
  matrix.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    std::vector<T> all;
    {
      const Call call(&matrix);
      a.for_each_block([&](Index i, Index j, MatrixView<const T> block) {
        rows.push_back(i), cols.push_back(j);
        for (Index c = 0; c < block.cols; ++c)
          all.insert(all.end(), block.data + c * block.ld, block.data + c * block.ld + block.rows);
      });
    }
    values = to_numpy(std::move(all));
  });
  return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(cols)), values);
}

nb::object to_dense_array(Matrix& matrix) {
  return matrix.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    std::vector<T> dense;
    Index rows = 0, cols = 0;
    {
      const Call call(&matrix);
      rows = a.rows(), cols = a.cols();
      dense = to_dense(a);
    }
    return to_numpy_matrix(std::move(dense), rows, cols);
  });
}

/// (row begins, columns, values) of the elements of this rank's rows, both halves; other rows are empty.
nb::tuple to_rows(Matrix& matrix, double threshold) {
  std::vector<Index> begins, columns;
  nb::object values;
  matrix.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    CompressedRows<T> rows;
    {
      const Call call(&matrix);
      rows = to_compressed_rows(a, threshold);
      begins.assign(static_cast<std::size_t>(rows.rows) + 1, 0);
      for (std::size_t k = 0; k < rows.row.size(); ++k)
        begins[static_cast<std::size_t>(rows.row[k]) + 1] = rows.row_begin[k + 1] - rows.row_begin[k];
      for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    }
    columns = std::move(rows.column);
    values = to_numpy(std::move(rows.value));
  });
  return nb::make_tuple(to_numpy(std::move(begins)), to_numpy(std::move(columns)), values);
}

const char* symmetry_name(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::none:
      return "none";
    case Symmetry::symmetric:
      return "symmetric";
    case Symmetry::antisymmetric:
      return "antisymmetric";
    case Symmetry::hermitian:
      return "hermitian";
  }
  return "none";
}

nb::tuple block_sizes(Matrix& matrix) {
  std::vector<Index> rows, cols;
  matrix.visit([&](auto& a) {
    const auto r = a.layout().rows->sizes(), c = a.layout().cols->sizes();
    rows.assign(r.begin(), r.end()), cols.assign(c.begin(), c.end());
  });
  return nb::make_tuple(to_numpy(std::move(rows)), to_numpy(std::move(cols)));
}

}  // namespace

void bind_blocks(nb::module_& module) {
  nb::class_<Matrix>(module, "Matrix")
      .def_prop_ro("closed", &Matrix::closed)
      .def_prop_ro(
          "shape",
          [](Matrix& m) { return m.visit([](auto& a) { return nb::make_tuple(a.rows(), a.cols()); }); })
      .def_prop_ro("block_shape",
                   [](Matrix& m) {
                     return m.visit([](auto& a) { return nb::make_tuple(a.block_rows(), a.block_cols()); });
                   })
      .def_prop_ro(
          "letter",
          [](Matrix& m) {
            return m.visit([]<class T>(BlockSparseMatrix<T>&) { return std::string(1, type_letter<T>); });
          })
      .def_prop_ro("symmetry",
                   [](Matrix& m) { return m.visit([](auto& a) { return symmetry_name(a.symmetry()); }); })
      .def_prop_ro("stored_blocks",
                   [](Matrix& m) { return m.visit([](auto& a) { return a.pattern().blocks(); }); })
      .def_prop_ro("stored_elements",
                   [](Matrix& m) { return m.visit([](auto& a) { return a.pattern().elements(); }); });
  module.def("from_dense", &from_dense_array, nb::arg("a"), nb::arg("row_sizes"), nb::arg("col_sizes"),
             nb::arg("symmetry"), nb::arg("threshold"));
  module.def("from_rows", &from_rows, nb::arg("begins"), nb::arg("columns"), nb::arg("values"),
             nb::arg("row_sizes"), nb::arg("col_sizes"), nb::arg("symmetry"));
  module.def("from_blocks", &from_block_arrays, nb::arg("values"), nb::arg("rows"), nb::arg("cols"),
             nb::arg("row_sizes"), nb::arg("col_sizes"), nb::arg("symmetry"));
  module.def("to_blocks", &to_block_arrays, nb::arg("a"));
  module.def("to_dense", &to_dense_array, nb::arg("a"));
  module.def("to_rows", &to_rows, nb::arg("a"), nb::arg("threshold"));
  module.def("block_sizes", &block_sizes, nb::arg("a"));
}

}  // namespace tessera::python
