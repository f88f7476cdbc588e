// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/codelets/divide_and_conquer/matrices.hpp>

#include <tessera/algorithms/dense/tridiagonal_eigen.hpp>

/// Runs the tridiagonal solver as a task graph, on one or many ranks, and checks its results.
namespace tessera::test {
using namespace detail;

/// Real numbers of which every rank has a copy.
template <class R>
Data replicated(Runtime& runtime, const std::vector<R>& values) {
  Data data = Data::bytes(runtime, std::max<std::size_t>(values.size(), 1) * sizeof(R), Data::every_rank);
  HostAccess access(data, HostAccess::Mode::write);
  std::copy(values.begin(), values.end(), access.array<R>().begin());
  return data;
}

template <class R>
std::vector<R> host_copy(const Data& data) {
  HostAccess access(data, HostAccess::Mode::read);
  const auto array = access.array<R>();
  return std::vector<R>(array.begin(), array.end());
}

/// Gathers all slabs on every rank and checks that imaginary parts are zero.
template <class T>
std::vector<RealOf<T>> gather(Runtime& runtime, const ColumnSlabs<T>& z) {
  std::vector<double> all(static_cast<std::size_t>(z.rows() * z.cols()), 0.0);
  for (Index j = 0; j < z.count(); ++j) {
    if (!z.slab(j).local()) continue;
    HostAccess access(z.slab(j), HostAccess::Mode::read);
    const auto slab = access.matrix<T>();
    for (Index c = 0; c < slab.cols; ++c)
      for (Index i = 0; i < slab.rows; ++i) {
        all[static_cast<std::size_t>((z.first_col(j) + c) * z.rows() + i)] = real_part(slab(i, c));
        EXPECT_EQ(imag_part(slab(i, c)), 0);
      }
  }
  runtime.all_reduce_sum(all.data(), static_cast<Index>(all.size()));
  return std::vector<RealOf<T>>(all.begin(), all.end());
}

struct TridiagonalCase {
  Index n, lo, hi, width;
};

/// Checks values and vectors [lo, hi) of one matrix, with slabs of `width` columns.
template <class T>
void check_tridiagonal_eigen(Runtime& runtime, const TridiagonalKind& kind, const TridiagonalCase& c,
                             double bound) {
  using R = RealOf<T>;
  SCOPED_TRACE(kind.name + ", n = " + std::to_string(c.n) + ", [" + std::to_string(c.lo) + ", " +
               std::to_string(c.hi) + "), slabs of " + std::to_string(c.width));
  const auto t = make_tridiagonal<R>(kind, c.n);
  const Data d = replicated(runtime, t.d), e = replicated(runtime, t.e);
  const ColumnSlabs<T> z(runtime, c.n, c.hi - c.lo, c.width);
  std::vector<R> w;
  {
    Sequence sequence(runtime);
    sequence.begin_stage("values");
    TridiagonalEigen<T> solver(sequence, c.n, d, e, true);
    sequence.begin_stage("vectors");
    solver.submit_vectors(sequence, c.lo, c.hi, z);
    ASSERT_TRUE(sequence.wait().ok());
    w = host_copy<R>(solver.values());
  }
  ASSERT_EQ(static_cast<Index>(w.size()), c.n);
  EXPECT_TRUE(values_within(t, w, bound));
  const auto errors =
      vector_errors(t, std::vector<R>(w.begin() + c.lo, w.begin() + c.hi), gather(runtime, z));
  EXPECT_LT(errors.residual, bound);
  EXPECT_LT(errors.orthogonality, bound);
}

/// Checks a solve without vectors.
template <class T>
std::vector<RealOf<T>> tridiagonal_values(Runtime& runtime, const Tridiagonal<RealOf<T>>& t, Status* status) {
  const Data d = replicated(runtime, t.d), e = replicated(runtime, t.e);
  Sequence sequence(runtime);
  sequence.begin_stage("tridiagonal_eigen");
  const TridiagonalEigen<T> solver(sequence, t.order(), d, e, false);
  *status = sequence.wait();
  return status->ok() ? host_copy<RealOf<T>>(solver.values()) : std::vector<RealOf<T>>();
}

}  // namespace tessera::test
