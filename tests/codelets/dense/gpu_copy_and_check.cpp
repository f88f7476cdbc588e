// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/dense/check.hpp>
#include <tessera/codelets/dense/copy.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class GpuCopy : public ::testing::Test {};
TYPED_TEST_SUITE(GpuCopy, Scalars);
template <class T>
class GpuCheck : public ::testing::Test {};
TYPED_TEST_SUITE(GpuCheck, Scalars);
template <class R>
class GpuScale : public ::testing::Test {};
TYPED_TEST_SUITE(GpuScale, Reals);

bool counts(Uplo uplo, Index row, Index col) {
  return uplo == Uplo::lower ? row >= col : uplo == Uplo::upper ? row <= col : true;
}

struct Shape {
  Index rows, cols, padding;
};
const Shape shapes[] = {{1, 1, 0},   {1, 7, 2},   {7, 1, 0},   {33, 31, 1},
                        {64, 64, 0}, {300, 5, 3}, {5, 300, 0}, {1100, 517, 5}};

/// Error bound for sums of `count` terms, rounded to their type and added in double in two orders.
template <class T>
double sum_bound(Index count, double sum) {
  return 4 * (double(precision<T>) + double(count) * precision<double>)*sum;
}

template <class R>
struct Largest {
  R value = 0;
  long long bad_column = 0;
};
template <class T>
Largest<RealOf<T>> largest_on_device(const Matrix<T>& a, Uplo uplo, Index row0, Index col0) {
  const DeviceHandles handles;
  const DeviceMatrix<T> device(a);
  const DeviceArray<RealOf<T>> out(1);
  const DeviceArray<long long> bad(std::vector<long long>{0});
  device::launch_max_abs<T>(handles.stream, device.const_view(), uplo, row0, col0, out.data(), bad.data());
  return {out.get()[0], bad.get()[0]};
}

TYPED_TEST(GpuCopy, MaxAbsOfThePartThatCounts) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  using R = RealOf<T>;
  for (const Shape& shape : shapes)
    for (const auto& [row0, col0] : {std::pair<Index, Index>{0, 0}, {8, 2}, {600, 0}, {0, 3}, {2, 900}})
      for (const Uplo uplo : {Uplo::lower, Uplo::upper, Uplo::general}) {
        auto a = random_matrix<T>(shape.rows, shape.cols, 1, shape.padding);
        R largest = 0;
        Index bad_row = -1, bad_col = -1, last_row = -1, last_col = -1;
        for (Index j = 0; j < shape.cols; ++j)
          for (Index i = 0; i < shape.rows; ++i)
            if (counts(uplo, row0 + i, col0 + j)) {
              largest = std::max({largest, std::abs(real_part(a(i, j))), std::abs(imag_part(a(i, j)))});
              if (bad_row < 0 && j >= shape.cols / 2) bad_row = i, bad_col = j;
              last_row = i, last_col = j;
            } else {
              a(i, j) = not_a_number<T>();
            }
        const auto good = largest_on_device(a, uplo, row0, col0);
        EXPECT_EQ(good.value, largest);
        EXPECT_EQ(good.bad_column, 0);
        if (bad_row < 0) continue;
        // Of several columns with a bad entry the first must be reported.
        for (const R bad : {std::numeric_limits<R>::quiet_NaN(), -std::numeric_limits<R>::infinity()}) {
          auto broken = a;
          broken(last_row, last_col) = T(std::numeric_limits<R>::quiet_NaN());
          broken(bad_row, bad_col) = T(bad);
          if constexpr (is_complex<T>) broken(bad_row, bad_col) = T(0, bad);
          EXPECT_EQ(largest_on_device(broken, uplo, row0, col0).bad_column, bad_col + 1);
        }
      }
}

