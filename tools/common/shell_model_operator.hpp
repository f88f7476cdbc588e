// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/matgen.hpp>
#include <tessera/two_species_operator.hpp>

namespace tessera::program {

/// A shell model's matrix that is not stored, and the order of its rows, which differs from the matrix's.
template <class T>
class ShellModelOperator {
 public:
  /// Collective.
  ShellModelOperator(Runtime& runtime, const SparseGenerator& shell_model);

  const TwoSpeciesOperator<T>& get() const noexcept { return operator_; }
  /// Row-major arrays of `columns` columns: from the order of the operator's rows to that of the matrix's, and back.
  std::vector<T> by_rows(const std::vector<T>& given, Index columns) const;
  std::vector<T> by_states(const std::vector<T>& given, Index columns) const;

 private:
  struct Parts;
  explicit ShellModelOperator(Parts parts);
  Runtime& runtime_;
  TwoSpeciesOperator<T> operator_;
  std::vector<Index> rows_;  ///< the matrix's row of each row of the operator's
};

}  // namespace tessera::program
