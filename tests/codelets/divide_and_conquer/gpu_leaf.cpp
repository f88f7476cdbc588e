// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The CUDA kernels that scale, divide and solve the leaves of divide and conquer.
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>

#include "matrices.hpp"

namespace tessera::test {
using namespace detail;
namespace {

using divide_and_conquer::Forest;

/// Solves all leaves of a matrix divided at multiples of `leaf`, as a forest with a stride, and
/// checks each leaf.
template <class R>
void check_leaves(const TridiagonalKind& kind, Index n, Index leaf, bool gaps) {
  SCOPED_TRACE(kind.name + ", " + std::to_string(n) + " in " + std::to_string(leaf));
  const auto t = make_tridiagonal<R>(kind, n);
  const DeviceArray<R> d(t.d), e(t.e);
  const DeviceArray<double> scaled(2 * n + 1);
  const DeviceArray<long long> failure(std::vector<long long>(1, 0));
  kernels::launch_scale_and_cut<R>(nullptr, n, d.data(), e.data(), leaf, scaled.data(), scaled.data() + n,
                                   scaled.data() + 2 * n, failure.data());
  const auto scaled_host = scaled.get();
  std::vector<double> cd(n), ce(n);
  int exponent = 0;
  kernels::scale_and_cut(n, t.d.data(), t.e.data(), leaf, cd.data(), ce.data(), &exponent);
  for (Index i = 0; i < n; ++i) ASSERT_EQ(scaled_host[i], cd[i]);
  for (Index i = 0; i + 1 < n; ++i) ASSERT_EQ(scaled_host[n + i], ce[i]);
  ASSERT_EQ(scaled_host[2 * n], double(exponent));
  // With gaps only every second leaf is solved.
  const Index stride = gaps ? 2 * leaf : leaf;
  Index rows = 0;
  std::vector<Index> starts;
  for (Index start = 0; start < n; start += stride) {
    starts.push_back(start);
    rows = static_cast<Index>(starts.size() - 1) * leaf + std::min(leaf, n - start);
  }
  const Forest forest{rows, leaf, stride};
  ASSERT_EQ(forest.trees(), static_cast<Index>(starts.size()));
  const double epsilon = std::numeric_limits<R>::epsilon();
  const DeviceArray<char> scratch(divide_and_conquer::forest_scratch_bytes(forest, true));
  const kernels::LeafForest leaves{forest, scaled.data(), scaled.data() + n, epsilon, failure.data()};
  const DeviceArray<double> values(3 * rows);
  kernels::launch_leaf_values(nullptr, leaves, true, values.data(), scratch.data());
  const auto all_values = values.get();
  std::vector<DeviceArray<double>> spectra;
  std::vector<DeviceArray<R>> q;
  std::vector<double*> spectrum_pointers;
  std::vector<R*> q_pointers;
  std::vector<Index> ld;
  for (Index tree = 0; tree < forest.trees(); ++tree) {
    const Index r = forest.tree_rows(tree);
    spectrum_pointers.push_back(spectra.emplace_back(3 * r).data());
    ld.push_back(r + tree % 2);
    q_pointers.push_back(q.emplace_back(ld.back() * r).data());
  }
  kernels::launch_leaf_vectors<R>(nullptr, leaves, spectrum_pointers.data(), q_pointers.data(), ld.data(),
                                  scratch.data());
  ASSERT_EQ(failure.get()[0], 0);
  for (Index tree = 0; tree < forest.trees(); ++tree) {
    const Index r = forest.tree_rows(tree), start = starts[tree], l = ld[tree];
    const auto spectrum = spectra[tree].get();
    const auto padded = q[tree].get();
    Tridiagonal<R> piece{std::vector<R>(r), std::vector<R>(r - 1)};
    std::vector<R> w(r), vectors(r * r), w2(r);
    for (Index i = 0; i < r; ++i)
      piece.d[i] = static_cast<R>(cd[start + i]), w[i] = static_cast<R>(spectrum[i]);
    for (Index i = 0; i + 1 < r; ++i) piece.e[i] = static_cast<R>(ce[start + i]);
    for (Index i = 0; i < r; ++i) w2[i] = static_cast<R>(all_values[3 * tree * leaf + i]);
    for (Index j = 0; j < r; ++j)
      for (Index i = 0; i < r; ++i) vectors[j * r + i] = padded[j * l + i];
    // Errors are small relative to the whole matrix, whose largest element is now about 1, not
    // relative to a leaf.
    const double bound = 4.0 * std::max(1.0, 0.5 / static_cast<double>(norm(piece)));
    if (norm(piece) > 0) {
      ASSERT_TRUE(values_within(piece, w, bound)) << "leaf " << tree;
      ASSERT_TRUE(values_within(piece, w2, bound)) << "leaf " << tree;
    }
    const auto errors = vector_errors(piece, w, vectors);
    ASSERT_LT(errors.residual, bound) << "leaf " << tree;
    ASSERT_LT(errors.orthogonality, 4.0) << "leaf " << tree;
    for (Index j = 0; j < r; ++j) {
      ASSERT_NEAR(spectrum[r + j], double(vectors[j * r]), 100 * epsilon) << "first row " << j;
      ASSERT_NEAR(spectrum[2 * r + j], double(vectors[j * r + r - 1]), 100 * epsilon) << "last row " << j;
    }
  }
}

/// Values only, of a matrix that is a single leaf, scaled back.
template <class R>
void check_values(const TridiagonalKind& kind, Index n) {
  SCOPED_TRACE(kind.name + ", " + std::to_string(n));
  const auto t = make_tridiagonal<R>(kind, n);
  const DeviceArray<R> d(t.d), e(t.e), w(n);
  const DeviceArray<double> scaled(2 * n + 1), spectra(3 * n);
  const DeviceArray<long long> failure(std::vector<long long>(1, 0));
  const DeviceArray<char> scratch(divide_and_conquer::forest_scratch_bytes({n, n, n}, false));
  kernels::launch_scale_and_cut<R>(nullptr, n, d.data(), e.data(), n, scaled.data(), scaled.data() + n,
                                   scaled.data() + 2 * n, failure.data());
  kernels::launch_leaf_values(nullptr,
                              {{n, n, n},
                               scaled.data(),
                               scaled.data() + n,
                               double(std::numeric_limits<R>::epsilon()),
                               failure.data()},
                              false, spectra.data(), scratch.data());
  kernels::launch_unscale<R>(nullptr, n, spectra.data(), scaled.data() + 2 * n, w.data());
  ASSERT_TRUE(values_within(t, w.get(), 4.0));
  ASSERT_EQ(failure.get()[0], 0);
}

/// Values that are not finite must be detected when T is scaled, and by the leaves.
template <class R>
void check_not_finite(double bad) {
  const Index n = 100;
  std::vector<R> d(n, 1), e(n - 1, 1);
  e[70] = static_cast<R>(bad);
  d[90] = static_cast<R>(bad);
  const DeviceArray<R> dd(d), de(e);
  const DeviceArray<double> scaled(2 * n + 1), spectra(3 * n);
  const DeviceArray<long long> failure(std::vector<long long>(1, 0));
  kernels::launch_scale_and_cut<R>(nullptr, n, dd.data(), de.data(), n, scaled.data(), scaled.data() + n,
                                   scaled.data() + 2 * n, failure.data());
  ASSERT_EQ(failure.get()[0], 71);
  // With such a value inside the matrix the solver must end and report it.
  std::vector<double> raw(2 * n + 1, 0.5);
  raw[50] = bad;
  const DeviceArray<double> broken(raw);
  const DeviceArray<long long> later(std::vector<long long>(1, 0));
  const DeviceArray<char> scratch(divide_and_conquer::forest_scratch_bytes({n, n, n}, false));
  kernels::launch_leaf_values(nullptr, {{n, n, n}, broken.data(), broken.data() + n, 0x1p-52, later.data()},
                              true, spectra.data(), scratch.data());
  ASSERT_EQ(later.get()[0], 1);
}

template <class R>
class GpuLeaf : public ::testing::Test {};
TYPED_TEST_SUITE(GpuLeaf, Reals);

TYPED_TEST(GpuLeaf, LeavesAreSolved) {
  TESSERA_NEED_GPU();
  for (const auto& kind : tridiagonal_kinds<TypeParam>()) {
    for (Index n : {1, 2, 3, 31, 32, 33, 65, 200, 515}) check_leaves<TypeParam>(kind, n, n, false);
    check_leaves<TypeParam>(kind, 300, 96, false);
    check_leaves<TypeParam>(kind, 513, 64, true);
    check_leaves<TypeParam>(kind, 257, 64, false);
    if (this->HasFatalFailure()) return;
  }
  check_leaves<TypeParam>(tridiagonal_kinds<TypeParam>()[1], 1024, 1024, false);
}

TYPED_TEST(GpuLeaf, ValuesOfLargerOrders) {
  TESSERA_NEED_GPU();
  for (const auto& kind : tridiagonal_kinds<TypeParam>())
    for (Index n : {1001, 2999}) {
      check_values<TypeParam>(kind, n);
      if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST(GpuLeaf, NumbersThatAreNotFiniteAreFound) {
  TESSERA_NEED_GPU();
  for (double bad : {std::nan(""), HUGE_VAL}) {
    check_not_finite<TypeParam>(bad);
    if (this->HasFatalFailure()) return;
  }
}

// compute-sanitizer's racecheck is hundreds of times slower than the kernels alone. The cases are a
// piece that is not full, a full piece, and two leaves with two levels of merges: eight pieces, one
// of them empty, in two thread blocks. The merge of order 65 has two tiles of 64 in each direction
// and more than two warps of columns. In the kinds of matrices every column is a pole; no column
// is; some are, with rotations, after which (in float) the deflated columns have to be sorted.
TYPED_TEST(GpuLeaf, SmallEnoughForRacecheck) {
  TESSERA_NEED_GPU();
  std::vector<std::string> missing{"1-2-1", "identity", "random", "glued Wilkinson"};
  for (const auto& kind : tridiagonal_kinds<TypeParam>()) {
    if (std::erase(missing, kind.name) == 0) continue;
    for (Index n : {20, 32}) check_leaves<TypeParam>(kind, n, n, false);
    check_leaves<TypeParam>(kind, 68, 65, false);
    check_values<TypeParam>(kind, 65);
    if (this->HasFatalFailure()) return;
  }
  ASSERT_TRUE(missing.empty()) << missing.front();
  check_not_finite<TypeParam>(HUGE_VAL);
}

}  // namespace
}  // namespace tessera::test
