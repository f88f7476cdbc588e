// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "lobpcg_problem.hpp"

/// What the program keeps of a matrix's origin in the file that `--save-matrix` writes.
namespace tessera::program {

SparseGeneratorOptions generator_options(const SparseSource& source);

/// The description of a matrix in a file: JSON, with `kind`, `seed`, `excitation`, `oscillator`, `lawson`, `coulomb`,
/// `interaction` and `orbits` of a shell model, and the texts of their files as `interaction_text` and `orbits_text`;
/// of other matrices `matrix` or `kind` alone. A matrix that came from such a file keeps its description.
/// @throws InputError for files that cannot be read
std::string description_of(const SparseSource& source, const SparseProblem& problem);

/// Makes the shell model that a matrix of such a file is of, if the file says so, without its matrix.
/// @throws InputError where the description is none of description_of's, or does not fit the matrix: its order, its
/// tiles, and some of its rows
void restore_shell_model(const std::string& path, SparseProblem& problem);

/// CsbOptions::progress and CsbSaveOptions::progress: shows the share of the session's stage.
inline std::function<void(double)> shown_share(Session& session) {
  return [&session](double share) { session.progress().share(share); };
}

/// A file that was written, and how fast.
struct SavedFile {
  std::string path;
  double bytes, seconds;
};
template <class V, class T>
SavedFile save_matrix(Session& session, const std::string& path, const CsbMatrix<V, T>& matrix,
                      const std::string& description) {
  const double begin = now();
  const double bytes = matrix.save(path, {.description = description, .progress = shown_share(session)});
  return {path, bytes, now() - begin};
}

/// Refuses a name that does not end in .h5, and a path that cannot be written; none if empty. @throws UsageError,
/// InvalidArgument
void require_matrix_writable(const std::string& option, const std::string& path);

/// Adds how fast a matrix was read (its bytes in the file by the time to build it), and others were saved, to the
/// report and its record.
void describe_files(Report& report, const SparseSource& source, const SymmetricRows& rows,
                    double build_seconds, const std::vector<SavedFile>& saved);

}  // namespace tessera::program
