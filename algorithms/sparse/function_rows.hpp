// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

/// A matrix given by a function that lists one row: row(i, store) calls store(j, value) once for each entry
/// of row i with j <= i, and may call it for others.
template <class Row>
class FunctionRows final : public SymmetricRows {
 public:
  FunctionRows(Index order, Row row, std::vector<Index> tiles)
      : order_(order), row_(std::move(row)), tiles_(std::move(tiles)) {}
  Index order() const override { return order_; }
  std::span<const Index> tiles() const override { return tiles_; }
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override {
    for (Index i = first_row; i < end_row; ++i)
      row_(i, [&](Index j, double value) {
        if (j <= i && j >= first_column && j < end_column)
          out.push_back({static_cast<std::uint32_t>(i - first_row),
                         static_cast<std::uint32_t>(j - first_column), value});
      });
  }

 private:
  Index order_;
  Row row_;
  std::vector<Index> tiles_;
};

/// The same of a Hermitian matrix: store(j, value) with complex values.
template <class Row>
class HermitianFunctionRows final : public HermitianRows {
 public:
  HermitianFunctionRows(Index order, Row row) : order_(order), row_(std::move(row)) {}
  Index order() const override { return order_; }
  void complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                       std::vector<ComplexSparseEntry>& out) const override {
    for (Index i = first_row; i < end_row; ++i)
      row_(i, [&](Index j, std::complex<double> value) {
        if (j <= i && j >= first_column && j < end_column)
          out.push_back({static_cast<std::uint32_t>(i - first_row),
                         static_cast<std::uint32_t>(j - first_column), value});
      });
  }

 private:
  Index order_;
  Row row_;
};

template <class Row>
std::shared_ptr<const SymmetricRows> hermitian_function_rows(Index order, Row row) {
  return std::make_shared<HermitianFunctionRows<Row>>(order, std::move(row));
}

template <class Row>
std::shared_ptr<const SymmetricRows> function_rows(Index order, Row row, std::vector<Index> tiles = {}) {
  return std::make_shared<FunctionRows<Row>>(order, std::move(row), std::move(tiles));
}

}  // namespace tessera::detail
