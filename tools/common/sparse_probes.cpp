// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_probes.hpp"

#include <cmath>
#include <span>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/matgen.hpp>

#include "process.hpp"

namespace tessera::program {
using namespace detail;

namespace {

using Complex = std::complex<double>;

/// Calls visit(i, j, value) for each element of this rank's blocks, and for those that follow by
/// symmetry.
template <class T, class Visit>
void for_each_element(const BlockSparseMatrix<T>& a, const Visit& visit) {
  const BlockDimension &rows = a.pattern().rows(), &cols = a.pattern().cols();
  const Symmetry symmetry = a.symmetry();
  a.for_each_block([&](Index row, Index col, MatrixView<const T> values) {
    const Index first_row = rows.first(row), first_col = cols.first(col);
    const bool both = symmetry != Symmetry::none && row != col;
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) {
        const T x = values(i, j);
        visit(first_row + i, first_col + j, x);
        if (both) visit(first_col + j, first_row + i, mirrored(symmetry, x));
      }
  });
}

/// Squared two-norms of the rows of op(A), or of its columns.
template <class T>
std::vector<double> squared_norms(const BlockSparseMatrix<T>& a, Op op, bool of_rows) {
  const bool by_row = of_rows == (op == Op::none);
  std::vector<double> norms(static_cast<std::size_t>(by_row ? a.rows() : a.cols()), 0.0);
  for_each_element(a, [&](Index i, Index j, T x) { norms[by_row ? i : j] += std::norm(Complex(x)); });
  a.runtime().all_reduce_sum(norms.data(), static_cast<Index>(norms.size()));
  return norms;
}

/// Whether a check skips a block: of a product that keeps C's blocks those that C does not store. Each rank
/// checks the blocks that it would store.
template <class T>
bool skipped(const SparseProduct<T>& product, Index row, Index col) {
  const BlockSparseMatrix<T>& c = *product.c;
  return product.retain_sparsity &&
         (c.layout().owner(row, col) != c.runtime().rank() || !c.pattern().find(row, col));
}

template <class T>
Index inner_order(const SparseProduct<T>& product) {
  return product.op_a == Op::none ? product.a->cols() : product.a->rows();
}

/// error / allowed; 0 if both are zero.
double quotient(double error, double allowed) {
  if (std::isnan(error)) return HUGE_VAL;
  return error == 0 ? 0 : error / allowed;
}

/// Vector of order n with +-1 in the elements [first, end), zero elsewhere.
Vector sign_vector(Index n, Index first, Index end, std::uint64_t seed) {
  Vector x(static_cast<std::size_t>(n), 0.0);
  for (Index i = first; i < end; ++i)
    x[static_cast<std::size_t>(i)] = random_uniform(seed, 9, i, first) < 0 ? -1 : 1;
  return x;
}

/// The blocks of columns in which random vector number `sample` is not zero: all, or one.
std::pair<Index, Index> sampled_blocks(const BlockDimension& cols, bool one, int sample, int samples) {
  if (!one) return {0, cols.blocks()};
  const Index block = cols.blocks() * sample / samples;
  return {block, block + 1};
}

}  // namespace

template <class T>
Vector times(const BlockSparseMatrix<T>& a, Op op, const Vector& x) {
  Vector y(static_cast<std::size_t>(op == Op::none ? a.rows() : a.cols()), 0.0);
  for_each_element(a, [&](Index i, Index j, T value) {
    const Complex element(value);
    if (op == Op::none)
      y[static_cast<std::size_t>(i)] += element * x[static_cast<std::size_t>(j)];
    else
      y[static_cast<std::size_t>(j)] +=
          (op == Op::adjoint ? std::conj(element) : element) * x[static_cast<std::size_t>(i)];
  });
  a.runtime().all_reduce_sum(reinterpret_cast<double*>(y.data()), 2 * static_cast<Index>(y.size()));
  return y;
}

template <class T>
BlockMap<T> all_blocks(const BlockSparseMatrix<T>& a) {
  BlockMap<T> blocks;
  a.for_each_block([&](Index row, Index col, MatrixView<const T> values) {
    std::vector<T>& block = blocks[{row, col}];
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) block.push_back(values(i, j));
    if (a.symmetry() == Symmetry::none || row == col) return;
    std::vector<T>& image = blocks[{col, row}];
    for (Index i = 0; i < values.rows; ++i)
      for (Index j = 0; j < values.cols; ++j) image.push_back(mirrored(a.symmetry(), values(i, j)));
  });
  return blocks;
}

