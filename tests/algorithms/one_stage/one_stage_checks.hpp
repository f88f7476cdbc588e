// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/algorithms/dense/one_stage.hpp>
#include <tessera/codelets/linalg/blas.hpp>

/// Reduces a matrix on one or many ranks, applies Q to the identity, and checks Q T Q^H = A and Q^H
/// Q = I.
namespace tessera::test {
using namespace detail;

enum class Kind { random, zero, identity, tridiagonal, rank_one, tiny, huge, block_diagonal };

inline std::string name(Kind kind) {
  const char* names[] = {"random",   "zero", "identity", "tridiagonal",
                         "rank one", "tiny", "huge",     "block diagonal"};
  return names[static_cast<int>(kind)];
}

template <class T>
std::vector<T> make_matrix(Kind kind, Index n) {
  using R = RealOf<T>;
  std::mt19937_64 engine(1234);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> a(static_cast<std::size_t>(n * n));
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < n; ++i) {
      const double re = uniform(engine), im = uniform(engine);
      T x = T(static_cast<R>(re));
      if constexpr (is_complex<T>)
        if (i != j) x = T(static_cast<R>(re), static_cast<R>(im));
      if (kind == Kind::zero) x = T(0);
      if (kind == Kind::identity) x = i == j ? T(1) : T(0);
      if (kind == Kind::tridiagonal && i > j + 1) x = T(0);
      if (kind == Kind::rank_one) x = T(static_cast<R>((1 + i % 5) * (1 + j % 5)));
      if (kind == Kind::tiny) x *= std::sqrt(std::numeric_limits<R>::min() / precision<T>);
      if (kind == Kind::huge) x /= std::sqrt(std::numeric_limits<R>::min() / precision<T>);
      if (kind == Kind::block_diagonal && i / 7 != j / 7) x = T(0);
      a[static_cast<std::size_t>(i + j * n)] = x;
      a[static_cast<std::size_t>(j + i * n)] = conjugate(x);
    }
  return a;
}

/// Lower tiles with the elements of a matrix of which every rank has a copy.
template <class T>
TiledMatrix<T> distribute(Runtime& runtime, const std::vector<T>& a, const TileLayout& layout) {
  TiledMatrix<T> tiles(runtime, layout);
  for (Index j = 0; j < tiles.col_tiles(); ++j)
    for (Index i = j; i < tiles.row_tiles(); ++i) {
      if (!tiles.tile(i, j).local()) continue;
      const HostAccess access(tiles.tile(i, j), HostAccess::Mode::write);
      const auto view = access.template matrix<T>();
      for (Index c = 0; c < view.cols; ++c)
        for (Index r = 0; r < view.rows; ++r) {
          const Index row = i * layout.tile_rows + r, col = j * layout.tile_cols + c;
          // Elements above the diagonal must not be read.
          view(r, c) = row >= col ? a[static_cast<std::size_t>(row + col * layout.rows)] : T(RealOf<T>(1e30));
        }
    }
  return tiles;
}

/// The identity in slabs, and slabs gathered on every rank.
template <class T>
void set_identity(const ColumnSlabs<T>& z) {
  for (Index j = 0; j < z.count(); ++j) {
    if (!z.slab(j).local()) continue;
    const HostAccess access(z.slab(j), HostAccess::Mode::write);
    const auto view = access.template matrix<T>();
    for (Index c = 0; c < view.cols; ++c)
      for (Index r = 0; r < view.rows; ++r) view(r, c) = r == z.first_col(j) + c ? T(1) : T(0);
  }
}
template <class T>
std::vector<T> gather_slabs(Runtime& runtime, const ColumnSlabs<T>& z) {
  std::vector<double> parts(static_cast<std::size_t>(2 * z.rows() * z.cols()));
  for (Index j = 0; j < z.count(); ++j) {
    if (!z.slab(j).local()) continue;
    const HostAccess access(z.slab(j), HostAccess::Mode::read);
    const auto view = access.template matrix<T>();
    for (Index c = 0; c < view.cols; ++c)
      for (Index r = 0; r < view.rows; ++r) {
        const auto at = static_cast<std::size_t>(2 * (r + (z.first_col(j) + c) * z.rows()));
        parts[at] = real_part(view(r, c));
        parts[at + 1] = imag_part(view(r, c));
      }
  }
  runtime.all_reduce_sum(parts.data(), static_cast<Index>(parts.size()));
  std::vector<T> all(parts.size() / 2);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if constexpr (is_complex<T>)
      all[i] = T(static_cast<RealOf<T>>(parts[2 * i]), static_cast<RealOf<T>>(parts[2 * i + 1]));
    else
      all[i] = static_cast<T>(parts[2 * i]);
  }
  return all;
}

