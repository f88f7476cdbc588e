// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <thread>

#include "common.hpp"

/// Algebra of block-sparse matrices: every function makes a new matrix or a number.
namespace tessera::python {
namespace {

using Complex = std::complex<double>;

template <class T>
T scalar_of(Complex x, const char* name) {
  if constexpr (is_complex<T>) {
    return T(x);
  } else {
    if (x.imag() != 0) throw InvalidArgument(name, "a complex number", "a real number for a real matrix");
    return static_cast<T>(x.real());
  }
}

void require(const Status& status) {
  if (!status.ok()) throw RuntimeError(status.message());
}

/// A new matrix that `make(sequence, a)` makes.
template <class Make>
Matrix made_of(Matrix& matrix, const Make& make) {
  return matrix.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    const Call call(&matrix);
    Sequence sequence(current_runtime());
    BlockSparseMatrix<T> result = make(sequence, a);
    require(sequence.wait());
    return Matrix(std::move(result));
  });
}

/// alpha A + beta B, in A's layout; half-stored if both have one symmetry, else in full.
Matrix add_matrices(Complex alpha, Matrix& first, Complex beta, Matrix& second) {
  return first.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    const Call call(&first);
    BlockSparseMatrix<T>& b = second.as<T>("b");
    const T x = scalar_of<T>(alpha, "alpha"), y = scalar_of<T>(beta, "beta");
    Sequence sequence(current_runtime());
    const bool hermitian_kept =
        a.symmetry() != Symmetry::hermitian || (imag_part(x) == RealOf<T>(0) && imag_part(y) == RealOf<T>(0));
    const bool half = a.symmetry() != Symmetry::none && a.symmetry() == b.symmetry() && hermitian_kept;
    BlockSparseMatrix<T> sum =
        half || a.symmetry() == Symmetry::none ? copy(sequence, a) : desymmetrize(sequence, a);
    add(sequence, x, sum, y, b);
    require(sequence.wait());
    return Matrix(std::move(sum));
  });
}

Matrix scaled(Complex alpha, Matrix& matrix) {
  return made_of(matrix, [&]<class T>(Sequence& sequence, BlockSparseMatrix<T>& a) {
    const T x = scalar_of<T>(alpha, "alpha");
    const bool full = a.symmetry() == Symmetry::hermitian && imag_part(x) != RealOf<T>(0);
    BlockSparseMatrix<T> result = full ? desymmetrize(sequence, a) : copy(sequence, a);
    scale(sequence, x, result);
    return result;
  });
}

Matrix shifted(Matrix& matrix, Complex alpha) {
  return made_of(matrix, [&]<class T>(Sequence& sequence, BlockSparseMatrix<T>& a) {
    BlockSparseMatrix<T> result = copy(sequence, a);
    add_on_diagonal(sequence, scalar_of<T>(alpha, "alpha"), result);
    return result;
  });
}

Matrix filtered(Matrix& matrix, double eps) {
  return made_of(matrix, [&]<class T>(Sequence& sequence, BlockSparseMatrix<T>& a) {
    BlockSparseMatrix<T> result = copy(sequence, a);
    filter(result, eps);
    return result;
  });
}

Op op_of(const std::string& name) {
  if (name == "N") return Op::none;
  if (name == "T") return Op::transpose;
  if (name == "C") return Op::adjoint;
  throw InvalidArgument("op", name, "N, T or C");
}

/// (status, C or None, numbers of the product).
nb::tuple multiply_matrices(Complex alpha, Matrix& first, const std::string& op_a, Matrix& second,
                            const std::string& op_b, const std::string& symmetry, double filter_eps) {
  const Op opa = op_of(op_a), opb = op_of(op_b);
  MultiplyResult r;
  std::optional<Matrix> product;
  first.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    const Call call(&first);
    BlockSparseMatrix<T>& b = second.as<T>("b");
    Runtime& runtime = current_runtime();
    const auto rows = opa == Op::none ? a.layout().rows : a.layout().cols;
    const auto cols = opb == Op::none ? b.layout().cols : b.layout().rows;
    const auto vector_of = [](const BlockDimension& d) {
      return std::vector<Index>(d.sizes().begin(), d.sizes().end());
    };
    const BlockLayout layout =
        make_block_layout(runtime, vector_of(*rows), vector_of(*cols), symmetry_of(symmetry));
    BlockSparseMatrix<T> c(BlockPattern::make(runtime, layout, {}));
    std::atomic<bool> stop = false;
    auto completion = submit_multiply<T>(
        runtime, {.alpha = scalar_of<T>(alpha, "alpha"), .a = {a, opa}, .b = {b, opb}, .c = c},
        {.filter_eps = filter_eps});
    wait_for(completion, stop);
    r = std::move(completion).result();
    if (r) product.emplace(std::move(c));
  });
  check_signals();
  nb::dict numbers;
  numbers["products"] = r.products;
  numbers["flop"] = r.flop;
  numbers["filtered_products"] = r.filtered_products;
  numbers["filtered_blocks"] = r.filtered_blocks;
  numbers["seconds"] = r.seconds;
  return nb::make_tuple(status_object(r.status()), product ? nb::cast(std::move(*product)) : nb::none(),
                        numbers);
}

