// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/density_state.hpp>
#include <tessera/matgen.hpp>

#include "options.hpp"
#include "session.hpp"
#include "sparse_problem.hpp"

/// The matrices of `tessera density`.
namespace tessera::program {

/// H and S, and what is known about them.
template <class T>
struct DensityMatrices {
  BlockSparseMatrix<T> hamiltonian;  ///< half-stored
  BlockSparseMatrix<T> overlap;      ///< half-stored; not valid: the identity
  double electrons = -1;             ///< as the user or the generator has it; negative: not known
  Index molecules = 0;               ///< of a generated system; 0: of files
  double mu = unknown;               ///< of a generated system: in its gap
  double gap_bound = unknown;        ///< of a generated system: the gap is at least this

  std::optional<DensityState<T>> former{};  ///< of --restart
  std::optional<GapBounds> gap{};           ///< given, or of the restart, narrowed
  std::optional<double> moved{};            ///< by which it was narrowed

  const BlockSparseMatrix<T>* factor_if_any() const {
    return former && former->inverse_factor.valid() ? &former->inverse_factor : nullptr;
  }
  const BlockSparseMatrix<T>* overlap_if_any() const { return overlap.valid() ? &overlap : nullptr; }
};

/// The generated system that the options ask for. @throws InvalidArgument that names the option
DensitySystemOptions system_options(const DensityProgramOptions& options);

/// Reads or generates the matrices, and the former state of --restart; collective. Files in which both halves
/// are stored are taken if they are Hermitian. Errors are thrown on all ranks.
/// @param shape  its block sizes become those of H, if H comes from an HDF5 file
template <class T>
DensityMatrices<T> load_density_matrices(Session& session, const DensityProgramOptions& options,
                                         SparseShape& shape);

}  // namespace tessera::program
