// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/band/kernels/chase_blocks.hpp>
#include <tessera/codelets/linalg/split_products.hpp>

#include "tests/codelets/band/reflector_pieces.hpp"

/// The tridiagonal back-transform on a GPU against reflectors applied one by one on the host.
namespace tessera {
using namespace detail;
namespace {

using namespace testing;
using test::DeviceArray;

template <class T>
class GpuBackTransform : public ::testing::Test {
 protected:
  void SetUp() override { TESSERA_NEED_GPU(); }
};
TYPED_TEST_SUITE(GpuBackTransform, test::Scalars);

/// Products by split operands, too, where the type has them.
template <class T>
std::vector<bool> split_or_not() {
  if (splittable<T>) return {false, true};
  return {false};
}

/// About n / b reflectors of length b act on each element. Sums of split operands are rounded towards zero.
template <class T>
double error_bound(Index n, bool split) {
  return (split ? 40. : 10.) * std::sqrt(static_cast<double>(n)) * precision<T>;
}

template <class T>
void check_reflectors(bool split) {
  SCOPED_TRACE(split ? "split" : "plain");
  using D = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  for (const PieceShape& s : piece_shapes) {
    SCOPED_TRACE(::testing::Message() << "n " << s.n << " b " << s.b << " g " << s.group << " k " << s.columns
                                      << " pieces " << s.pieces << " ld " << s.ld);
    std::mt19937 generator(7);
    std::vector<T> c(static_cast<std::size_t>(s.ld * s.columns));
    for (T& x : c) x = random_scalar<T>(generator);
    std::vector<D> expected(c.begin(), c.end());
    DeviceArray<T> on_device(c), for_elpa(c);
    DeviceArray<char> workspace(kernels::apply_chase_workspace(s.columns));
    const auto pieces = cut(s);
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      const std::vector<T> data = random_reflectors<T>(*piece, generator);
      apply_one_by_one(*piece, data, expected, s.columns, s.ld);
      DeviceArray<T> reflectors(data);
      const Index size = kernels::chase_blocks<T>(*piece, split).size();
      DeviceArray<double> blocks(std::vector<double>(static_cast<std::size_t>(size), std::nan("")));
      kernels::launch_form_chase_t<T>(nullptr, *piece, reflectors.data(), blocks.data(), split);
      kernels::launch_apply_chase<T>(nullptr, *piece, blocks.data(), on_device.data(), s.columns, s.ld,
                                     workspace.data(), split);
      if ((s.b & (s.b - 1)) == 0)
        kernels::launch_apply_elpa<T>(nullptr, *piece, reflectors.data(), for_elpa.data(), s.columns, s.ld);
      ASSERT_EQ(cudaGetLastError(), cudaSuccess);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      if (split) continue;
      std::vector<double> host(static_cast<std::size_t>(size));
      kernels::form_chase_t<T>(*piece, data.data(), host.data());
      ASSERT_LT(largest_difference(blocks.get(), host), 1e-13);
    }
    const double bound = error_bound<T>(s.n, split);
    EXPECT_LT(largest_difference(on_device.get(), expected), bound);
    if ((s.b & (s.b - 1)) == 0) {
      EXPECT_LT(largest_difference(for_elpa.get(), expected), bound);
    }
  }
}
TYPED_TEST(GpuBackTransform, AppliesTheReflectors) {
  for (const bool split : split_or_not<TypeParam>()) check_reflectors<TypeParam>(split);
}

/// Strips of 16 columns of `result` that differ from the columns of `expected`, which repeat
/// periodically.
template <class T>
std::string differing_strips(const std::vector<T>& result, const std::vector<T>& expected, Index ld,
                             Index columns) {
  std::ostringstream message;
  Index strips = 0;
  for (Index strip = 0; strip * 16 < columns; ++strip) {
    Index wrong_columns = 0, first_row = ld, last_row = -1;
    for (Index j = strip * 16; j < std::min(columns, strip * 16 + 16); ++j) {
      bool wrong = false;
      for (Index i = 0; i < ld; ++i) {
        const std::size_t place = static_cast<std::size_t>(i + j * ld);
        if (result[place] == expected[place % expected.size()]) continue;
        wrong = true, first_row = std::min(first_row, i), last_row = std::max(last_row, i);
      }
      wrong_columns += wrong;
    }
    if (wrong_columns == 0) continue;
    if (++strips <= 20)
      message << "strip " << strip << ": " << wrong_columns << " columns, rows " << first_row << " to "
              << last_row << "\n";
  }
  if (strips > 0) message << strips << " strips differ";
  return message.str();
}

/// `wide` must equal repeated copies of the columns of `narrow` bitwise, in whatever order the
/// multiprocessors run, because every column is summed in the same order.
template <class T>
void compare_widths(bool split, Index n, Index b, Index ld, Index columns, int repetitions) {
  SCOPED_TRACE(::testing::Message() << (split ? "split" : "plain") << " n " << n << " b " << b << " ld " << ld
                                    << " columns " << columns);
  const Index few = 64;
  std::mt19937 generator(9);
  const DeviceReflectors piece{n, b, 0, n - 1, 32};
  std::vector<T> c(static_cast<std::size_t>(ld * columns));
  for (Index i = 0; i < ld * columns; ++i)
    c[i] = i < ld * few ? random_scalar<T>(generator) : c[i - ld * few];
  DeviceArray<T> reflectors(random_reflectors<T>(piece, generator));
  const std::vector<T> some(c.begin(), c.begin() + ld * few);
  DeviceArray<T> narrow(some);
  DeviceArray<double> blocks(kernels::chase_blocks<T>(piece, split).size());
  DeviceArray<char> workspace(kernels::apply_chase_workspace(columns));
  kernels::launch_form_chase_t<T>(nullptr, piece, reflectors.data(), blocks.data(), split);
  kernels::launch_apply_chase<T>(nullptr, piece, blocks.data(), narrow.data(), few, ld, workspace.data(),
                                 split);
  const std::vector<T> expected = narrow.get();
  // Checks the narrow result itself against the same reflectors applied on the host.
  using D = std::conditional_t<is_complex<T>, std::complex<double>, double>;
  std::vector<D> plain(some.begin(), some.begin() + 4 * ld);
  apply_one_by_one(piece, reflectors.get(), plain, 4, ld);
  EXPECT_LT(largest_difference(std::vector<T>(expected.begin(), expected.begin() + 4 * ld), plain),
            error_bound<T>(n, split));
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    DeviceArray<T> wide(c);
    kernels::launch_apply_chase<T>(nullptr, piece, blocks.data(), wide.data(), columns, ld, workspace.data(),
                                   split);
    ASSERT_EQ(cudaGetLastError(), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(differing_strips(wide.get(), expected, ld, columns), "") << "repetition " << repetition;
  }
}

/// More columns and bundles than the GPU processes at once; the result of a column must not depend
/// on the other columns. Bandwidths include multiples of the tile size and others, odd ones, and
/// ones with windows of all sizes.
TYPED_TEST(GpuBackTransform, WideSlabsAreTheSame) {
  const Index n = 1200;
  for (const bool split : split_or_not<TypeParam>())
    for (const Index b : {3, 16, 25, 32, 33, 50, 64, 100, 128})
      for (const Index ld : {n, n + 1}) compare_widths<TypeParam>(split, n, b, ld, 3000, 1);
}

/// Errors that depend on the order of the multiprocessors appear only in some runs.
TYPED_TEST(GpuBackTransform, WideSlabsAreTheSameInManyRuns) {
  for (const bool split : split_or_not<TypeParam>())
    for (const Index b : {50, 64}) compare_widths<TypeParam>(split, 1200, b, 1200, 3000, 20);
}

/// A case small enough for a memory checker.
TYPED_TEST(GpuBackTransform, TwoChunksAreTheSame) {
  for (const bool split : split_or_not<TypeParam>())
    for (const Index b : {25, 50}) compare_widths<TypeParam>(split, 260, b, 261, 200, 1);
}

}  // namespace
}  // namespace tessera
