// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <vector>

#include <tessera/column_slabs.hpp>
#include <tessera/runtime/matrix/band_matrix.hpp>
#include <tessera/tiled_matrix.hpp>

/// Inexpensive checks of single stages: products with a random vector, and invariants of similarity
/// transformations. In double precision, on the host, O(n^2); collective, with the same result on
/// every rank.
namespace tessera::program {
using namespace detail;

using Vector = std::vector<std::complex<double>>;

/// Which part of the stored tiles is used.
enum class Shape { general, hermitian, lower };

/// op(A) x.
template <class T>
Vector times(Runtime& runtime, const TiledMatrix<T>& a, Shape shape, bool adjoint, const Vector& x);
/// Z x.
template <class T>
Vector times(Runtime& runtime, const ColumnSlabs<T>& z, const Vector& x);

Vector random_vector(Index n, std::uint64_t seed);
/// max |x_i - y_i|.
double distance(const Vector& x, const Vector& y);
double largest(const Vector& x);

/// Invariants of unitary similarity transformations.
struct Invariants {
  double trace = 0, square = 0;  ///< sum of eigenvalues and of their squares
};
template <class T>
Invariants invariants(Runtime& runtime, const BandMatrix<T>& band);
/// d and e: n and n - 1 real numbers, the same on every rank.
template <class R>
Invariants invariants(const std::vector<R>& d, const std::vector<R>& e);

/// max_k ||T z_k - lambda_k z_k||_inf over the columns of the slabs, T tridiagonal.
template <class T>
double tridiagonal_residual(Runtime& runtime, const std::vector<RealOf<T>>& d,
                            const std::vector<RealOf<T>>& e, const std::vector<RealOf<T>>& values,
                            const ColumnSlabs<T>& z);

}  // namespace tessera::program