template <class T>
std::vector<T> replicated_copy(const Data& data, Index count) {
  const HostAccess access(data, HostAccess::Mode::read);
  const auto array = access.array<T>();
  return std::vector<T>(array.begin(), array.begin() + count);
}

/// max |Q T Q^H - A| and max |Q^H Q - I|, in units of n eps (max |A|).
template <class T>
void expect_factorisation(const std::vector<T>& a, const std::vector<T>& q, const std::vector<RealOf<T>>& d,
                          const std::vector<RealOf<T>>& e) {
  const auto n = static_cast<Index>(d.size());
  const auto at = [n](Index i, Index j) { return static_cast<std::size_t>(i + j * n); };
  std::vector<T> qt(q.size(), T(0)), product(q.size());
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      qt[at(i, j)] = q[at(i, j)] * d[static_cast<std::size_t>(j)];
      if (j > 0) qt[at(i, j)] += q[at(i, j - 1)] * e[static_cast<std::size_t>(j - 1)];
      if (j + 1 < n) qt[at(i, j)] += q[at(i, j + 1)] * e[static_cast<std::size_t>(j)];
    }
  blas::gemm(Op::none, Op::adjoint, n, n, n, T(1), qt.data(), n, q.data(), n, T(0), product.data(), n);
  double error = 0, largest = 0, departure = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error = std::max<double>(error, std::abs(product[i] - a[i]));
    largest = std::max<double>(largest, std::abs(a[i]));
    EXPECT_FALSE(std::isnan(real_part(product[i])));
  }
  blas::gemm(Op::adjoint, Op::none, n, n, n, T(1), q.data(), n, q.data(), n, T(0), product.data(), n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i)
      departure = std::max<double>(departure, std::abs(product[at(i, j)] - (i == j ? T(1) : T(0))));
  const double unit = static_cast<double>(std::max<Index>(n, 4)) * precision<T>;
  EXPECT_LE(error, 10 * unit * largest + std::numeric_limits<RealOf<T>>::min());
  EXPECT_LE(departure, 10 * unit);
}

template <class T>
void check_one_stage(Runtime& runtime, Kind kind, Index n, Index tile, const OneStageOptions& options,
                     ProcessGrid grid = {}) {
  using R = RealOf<T>;
  SCOPED_TRACE(name(kind) + ", n = " + std::to_string(n) + ", tile " + std::to_string(tile) + ", work tile " +
               std::to_string(options.work_tile) + ", panel " + std::to_string(options.panel));
  const auto a = make_matrix<T>(kind, n);
  const Index offdiagonals = std::max<Index>(n - 1, 1);
  std::vector<R> values[2][2];
  std::vector<T> q;
  for (const bool keep : {true, false}) {
    auto tiles = distribute(runtime, a, {n, n, tile, tile, grid, Uplo::lower});
    const Data d = Data::bytes(runtime, static_cast<std::size_t>(n) * sizeof(R), Data::every_rank);
    const Data e = Data::bytes(runtime, static_cast<std::size_t>(offdiagonals) * sizeof(R), Data::every_rank);
    const ColumnSlabs<T> z(runtime, n, n, n / 3 + 1);
    Sequence sequence(runtime);
    sequence.begin_stage("tridiagonalize");
    OneStageReflectors<T> reflectors;
    tridiagonalize<T>(sequence, std::move(tiles), d, e, keep ? &reflectors : nullptr, options);
    if (keep) {
      set_identity(z);
      sequence.begin_stage("back_one_stage");
      back_one_stage<T>(sequence, std::move(reflectors), z);
    }
    ASSERT_TRUE(sequence.wait().ok());
    if (keep) q = gather_slabs(runtime, z);
    values[keep][0] = replicated_copy<R>(d, n);
    values[keep][1] = replicated_copy<R>(e, n - 1);
  }
  expect_factorisation(a, q, values[1][0], values[1][1]);
  // Without vectors the values must be the same.
  EXPECT_EQ(values[0][0], values[1][0]);
  EXPECT_EQ(values[0][1], values[1][1]);
}

}  // namespace tessera::test
