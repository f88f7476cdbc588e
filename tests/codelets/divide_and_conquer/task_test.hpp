// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <vector>

#include <tests/codelets/divide_and_conquer/matrices.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>

/// Shared by the tests of the tasks of tridiagonal divide and conquer. The tests run on CPUs and
/// compare bitwise with the kernels.
namespace tessera::test {
using namespace detail;

/// The matrices used here have four pieces, the last of 11 rows.
inline constexpr Index order = 50, leaf = 13;

template <class R>
class TridiagonalTasks : public RuntimeTest<R, true> {
 public:
  using RuntimeTest<R, true>::runtime;
  static constexpr double epsilon = std::numeric_limits<R>::epsilon();

  static Data doubles(Index count, int owner = Data::every_rank) {
    return Data::bytes(runtime(), sizeof(double) * std::size_t(count), owner);
  }
  /// T scaled and divided by the kernel.
  static std::vector<double> scaled(const Tridiagonal<R>& t) {
    const Index n = t.order();
    std::vector<double> buffer(std::size_t(2 * n + 1));
    const divide_and_conquer::ScaledTridiagonal s(buffer.data(), n);
    int exponent = 0;
    EXPECT_EQ(kernels::scale_and_cut(n, t.d.data(), t.e.data(), leaf, s.d, s.e, &exponent), 0);
    *s.exponent = exponent;
    return buffer;
  }
  static Tridiagonal<R> piece(const std::vector<double>& scaled, Index start, Index m) {
    const double* d = scaled.data() + start;
    const double* e = scaled.data() + scaled.size() / 2 + start;
    return {{d, d + m}, {e, e + m - 1}};
  }

  /// Spectrum and vectors of a leaf, computed by the kernel.
  struct Leaf {
    std::vector<double> spectrum;
    Matrix<R> q;
  };
  static Leaf solve_leaf(std::vector<double> scaled, Index start, Index m) {
    Leaf node{std::vector<double>(std::size_t(3 * m)), Matrix<R>(m, m)};
    std::vector<double> reals(std::size_t(kernels::leaf_real_scratch(m)));
    std::vector<int> integers(std::size_t(kernels::leaf_integer_scratch(m)));
    const divide_and_conquer::ScaledTridiagonal s(scaled.data(), order);
    EXPECT_EQ(kernels::leaf_eigenvectors(m, s.d + start, s.e + start,
                                         divide_and_conquer::NodeSpectrum(node.spectrum.data(), m),
                                         node.q.data(), m, reals.data(), integers.data()),
              0);
    return node;
  }
};

}  // namespace tessera::test