template <class T>
std::vector<T> densify(const BlockSparseMatrix<T>& a) {
  const Index rows = a.rows();
  std::vector<T> dense(static_cast<std::size_t>(rows * a.cols()), T(0));
  for_each_element(a, [&](Index i, Index j, T x) { dense[static_cast<std::size_t>(i + j * rows)] = x; });
  if (a.runtime().size() == 1) return dense;
  std::vector<Complex> sum(dense.begin(), dense.end());
  a.runtime().all_reduce_sum(reinterpret_cast<double*>(sum.data()), 2 * static_cast<Index>(sum.size()));
  for (std::size_t k = 0; k < sum.size(); ++k) {
    if constexpr (is_complex<T>)
      dense[k] = T(sum[k]);
    else
      dense[k] = static_cast<T>(sum[k].real());
  }
  return dense;
}

template <class T>
DenseProduct<T> dense_product(const SparseProduct<T>& product, int threads) {
  const BlockSparseMatrix<T>&a = *product.a, &b = *product.b;
  const Index m = product.c->rows(), n = product.c->cols(), k = inner_order(product);
  const std::vector<T> dense_a = densify(a), dense_b = product.a == product.b ? std::vector<T>() : densify(b);
  DenseProduct<T> result;
  if (product.c0)
    result.c = densify(*product.c0);
  else
    result.c.assign(static_cast<std::size_t>(m * n), T(0));
  a.runtime().run_exclusively(threads, [&] {
    const double start = now();
    blas::gemm(product.op_a, product.op_b, m, n, k, product.alpha, dense_a.data(),
               std::max<Index>(a.rows(), 1), dense_b.empty() ? dense_a.data() : dense_b.data(),
               std::max<Index>(b.rows(), 1), product.beta, result.c.data(), std::max<Index>(m, 1));
    result.seconds = now() - start;
  });
  return result;
}

template <class T>
CheckRecord check_against_dense(const SparseProduct<T>& product, const std::vector<T>& reference) {
  const BlockSparseMatrix<T>& c = *product.c;
  const std::vector<T> ours = densify(c);
  const std::vector<T> before = product.c0 ? densify(*product.c0) : std::vector<T>();
  const std::vector<double> a = squared_norms(*product.a, product.op_a, true),
                            b = squared_norms(*product.b, product.op_b, false);
  const double eps = static_cast<double>(precision<T>) * std::sqrt(static_cast<double>(inner_order(product)));
  const double alpha = std::abs(product.alpha), beta = std::abs(product.beta);
  const BlockDimension &rows = c.pattern().rows(), &cols = c.pattern().cols();
  // Select the nonempty blocks once, because there may be very many empty ones.
  std::vector<Index> rows_with_elements;
  for (Index row = 0; row < rows.blocks(); ++row)
    if (rows.size(row) > 0) rows_with_elements.push_back(row);
  double worst = 0;
  for (Index col = 0; col < cols.blocks(); ++col)
    for (const Index row :
         std::span(rows_with_elements).first(cols.size(col) > 0 ? rows_with_elements.size() : 0)) {
      if (skipped(product, row, col)) continue;
      for (Index j = cols.first(col); j < cols.first(col + 1); ++j)
        for (Index i = rows.first(row); i < rows.first(row + 1); ++i) {
          const auto at = static_cast<std::size_t>(i + j * c.rows());
          double allowed = eps * (alpha * std::sqrt(a[i] * b[j])) + 2 * product.filter / check_bound;
          if (!before.empty()) allowed += eps * beta * std::abs(Complex(before[at]));
          worst = std::max(worst, quotient(std::abs(Complex(ours[at]) - Complex(reference[at])), allowed));
        }
    }
  c.runtime().all_reduce_max(&worst, 1);
  CheckRecord record;
  record.residual = worst;
  return record;
}

template <class T>
CheckRecord check_against_blocks(const SparseProduct<T>& product, const BlockMap<T>& reference) {
  const BlockMap<T> ours = all_blocks(*product.c),
                    before = product.c0 ? all_blocks(*product.c0) : BlockMap<T>();
  const std::vector<double> a = squared_norms(*product.a, product.op_a, true),
                            b = squared_norms(*product.b, product.op_b, false);
  const double eps = static_cast<double>(precision<T>) * std::sqrt(static_cast<double>(inner_order(product)));
  const double alpha = std::abs(product.alpha), beta = std::abs(product.beta);
  const BlockDimension &rows = product.c->pattern().rows(), &cols = product.c->pattern().cols();
  CheckRecord record;
  record.values = record.values_difference = 0;
  const auto values_at = [](const BlockMap<T>& blocks, const std::pair<Index, Index>& place) {
    const auto found = blocks.find(place);
    return found == blocks.end() ? nullptr : found->second.data();
  };
  const auto element = [](const T* block, std::size_t at) { return block ? Complex(block[at]) : Complex(0); };
  const auto compare = [&](const std::pair<Index, Index>& place) {
    const T *const x = values_at(ours, place), *const y = values_at(reference, place),
                   *const c0 = values_at(before, place);
    std::size_t at = 0;
    for (Index j = cols.first(place.second); j < cols.first(place.second + 1); ++j)
      for (Index i = rows.first(place.first); i < rows.first(place.first + 1); ++i, ++at) {
        const double error = std::abs(element(x, at) - element(y, at));
        const double allowed =
            eps * (alpha * std::sqrt(a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(j)]) +
                   beta * std::abs(element(c0, at))) +
            2 * product.filter / check_bound;
        record.values = std::max(record.values, quotient(error, allowed));
        record.values_difference = std::max(record.values_difference, error);
      }
  };
  for (const auto& [place, block] : ours) compare(place);
  for (const auto& [place, block] : reference)
    if (!ours.contains(place)) compare(place);
  return record;
}

