// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <tessera/sparse_matrix.hpp>

/// @file
/// Sparse symmetric and Hermitian matrices in files.
namespace tessera {

namespace detail {
class SavedMatrix;
}

/// The rows of a matrix that CsbMatrix::save has written. Building a CsbMatrix from them reads its pieces where
/// they belong if the cut is the one that was saved. Nothing but the file is needed: tiles and families are in
/// it. In memory are the places of the cells (about 60 bytes for each at most 16384 entries), the families, and some
/// bands of rows that were asked for last.
///
/// The file is not trusted: all counts and coordinates are checked against each other before anything is
/// allocated from them, and every cell when it is read, with its checksum (CRC-32), its order and its values.
class SavedRows final : public SymmetricRows {
 public:
  /// Not collective: on several ranks each one opens the file.
  /// @throws InputError for a file that cannot be read, or is not a sparse matrix of this format, whole and
  /// undamaged
  static SavedRows open(const std::string& path);

  Index order() const override;
  std::span<const Index> tiles() const override;
  std::optional<RowFamilies> families(Index row) const override;
  /// @throws InputError for entries that are damaged, and where the file cannot be read any more
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override;
  /// The file has complex values.
  bool hermitian() const override;
  void complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                       std::vector<ComplexSparseEntry>& out) const override;

  /// Entries of the lower triangle, with zeros that were given.
  Index stored_entries() const noexcept;
  /// Bytes of a value: 4 (float) or 8 (double), of complex ones twice as many.
  int value_bytes() const noexcept;
  /// CsbSaveOptions::description.
  const std::string& description() const noexcept;
  /// For the library.
  const detail::SavedMatrix& file() const noexcept { return *file_; }

 private:
  explicit SavedRows(std::shared_ptr<const detail::SavedMatrix> file) : file_(std::move(file)) {}
  std::shared_ptr<const detail::SavedMatrix> file_;
};

}  // namespace tessera
