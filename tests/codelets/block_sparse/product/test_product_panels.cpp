// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>
#include <tuple>

#include <tests/support/matrix.hpp>

#include <tessera/codelets/block_sparse/product/kernels/multiply_rows.hpp>
#include <tessera/codelets/block_sparse/product/multiply_panels.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>

/// The products of a panel: counted, and computed product by product and row by row, against a loop over all
/// blocks.
namespace tessera::test {
using namespace detail;
namespace {

/// One side of a panel: block sizes as classes.
struct Side {
  Side(std::vector<Index> of_classes, Index blocks) : sizes(std::move(of_classes)) {
    for (Index i = 0; i < blocks; ++i) {
      classes.push_back(static_cast<std::int32_t>(i % static_cast<Index>(sizes.size())));
      numbers.push_back(i);
    }
  }
  Index size(Index block) const { return sizes[static_cast<std::size_t>(classes[block])]; }
  Index blocks() const { return static_cast<Index>(classes.size()); }
  PanelSizes view() const { return {static_cast<std::int32_t>(blocks()), classes.data(), sizes}; }
  std::vector<Index> sizes, numbers;
  std::vector<std::int32_t> classes;
};

/// A panel that stores a share of its blocks, with random values.
template <class T>
struct PanelOf {
  PanelOf(const Side& of_rows, const Side& of_cols, double share, unsigned seed)
      : rows(of_rows), cols(of_cols) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<std::vector<std::int32_t>> columns(static_cast<std::size_t>(rows.blocks()));
    for (auto& row : columns)
      for (std::int32_t j = 0; j < cols.blocks(); ++j)
        if (uniform(random) < share) row.push_back(j);
    set(columns);
    const Matrix<T> all = random_matrix<T>(offset.back(), 1, seed);
    values.assign(all.data(), all.data() + offset.back());
    for (Index i = 0; i < rows.blocks(); ++i)
      for (auto b = row_begin[i]; b < row_begin[i + 1]; ++b) {
        double squares = 0;
        for (Index e = offset[b]; e < offset[b + 1]; ++e)
          squares += std::norm(std::complex<double>(values[e]));
        norm.push_back(std::sqrt(squares));
      }
  }
  PanelOf(const Side& of_rows, const Side& of_cols, const std::vector<std::int32_t>& begin,
          const std::vector<std::int32_t>& of_column)
      : rows(of_rows), cols(of_cols) {
    std::vector<std::vector<std::int32_t>> columns;
    for (std::size_t i = 0; i + 1 < begin.size(); ++i)
      columns.emplace_back(of_column.begin() + begin[i], of_column.begin() + begin[i + 1]);
    set(columns);
    values.assign(static_cast<std::size_t>(offset.back()), T(0));
  }
  void set(const std::vector<std::vector<std::int32_t>>& columns) {
    row_begin = {0};
    offset = {0};
    for (Index i = 0; i < rows.blocks(); ++i) {
      for (const std::int32_t j : columns[static_cast<std::size_t>(i)]) {
        column.push_back(j);
        offset.push_back(offset.back() + rows.size(i) * cols.size(j));
      }
      row_begin.push_back(static_cast<std::int32_t>(column.size()));
    }
  }
  PanelRows view() const { return {row_begin.data(), column.data(), offset.data(), norm.data()}; }
  /// Number of block (row, col), or -1.
  std::int32_t find(Index row, Index col) const {
    for (auto b = row_begin[row]; b < row_begin[row + 1]; ++b)
      if (column[b] == col) return b;
    return -1;
  }
  const Side &rows, &cols;
  std::vector<std::int32_t> row_begin, column;
  std::vector<Index> offset;
  std::vector<double> norm;
  std::vector<T> values;
};

struct Case {
  const char* name;
  std::vector<Index> rows, inner, cols;  // size classes
  Index row_blocks, inner_blocks, col_blocks;
  double share;
  bool only_old = false, lower = false, filter = false;
};

/// Blocks and products are the same where a dense product is chosen, which none is that leaves something out.
void check_dense(ProductPanel panel, const ProductCounts& listed) {
  panel.dense.use = UseDense::always;
  for (const bool despite_filter : {false, true}) {
    panel.dense_despite_filter = despite_filter;
    ProductCounts counts;
    kernels::count_products(panel, counts);
    EXPECT_EQ(counts.products, listed.products);
    EXPECT_EQ(counts.row_begin, listed.row_begin);
    EXPECT_EQ(counts.column, listed.column);
    const bool dense = (despite_filter || listed.filtered == 0) && listed.products[0] > 0;
    EXPECT_EQ(counts.filtered, dense ? 0 : listed.filtered);
    EXPECT_EQ(stack_flops(counts.classes[0], false), stack_flops(listed.classes[0], false));
    ASSERT_EQ(counts.dense.size(), 1u);
    EXPECT_EQ(counts.dense[0] != 0, dense);
    EXPECT_EQ(listed.dense[0], 0);
  }
}

/// Row by row, for one inner panel and for the same panel twice, added or not.
template <class T>
void check_rows(const ProductPanel& panel, const PanelOf<T>& a, const PanelOf<T>& b,
                const PanelOf<T>& expected, double bound) {
  if constexpr (!is_complex<T>) {
    const InnerPanel& inner = panel.inner[0];
    if (!kernels::small_enough_for_rows<T>(panel.rows.sizes, panel.cols.sizes, inner.inner.sizes)) return;
    const kernels::InnerValues<T> values{&inner, a.values.data(), b.values.data()};
    const std::vector<kernels::InnerValues<T>> twice{values, values};
    for (const std::size_t times : {1, 2})
      for (const Store store : {Store::overwrite, Store::add}) {
        const char* const mode = store == Store::add ? "added" : "overwritten";
        std::vector<T> c(expected.values.size(), T(3));
        kernels::multiply_rows<T>(panel, std::span(twice).first(times), store, c.data());
        for (std::size_t e = 0; e < c.size(); ++e)
          ASSERT_LE(std::abs(c[e] - T(times) * expected.values[e] - T(store == Store::add ? 3 : 0)),
                    4 * bound)
              << "row by row " << times << " times, " << mode << ", element " << e;
        if (!kernels::small_enough_for_lists(panel.rows.sizes, panel.cols.sizes, inner.inner.sizes)) continue;
        std::vector<T> by_lists(expected.values.size(), T(3));
        kernels::multiply_by_lists<T>(panel, std::span(twice).first(times), store, by_lists.data());
        EXPECT_EQ(by_lists, c) << "by lists " << times << " times, " << mode;
      }
  }
}

template <class T>
class ProductPanels : public ::testing::Test {};
TYPED_TEST_SUITE(ProductPanels, Scalars);

template <class T>
void check(const Case& test) {
  SCOPED_TRACE(test.name);
  const Side rows(test.rows, test.row_blocks), inner(test.inner, test.inner_blocks),
      cols(test.cols, test.col_blocks);
  const PanelOf<T> a(rows, inner, test.share, 1), b(inner, cols, test.share, 2), old(rows, cols, 0.5, 3);
  double mean = 0;
  for (const double x : a.norm) mean += x / static_cast<double>(a.norm.size());
  const std::vector<double> limits(static_cast<std::size_t>(rows.blocks()), mean * mean);
  ProductPanel panel;
  panel.rows = rows.view();
  panel.cols = cols.view();
  panel.inner.push_back({a.view(), b.view(), inner.view()});
  if (test.only_old) panel.old = old.view();
  panel.only_old = test.only_old;
  panel.lower = test.lower;
  panel.row_numbers = rows.numbers;
  panel.col_numbers = cols.numbers;
  panel.row_limit = test.filter ? limits.data() : nullptr;
  ProductCounts counts;
  kernels::count_products(panel, counts);
  PanelOf<T> listed(rows, cols, counts.row_begin, counts.column);
  panel.result = listed.view();
  PanelOf<T> direct = listed, expected = listed;

  Index products = 0;
  for (Index i = 0; i < rows.blocks(); ++i)
    for (Index j = 0; j < cols.blocks(); ++j) {
      const std::int32_t c = listed.find(i, j);
      for (Index k = 0; k < inner.blocks(); ++k) {
        const std::int32_t left = a.find(i, k), right = b.find(k, j);
        if (left < 0 || right < 0 || rows.size(i) * inner.size(k) * cols.size(j) == 0) continue;
        if ((test.only_old && old.find(i, j) < 0) || (test.lower && i < j)) continue;
        if (test.filter && a.norm[left] * b.norm[right] < limits[i]) continue;
        ASSERT_GE(c, 0) << "a product without a block of C";
        ++products;
        const Index m = rows.size(i);
        for (Index y = 0; y < cols.size(j); ++y)
          for (Index z = 0; z < inner.size(k); ++z)
            for (Index x = 0; x < m; ++x)
              expected.values[expected.offset[c] + x + y * m] +=
                  a.values[a.offset[left] + x + z * m] * b.values[b.offset[right] + z + y * inner.size(k)];
      }
    }
  ASSERT_GT(products, 0);
  EXPECT_EQ(counts.products[0], products);
  kernels::multiply_panels<T>(panel, panel.inner[0], a.values.data(), b.values.data(), direct.values.data());
  const double bound = 20 * double(test.inner_blocks * test.inner[0]) * double(precision<T>);
  for (std::size_t e = 0; e < expected.values.size(); ++e) {
    ASSERT_LE(std::abs(direct.values[e] - expected.values[e]), bound) << "direct, element " << e;
  }
  check_dense(panel, counts);
  check_rows<T>(panel, a, b, expected, bound);
}

TYPED_TEST(ProductPanels, ListedAndDirectAgree) {
  using T = TypeParam;
  check<T>({"one shape", {5}, {5}, {5}, 12, 9, 14, 0.4});
  check<T>({"mixed", {13, 5, 5}, {4, 1, 1}, {7, 2}, 9, 12, 11, 0.5});
  check<T>({"mixed, low to high", {1, 4, 9, 16}, {6, 1, 16}, {1, 2, 3, 6, 7, 11, 16}, 9, 12, 15, 0.5});
  check<T>({"one column", {3}, {2}, {1}, 8, 9, 1, 0.6});
  check<T>({"empty blocks", {3, 0}, {2, 0, 4}, {0, 5, 1}, 8, 9, 9, 0.6});
  check<T>({"blocks for BLAS", {70}, {80, 3}, {65}, 3, 4, 3, 0.7});
  check<T>({"filter", {3}, {4}, {3}, 10, 10, 10, 0.5, false, false, true});
  check<T>({"blocks that are there", {6, 2}, {3}, {5}, 10, 8, 12, 0.5, true});
  check<T>({"lower half", {4}, {3, 5}, {4}, 10, 8, 10, 0.5, false, true});
  check<T>({"all at once", {4, 0, 2}, {3, 5}, {4, 0, 2}, 12, 8, 12, 0.6, true, true, true});
}

/// Square blocks of one size, with more and with fewer products per block of C than a list holds.
TYPED_TEST(ProductPanels, SquareBlocks) {
  using T = TypeParam;
  for (Index size = 1; size <= 9; ++size) {
    SCOPED_TRACE(size);
    check<T>({"few products", {size}, {size}, {size}, 9, 6, 11, 0.4});
    check<T>({"many products", {size}, {size}, {size}, 9, 30, 11, 0.8});
    check<T>({"all left out that can be", {size}, {size}, {size}, 12, 30, 12, 0.7, true, true, true});
  }
}

/// A panel of B larger than the part that is processed at once.
TYPED_TEST(ProductPanels, ColumnsInParts) {
  using T = TypeParam;
  check<T>({"many columns", {2}, {23}, {23, 11}, 64, 16, 64, 0.5});
  check<T>({"few rows", {2}, {23}, {23, 11}, 3, 16, 64, 0.5});
  check<T>({"many columns, filter", {2}, {23}, {23, 11}, 64, 16, 64, 0.5, true, true, true});
}

}  // namespace
}  // namespace tessera::test
