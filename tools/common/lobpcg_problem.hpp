// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/algorithms/lobpcg/small_dense.hpp>
#include <tessera/algorithms/sparse/checked_entries.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/sparse_matrix.hpp>

#include "session.hpp"
#include "shell_model_arguments.hpp"

/// The sparse symmetric and Hermitian matrices for `tessera lobpcg` and `bench_spmm`.
namespace tessera::program {
using namespace detail;

/// A file, or a kind of test matrix; empty: not given.
struct SparseSource {
  std::string matrix, overlap, generate;
  ShellModelArguments shell_model_arguments;
  std::uint64_t seed = 1;

  const std::string& name() const { return matrix.empty() ? generate : matrix; }
  bool of_shell_model() const { return generate.starts_with("shell:"); }
  /// A matrix that CsbMatrix::save has written.
  bool saved() const { return matrix.ends_with(".h5"); }
  /// The interaction, or its default if none is given.
  std::string used_interaction() const {
    return shell_model_arguments.interaction.empty() ? "random" : shell_model_arguments.interaction;
  }
};

/// Checks that the given options can be combined. @throws UsageError
void validate(const SparseSource& source);

/// The matrices, and of which shell model they are.
struct SparseProblem : SparseGenerator {
  SparseGenerator shell_model;    ///< its lists and rows; a is null for another matrix
  std::string kind, interaction;  ///< of the shell model: `shell:28Si`, and the interaction's name

  bool of_shell_model() const { return shell_model.a != nullptr; }
};

/// Reads or generates the matrices on every rank.
/// @throws Error on all ranks
SparseProblem load_rows(Session& session, const SparseSource& source);

/// Number of entries in both triangles of a matrix that stores only one of them; collective.
template <class V, class T>
Index whole_entries(const CsbMatrix<V, T>& a) {
  return 2 * a.stored_entries() - a.stored_diagonal_entries();
}

/// Appends the stored entries of rows [first, end).
inline void list_entries(const SymmetricRows& rows, Index first, Index end,
                         std::vector<SparseEntry>& entries) {
  rows.entries(first, end, 0, end, entries);
}
inline void list_entries(const SymmetricRows& rows, Index first, Index end,
                         std::vector<ComplexSparseEntry>& entries) {
  rows.complex_entries(first, end, 0, end, entries);
}

/// Calls visit(row, column, value, thread) for the stored entries, on `threads` threads. Each
/// thread takes a range of rows at a time. S: double, or std::complex<double>, which all matrices have.
template <class S = double, class Visit>
void for_stored(const SymmetricRows& rows, int threads, const Visit& visit) {
  std::vector<Index> tiles(rows.tiles().begin(), rows.tiles().end());
  if (tiles.empty()) tiles = {0, rows.order()};
  constexpr Index max_rows = 256;
  std::vector<Index> cuts;
  for (std::size_t t = 0; t + 1 < tiles.size(); ++t)
    for (Index first = tiles[t]; first < tiles[t + 1]; first += max_rows) cuts.push_back(first);
  cuts.push_back(rows.order());
  using Entry = detail::EntryOf<S>;
  std::vector<std::vector<Entry>> space(static_cast<std::size_t>(threads));
  parallel_for(threads, static_cast<Index>(cuts.size()) - 1, [&](Index part, int thread) {
    const Index first = cuts[static_cast<std::size_t>(part)], end = cuts[static_cast<std::size_t>(part) + 1];
    std::vector<Entry>& entries = space[static_cast<std::size_t>(thread)];
    entries.clear();
    list_entries(rows, first, end, entries);
    for (const Entry& entry : entries) visit(first + entry.row, Index(entry.column), entry.value, thread);
  });
}

/// The whole matrix, column-major, both triangles.
template <class T>
std::vector<T> dense_matrix(const SymmetricRows& rows);

/// Both triangles by rows, columns ascending.
template <class V>
struct FullRows {
  std::vector<Index> begins;  ///< start of each row; the last element is the number of entries
  std::vector<std::int32_t> columns;
  std::vector<V> values;
};
template <class V>
FullRows<V> full_rows(const SymmetricRows& rows, int threads);

}  // namespace tessera::program