template <class T>
CheckRecord check_by_vectors(const SparseProduct<T>& product, std::uint64_t seed) {
  const BlockSparseMatrix<T>& c = *product.c;
  const BlockDimension &rows = c.pattern().rows(), &cols = c.pattern().cols();
  const std::vector<double> a = squared_norms(*product.a, product.op_a, true),
                            b = squared_norms(*product.b, product.op_b, false);
  const std::vector<double> before =
      product.c0 ? squared_norms(*product.c0, Op::none, true) : std::vector<double>(a.size(), 0.0);
  const double eps = static_cast<double>(precision<T>) * std::sqrt(static_cast<double>(inner_order(product)));
  const int samples = product.retain_sparsity ? 8 : 2;
  double worst = 0;
  for (int sample = 0; sample < samples && cols.blocks() > 0; ++sample) {
    const auto [first, end] = sampled_blocks(cols, product.retain_sparsity, sample, samples);
    const Vector x =
        sign_vector(c.cols(), cols.first(first), cols.first(end), seed + static_cast<unsigned>(sample));
    const Vector ours = times(c, Op::none, x);
    Vector expected = times(*product.a, product.op_a, times(*product.b, product.op_b, x));
    for (Complex& y : expected) y *= Complex(product.alpha);
    if (product.c0) {
      const Vector added = times(*product.c0, Op::none, x);
      for (std::size_t i = 0; i < added.size(); ++i) expected[i] += Complex(product.beta) * added[i];
    }
    double b_square = 0;
    for (Index j = cols.first(first); j < cols.first(end); ++j) b_square += b[static_cast<std::size_t>(j)];
    const double filtered =
        6 * 2 * product.filter / check_bound * std::sqrt(static_cast<double>(end - first));
    const double x_norm = std::sqrt(static_cast<double>(cols.first(end) - cols.first(first)));
    for (Index row = 0; row < rows.blocks(); ++row) {
      if (skipped(product, row, first)) continue;
      for (Index i = rows.first(row); i < rows.first(row + 1); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double allowed = eps * (std::abs(product.alpha) * std::sqrt(a[at] * b_square) +
                                      std::abs(product.beta) * std::sqrt(before[at]) * x_norm) +
                               filtered;
        worst = std::max(worst, quotient(std::abs(ours[at] - expected[at]), allowed));
      }
    }
  }
  c.runtime().all_reduce_max(&worst, 1);
  CheckRecord record;
  record.residual = worst;
  return record;
}

template <class T>
CheckRecord check_product(const SparseProduct<T>& product, std::vector<T>& dense, int threads,
                          std::uint64_t seed) {
  constexpr Index dense_check_order = 2000;
  if (dense.empty() &&
      std::max({product.a->rows(), product.a->cols(), product.c->cols()}) < dense_check_order)
    dense = dense_product(product, threads).c;
  return dense.empty() ? check_by_vectors(product, seed) : check_against_dense(product, dense);
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template BlockMap<T> all_blocks<T>(const BlockSparseMatrix<T>&);                             \
  template CheckRecord check_against_blocks<T>(const SparseProduct<T>&, const BlockMap<T>&);   \
  template Vector times<T>(const BlockSparseMatrix<T>&, Op, const Vector&);                    \
  template std::vector<T> densify<T>(const BlockSparseMatrix<T>&);                             \
  template DenseProduct<T> dense_product<T>(const SparseProduct<T>&, int);                     \
  template CheckRecord check_against_dense<T>(const SparseProduct<T>&, const std::vector<T>&); \
  template CheckRecord check_by_vectors<T>(const SparseProduct<T>&, std::uint64_t);            \
  template CheckRecord check_product<T>(const SparseProduct<T>&, std::vector<T>&, int, std::uint64_t);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