TYPED_TEST(GpuScale, BringsTheLargestToOne) {
  TESSERA_NEED_GPU();
  using R = TypeParam;
  const DeviceHandles handles;
  const auto scale_of = [&](const std::vector<R>& values, bool power_of_four) {
    const DeviceArray<R> data(values), scale(1);
    std::vector<const R*> pointers;
    for (std::size_t k = 0; k < values.size(); ++k) pointers.push_back(data.data() + k);
    device::launch_choose_scale<R>(handles.stream, pointers, scale.data(), power_of_four);
    return scale.get()[0];
  };
  for (const bool four : {false, true}) {
    EXPECT_EQ(scale_of({0, 0}, four), 1);
    EXPECT_EQ(scale_of({}, four), 1);
    for (const R value : {R(1), R(3), R(0.001), R(7e20), std::numeric_limits<R>::max(), R(1e-30),
                          std::numeric_limits<R>::denorm_min()})
      for (const std::size_t count : {1, 2, 33, 128, 129, 1000})
        for (const std::size_t place : {std::size_t(0), count / 2, count - 1}) {
          std::vector<R> values(count, value / 3);
          values[place] = value;
          int exponent = 0;
          std::frexp(value, &exponent);
          if (four) exponent = exponent / 2 * 2;
          exponent = std::clamp(exponent, std::numeric_limits<R>::min_exponent + 1,
                                std::numeric_limits<R>::max_exponent - 1);
          EXPECT_EQ(scale_of(values, four), std::ldexp(R(1), -exponent)) << value << ' ' << count;
        }
  }
}

TYPED_TEST(GpuScale, DividesByAScale) {
  TESSERA_NEED_GPU();
  using R = TypeParam;
  const DeviceHandles handles;
  for (const std::size_t count : {0, 1, 255, 1000}) {
    std::vector<R> values(count);
    for (std::size_t k = 0; k < count; ++k) values[k] = R(random_uniform(1, 2, Index(k), 0));
    const DeviceArray<R> in(values), scale(std::vector<R>{R(0.3)}), out(count);
    device::launch_divide_by<R>(handles.stream, in.data(), scale.data(), Index(count), out.data());
    const auto result = out.get();
    for (std::size_t k = 0; k < count; ++k) EXPECT_EQ(result[k], values[k] / R(0.3));
  }
}

TYPED_TEST(GpuCopy, CopiesScaledAndTurned) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  using R = RealOf<T>;
  const DeviceHandles handles;
  const DeviceArray<R> scale(std::vector<R>{R(0.25)});
  for (const Shape& shape : shapes)
    for (const Op op : {Op::none, Op::adjoint})
      for (const Index col0 : {Index(0), Index(3), Index(-40)}) {
        const bool turned = op != Op::none;
        const auto source = random_matrix<T>(turned ? shape.cols : shape.rows,
                                             turned ? shape.rows : shape.cols, 3, shape.padding);
        Matrix<T> target(shape.rows + 2, shape.cols + 1, 1);
        const DeviceMatrix<T> in(source), out(target);
        device::launch_copy<T>(handles.stream, in.const_view(), op, scale.data(),
                               out.view().block(1, 1, shape.rows, shape.cols), 0, col0);
        for (Index j = 0; j < shape.cols; ++j)
          for (Index i = 0; i < shape.rows; ++i) {
            T x = R(0.25) * (turned ? conjugate(source(j, i)) : source(i, j));
            if (i == j + col0) x = real_part(x);
            target(i + 1, j + 1) = x;
          }
        const auto result = out.get();
        for (Index j = 0; j < target.cols(); ++j)
          for (Index i = 0; i < target.rows(); ++i) ASSERT_EQ(result(i, j), target(i, j)) << i << ' ' << j;
      }
}

TYPED_TEST(GpuCopy, ScalesByTheRoot) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  using R = RealOf<T>;
  const DeviceHandles handles;
  for (const R factor : {R(1), R(4), R(1.0 / 64)})
    for (const Shape& shape : shapes) {
      const auto x = random_matrix<T>(shape.rows, shape.cols, 4, shape.padding);
      const DeviceMatrix<T> device(x);
      const DeviceArray<R> scale(std::vector<R>{factor});
      device::launch_scale_by_root<T>(handles.stream, scale.data(), device.view());
      const auto result = device.get();
      for (Index j = 0; j < x.cols(); ++j)
        for (Index i = 0; i < x.rows(); ++i) ASSERT_EQ(result(i, j), std::sqrt(factor) * x(i, j));
    }
}

TYPED_TEST(GpuCopy, NormalisesColumns) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const DeviceHandles handles;
  for (const Index rows : {1, 31, 1000}) {
    auto x = random_matrix<T>(rows, 5, 4, 2);
    for (Index i = 0; i < rows; ++i) x(i, 2) = T(0), x(i, 3) *= RealOf<T>(1e-3);
    const DeviceMatrix<T> device(x);
    device::launch_normalise_columns<T>(handles.stream, device.view());
    const auto result = device.get();
    for (Index j = 0; j < 5; ++j) {
      double squares = 0;
      for (Index i = 0; i < rows; ++i) squares += std::norm(x(i, j));
      for (Index i = 0; i < rows; ++i)
        ASSERT_LE(std::abs(result(i, j) - (j == 2 ? T(0) : x(i, j) / RealOf<T>(std::sqrt(squares)))),
                  4 * precision<T>)
            << i << ' ' << j;
    }
  }
}

