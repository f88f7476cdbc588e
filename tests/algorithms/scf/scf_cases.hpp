// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tests/algorithms/density_matrix/density_cases.hpp>

#include <tessera/scf.hpp>

/// A mean field whose energy is known, and its self-consistent density by LAPACK.
namespace tessera::scf_test {

using namespace density_test;
using test::Matrix;

/// Hubbard's repulsion U in mean field, on any core Hamiltonian and overlap: E = sum_s trace(P_s H0) + U sum_i
/// n_i up n_i down, n_i s = (P_s)_ii; H_s = H0 + U diag(n of the other spin). Of a closed shell both n are P_ii
/// / 2.
template <class T>
struct MeanField {
  Matrix<T> core, overlap;
  std::vector<Index> sizes;
  double strength = 0;
};

/// The functional of MeanField, by operations on block-sparse matrices.
template <class T>
ScfFunctional<T> functional_of(const BlockSparseMatrix<T>& core, double strength) {
  return [&core, strength](std::span<const BlockSparseMatrix<T>> p) {
    const bool closed = p.size() == 1;
    ScfFields<T> fields;
    std::vector<std::vector<double>> n(2);
    for (std::size_t s = 0; s < 2; ++s)
      for (const T x : get_diagonal(p[closed ? 0 : s]))
        n[s].push_back(double(real_part(x)) * (closed ? 0.5 : 1));
    for (std::size_t i = 0; i < n[0].size(); ++i) fields.energy += strength * n[0][i] * n[1][i];
    const auto diagonal = get_diagonal(core);
    Sequence sequence(core.runtime());
    for (std::size_t s = 0; s < p.size(); ++s) {
      fields.energy += double(real_part(dot(p[s], core)));
      std::vector<T> shifted = diagonal;
      for (std::size_t i = 0; i < shifted.size(); ++i) shifted[i] += T(RealOf<T>(strength * n[1 - s][i]));
      fields.hamiltonians.push_back(copy(sequence, core));
      set_diagonal(sequence, std::span<const T>(shifted), fields.hamiltonians.back());
    }
    EXPECT_TRUE(sequence.wait());
    return fields;
  };
}

/// What LAPACK and plain loops come to.
template <class T>
struct DenseScf {
  double energy = 0;
  std::vector<Matrix<T>> densities;
  Index steps = 0;
};

/// Mixing of densities until nothing changes; it begins with the lowest states of `first`. states[s] of
/// occupation f.
template <class T>
DenseScf<T> dense_scf(const MeanField<T>& model, const std::vector<Matrix<T>>& first,
                      const std::vector<Index>& states, double occupation, double mixing = 0.3) {
  DenseScf<T> result;
  std::vector<Matrix<T>> h = first;
  const bool closed = states.size() == 1;
  double change = 1;
  for (; change > 30 * double(precision<T>) && result.steps < 3000; ++result.steps) {
    change = 0;
    for (std::size_t s = 0; s < states.size(); ++s) {
      const Matrix<T> lowest = reference_density(decompose(h[s], model.overlap), states[s]);
      const bool begin = result.densities.size() <= s;
      if (begin) result.densities.push_back(lowest);
      Matrix<T>& p = result.densities[s];
      for (Index j = 0; j < p.cols(); ++j)
        for (Index i = 0; i < p.rows(); ++i) {
          const T wanted = lowest(i, j) * RealOf<T>(occupation);
          change = std::max(change, begin ? 1.0 : double(std::abs(wanted - p(i, j))));
          p(i, j) = begin ? wanted : p(i, j) + RealOf<T>(mixing) * (wanted - p(i, j));
        }
    }
    result.energy = 0;
    for (std::size_t s = 0; s < states.size(); ++s) {
      h[s] = model.core;
      result.energy += trace_of_product(result.densities[s], model.core);
      for (Index i = 0; i < model.core.rows(); ++i) {
        const double other =
            double(real_part(result.densities[closed ? 0 : 1 - s](i, i))) * (closed ? 0.5 : 1);
        const double own = double(real_part(result.densities[s](i, i))) * (closed ? 0.5 : 1);
        h[s](i, i) += T(RealOf<T>(model.strength * other));
        result.energy += model.strength * other * own / (closed ? 1 : 2);
      }
    }
  }
  EXPECT_LT(result.steps, 3000);
  return result;
}

/// Along a chain of units with a gap (density_cases.hpp).
template <class T>
MeanField<T> chain_in_mean_field(Index units, double strength, bool overlap, Index* occupied) {
  auto chain = make_chain<T>(units, 1);
  *occupied = chain.occupied;
  if (!overlap) chain.overlap = test::identity<T>(chain.overlap.rows());
  return {std::move(chain.hamiltonian), std::move(chain.overlap), std::move(chain.sizes), strength};
}

/// A ring of sites, hopping -1 between neighbours, the first and then every second one lower by `stagger`.
template <class T>
Matrix<T> staggered_ring(Index sites, double stagger) {
  Matrix<T> ring(sites, sites);
  for (Index i = 0; i < sites; ++i) {
    ring(i, (i + 1) % sites) = ring((i + 1) % sites, i) = T(-1);
    ring(i, i) = T(RealOf<T>(i % 2 == 0 ? -stagger : stagger));
  }
  return ring;
}

inline constexpr ScfMethod all_scf_methods[] = {ScfMethod::simple, ScfMethod::linear, ScfMethod::pulay,
                                                ScfMethod::direct};

}  // namespace tessera::scf_test
