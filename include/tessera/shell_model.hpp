// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/block_vectors.hpp>
#include <tessera/matgen.hpp>
#include <tessera/two_species_operator.hpp>

/// @file
/// What the eigenstates of a nuclear shell model are beside their energies.
namespace tessera {

/// A state of a shell model (SparseGenerator of the kind `shell`).
struct ShellModelState {
  double j = 0;    ///< angular momentum J, from <J^2> = J (J + 1); a mixture of degenerate levels has none
  double t = 0;    ///< isospin T, from <T^2> = T (T + 1)
  int parity = 0;  ///< 1 or -1; 0: a mixture
  std::vector<double> protons, neutrons;  ///< how many are in each orbit
};

/// States, and the orbits that their occupations count.
struct ShellModelStates {
  std::vector<std::string> orbits;  ///< as 0d5/2, in the order of the file; without one shell after shell
  std::vector<ShellModelState> states;
};

/// What is in the files that a shell model's options name, for where the files are not.
struct ShellModelTexts {
  std::optional<std::string>
      interaction;  ///< of SparseGeneratorOptions::interaction, whose ending tells its format
  std::optional<std::string> orbits;  ///< of SparseGeneratorOptions::orbits
};

/// make_sparse_generator for the kind `shell:...`, with texts in the place of files.
/// @throws what make_sparse_generator throws; InputErrors have the file's name
SparseGenerator make_shell_model(std::string_view kind, const SparseGeneratorOptions& options,
                                 const ShellModelTexts& texts);

/// Rows that the matrix of make_shell_model has, counted from the orbits without listing states: for spaces of any
/// size. Exact up to 2^53.
/// @throws InvalidArgument and InputError as make_shell_model, for what the number depends on
double shell_model_order(std::string_view kind, const SparseGeneratorOptions& options = {},
                         const ShellModelTexts& texts = {});

/// Whether a matrix is that of a shell model.
bool is_shell_model(const SparseGenerator& generator) noexcept;

/// Angular momentum, isospin, parity and occupations of the first `count` vectors, which need not have the length 1.
/// J^2 = M (M + 1) + J_- J_+ and T^2 = T_z (T_z + 1) + T_- T_+ are applied by the rules for determinants. Every rank
/// needs memory for all elements of these vectors; the rows are dealt to ranks and threads. Collective.
/// @throws InvalidArgument for another kind of matrix, vectors of another length, count outside [0, width]
template <class T>
ShellModelStates shell_model_states(Runtime& runtime, const SparseGenerator& generator,
                                    const BlockVectors<T>& vectors, Index count);

/// A shell-model matrix as a product of protons and neutrons.
struct ShellModelProduct {
  TwoSpeciesStructure structure;  ///< protons and neutrons; its rows are the matrix's in another order
  std::vector<Index> rows;        ///< the matrix's row for each of its rows
};

/// The lists from which a TwoSpeciesOperator applies the matrix of a generator of the kind 'shell' without
/// storing it: sectors are the determinants of one M and parity (and one weight, where the space is
/// truncated), transfers the one-body operators that change these by the same amounts (and lead from
/// one weight of an orbit to one). Elements that are
/// negligible in the matrix may be there, so that products agree to rounding.
/// Source: E. Caurier, F. Nowacki, Acta Phys. Pol. B 30, 705 (1999).
/// @throws InvalidArgument (`generator`) for a matrix of another kind
ShellModelProduct shell_model_product(const SparseGenerator& generator);

}  // namespace tessera
