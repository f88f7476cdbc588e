// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/block_sparse/vector_product.hpp>
#include <tessera/sequence.hpp>

namespace tessera::detail {

/// The symmetric tridiagonal matrix of an orthonormal Krylov basis, as far as it is known.
struct KrylovMatrix {
  std::vector<double> diagonal;
  std::vector<double> beside;  ///< below the diagonal; the last: the norm of what the basis misses
  Index size() const noexcept { return static_cast<Index>(diagonal.size()); }
};

/// An end of its spectrum, and the residual's norm.
struct RitzEnd {
  double value = 0, residual = 0;
};
/// Both ends; there is at least one vector.
struct RitzEnds {
  RitzEnd lowest, highest;
};
RitzEnds ritz_ends(const KrylovMatrix& h);

/// The Lanczos iteration with full reorthogonalisation for factor A, A Hermitian. Its vectors and coefficients
/// stay in tasks; the host reads the coefficients of several steps at once.
template <class T>
class Lanczos {
 public:
  /// `least`: a vector whose norm is no more than that is zero. A must outlive it.
  Lanczos(const BlockSparseMatrix<T>& a, double factor, double least, std::uint64_t seed);

  /// So many steps more; waits for their coefficients. After a failure the matrix is as before.
  Status extend(Index steps);
  const KrylovMatrix& matrix() const noexcept { return matrix_; }

 private:
  /// The coefficients of a step: of the first and the second orthogonalisation, and the norm's square.
  struct Step {
    Data first, second, square;
  };
  void start(Sequence& sequence, std::uint64_t seed);
  void step(Sequence& sequence);
  void normalise(Sequence& sequence, const Data& square);
  std::vector<const Data*> basis(Index p) const;
  Data project(Sequence& sequence) const;
  void subtract(Sequence& sequence, const Data& h, std::vector<Data>* squares) const;
  Data add_up(Sequence& sequence, const std::vector<Data>& parts, Index count) const;
  void read(const Step& step);
  const BlockSparseMatrix<T>& a_;
  const T factor_;
  const double least_;
  const std::uint64_t seed_;
  const VectorProduct<T> product_;
  const PanelVectors<T> w_;
  std::vector<PanelVectors<T>> v_;
  std::vector<Step> steps_;  ///< whose coefficients the host has not read
  KrylovMatrix matrix_;
};

}  // namespace tessera::detail