TYPED_TEST(GpuCheck, ColumnSums) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  using R = RealOf<T>;
  const DeviceHandles handles;
  for (const Shape& shape : shapes) {
    const auto r = random_matrix<T>(shape.rows, shape.cols, 8, shape.padding),
               y = random_matrix<T>(shape.rows, shape.cols, 9, 1);
    std::vector<R> values(static_cast<std::size_t>(shape.cols));
    for (Index c = 0; c < shape.cols; ++c) values[std::size_t(c)] = R(random_uniform(1, 3, c, 0));
    const DeviceMatrix<T> dr(r), dy(y);
    const DeviceArray<R> lambda(values);
    const DeviceArray<double> sums(values.size());
    for (const bool difference : {false, true}) {
      const auto view = dy.const_view();
      device::launch_column_sums<T>(handles.stream, dr.const_view(), difference ? &view : nullptr,
                                    lambda.data(), sums.data());
      const auto result = sums.get();
      for (Index c = 0; c < shape.cols; ++c) {
        double sum = 0;
        for (Index i = 0; i < shape.rows; ++i)
          sum += std::abs(difference ? r(i, c) - values[std::size_t(c)] * y(i, c) : r(i, c));
        EXPECT_NEAR(result[std::size_t(c)], sum, sum_bound<T>(shape.rows, sum)) << shape.rows << ' ' << c;
      }
      device::launch_column_sums<T>(handles.stream, dr.const_view(), difference ? &view : nullptr,
                                    lambda.data(), sums.data());
      EXPECT_EQ(sums.get(), result) << "the same every time";
    }
  }
}

TYPED_TEST(GpuCheck, RowSums) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const DeviceHandles handles;
  for (const Shape& shape : shapes)
    for (const bool identity : {false, true}) {
      const auto p = random_matrix<T>(shape.rows, shape.cols, 10, shape.padding);
      const DeviceMatrix<T> device(p);
      const DeviceArray<double> sums(std::size_t(shape.rows));
      // In two parts, the first of which may be empty.
      const auto view = device.const_view();
      const Index first = shape.cols / 3;
      if (first > 0) row_sums<T>(handles, {view.data, view.rows, first, view.ld}, identity, 0, sums.data());
      row_sums<T>(handles, {view.data + first * view.ld, view.rows, shape.cols - first, view.ld}, identity,
                  first, sums.data());
      const auto result = sums.get();
      for (Index d = 0; d < shape.rows; ++d) {
        double sum = 0;
        for (Index c = 0; c < shape.cols; ++c) sum += std::abs(p(d, c) - T(identity && c == d ? 1 : 0));
        EXPECT_NEAR(result[std::size_t(d)], sum, sum_bound<T>(shape.cols, sum));
      }
    }
}

TYPED_TEST(GpuCheck, TileSums) {
  TESSERA_NEED_GPU();
  using T = TypeParam;
  const DeviceHandles handles;
  for (const Shape& shape : shapes)
    for (const bool diagonal : {false, true}) {
      if (diagonal && shape.rows != shape.cols && shape.rows > 400) continue;
      const Index m = diagonal ? std::max(shape.rows, shape.cols) : shape.rows, n = diagonal ? m : shape.cols;
      auto a = random_matrix<T>(m, n, 11, shape.padding);
      std::vector<double> expected(static_cast<std::size_t>(diagonal ? n : n + m), 0.0);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
          if (diagonal && i < j) {
            a(i, j) = not_a_number<T>();
            continue;
          }
          expected[std::size_t(j)] += std::abs(a(i, j));
          if (!diagonal || i != j) expected[std::size_t((diagonal ? 0 : n) + i)] += std::abs(a(i, j));
        }
      const DeviceMatrix<T> device(a);
      const DeviceArray<double> sums(expected.size());
      device::launch_tile_sums<T>(handles.stream, device.const_view(), diagonal, sums.data());
      const auto result = sums.get();
      for (std::size_t k = 0; k < expected.size(); ++k)
        EXPECT_NEAR(result[k], expected[k], sum_bound<T>(m + n, expected[k])) << k;
    }
}

}  // namespace
}  // namespace tessera::test
