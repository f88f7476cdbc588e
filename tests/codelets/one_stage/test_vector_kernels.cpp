// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <complex>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/one_stage/kernels/vector_kernels.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
std::vector<T> random_numbers(Index count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& element : x) {
    if constexpr (is_complex<T>)
      element = T(static_cast<RealOf<T>>(uniform(engine)), static_cast<RealOf<T>>(uniform(engine)));
    else
      element = static_cast<T>(uniform(engine));
  }
  return x;
}

template <class T>
double distance(const std::vector<T>& x, const std::vector<T>& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max<double>(largest, std::abs(x[i] - y[i]));
  return largest;
}

/// The three kernels at one instruction set level.
template <class T>
struct Level {
  decltype(&kernels::two_sided_tile_product<T>) product;
  decltype(&kernels::adjoint_times_vector<T>) adjoint;
  decltype(&kernels::subtract_combinations<T>) subtract;
};
template <class T>
std::vector<Level<T>> levels() {
  std::vector<Level<T>> all{
      {&kernels::two_sided_tile_product<T>, &kernels::adjoint_times_vector<T>,
       &kernels::subtract_combinations<T>},
      {&kernels::level2::two_sided_tile_product<T>, &kernels::level2::adjoint_times_vector<T>,
       &kernels::level2::subtract_combinations<T>}};
  if constexpr (kernels::highest_cpu_level >= 3)
    if (kernels::cpu_level() >= 3)
      all.push_back({&kernels::level3::two_sided_tile_product<T>, &kernels::level3::adjoint_times_vector<T>,
                     &kernels::level3::subtract_combinations<T>});
  if constexpr (kernels::highest_cpu_level >= 4)
    if (kernels::cpu_level() >= 4)
      all.push_back({&kernels::level4::two_sided_tile_product<T>, &kernels::level4::adjoint_times_vector<T>,
                     &kernels::level4::subtract_combinations<T>});
  return all;
}

template <class T>
class VectorKernels : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(VectorKernels, Scalars);

TYPED_TEST(VectorKernels, TwoSidedProductIsThePlainLoop) {
  using T = TypeParam;
  for (const auto& level : levels<T>())
    for (const Index rows : {0, 16, 48, 128})
      for (const Index cols : {0, 4, 20}) {
        const Index lda = rows + 3;
        const auto a = random_numbers<T>(lda * cols + 1, 1), vi = random_numbers<T>(rows, 2),
                   vj = random_numbers<T>(cols, 3);
        auto yi = random_numbers<T>(rows, 4), yj = random_numbers<T>(cols, 5), ei = yi, ej = yj;
        for (Index j = 0; j < cols; ++j)
          for (Index i = 0; i < rows; ++i) {
            const T element = a[static_cast<std::size_t>(i + j * lda)];
            ei[static_cast<std::size_t>(i)] += element * vj[static_cast<std::size_t>(j)];
            ej[static_cast<std::size_t>(j)] += conjugate(element) * vi[static_cast<std::size_t>(i)];
          }
        level.product(rows, cols, a.data(), lda, vi.data(), vj.data(), yi.data(), yj.data());
        EXPECT_LT(distance(yi, ei), 100 * precision<T>);
        EXPECT_LT(distance(yj, ej), 200 * precision<T>);
      }
}

TYPED_TEST(VectorKernels, DiagonalTileInPlaceIsTheHermitianProduct) {
  using T = TypeParam;
  const Index n = 64;
  auto a = random_numbers<T>(n * n, 6);
  const auto v = random_numbers<T>(n, 7);
  std::vector<T> expected(static_cast<std::size_t>(n), T(0));
  const auto at = [&](Index i, Index j) -> T& { return a[static_cast<std::size_t>(i + j * n)]; };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) at(i, j) = T(0);
    at(j, j) = real_part(at(j, j));
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      expected[static_cast<std::size_t>(i)] +=
          (i >= j ? at(i, j) : conjugate(at(j, i))) * v[static_cast<std::size_t>(j)];
  for (Index j = 0; j < n; ++j) at(j, j) *= RealOf<T>(0.5);
  for (const auto& level : levels<T>()) {
    std::vector<T> y(static_cast<std::size_t>(n), T(0));
    level.product(n, n, a.data(), n, v.data(), v.data(), y.data(), y.data());
    EXPECT_LT(distance(y, expected), 200 * precision<T>);
  }
}

TYPED_TEST(VectorKernels, AdjointAndCombinationsArePlainLoops) {
  using T = TypeParam;
  for (const auto& level : levels<T>())
    for (const Index rows : {0, 16, 80})
      for (const Index k : {0, 1, 3, 4, 9}) {
        const Index ldv = rows + 5;
        const auto v = random_numbers<T>(ldv * k + 1, 8), s = random_numbers<T>(k, 9),
                   t = random_numbers<T>(k, 10);
        auto x = random_numbers<T>(rows, 11), y = random_numbers<T>(rows, 12);
        std::vector<T> dots(static_cast<std::size_t>(k), T(7)),
            expected_dots(static_cast<std::size_t>(k), T(0));
        auto expected_x = x, expected_y = y;
        for (Index l = 0; l < k; ++l)
          for (Index i = 0; i < rows; ++i) {
            const T element = v[static_cast<std::size_t>(i + l * ldv)];
            expected_dots[static_cast<std::size_t>(l)] += conjugate(element) * x[static_cast<std::size_t>(i)];
            expected_y[static_cast<std::size_t>(i)] -= element * s[static_cast<std::size_t>(l)];
            expected_x[static_cast<std::size_t>(i)] -= element * t[static_cast<std::size_t>(l)];
          }
        level.adjoint(rows, k, v.data(), ldv, x.data(), dots.data());
        EXPECT_LT(distance(dots, expected_dots), 200 * precision<T>);
        auto y_alone = y;
        level.subtract(rows, k, v.data(), ldv, s.data(), y.data(), t.data(), rows ? x.data() : nullptr);
        level.subtract(rows, k, v.data(), ldv, s.data(), y_alone.data(), nullptr, nullptr);
        EXPECT_LT(distance(y, expected_y), 100 * precision<T>);
        EXPECT_LT(distance(x, expected_x), 100 * precision<T>);
        EXPECT_LT(distance(y_alone, expected_y), 100 * precision<T>);
      }
}

}  // namespace
}  // namespace tessera::test
