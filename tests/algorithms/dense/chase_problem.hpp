// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/algorithms/dense/back_tridiagonal.hpp>
#include <tessera/codelets/linalg/blas.hpp>

/// Reduces a random band matrix to tridiagonal form and back in a task graph, on any number of
/// ranks. Shared by the tests of both stages.
namespace tessera::testing {
using namespace detail;

/// Entry (i, j), i >= j, of the test matrix: cheap to compute, identical on every rank, of order
/// one.
template <class T>
T band_entry(Index i, Index j) {
  const auto part = [&](double salt) {
    const double x =
        std::sin(12.9898 * static_cast<double>(i + 1) + 78.233 * static_cast<double>(j + 1) + salt) *
        43758.5453;
    return static_cast<RealOf<T>>(2 * (x - std::floor(x)) - 1);
  };
  if constexpr (is_complex<T>)
    return T(part(0), i == j ? 0 : part(1));
  else
    return part(0);
}

template <class T>
BandMatrix<T> make_band(Runtime& runtime, Index n, Index b, Index segments_per_block = 2) {
  BandMatrix<T> band(runtime, n, b, segments_per_block);
  for (Index s = 0; s < band.segment_count(); ++s) {
    if (band.segment(s).owner() != runtime.rank()) continue;
    HostAccess access(band.segment(s), HostAccess::Mode::write);
    const auto view = access.matrix<T>();
    for (Index k = 0; k < band.segment_cols(s); ++k)
      for (Index i = 0; i < view.rows; ++i) {
        const Index j = band.first_col(s) + k;
        // The chase must not read what lies outside the band.
        view(i, k) =
            i <= b && i + j < n ? band_entry<T>(i + j, j) : T(std::numeric_limits<RealOf<T>>::quiet_NaN());
      }
  }
  return band;
}

/// The whole matrix, both triangles.
template <class T>
std::vector<T> dense_band(Index n, Index b) {
  std::vector<T> a(n * n, T(0));
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < std::min(n, j + b + 1); ++i) {
      a[i + j * n] = band_entry<T>(i, j);
      a[j + i * n] = conjugate(a[i + j * n]);
    }
  return a;
}

/// x := Q x or Q^H x, from the device pieces of a chase.
template <class T>
void apply_device_pieces(const ChaseReflectors<T>& reflectors, bool adjoint, std::vector<T>& x) {
  const Index n = reflectors.size(), b = reflectors.bandwidth();
  const auto& pieces = reflectors.device_pieces();
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const auto& piece = pieces[adjoint ? k : pieces.size() - 1 - k];
    const kernels::DeviceReflectors& shape = piece.shape;
    HostAccess access(piece.data, HostAccess::Mode::read);
    const T* const data = access.template array<T>().data();
    for (Index i = 0; i < shape.sweeps; ++i) {
      const Index j = adjoint ? i : shape.sweeps - 1 - i, s = shape.first_sweep + j;
      const Index hops = kernels::hop_count(n, b, s);
      for (Index l = 0; l < hops; ++l) {
        const Index hop = adjoint ? l : hops - 1 - l, row = s + 1 + hop * b;
        const Index block = shape.first_block(j / shape.group) + hop;
        const T* const v = data + shape.vector_offset(block, j % shape.group);
        const T tau = data[shape.tau_offset(block, j % shape.group)];
        T dot = 0;
        for (Index m = 0; m < std::min(b, n - row); ++m) dot += conjugate(v[m]) * x[row + m];
        dot *= adjoint ? conjugate(tau) : tau;
        for (Index m = 0; m < std::min(b, n - row); ++m) x[row + m] -= dot * v[m];
      }
    }
  }
}

template <class T>
struct ChaseRun {
  using R = RealOf<T>;
  std::vector<R> d, e;
  R residual = 0, orthogonality = 0;  ///< maxima of B Q - Q T and Q^H Q - I on this rank
};

/// Reduces band to tridiagonal, with or without reflectors. Q is the back-transform of the first
/// `cols` columns of the identity.
template <class T>
ChaseRun<T> chase_and_back(Runtime& runtime, Index n, Index b, Index cols, Index slab_width,
                           const ChaseOptions& options = {}) {
  using R = RealOf<T>;
  ChaseRun<T> run;
  const Data d = Data::bytes(runtime, n * sizeof(R), Data::every_rank);
  const Data e = Data::bytes(runtime, std::max<Index>(n - 1, 1) * sizeof(R), Data::every_rank);
  ColumnSlabs<T> z(runtime, n, cols, slab_width);
  for (Index k = 0; k < z.count(); ++k) {
    if (z.owner(k) != runtime.rank()) continue;
    HostAccess access(z.slab(k), HostAccess::Mode::write);
    const auto view = access.template matrix<T>();
    for (Index j = 0; j < view.cols; ++j)
      for (Index i = 0; i < n; ++i) view(i, j) = T(i == z.first_col(k) + j ? 1 : 0);
  }
  {
    Sequence sequence(runtime);
    ChaseReflectors<T> reflectors;
    sequence.begin_stage("band_to_tridiagonal");
    band_to_tridiagonal<T>(sequence, make_band<T>(runtime, n, b), d, e, cols > 0 ? &reflectors : nullptr,
                           options);
    sequence.begin_stage("back_tridiagonal");
    if (cols > 0) back_tridiagonal<T>(sequence, std::move(reflectors), z);
    const Status status = sequence.wait();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  {
    HostAccess ad(d, HostAccess::Mode::read), ae(e, HostAccess::Mode::read);
    run.d.assign(ad.array<R>().begin(), ad.array<R>().end());
    run.e.assign(ae.array<R>().begin(), ae.array<R>().end());
  }
  // Column j of B Q - Q T also needs columns j - 1 and j + 1, so it is checked only inside slabs.
  // Q^H Q is checked within slabs too.
  const std::vector<T> dense = cols > 0 ? dense_band<T>(n, b) : std::vector<T>();
  for (Index k = 0; k < z.count(); ++k) {
    if (z.owner(k) != runtime.rank()) continue;
    HostAccess access(z.slab(k), HostAccess::Mode::read);
    const auto q = access.template matrix<T>();
    std::vector<T> gram(q.cols * q.cols), y(n * q.cols);
    blas::gemm<T>(Op::adjoint, Op::none, q.cols, q.cols, n, T(1), q.data, q.ld, q.data, q.ld, T(0),
                  gram.data(), q.cols);
    blas::gemm<T>(Op::none, Op::none, n, q.cols, n, T(1), dense.data(), n, q.data, q.ld, T(0), y.data(), n);
    for (Index j = 0; j < q.cols; ++j) {
      const Index column = z.first_col(k) + j;
      for (Index l = 0; l < q.cols; ++l)
        run.orthogonality = std::max(run.orthogonality, std::abs(gram[l + j * q.cols] - T(l == j ? 1 : 0)));
      if (j == 0 || (j + 1 == q.cols && column + 1 < n)) continue;
      for (Index i = 0; i < n; ++i) {
        T expected = run.d[column] * q(i, j) + run.e[column - 1] * q(i, j - 1);
        if (column + 1 < n) expected += run.e[column] * q(i, j + 1);
        run.residual = std::max(run.residual, std::abs(y[i + j * n] - expected));
      }
    }
  }
  return run;
}

}  // namespace tessera::testing
