// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/multiply_vectors.hpp>
#include <tessera/spectral_bounds.hpp>

#include "reduction_cases.hpp"

/// Checks of products with vectors against loops, and of spectral bounds against LAPACK.
namespace tessera::operations_test {

/// Vectors with random values, and these.
template <class T>
struct VectorProblem {
  PanelVectors<T> vectors;
  Matrix<T> dense;
};

template <class T>
VectorProblem<T> filled(PanelVectors<T> vectors, std::uint64_t seed) {
  Matrix<T> dense = random_matrix<T>(vectors.rows(), vectors.width(), seed);
  vectors.set(dense.data(), dense.ld());
  return {std::move(vectors), std::move(dense)};
}

template <class T>
Matrix<T> contents(const PanelVectors<T>& vectors) {
  Matrix<T> dense(vectors.rows(), vectors.width());
  vectors.get(dense.data(), dense.ld());
  return dense;
}

/// Vectors for a dimension's block sizes in a cut of their own.
template <class T>
PanelVectors<T> other_cut(Runtime& runtime, const BlockDimension& dimension, Index width) {
  const std::vector<Index> sizes(dimension.sizes().begin(), dimension.sizes().end());
  return PanelVectors<T>(runtime, BlockDimension::make(sizes, 1, {}, 4), width);
}

/// Y := alpha op(A) X + beta Y with vectors cut as the panels, and cut otherwise.
template <class T>
void check_vector_product(Runtime& runtime, const BlockLayout& layout, Index width, double occupation = 0.5) {
  auto [a, dense] = make_problem<T>(runtime, layout, 51, occupation);
  for (const Op op : {Op::none, Op::transpose, Op::adjoint})
    for (const bool other : {false, true})
      for (const T beta : {T(0), random_scalar<T>(1, 2, 3)}) {
        SCOPED_TRACE(::testing::Message() << "op " << static_cast<char>(op) << " width " << width
                                          << (other ? " other cut" : "") << " beta " << beta);
        const bool straight = op == Op::none;
        const BlockDimension &of_x = straight ? *layout.cols : *layout.rows,
                             &of_y = straight ? *layout.rows : *layout.cols;
        auto [x, dense_x] = filled(other      ? other_cut<T>(runtime, of_x, width)
                                   : straight ? column_vectors(a, width)
                                              : row_vectors(a, width),
                                   3);
        auto [y, dense_y] = filled(other      ? other_cut<T>(runtime, of_y, width)
                                   : straight ? row_vectors(a, width)
                                              : column_vectors(a, width),
                                   4);
        const T alpha = random_scalar<T>(5, 6, 7);
        run_sequence(runtime, [&, &m = a, &from = x, &to = y](Sequence& sequence) {
          multiply_vectors(sequence, alpha, m, op, from, beta, to);
        });
        const Matrix<T> expected = test::multiply(op, dense, Op::none, dense_x, alpha, beta, dense_y);
        EXPECT_LE(difference(contents(y), expected), 8.0 * double(of_x.elements() + 4) * precision<T>);
      }
}

/// A Hermitian matrix of random blocks, stored as the layout says, plus `shift` on the diagonal of the blocks.
template <class T>
Problem<T> hermitian_problem(Runtime& runtime, const BlockLayout& layout, double occupation = 0.5,
                             double factor = 1) {
  const BlockDimension& sizes = *layout.rows;
  Problem<T> problem;
  problem.dense = Matrix<T>(sizes.elements(), sizes.elements());
  BlockSparseBuilder<T> builder(runtime, layout);
  for (Index bj = 0; bj < sizes.blocks(); ++bj)
    for (Index bi = 0; bi < sizes.blocks(); ++bi) {
      if (!chosen(61, Symmetry::hermitian, bi, bj, occupation)) continue;
      Matrix<T> block(sizes.size(bi), sizes.size(bj));
      for (Index j = 0; j < block.cols(); ++j)
        for (Index i = 0; i < block.rows(); ++i)
          block(i, j) = element<T>(62, Symmetry::hermitian, sizes.first(bi) + i, sizes.first(bj) + j) *
                        RealOf<T>(factor);
      problem.dense.set_block(sizes.first(bi), sizes.first(bj), block);
      if (layout.stores(bi, bj) && builder.owner(bi, bj) == runtime.rank())
        builder.put(bi, bj, std::as_const(block).view());
    }
  problem.matrix = builder.finalize();
  return problem;
}

/// All eigenvalues, by LAPACK in double.
template <class T>
std::vector<double> eigenvalues(const Matrix<T>& a) {
  using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  const Index n = a.rows();
  std::vector<double> values(static_cast<std::size_t>(n));
  if (n == 0) return values;
  Matrix<Wide> copy(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) copy(i, j) = Wide(a(i, j));
  const auto room = static_cast<std::size_t>(2 * n * n + 6 * n + 10);
  std::vector<Wide> work(room);
  std::vector<double> real_work(room);
  std::vector<int> integers(static_cast<std::size_t>(5 * n + 10));
  EXPECT_EQ(blas::heevd('N', Uplo::lower, n, copy.data(), copy.ld(), values.data(), work.data(), Index(room),
                        real_work.data(), Index(room), integers.data(), Index(integers.size())),
            0);
  return values;
}

/// Gershgorin's interval by loops over the dense matrix.
template <class T>
SpectralInterval circles(const Matrix<T>& a) {
  SpectralInterval interval{std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()};
  for (Index i = 0; i < a.rows(); ++i) {
    double radius = 0;
    for (Index j = 0; j < a.cols(); ++j)
      if (j != i) radius += std::abs(wide(a(i, j)));
    interval.lower = std::min(interval.lower, real_part(wide(a(i, i))) - radius);
    interval.upper = std::max(interval.upper, real_part(wide(a(i, i))) + radius);
  }
  return interval;
}

/// One end, mirrored to the upper side by `sign`.
inline void check_end(const SpectralEnd& end, double sign, double exact, double width, double norm,
                      double tolerance, double rounding) {
  EXPECT_LE(sign * end.value, sign * exact + rounding * norm) << "a Ritz value outside the spectrum";
  EXPECT_LE(std::abs(end.value - exact), end.residual) << "no eigenvalue within the residual";
  EXPECT_LE(end.residual, tolerance * width + 2 * rounding * norm);
  EXPECT_GE(sign * end.bound, sign * exact - 1e-13 * norm);
  EXPECT_GE(sign * end.safe_bound, sign * end.bound - 1e-13 * norm);
}

template <class T>
void check_spectrum(Runtime& runtime, const BlockLayout& layout, double occupation = 0.5, double factor = 1,
                    double tolerance = 1e-3) {
  auto [a, dense] = hermitian_problem<T>(runtime, layout, occupation, factor);
  const std::vector<double> exact = eigenvalues(dense);
  const SpectralInterval gershgorin = gershgorin_bounds(a);
  const ExtremalResult r = extremal_eigenvalues(runtime, {.a = a}, {.tolerance = tolerance});
  ASSERT_TRUE(r) << r.status().message();
  SameEverywhere all(runtime);
  if (exact.empty()) {
    for (const double x : {gershgorin.lower, gershgorin.upper, r.lowest.value, r.highest.safe_bound})
      all.number(x, 0, 0);
    EXPECT_EQ(r.products, 0);
    return;
  }
  const double norm = std::max(std::abs(gershgorin.lower), std::abs(gershgorin.upper)),
               rounding = precision<T> * (9 + std::sqrt(double(exact.size())));
  const SpectralInterval expected = circles(dense);
  EXPECT_NEAR(gershgorin.lower, expected.lower, 1e-12 * norm);
  EXPECT_NEAR(gershgorin.upper, expected.upper, 1e-12 * norm);
  EXPECT_LE(gershgorin.lower, expected.lower);
  EXPECT_GE(gershgorin.upper, expected.upper);
  EXPECT_EQ(r.gershgorin.lower, gershgorin.lower);
  const double width = exact.back() - exact.front();
  check_end(r.lowest, -1, exact.front(), width, norm, tolerance, rounding);
  check_end(r.highest, 1, exact.back(), width, norm, tolerance, rounding);
  EXPECT_LE(r.products, std::min<Index>(100, Index(exact.size())));
  for (const double x : {gershgorin.lower, gershgorin.upper, r.lowest.value, r.lowest.residual,
                         r.lowest.bound, r.highest.value, r.highest.safe_bound})
    all.number(x, x, 0);
}

}  // namespace tessera::operations_test
