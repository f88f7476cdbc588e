// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/matgen.hpp>

namespace tessera::test {
using namespace detail;

/// Hash of all bits and positions of the stored elements, as a sum of hashes modulo 2^64. It is
/// equal on all ranks and for any distribution. Collective.
template <class T>
std::uint64_t fingerprint(const BlockSparseMatrix<T>& a) {
  std::uint64_t sum = 0;
  a.for_each_block([&](Index row, Index col, MatrixView<const T> values) {
    std::uint64_t key =
        splitmix(splitmix(1, static_cast<std::uint64_t>(row)), static_cast<std::uint64_t>(col));
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) {
        std::uint64_t bits[2] = {};
        const T value = values(i, j);
        std::memcpy(bits, &value, sizeof value);
        key = splitmix(key, bits[0]) ^ splitmix(bits[1], key);
      }
    sum += key;
  });
  std::uint64_t total = 0;
  for (const auto& piece : a.runtime().all_gather(std::as_bytes(std::span(&sum, 1)))) {
    std::uint64_t part;
    std::memcpy(&part, piece.data(), sizeof part);
    total += part;
  }
  return total;
}

/// A layout of a square matrix on a grid, with panels of about `panel_elements` elements.
inline BlockLayout square_layout(const std::vector<Index>& sizes, Symmetry symmetry, ProcessGrid grid = {},
                                 Index panel_elements = 0) {
  return {BlockDimension::make(sizes, grid.rows, {}, panel_elements),
          BlockDimension::make(sizes, grid.cols, {}, panel_elements), grid, symmetry};
}

}  // namespace tessera::test
