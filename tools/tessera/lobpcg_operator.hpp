// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/sparse_matrix.hpp>

#include "lobpcg_problem.hpp"
#include "options.hpp"
#include "shell_model_operator.hpp"

/// A of `tessera lobpcg`.
namespace tessera::program {

/// Whether A is applied without being stored, from the lists of a shell model's protons and neutrons.
/// @throws UsageError where --product free is asked for and cannot be
bool is_product_free(const LobpcgProgramOptions& options, const SparseProblem& problem,
                     const Runtime& runtime);

/// A as a stored matrix, or as a product of two species.
template <class V, class T>
class ProgramOperator {
 public:
  /// Stored.
  ProgramOperator(Runtime& runtime, const SymmetricRows& rows, const CsbOptions& cut)
      : runtime_(runtime), stored_(new CsbMatrix<V, T>(CsbMatrix<V, T>::build(runtime, rows, cut))) {}
  /// Not stored; of real matrices alone, as a shell model's is.
  static std::unique_ptr<ProgramOperator> without_matrix(Runtime& runtime,
                                                         const SparseGenerator& shell_model);

  const SymmetricOperator<T>& get() const {
    if constexpr (!is_complex<T>)
      if (!stored_) return free_->get();
    return *stored_;
  }
  /// Null where it is not stored.
  const CsbMatrix<V, T>* stored() const noexcept { return stored_.get(); }
  /// Null where it is stored.
  const TwoSpeciesOperator<RealOf<T>>* free() const noexcept { return free_ ? &free_->get() : nullptr; }

  /// In the order of the vectors; collective.
  std::vector<double> diagonal() const { return stored_ ? stored_->diagonal() : free_->get().diagonal(); }
  /// Vectors whose rows are the matrix's, from the first `count` of the operator's; collective.
  BlockVectors<T> by_rows(BlockVectors<T> vectors, Index count) const;

 private:
  explicit ProgramOperator(Runtime& runtime) : runtime_(runtime) {}
  Runtime& runtime_;
  std::unique_ptr<CsbMatrix<V, T>> stored_;
  std::unique_ptr<ShellModelOperator<RealOf<T>>> free_;
};

}  // namespace tessera::program
