// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/matrix.hpp>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/linalg/block_kernel.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class MultiplyStack : public ::testing::Test {};
TYPED_TEST_SUITE(MultiplyStack, Scalars);

/// Blocks of one size, stored consecutively as in a panel.
template <class T>
struct Blocks {
  Blocks(Index m, Index n, Index blocks, std::uint64_t seed) : rows(m), cols(n) {
    for (Index i = 0; i < blocks; ++i) {
      const Matrix<T> block = random_matrix<T>(m, n, seed + static_cast<std::uint64_t>(i));
      values.insert(values.end(), block.data(), block.data() + m * n);
    }
  }
  Matrix<T> at(Index offset) const {
    Matrix<T> block(rows, cols);
    std::copy_n(values.data() + offset, rows * cols, block.data());
    return block;
  }
  Index rows, cols;
  std::vector<T> values;
};

/// Sum of the products of a run.
template <class T>
Matrix<T> expected(const Blocks<T>& a, const Blocks<T>& b, Matrix<T> c, std::span<const StackEntry> entries) {
  for (const StackEntry& e : entries) c = multiply(Op::none, a.at(e.a), Op::none, b.at(e.b), T(1), T(1), c);
  return c;
}

template <class T>
void small_products_at([[maybe_unused]] int level, Index m, Index n, Index k, const T* a, const T* b,
                       std::span<const StackEntry> entries, T* c) {
  const auto count = static_cast<Index>(entries.size());
  if constexpr (kernels::highest_cpu_level >= 4)
    if (level == 4) return kernels::level4::small_products<T>(m, n, k, a, b, entries.data(), count, c);
  if constexpr (kernels::highest_cpu_level >= 3)
    if (level == 3) return kernels::level3::small_products<T>(m, n, k, a, b, entries.data(), count, c);
  kernels::level2::small_products<T>(m, n, k, a, b, entries.data(), count, c);
}

TYPED_TEST(MultiplyStack, SmallProductsOfEverySizeAndLevel) {
  using T = TypeParam;
  for (int level = 2; level <= kernels::cpu_level(); ++level)
    for (const Index m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 47, 48})
      for (const Index n : {1, 2, 3, 4, 5, 7, 23})
        for (const Index k : {1, 5, 23}) {
          const Blocks<T> a(m, k, 3, 7), b(k, n, 3, 70);
          const auto at = [&](Index i, Index j) {
            return StackEntry{static_cast<std::int32_t>(i * m * k), static_cast<std::int32_t>(j * k * n)};
          };
          const std::vector<StackEntry> entries{at(0, 0), at(2, 2), at(1, 2)};
          // Nothing outside the block may change.
          Blocks<T> c(m, n, 2, 700);
          const auto before = c.values;
          small_products_at<T>(level, m, n, k, a.values.data(), b.values.data(), entries, c.values.data());
          EXPECT_LE(difference(c.at(0), expected(a, b, Blocks<T>(m, n, 1, 700).at(0), entries)),
                    20 * double(k) * double(precision<T>))
              << level << ": " << m << " x " << n << " x " << k;
          EXPECT_TRUE(std::equal(before.begin() + m * n, before.end(), c.values.begin() + m * n));
        }
}

TYPED_TEST(MultiplyStack, StacksOfSeveralShapes) {
  using T = TypeParam;
  // Small shapes, shapes too large for libxsmm to be fast, and shapes for BLAS.
  struct Shape {
    Index m, n, k;
  };
  for (const Shape& shape : {Shape{5, 5, 5}, Shape{23, 13, 5}, Shape{1, 1, 1}, Shape{60, 60, 60},
                             Shape{70, 80, 90}, Shape{3, 100, 2}}) {
    const Index m = shape.m, n = shape.n, k = shape.k;
    const Blocks<T> a(m, k, 4, 1), b(k, n, 4, 10);
    Blocks<T> c(m, n, 3, 100);
    const Blocks<T> old = c;
    std::vector<StackEntry> entries;
    for (const auto& [i, j] : {std::pair<Index, Index>{3, 1}, {0, 2}, {1, 1}, {2, 0}, {2, 3}})
      entries.push_back({static_cast<std::int32_t>(i * m * k), static_cast<std::int32_t>(j * k * n)});
    const std::vector<StackRun> runs{{static_cast<std::int32_t>(2 * m * n), 0, 2}, {0, 2, 3}};
    const std::vector<StackClass> classes{{static_cast<std::int32_t>(m), static_cast<std::int32_t>(n),
                                           static_cast<std::int32_t>(k), 0, 2, 0, 5}};
    EXPECT_EQ(stack_products(classes), 5);
    EXPECT_EQ(stack_runs(classes), 2);
    EXPECT_EQ(stack_flops(classes, false), 10.0 * double(m * n * k));
    // The second run has products of two pairs of panels, of which the second begins a block later.
    StackFactors<T> factors{};
    factors.a[0] = a.values.data(), factors.b[0] = b.values.data();
    factors.a[5] = a.values.data() + m * k, factors.b[5] = b.values.data() + k * n;
    std::vector<StackEntry> listed = entries;
    listed[4] = {static_cast<std::int32_t>(m * k), static_cast<std::int32_t>(2 * k * n), 5};
    kernels::multiply_stack<T>(classes, listed.data(), runs.data(), factors, c.values.data());
    const std::span<const StackEntry> all(entries);
    const double bound = 20 * double(k) * double(precision<T>);
    EXPECT_LE(difference(c.at(2 * m * n), expected(a, b, old.at(2 * m * n), all.first(2))), bound);
    EXPECT_LE(difference(c.at(0), expected(a, b, old.at(0), all.last(3))), bound);
    EXPECT_TRUE(identical(c.at(m * n), old.at(m * n)));
  }
}

}  // namespace
}  // namespace tessera::test
