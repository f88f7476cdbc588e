// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <gtest/gtest.h>
#include <tests/codelets/sparse/piece_problem.hpp>
#include <tests/support/device_array.hpp>
#include <tests/support/type_pairs.hpp>

#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class P>
class GpuMultiplyCsb : public ::testing::Test {};
TYPED_TEST_SUITE(GpuMultiplyCsb, TypePairs);

struct Widths {
  int m, x_columns, x_rows, y_rows, y_columns;
};

/// One piece on the device, and its products with random vectors.
template <class V, class T>
class DevicePiece {
 public:
  explicit DevicePiece(const PieceProblem<V>& p) : p_(p), index_(p.index()) {}

  /// y_I and y_J, empty if they are not written. If they are not overwritten, they begin with
  /// `start`.
  std::pair<std::vector<T>, std::vector<T>> multiply(const DeviceHandles& handles, const Widths& w,
                                                     bool overwrite_rows, bool overwrite_columns,
                                                     const std::vector<T>& x_columns,
                                                     const std::vector<T>& x_rows, T start) const {
    const auto fresh = [&](std::int64_t rows, int width, bool overwrite) {
      return std::vector<T>(static_cast<std::size_t>(rows * width),
                            overwrite ? std::numeric_limits<T>::quiet_NaN() : start);
    };
    const std::vector<T> none;
    const DeviceArray<T> xc(x_columns), xr(x_rows),
        yr(p_.shape.adds_to_rows() ? fresh(p_.rows, w.y_rows, overwrite_rows) : none),
        yc(p_.shape.adds_to_columns() ? fresh(p_.columns, w.y_columns, overwrite_columns) : none);
    device::launch_multiply_csb<V, T>(
        handles.stream, p_.shape, w.m, overwrite_rows ? Store::overwrite : Store::add,
        overwrite_columns ? Store::overwrite : Store::add, index_.data(),
        {xc.data(), w.x_columns, p_.columns, w.x_columns}, {xr.data(), w.x_rows, p_.rows, w.x_rows},
        {yr.data(), w.y_rows, p_.rows, w.y_rows}, {yc.data(), w.y_columns, p_.columns, w.y_columns});
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    return {yr.get(), yc.get()};
  }

 private:
  const PieceProblem<V>& p_;
  DeviceArray<std::int64_t> index_;
};

template <class V, class T>
void check(const PieceProblem<V>& p, const DevicePiece<V, T>& device, const DeviceHandles& handles,
           const Widths& w, bool overwrite_rows, bool overwrite_columns) {
  SCOPED_TRACE(p.name + ", m = " + std::to_string(w.m));
  const T start = T(0.625);
  const auto x_columns = random_rows<T>(p.columns, w.x_columns, 3),
             x_rows = random_rows<T>(p.rows, w.x_rows, 4);
  const auto y = device.multiply(handles, w, overwrite_rows, overwrite_columns, x_columns, x_rows, start);
  const ExpectedProduct expected = expected_product(p, w.m, x_columns, w.x_columns, x_rows, w.x_rows);
  for (const int side : {0, 1}) {
    if (side == 0 ? !p.shape.adds_to_rows() : !p.shape.adds_to_columns()) continue;
    const auto& found = side ? y.second : y.first;
    const bool overwrite = side ? overwrite_columns : overwrite_rows;
    const std::int64_t rows = side ? p.columns : p.rows, width = side ? w.y_columns : w.y_rows;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < width; ++j) {
        const double value = found[static_cast<std::size_t>(i * width + j)];
        if (j >= w.m) {
          ASSERT_EQ(value, overwrite ? 0 : double(start)) << "column " << j << " takes no part";
          continue;
        }
        const auto k = static_cast<std::size_t>(i * w.m + j);
        const double before = overwrite ? 0 : double(start);
        ASSERT_NEAR(value, before + expected.y[side][k],
                    300 * double(precision<T>) * (expected.magnitudes[side][k] + before) + 1e-300)
            << "side " << side << ", row " << i << ", column " << j;
      }
  }
}

/// Calls `test` with each piece and its copy on the device.
template <class V, class T, class Test>
void for_each_piece(const Test& test) {
  for (const auto& p : piece_problems<V>()) test(p, DevicePiece<V, T>(p));
}

TYPED_TEST(GpuMultiplyCsb, AllNumbersOfVectors) {
  TESSERA_NEED_GPU();
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const DeviceHandles handles;
  for_each_piece<V, T>([&](const PieceProblem<V>& p, const DevicePiece<V, T>& device) {
    for (const int m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 18, 20, 24, 31, 32}) {
      check(p, device, handles, {m, m, m, m, m}, true, true);
      check(p, device, handles, {m, m + 1, m + 3, m + 2, m + 5}, false, m % 2 == 0);
      check(p, device, handles, {m, 32, 36, 32, 33}, m % 2 == 1, false);
    }
  });
}

TYPED_TEST(GpuMultiplyCsb, TheSameBitsTwice) {
  TESSERA_NEED_GPU();
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const DeviceHandles handles;
  for_each_piece<V, T>([&](const PieceProblem<V>& p, const DevicePiece<V, T>& device) {
    for (const int m : {1, 8, 19}) {
      const auto x_columns = random_rows<T>(p.columns, m, 5), x_rows = random_rows<T>(p.rows, m, 6);
      const Widths w{m, m, m, m, m};
      const auto first = device.multiply(handles, w, true, true, x_columns, x_rows, T(0));
      EXPECT_EQ(device.multiply(handles, w, true, true, x_columns, x_rows, T(0)), first) << p.name;
    }
  });
}

/// Unused columns may contain anything, and a value that is not finite must stay in its column.
TYPED_TEST(GpuMultiplyCsb, NanStaysInItsColumn) {
  TESSERA_NEED_GPU();
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const DeviceHandles handles;
  const auto p = std::move(piece_problems<V>()[1]);
  const DevicePiece<V, T> device(p);
  for (const int m : {3, 7, 13}) {
    auto x_columns = random_rows<T>(p.columns, 16, 5);
    const auto x_rows = random_rows<T>(p.rows, 16, 6);
    const auto clean =
        device.multiply(handles, {m, 16, 16, 16, 16}, true, true, x_columns, x_rows, T(0)).first;
    for (std::int64_t i = 0; i < p.columns; ++i)
      for (const int j : {1, m})
        x_columns[static_cast<std::size_t>(16 * i + j)] = std::numeric_limits<T>::quiet_NaN();
    const auto y = device.multiply(handles, {m, 16, 16, 16, 16}, true, true, x_columns, x_rows, T(0)).first;
    for (std::size_t k = 0; k < y.size(); ++k)
      if (k % 16 != 1) {
        ASSERT_EQ(y[k], clean[k]) << k;
      }
  }
}

}  // namespace
}  // namespace tessera::test
