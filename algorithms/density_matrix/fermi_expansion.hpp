// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

/// The Fermi operators f((H - mu) / kT) of Hamiltonians in orthonormal bases, with one chemical potential.
namespace tessera::detail {

/// One of the Hamiltonians.
template <class T>
struct FermiMember {
  BlockAlgebra<T>* algebra = nullptr;
  const BlockSparseMatrix<T>* hamiltonian = nullptr;  ///< half-stored
  double occupation = 1;                              ///< electrons in a full state
  double weight = 1;                                  ///< of its electrons in their sum
  BlockSparseMatrix<T> x{};                           ///< found: f
  double entropy = 0;                                 ///< found: -trace(f ln f + (1 - f) ln(1 - f))
};

/// What the members share.
struct FermiTarget {
  double temperature = 0;             ///< kT
  SpectralInterval spectrum{};        ///< that holds all eigenvalues of all members
  double electrons = 0;               ///< their weighted sum
  std::optional<double> potential{};  ///< mu, whatever the electrons
};

/// What the expansion has found beside the operators.
struct FermiFound {
  double chemical_potential = 0;
  double error = 0;  ///< bound of f's elements' errors by the polynomials
};

/// The error of the Fermi operators by their polynomials that is asked for.
template <class T>
double fermi_tolerance(const DensityOptions& options);

/// Finds all f, level by level; the members go through each level at the same time (concurrently).
/// @throws IterationEnded
template <class T>
FermiFound expand_fermi_operators(Runtime& runtime, std::span<FermiMember<T>> members,
                                  const FermiTarget& target, const DensityOptions& options);

}  // namespace tessera::detail
