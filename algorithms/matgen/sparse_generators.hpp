// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/sparse/symmetric_rows.hpp>

/// Sparse symmetric test matrices by name. An entry follows from the kind, its arguments and the options
/// alone, so each process and each task makes the rows that it needs.
namespace tessera {

struct SparseGeneratorKind {
  std::string_view name;
  std::string_view argument;  ///< what may follow after NAME: or NAME:..., in brackets what may be left out
  std::string_view help;      ///< one line
};

/// All kinds, in the order in which a list should show them.
std::span<const SparseGeneratorKind> sparse_generator_kinds() noexcept;

struct SparseGeneratorOptions {
  std::uint64_t seed = 1;  ///< of random interactions
  /// Of the shell model: random, pairing, pairing-quadrupole, or the path of an `.int` file.
  std::string interaction = "random";
  std::string orbits;  ///< path of the `.sps` file that belongs to an `.int` file
};

/// A x = lambda x, or A x = lambda B x.
struct SparseGenerator {
  std::shared_ptr<const SymmetricRows> a;
  std::shared_ptr<const SymmetricRows> b;  ///< null: the unit matrix
  KnownSpectrum spectrum;

  /// Ascending, in exact arithmetic; entries are rounded, so expect them within a few eps * ||A||. None where
  /// fewer than `count` are known (or exist).
  std::optional<std::vector<double>> lowest_eigenvalues(Index count) const;
  /// Descending.
  std::optional<std::vector<double>> largest_eigenvalues(Index count) const;
};

/// @param kind  a name of sparse_generator_kinds(), with its arguments: `laplacian2d:30:20`
/// @throws InvalidArgument for an unknown kind and bad arguments, InputError for files that cannot be read
SparseGenerator make_sparse_generator(std::string_view kind, const SparseGeneratorOptions& options = {});

}  // namespace tessera
