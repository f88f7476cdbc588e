// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/codelets/sparse/csb_layout.hpp>

/// Diagonal tiles for tests: dense symmetric matrices and the piece that stores them.
namespace tessera::test {
using namespace detail;

struct Tiles {
  std::vector<std::uint32_t> begins{0};
  std::vector<Matrix<double>> dense;
  Index rows() const { return begins.back(); }
};

/// Symmetric tiles with a share of their elements stored and diagonal elements near `diagonal`. All
/// values are representable in float.
inline Tiles random_tiles(const std::vector<Index>& sizes, double share, double diagonal,
                          std::uint64_t seed) {
  Tiles tiles;
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    const Index n = sizes[t];
    Matrix<double> k(n, n);
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < n; ++i) {
        const double value = float(random_uniform(seed, t, i, j));
        const bool stored = random_uniform(seed + 1, t, i, j) < 2 * share - 1;
        k(i, j) = k(j, i) = i == j ? double(float(diagonal + value)) : stored ? value / 4 : 0;
      }
    tiles.begins.push_back(tiles.begins.back() + static_cast<std::uint32_t>(n));
    tiles.dense.push_back(k);
  }
  return tiles;
}

/// The lower triangles in cells of at most `most` entries, with sub-cells of `cut` rows and
/// columns.
template <class V>
struct TilesPiece {
  std::vector<CsbCell> cells;
  std::vector<V> values;
  std::vector<std::uint16_t> rows, columns;

  TilesPiece(const Tiles& tiles, Index cut, std::size_t most) {
    for (std::size_t t = 0; t < tiles.dense.size(); ++t) {
      const Matrix<double>& k = tiles.dense[t];
      for (Index i0 = 0; i0 < k.rows(); i0 += cut)
        for (Index j0 = 0; j0 <= i0; j0 += cut) add_cell(k, tiles.begins[t], i0, j0, cut, most);
    }
  }
  CsbPieceView<V> view() const {
    return {std::int64_t(cells.size()),
            std::int64_t(values.size()),
            true,
            cells.data(),
            values.data(),
            rows.data(),
            columns.data()};
  }
  /// The piece in the memory layout of csb_layout.hpp.
  std::vector<char> bytes() const {
    const auto sizes = csb_piece_sizes(std::int64_t(cells.size()), std::int64_t(values.size()), sizeof(V));
    std::vector<char> memory(static_cast<std::size_t>(sizes.total));
    const CsbPieceHeader header{
        std::int64_t(cells.size()), std::int64_t(values.size()), sizes.cells_offset, sizes.values_offset,
        sizes.rows_offset,          sizes.columns_offset,        sizeof(V),          1};
    const auto put = [&](std::int64_t offset, const auto& from) {
      if (!from.empty()) std::memcpy(memory.data() + offset, from.data(), from.size() * sizeof from[0]);
    };
    std::memcpy(memory.data(), &header, sizeof header);
    put(sizes.cells_offset, cells);
    put(sizes.values_offset, values);
    put(sizes.rows_offset, rows);
    put(sizes.columns_offset, columns);
    return memory;
  }

 private:
  void add_cell(const Matrix<double>& k, std::uint32_t begin, Index i0, Index j0, Index cut,
                std::size_t most) {
    const Index end_row = std::min(i0 + cut, k.rows()), end_column = std::min(j0 + cut, k.cols());
    std::uint32_t entries = 0;
    const auto close = [&] {
      if (entries == 0) return;
      cells.push_back({std::int64_t(values.size() - entries), begin + std::uint32_t(i0),
                       begin + std::uint32_t(j0), entries, std::uint16_t(end_row - i0 - 1),
                       std::uint16_t(end_column - j0 - 1)});
      entries = 0;
    };
    for (Index i = i0; i < end_row; ++i)
      for (Index j = j0; j < std::min(end_column, i + 1); ++j) {
        if (k(i, j) == 0) continue;
        values.push_back(V(k(i, j)));
        rows.push_back(std::uint16_t(i - i0));
        columns.push_back(std::uint16_t(j - j0));
        if (++entries == most) close();
      }
    close();
  }
};

/// Solves (K - shift I) x = r by Gaussian elimination with pivoting.
inline std::vector<double> solve_shifted(Matrix<double> k, double shift, std::vector<double> r) {
  const Index n = k.rows();
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  for (Index i = 0; i < n; ++i) k(i, i) -= shift;
  for (Index c = 0; c < n; ++c) {
    Index pivot = c;
    for (Index i = c; i < n; ++i)
      if (std::abs(k(i, c)) > std::abs(k(pivot, c))) pivot = i;
    for (Index j = 0; j < n; ++j) std::swap(k(c, j), k(pivot, j));
    std::swap(r[at(c)], r[at(pivot)]);
    for (Index i = c + 1; i < n; ++i) {
      const double factor = k(i, c) / k(c, c);
      for (Index j = c; j < n; ++j) k(i, j) -= factor * k(c, j);
      r[at(i)] -= factor * r[at(c)];
    }
  }
  for (Index i = n - 1; i >= 0; --i) {
    for (Index j = i + 1; j < n; ++j) r[at(i)] -= k(i, j) * r[at(j)];
    r[at(i)] /= k(i, i);
  }
  return r;
}

/// FOM by the textbook: the Arnoldi process with full, repeated orthogonalization, then the dense
/// system.
inline std::vector<double> plain_fom(const Matrix<double>& k, double shift, const std::vector<double>& r,
                                     int steps) {
  const std::size_t n = r.size();
  const auto dot = [](const std::vector<double>& x, const std::vector<double>& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  const double norm = std::sqrt(dot(r, r));
  std::vector<double> w(n, 0.0);
  if (norm == 0) return w;
  std::vector<std::vector<double>> v{r};
  for (double& x : v[0]) x /= norm;
  Matrix<double> h(steps, steps);
  int used = 0;
  for (int j = 0; j < steps; ++j) {
    std::vector<double> u(n, 0.0);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) u[a] += k(Index(a), Index(b)) * v[std::size_t(j)][b];
    const double size = std::sqrt(dot(u, u));
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i <= j; ++i) {
        const double c = dot(v[std::size_t(i)], u);
        h(i, j) += c;
        for (std::size_t a = 0; a < n; ++a) u[a] -= c * v[std::size_t(i)][a];
      }
    used = j + 1;
    const double beta = std::sqrt(dot(u, u));
    if (used == steps || beta <= 1e-13 * size) break;
    h(j + 1, j) = beta;
    for (double& x : u) x /= beta;
    v.push_back(u);
  }
  Matrix<double> square(used, used);
  for (Index i = 0; i < used; ++i)
    for (Index j = 0; j < used; ++j) square(i, j) = h(i, j);
  std::vector<double> right(std::size_t(used), 0.0);
  right[0] = norm;
  const std::vector<double> y = solve_shifted(square, shift, right);
  for (std::size_t j = 0; j < y.size(); ++j)
    for (std::size_t a = 0; a < n; ++a) w[a] += y[j] * v[j][a];
  return w;
}

}  // namespace tessera::test
