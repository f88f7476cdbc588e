// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/vectors/panel_krylov.hpp>
#include <tessera/codelets/linalg/krylov_basis.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

/// Krylov vectors and rows of a matrix that is read whole, against loops over the dense matrix.
namespace tessera::test {
using namespace detail;
namespace {

/// A random Hermitian matrix of which about every third pair of blocks is stored.
template <class T>
struct WholeCase {
  BlockPatternPointer pattern;
  Matrix<T> dense;
  std::vector<Data> panels;
  PanelsWithBlocks which;

  WholeCase(Runtime& runtime, const std::vector<Index>& sizes, Index panel_elements) {
    BlockLayout layout;
    layout.rows = layout.cols = BlockDimension::make(sizes, 1, {}, panel_elements);
    std::mt19937 random(3);
    std::vector<BlockCoordinate> blocks;
    for (Index i = 0; i < layout.rows->blocks(); ++i)
      for (Index j = 0; j <= i; ++j) {
        if (i != j && random() % 3 > 0) continue;
        blocks.push_back({i, j});
        if (i != j) blocks.push_back({j, i});
      }
    pattern = BlockPattern::make(runtime, layout, blocks);
    const Index n = layout.rows->elements();
    const Matrix<T> all = random_hermitian<T>(n, 8);
    dense = Matrix<T>(n, n);
    which.panels = word_of(pattern->panels());
    which.row_panels = word_of(pattern->row_panels());
    for (Index p = 0; p < pattern->row_panels(); ++p)
      which.most_rows = std::max(which.most_rows, word_of(Index(layout.rows->panel(p).size())));
    for (Index p = 0; p < pattern->panels(); ++p) {
      std::vector<T> values;
      for (const auto& [row, col] : pattern->coordinates(p))
        for (Index j = layout.cols->first(col); j < layout.cols->first(col + 1); ++j)
          for (Index i = layout.rows->first(row); i < layout.rows->first(row + 1); ++i)
            values.push_back(dense(i, j) = all(i, j));
      if (pattern->panel_blocks(p) == 0) continue;
      which.numbers.push_back(word_of(p));
      if (values.empty()) values.push_back(T(0));
      panels.push_back(upload(runtime, values));
    }
  }
  std::vector<const Data*> pointers() const {
    std::vector<const Data*> all;
    for (const Data& panel : panels) all.push_back(&panel);
    return all;
  }
};

template <class T>
class PanelKrylov : public RuntimeTest<T> {
 protected:
  /// In few panels, and in more than a kernel takes at a time.
  std::vector<WholeCase<T>> cases() {
    std::vector<WholeCase<T>> all;
    all.emplace_back(this->runtime(), std::vector<Index>{3, 1, 0, 6, 5, 2, 40, 6}, 20);
    std::vector<Index> many;
    for (Index k = 0; k < 36; ++k) many.push_back(1 + k % 3);
    all.emplace_back(this->runtime(), many, 4);
    return all;
  }
};
TYPED_TEST_SUITE(PanelKrylov, Scalars);

TYPED_TEST(PanelKrylov, ModuliAndDiagonal) {
  using T = TypeParam;
  for (const WholeCase<T>& of : this->cases()) {
    const Index n = of.dense.rows();
    const Data sums = Data::bytes(this->runtime(), 2 * std::size_t(n) * sizeof(double));
    const auto panels = of.pointers();
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(
          RowModuli<T>{.pattern = of.pattern->packed(), .sums = sums, .panels = panels, .which = &of.which});
    }));
    const HostAccess access(sums, HostAccess::Mode::read);
    for (Index i = 0; i < n; ++i) {
      double expected = 0;
      for (Index j = 0; j < n; ++j)
        expected += std::hypot(double(real_part(of.dense(i, j))), double(imag_part(of.dense(i, j))));
      EXPECT_NEAR(access.template array<const double>()[std::size_t(i)], expected, 1e-13 * expected);
      EXPECT_EQ(access.template array<const double>()[std::size_t(n + i)], real_part(of.dense(i, i)));
    }
  }
}

/// A V = V T + beta v e^T in steps of two tasks, V orthonormal.
TYPED_TEST(PanelKrylov, TheLanczosRelationHolds) {
  using T = TypeParam;
  constexpr Index steps = 7, first = 3;
  const double eps = precision<T>;
  const RealOf<T> factor = RealOf<T>(0.25);
  for (const WholeCase<T>& of : this->cases()) {
    const Index n = of.dense.rows();
    const Data basis = Data::matrix(this->runtime(), n, steps + 1, sizeof(T));
    const Data before = Data::bytes(this->runtime(), 2 * first * sizeof(double)),
               after = Data::bytes(this->runtime(), 2 * (steps - first) * sizeof(double));
    const Data work = Data::scratch(this->runtime(), std::size_t(lanczos_work(steps)) * sizeof(T));
    const auto panels = of.pointers();
    const auto task = [&](Index begin, Index count, const Data& coefficients) {
      return ExtendKrylov<T>{.pattern = of.pattern->packed(),
                             .basis = begin == 0 ? overwrite(basis) : add_to(basis),
                             .coefficients = coefficients,
                             .work = work,
                             .panels = panels,
                             .which = &of.which,
                             .n = n,
                             .first = begin,
                             .steps = count,
                             .factor = factor,
                             .seed = 4,
                             .elements = double(of.pattern->elements())};
    };
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(task(0, first, before));
      s.insert(task(first, steps - first, after));
    }));
    std::vector<double> diagonal, beside;
    for (const Data* const some : {&before, &after}) {
      const HostAccess access(*some, HostAccess::Mode::read);
      const auto numbers = access.template array<const double>();
      for (std::size_t k = 0; k < numbers.size(); k += 2) {
        diagonal.push_back(numbers[k]);
        beside.push_back(numbers[k + 1]);
      }
    }
    const Matrix<T> v = download<T>(basis);
    const double bound = 100 * eps * double(n);
    for (Index k = 0; k < steps; ++k)
      for (Index i = 0; i < n; ++i) {
        T left(0);
        for (Index j = 0; j < n; ++j) left += factor * of.dense(i, j) * v(j, k);
        T right =
            RealOf<T>(diagonal[std::size_t(k)]) * v(i, k) + RealOf<T>(beside[std::size_t(k)]) * v(i, k + 1);
        if (k > 0) right += RealOf<T>(beside[std::size_t(k) - 1]) * v(i, k - 1);
        EXPECT_LE(std::abs(left - right), bound);
      }
    for (Index k = 0; k <= steps; ++k)
      for (Index l = 0; l <= k; ++l) {
        T dot(0);
        for (Index i = 0; i < n; ++i) dot += conjugate(v(i, l)) * v(i, k);
        EXPECT_LE(std::abs(dot - T(k == l ? 1 : 0)), bound);
      }
  }
}

}  // namespace
}  // namespace tessera::test
