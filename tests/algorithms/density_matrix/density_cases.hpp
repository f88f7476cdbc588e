// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tests/algorithms/block_sparse/operation_problem.hpp>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/density_matrix.hpp>
#include <tessera/matrix_functions.hpp>

/// Matrices of known spectra, and their functions and density matrices by LAPACK.
namespace tessera::density_test {

using namespace operations_test;
using test::Matrix;

/// Eigenvalues, ascending, and eigenvectors of A x = lambda x, or A x = lambda B x.
template <class T>
struct EigenDecomposition {
  std::vector<RealOf<T>> values;
  Matrix<T> vectors;
};

template <class T>
EigenDecomposition<T> decompose(Matrix<T> a, Matrix<T> b = {}) {
  const Index n = a.rows();
  EigenDecomposition<T> result{std::vector<RealOf<T>>(static_cast<std::size_t>(n)), {}};
  std::vector<T> work(static_cast<std::size_t>(2 * n * n + 70 * n + 10));
  std::vector<RealOf<T>> rwork(static_cast<std::size_t>(2 * n * n + 5 * n + 10));
  std::vector<int> iwork(static_cast<std::size_t>(5 * n + 10));
  if (n > 0 && b.rows() == 0) {
    EXPECT_EQ(blas::heevd<T>('V', Uplo::lower, n, a.data(), a.ld(), result.values.data(), work.data(),
                             Index(work.size()), rwork.data(), Index(rwork.size()), iwork.data(),
                             Index(iwork.size())),
              0);
  } else if (n > 0) {
    EXPECT_EQ(blas::hegvd<T>(1, 'V', Uplo::lower, n, a.data(), a.ld(), b.data(), b.ld(), result.values.data(),
                             work.data(), Index(work.size()), rwork.data(), Index(rwork.size()), iwork.data(),
                             Index(iwork.size())),
              0);
  }
  result.vectors = std::move(a);
  return result;
}

/// A B by BLAS.
template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b, Op op_b = Op::none) {
  const Index n = op_b == Op::none ? b.cols() : b.rows();
  Matrix<T> c(a.rows(), n);
  if (c.rows() > 0 && n > 0)
    blas::gemm(Op::none, op_b, c.rows(), n, a.cols(), T(1), a.data(), a.ld(), b.data(), b.ld(), T(0),
               c.data(), c.ld());
  return c;
}

/// V f(values) V^H
template <class T, class F>
Matrix<T> function_of(const EigenDecomposition<T>& of, const F& f) {
  Matrix<T> scaled = of.vectors;
  for (Index j = 0; j < scaled.cols(); ++j)
    for (Index i = 0; i < scaled.rows(); ++i)
      scaled(i, j) *= RealOf<T>(f(static_cast<double>(of.values[static_cast<std::size_t>(j)])));
  return product(scaled, of.vectors, Op::adjoint);
}

/// A Hermitian matrix of these eigenvalues, with random eigenvectors.
template <class T>
Matrix<T> of_spectrum(const std::vector<double>& values, std::uint64_t seed) {
  EigenDecomposition<T> random = decompose(random_hermitian<T>(Index(values.size()), seed));
  for (std::size_t k = 0; k < values.size(); ++k) random.values[k] = RealOf<T>(values[k]);
  Matrix<T> a = function_of(random, [](double x) { return x; });
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i <= j; ++i) {
      if (i == j) a(i, i) = T(real_part(a(i, i)));
      a(i, j) = conjugate(a(j, i));
    }
  return a;
}

/// n numbers from `lowest` to `highest` in geometric progression.
inline std::vector<double> geometric(double lowest, double highest, Index n) {
  std::vector<double> values;
  for (Index k = 0; k < n; ++k)
    values.push_back(n > 1 ? lowest * std::pow(highest / lowest, double(k) / double(n - 1)) : highest);
  return values;
}

/// Block sizes, empty blocks among them, of 29 elements.
inline std::vector<Index> sizes_of_functions() {
  return {3, 0, 5, 1, 4, 6, 0, 7, 3};
}
constexpr Index order_of_functions = 29;

/// The blocks of a dense matrix, all of them.
template <class T>
BlockSparseMatrix<T> blocks_of(Runtime& runtime, const Matrix<T>& a, const std::vector<Index>& sizes,
                               Symmetry symmetry = Symmetry::hermitian, unsigned seed = 0,
                               double threshold = -1) {
  return from_dense<T>(runtime, a.view(), random_layout(runtime, sizes, sizes, symmetry, seed), threshold);
}

/// A Hamiltonian and an overlap of blocks along a chain, whose elements fall with the distance: `occupied` states
/// near -1 and the others near 1 before they couple, so that a gap stays.
template <class T>
struct Chain {
  Matrix<T> hamiltonian, overlap;
  std::vector<Index> sizes;
  Index occupied = 0;
};

template <class T>
Chain<T> make_chain(Index units, std::uint64_t seed, double coupling = 0.1, double overlap = 0.1) {
  const std::vector<Index> unit{3, 2};
  Chain<T> chain;
  std::vector<Index> position;
  for (Index u = 0; u < units; ++u)
    for (const Index size : unit) {
      chain.sizes.push_back(size);
      for (Index k = 0; k < size; ++k) position.push_back(u);
    }
  const Index n = Index(position.size());
  chain.hamiltonian = Matrix<T>(n, n), chain.overlap = Matrix<T>(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < n; ++i) {
      const double far =
          std::exp(-2.0 * std::abs(double(position[std::size_t(i)] - position[std::size_t(j)])));
      const T h = random_scalar<T>(seed, i, j) * RealOf<T>(coupling * far),
              s = random_scalar<T>(seed + 1, i, j) * RealOf<T>(overlap * far);
      const bool full = i % 5 < 2;
      chain.hamiltonian(i, j) = i == j ? T(RealOf<T>((full ? -1 : 1) + 0.1 * real_part(h))) : h;
      chain.overlap(i, j) = i == j ? T(1) : s;
      chain.hamiltonian(j, i) = conjugate(chain.hamiltonian(i, j));
      chain.overlap(j, i) = conjugate(chain.overlap(i, j));
    }
  chain.occupied = 2 * units;
  return chain;
}

/// sum over the lowest `states` of c c^H
template <class T>
Matrix<T> reference_density(const EigenDecomposition<T>& of, Index states) {
  const Matrix<T> occupied = of.vectors.block(0, 0, of.vectors.rows(), states);
  return product(occupied, occupied, Op::adjoint);
}

template <class T>
double trace_of_product(const Matrix<T>& a, const Matrix<T>& b) {
  double sum = 0;
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) sum += double(real_part(conjugate(a(i, j)) * b(i, j)));
  return sum;
}

}  // namespace tessera::density_test
