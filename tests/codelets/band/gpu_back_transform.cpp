// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/band/chase_blocks_cuda.hpp>

#include "tests/codelets/band/reflector_pieces.hpp"

/// The tridiagonal back-transform on a GPU against reflectors applied one by one on the host.
namespace tessera {
namespace {

using namespace testing;
using test::DeviceArray;

template <class T>
class GpuBackTransform : public ::testing::Test {
 protected:
  void SetUp() override { TESSERA_NEED_GPU(); }
};
TYPED_TEST_SUITE(GpuBackTransform, test::Scalars);

TYPED_TEST(GpuBackTransform, AppliesTheReflectors) {
  using T = TypeParam;
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
      const Index size = kernels::chase_blocks<T>(*piece).size();
      DeviceArray<double> blocks(std::vector<double>(static_cast<std::size_t>(size), std::nan("")));
      kernels::launch_form_chase_t<T>(nullptr, *piece, reflectors.data(), blocks.data());
      kernels::launch_apply_chase<T>(nullptr, *piece, blocks.data(), on_device.data(), s.columns, s.ld,
                                     workspace.data());
      if ((s.b & (s.b - 1)) == 0)
        kernels::launch_apply_elpa<T>(nullptr, *piece, reflectors.data(), for_elpa.data(), s.columns, s.ld);
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      std::vector<double> host(static_cast<std::size_t>(size));
      kernels::form_chase_t<T>(*piece, data.data(), host.data());
      ASSERT_LT(largest_difference(blocks.get(), host), 1e-13);
    }
    // A number is met by n / b reflections of length b.
    const double bound = 10. * std::sqrt(static_cast<double>(s.n)) * precision<T>;
    EXPECT_LT(largest_difference(on_device.get(), expected), bound);
    if ((s.b & (s.b - 1)) == 0) {
      EXPECT_LT(largest_difference(for_elpa.get(), expected), bound);
    }
  }
}

/// More columns and bundles than the GPU takes at a time: the result for a column must not depend on the
/// others.
TYPED_TEST(GpuBackTransform, WideSlabsAreTheSame) {
  using T = TypeParam;
  const Index n = 1200, columns = 3000, few = 64;
  for (const Index b : {16, 32, 50, 64, 128})
    for (const Index ld : {n, n + 1}) {
      SCOPED_TRACE(::testing::Message() << "b " << b << " ld " << ld);
      std::mt19937 generator(9);
      const DeviceReflectors piece{n, b, 0, n - 1, 32};
      std::vector<T> c(static_cast<std::size_t>(ld * columns));
      for (Index i = 0; i < ld * columns; ++i)
        c[i] = i < ld * few ? random_scalar<T>(generator) : c[i - ld * few];
      DeviceArray<T> reflectors(random_reflectors<T>(piece, generator)), wide(c);
      DeviceArray<T> narrow(std::vector<T>(c.begin(), c.begin() + ld * few));
      DeviceArray<double> blocks(kernels::chase_blocks<T>(piece).size());
      DeviceArray<char> workspace(kernels::apply_chase_workspace(columns));
      kernels::launch_form_chase_t<T>(nullptr, piece, reflectors.data(), blocks.data());
      kernels::launch_apply_chase<T>(nullptr, piece, blocks.data(), narrow.data(), few, ld, workspace.data());
      kernels::launch_apply_chase<T>(nullptr, piece, blocks.data(), wide.data(), columns, ld,
                                     workspace.data());
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      const std::vector<T> expected = narrow.get(), result = wide.get();
      Index wrong = 0, first = 0;
      for (Index i = ld * columns; i-- > 0;)
        if (!(result[i] == expected[i % (ld * few)])) ++wrong, first = i;
      EXPECT_EQ(wrong, 0) << "first in row " << first % ld << ", column " << first / ld;
    }
}

}  // namespace
}  // namespace tessera