/// op(A) X for a dense X.
nb::object multiply_dense(Matrix& matrix, const std::string& op, AnyArray x) {
  const Op how = op_of(op);
  return matrix.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    if (x.dtype() != nb::dtype<T>()) throw InvalidArgument("x", "another dtype", "the matrix' dtype");
    const MatrixView<const T> view = column_major<T>(x, "x");
    const Index inner = how == Op::none ? a.cols() : a.rows(), outer = how == Op::none ? a.rows() : a.cols();
    if (view.rows != inner)
      throw InvalidArgument("x", std::to_string(view.rows) + " rows", std::to_string(inner) + " rows");
    std::vector<T> y(static_cast<std::size_t>(outer * view.cols));
    if (view.cols > 0) {
      const Call call(&matrix);
      const auto from = how == Op::none ? column_vectors(a, view.cols) : row_vectors(a, view.cols);
      const auto to = how == Op::none ? row_vectors(a, view.cols) : column_vectors(a, view.cols);
      from.set(view.data, view.ld);
      Sequence sequence(current_runtime());
      multiply_vectors<T>(sequence, T(1), a, how, from, T(0), to);
      require(sequence.wait());
      to.get(y.data(), std::max<Index>(outer, 1));
    }
    return to_numpy_matrix(std::move(y), outer, view.cols);
  });
}

/// A number of a matrix, computed without Python's lock.
template <class Number>
auto number_of(Matrix& matrix, const Number& number) {
  return matrix.visit([&](auto& a) {
    const Call call(&matrix);
    return number(a);
  });
}

Complex dot_product(Matrix& first, Matrix& second) {
  return first.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    const Call call(&first);
    return Complex(dot(a, second.as<T>("b")));
  });
}

nb::object diagonal(Matrix& matrix) {
  return matrix.visit([&]<class T>(BlockSparseMatrix<T>& a) {
    std::vector<T> values;
    {
      const Call call(&matrix);
      values = get_diagonal(a);
    }
    return to_numpy(std::move(values));
  });
}

}  // namespace

void bind_algebra(nb::module_& module) {
  module.def("add", &add_matrices, nb::arg("alpha"), nb::arg("a"), nb::arg("beta"), nb::arg("b"));
  module.def("scaled", &scaled, nb::arg("alpha"), nb::arg("a"));
  module.def("shifted", &shifted, nb::arg("a"), nb::arg("alpha"));
  module.def("filtered", &filtered, nb::arg("a"), nb::arg("eps"));
  module.def(
      "transposed",
      [](Matrix& m, bool conjugated) {
        return made_of(m, [&](Sequence& sequence, auto& a) { return transpose(sequence, a, conjugated); });
      },
      nb::arg("a"), nb::arg("conjugated"));
  module.def(
      "desymmetrized",
      [](Matrix& m) {
        return made_of(m, [](Sequence& sequence, auto& a) { return desymmetrize(sequence, a); });
      },
      nb::arg("a"));
  module.def(
      "half_stored",
      [](Matrix& m, const std::string& symmetry) {
        return made_of(m, [&](Sequence& sequence, auto& a) {
          BlockLayout layout = a.layout();
          layout.symmetry = symmetry_of(symmetry);
          return redistribute(sequence, a, layout);
        });
      },
      nb::arg("a"), nb::arg("symmetry"));
  module.def("multiply", &multiply_matrices, nb::arg("alpha"), nb::arg("a"), nb::arg("op_a"), nb::arg("b"),
             nb::arg("op_b"), nb::arg("symmetry"), nb::arg("filter_eps"));
  module.def("multiply_dense", &multiply_dense, nb::arg("a"), nb::arg("op"), nb::arg("x"));
  module.def("dot", &dot_product, nb::arg("a"), nb::arg("b"));
  module.def("diagonal", &diagonal, nb::arg("a"));
  module.def(
      "trace", [](Matrix& m) { return number_of(m, [](auto& a) { return Complex(trace(a)); }); },
      nb::arg("a"));
  module.def(
      "frobenius_norm", [](Matrix& m) { return number_of(m, [](auto& a) { return frobenius_norm(a); }); },
      nb::arg("a"));
  module.def(
      "max_abs_norm", [](Matrix& m) { return number_of(m, [](auto& a) { return max_abs_norm(a); }); },
      nb::arg("a"));
  module.def(
      "gershgorin_norm", [](Matrix& m) { return number_of(m, [](auto& a) { return gershgorin_norm(a); }); },
      nb::arg("a"));
  module.def(
      "occupation", [](Matrix& m) { return number_of(m, [](auto& a) { return occupation(a); }); },
      nb::arg("a"));
}

}  // namespace tessera::python
