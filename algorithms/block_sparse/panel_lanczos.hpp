// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/algorithms/block_sparse/lanczos.hpp>
#include <tessera/codelets/block_sparse/vectors/panel_krylov.hpp>

namespace tessera::detail {

/// A half-stored Hermitian matrix, both halves, as tasks of one GPU read it whole.
template <class T>
class WholeOperand {
 public:
  /// Waits until it is made.
  explicit WholeOperand(const BlockSparseMatrix<T>& a);
  /// Where a GPU can read it so; else nothing here may be used.
  bool usable() const noexcept { return whole_.valid(); }
  const Data& pattern() const { return whole_.pattern().packed(); }
  std::vector<const Data*> panels() const;
  const PanelsWithBlocks& which() const noexcept { return which_; }
  double elements() const noexcept { return static_cast<double>(whole_.pattern().elements()); }
  /// Sums of the moduli of each row, and the diagonal; waits.
  struct Rows {
    std::vector<double> sums, diagonal;
  };
  Rows row_moduli() const;

 private:
  BlockSparseMatrix<T> whole_;
  PanelsWithBlocks which_;
};

/// The Lanczos iteration of Lanczos<T> in one task for several steps, where a GPU has all of A.
template <class T>
class PanelLanczos {
 public:
  /// At most `most` steps.
  PanelLanczos(std::shared_ptr<const WholeOperand<T>> a, Runtime& runtime, Index n, Index most, double factor,
               std::uint64_t seed);
  /// So many steps more; waits for their coefficients. After a failure the matrix is as before.
  Status extend(Index steps);
  const KrylovMatrix& matrix() const noexcept { return matrix_; }

 private:
  const std::shared_ptr<const WholeOperand<T>> a_;
  Runtime& runtime_;
  const Index n_;
  const double factor_;
  const std::uint64_t seed_;
  const Data basis_;
  KrylovMatrix matrix_;
};

}  // namespace tessera::detail
