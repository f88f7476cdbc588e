// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/density_matrix.hpp>
#include <tessera/matgen.hpp>

#include "report.hpp"
#include "session.hpp"
#include "sparse_problem.hpp"

/// The matrices for `tessera density` and `bench_density`.
namespace tessera::program {

/// All methods of the library but those that it does not name, by their names, automatic first.
std::vector<std::pair<std::string, DensityMethod>> density_methods();

/// The names of the kinds of generated systems, and for the help a line for each.
std::vector<std::string> density_system_names();
std::string density_system_help();

/// Files of a Hamiltonian and an overlap matrix, or a generated system; empty, negative, none: not given.
struct DensitySource {
  std::string hamiltonian{}, overlap{}, generate{};
  std::vector<Index> blocks{};                       ///< of a generated system; empty: the kind's
  Index molecules = -1, n = -1;                      ///< size of the generated system; one of them is given
  std::optional<double> gap{}, decay{}, coupling{};  ///< none: the generator's
  std::uint64_t seed = 1;
  bool usual_layout = true;  ///< of a generated system: the generator's panels and grid

  const std::string& name() const { return generate.empty() ? hamiltonian : generate; }
};

/// H and S, and what is known about them.
template <class T>
struct DensityMatrices {
  BlockSparseMatrix<T> hamiltonian;  ///< half-stored
  BlockSparseMatrix<T> overlap;      ///< half-stored; not valid: the identity
  Index electrons = -1;              ///< of a generated system, two in a state; negative: not known
  Index molecules = 0;               ///< of a generated system; 0: of files
  double mu = unknown;               ///< of a generated system: in its gap
  double gap_bound = unknown;        ///< of a generated system: the gap is at least this

  const BlockSparseMatrix<T>* overlap_if_any() const { return overlap.valid() ? &overlap : nullptr; }
};

/// The generated system that is asked for. @throws InvalidArgument that names the option
DensitySystemOptions system_options(const DensitySource& source);

/// Reads or generates the matrices; collective. Files in which both halves are stored are taken if they are
/// Hermitian. Errors are thrown on all ranks.
/// @param shape  its block sizes become those of H, if H comes from an HDF5 file
template <class T>
DensityMatrices<T> load_density_matrices(Session& session, const DensitySource& source, SparseShape& shape);

/// Moves a matrix to the memory where it must be when the timing starts, the host's or the GPUs', and
/// invalidates all other copies.
template <class T>
void place(Runtime& runtime, const BlockSparseMatrix<T>& x, bool on_gpu);

}  // namespace tessera::program
