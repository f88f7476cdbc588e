// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>
#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/lobpcg/lanczos_problem.hpp>
#include <tessera/preconditioners.hpp>
#include <tessera/sparse_matrix.hpp>

/// Block Lanczos with thick restarts, against LAPACK and closed forms.
namespace tessera::test {
using namespace detail;
namespace {

constexpr EigenMethod lanczos = EigenMethod::lanczos;

/// A random sparse matrix with some elements in each row.
SparseRows random_rows(Index n, std::uint64_t seed) {
  SparseRows a(n);
  for (Index i = 0; i < n; ++i) {
    a.add(i, i, random_uniform(seed, 0, i, i));
    for (Index j = std::max<Index>(0, i - 3); j < i; ++j) a.add(i, j, random_uniform(seed, 0, i, j) / 4);
  }
  return a;
}
/// 0, 1, 2, ...
SparseRows counting(Index n) {
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) values.push_back(double(i));
  return diagonal(values);
}
std::vector<double> counted(Index first, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) values.push_back(double(first + i));
  return values;
}
double unit(Index i, Index j) {
  return i == j ? 1.0 : 0.0;
}

template <class T>
class LanczosOfTypes : public RuntimeTest<double> {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LanczosOfTypes, Reals);

TYPED_TEST(LanczosOfTypes, AgreesWithLapackForAllSizes) {
  using T = TypeParam;
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-9;
  for (const Index n : {5, 16, 61, 150}) {
    const SparseRows a = random_rows(n, 7);
    const auto op = operator_of<T>(this->runtime(), a, 3);
    const std::vector<double> all = lapack_eigenvalues(dense(a));
    for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest})
      for (const auto& [count, block, basis] : {std::tuple<Index, Index, Index>{1, 0, 0},
                                                {1, 1, 17},
                                                {3, 1, 19},
                                                {3, 2, 19},
                                                {2, 5, 0},
                                                {n / 5, 0, 0},
                                                {n / 5, 1, n},
                                                {n / 5, 0, n / 5 + 16}}) {
        if (count > n / 5 || 3 * block > n || basis > n || (basis > 0 && basis < std::min(n, count + 16)))
          continue;
        SCOPED_TRACE(fmt::format("n {} largest {} count {} block {} basis {}", n, end == EigenEnd::largest,
                                 count, block, basis));
        const auto result = lobpcg(this->runtime(), {.a = &op},
                                   {.count = count,
                                    .method = lanczos,
                                    .block = block,
                                    .basis = basis,
                                    .end = end,
                                    .tolerance = tolerance,
                                    .iterations = 3000});
        std::vector<double> wanted = all;
        if (end == EigenEnd::largest) std::reverse(wanted.begin(), wanted.end());
        ASSERT_EQ(Index(result.values.size()), count);
        EXPECT_EQ(result.converged, count);
        EXPECT_EQ(result.method, lanczos);
        EXPECT_EQ(result.vectors.width(), count);
        expect_values(result, wanted, sizeof(T) == 4 ? 1e-4 : 1e-11);
        expect_eigenpairs<T>(result, a, nullptr, 20 * tolerance, sizeof(T) == 4 ? 5e-5 : 1e-11);
      }
  }
}

/// Most eigenvalues of the grid are double, and many are wanted at once.
TYPED_TEST(LanczosOfTypes, ManyPairsOfAGrid) {
  using T = TypeParam;
  const SparseRows a = grid_laplacian(23);
  std::vector<double> values = grid_values(23);
  const auto op = operator_of<T>(this->runtime(), a, 3);
  const double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-9, rounding = 400 * double(precision<T>);
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest})
    for (const Index count : {33, 100}) {
      SCOPED_TRACE(fmt::format("largest {} count {}", int(end), count));
      std::sort(values.begin(), values.end());
      if (end == EigenEnd::largest) std::reverse(values.begin(), values.end());
      const auto result = lobpcg(this->runtime(), {.a = &op},
                                 {.count = count, .method = lanczos, .end = end, .tolerance = tolerance});
      ASSERT_EQ(Index(result.values.size()), count);
      EXPECT_EQ(result.converged, count);
      expect_values(result, values, 10 * tolerance);
      expect_eigenpairs(result, a, nullptr, a.norm() * (2 * tolerance + rounding), rounding);
    }
}

class Lanczos : public RuntimeTest<double> {
 protected:
  static constexpr Index n = 120;
  static std::vector<double> values(Index order = n) {
    std::vector<double> all;
    for (Index k = 1; k <= order; ++k) all.push_back(laplacian_value(order, k));
    return all;
  }
  LobpcgResult<double> solve_for(const SparseRows& a, LobpcgOptions options) {
    options.method = lanczos;
    const auto op = operator_of<double>(runtime(), a, 2);
    return lobpcg(runtime(), {.a = &op}, options);
  }
};

/// Counts the columns that it multiplies.
class CountedOperator final : public SymmetricOperator<double> {
 public:
  CountedOperator(Runtime& runtime, const SparseRows& a) : a_(operator_of<double>(runtime, a, 2)) {}
  Index order() const override { return a_.order(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return a_.segments(); }
  double norm_bound() const override { return a_.norm_bound(); }
  void apply(Sequence& sequence, const BlockVectors<double>& x, const BlockVectors<double>& y,
             Index count) const override {
    columns += count;
    ++calls;
    a_.apply(sequence, x, y, count);
  }
  mutable Index columns = 0, calls = 0;

 private:
  UserOperator<double> a_;
};

/// Columns that Lanczos without restarts needs, on plain arrays: of one start vector, with full orthogonalisation,
/// until the residuals of `count` pairs are below `tolerance`.
Index plain_lanczos_columns(const SparseRows& a, Index count, double tolerance) {
  const Index n = a.order();
  std::vector<std::vector<double>> v;
  std::vector<double> w(static_cast<std::size_t>(n)), alpha, beta;
  for (Index i = 0; i < n; ++i) w[std::size_t(i)] = random_uniform(11, 0, i, 0) - 0.5;
  const auto dot = [](const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  };
  for (Index m = 1; m <= n; ++m) {
    const double length = std::sqrt(dot(w, w));
    for (double& x : w) x /= length;
    v.push_back(w);
    std::vector<double> next(w.size());
    for (Index i = 0; i < n; ++i)
      for (const auto& [k, value] : a.rows[std::size_t(i)]) next[std::size_t(i)] += value * w[std::size_t(k)];
    alpha.push_back(dot(next, w));
    for (int round = 0; round < 2; ++round)
      for (const std::vector<double>& q : v) {
        const double share = dot(q, next);
        for (std::size_t i = 0; i < next.size(); ++i) next[i] -= share * q[i];
      }
    w = next;
    beta.push_back(std::sqrt(dot(w, w)));
    if (m < count) continue;
    SmallMatrix h(m, m);
    for (Index i = 0; i < m; ++i) {
      h(i, i) = alpha[std::size_t(i)];
      if (i > 0) h(i, i - 1) = h(i - 1, i) = beta[std::size_t(i - 1)];
    }
    std::vector<double> theta;
    EXPECT_TRUE(hermitian_eigen(h, theta));
    Index converged = 0;
    while (converged < count && beta.back() * std::abs(h(m - 1, converged)) <= tolerance) ++converged;
    if (converged == count) return m;
  }
  return n;
}

TEST_F(Lanczos, NeedsHardlyMoreColumnsThanWithoutRestarts) {
  const SparseRows a = random_rows(400, 5);
  const double tolerance = 1e-8;
  for (const auto& [count, block, basis, factor] :
       {std::tuple<Index, Index, Index, double>{1, 1, 40, 1.4},
        {5, 1, 40, 2.5},  // a single vector tells nothing of multiple eigenvalues: another one looks for them
        {5, 2, 40, 1.8},
        {5, 4, 0, 3},
        {40, 2, 0, 1.3},
        {40, 4, 0, 1.6}}) {
    const CountedOperator op(runtime(), a);
    const auto result = lobpcg(runtime(), {.a = &op},
                               {.count = count,
                                .method = lanczos,
                                .block = block,
                                .basis = basis,
                                .tolerance = tolerance,
                                .norm = LobpcgNorm::absolute});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    EXPECT_EQ(result.columns_multiplied, op.columns);
    EXPECT_EQ(result.multiplications, op.calls);
    const Index plain = plain_lanczos_columns(a, count, tolerance);
    // Besides those, all pairs once more at the end, and those of the steps to the next Rayleigh-Ritz step.
    EXPECT_LE(double(op.columns - count), factor * double(plain) + 24)
        << count << " " << block << " of " << plain;
  }
}

/// In columns, of many pairs.
TEST_F(Lanczos, NeedsFewerColumnsThanGroups) {
  const SparseRows a = grid_laplacian(24);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto whole = lobpcg(runtime(), {.a = &op}, {.count = 60, .method = lanczos}),
             groups =
                 lobpcg(runtime(), {.a = &op}, {.count = 60, .method = EigenMethod::generalized_davidson});
  expect_values(whole, grid_values(24), 1e-8);
  expect_values(groups, grid_values(24), 1e-8);
  EXPECT_LT(2 * whole.columns_multiplied, groups.columns_multiplied);
}

TEST_F(Lanczos, DegenerateSpectra) {
  // Double eigenvalues that the count and the block cut.
  const SparseRows grid = grid_laplacian(16);
  for (const Index count : {2, 3, 6})
    for (const Index block : {1, 2, 3, 6}) {
      SCOPED_TRACE(fmt::format("count {} block {}", count, block));
      const auto result = solve_for(grid, {.count = count, .block = block});
      expect_values(result, grid_values(16), 1e-10);
      expect_eigenpairs<double>(result, grid, nullptr, 1.6e-7, 1e-11);
    }
  const SparseRows ring = ring_laplacian(100);
  std::vector<double> of_ring = lapack_eigenvalues(dense(ring));
  for (const Index count : {3, 6, 20}) {
    const auto result = solve_for(ring, {.count = count});
    expect_values(result, of_ring, 1e-9);
    expect_eigenpairs<double>(result, ring, nullptr, 1e-7, 1e-11);
  }
  for (const double value : {0.0, 1.0, -3e5})
    for (const Index count : {1, 3, 8}) {
      SCOPED_TRACE(fmt::format("{} times the unit matrix, {} pairs", value, count));
      const SparseRows a = diagonal(std::vector<double>(40, value));
      const auto result = solve_for(a, {.count = count});
      expect_values(result, std::vector<double>(40, value), 1e-9);
      expect_eigenpairs<double>(result, a, nullptr, 1e-9 * std::max(1.0, std::abs(value)), 1e-11);
      EXPECT_LE(result.iterations, 4);
    }
  std::vector<double> clusters;
  for (Index i = 0; i < 200; ++i) clusters.push_back(i < 4 ? 1 + 1e-8 * double(i) : 2 + double(i));
  const SparseRows a = diagonal(clusters);
  for (const Index count : {2, 4}) {
    const auto result = solve_for(a, {.count = count, .block = 4, .tolerance = 1e-12});
    expect_values(result, clusters, 2e-10 * 202);
    expect_eigenpairs<double>(result, a, nullptr, 1e-9, 1e-11);
  }
}

/// Few different eigenvalues: the space of the start is mapped into itself after as many steps, and does not hold all
/// that are wanted.
TEST_F(Lanczos, InvariantSubspaces) {
  for (const Index different : {1, 2, 3, 7})
    for (const Index count : {2, 10, 36}) {
      std::vector<double> all;
      for (Index i = 0; i < 180; ++i) all.push_back(double(i * different / 180));
      const SparseRows a = diagonal(all);
      for (const bool lock : {true, false}) {
        SCOPED_TRACE(fmt::format("{} values, {} pairs, lock {}", different, count, lock));
        const auto result = solve_for(a, {.count = count, .lock = lock});
        expect_values(result, all, 1e-9);
        expect_eigenpairs<double>(result, a, nullptr, 1e-7, 1e-11);
      }
    }
  // Blocks of rows that A does not couple: the guess is in one of them.
  SparseRows blocks(90);
  for (Index i = 0; i < 90; ++i) {
    blocks.add(i, i, i < 30 ? 5 : 2);
    if (i % 30 > 0) blocks.add(i, i - 1, -1);
  }
  const auto op = operator_of<double>(runtime(), blocks, 2);
  const auto inside = vectors_of<double>(
      runtime(), op.segments(), 2, [](Index i, Index j) { return i < 30 ? random_uniform(3, 0, i, j) : 0; });
  const auto result = lobpcg(runtime(), {.a = &op, .guess = &inside, .guess_count = 2},
                             {.count = 4, .method = lanczos, .tolerance = 1e-11});
  expect_values(result, lapack_eigenvalues(dense(blocks)), 1e-9);
}

/// Also where the basis is the whole space.
TEST_F(Lanczos, SmallOrders) {
  for (Index order = 5; order < 24; ++order)
    for (Index count = 1; count <= order / 5; ++count) {
      SCOPED_TRACE(fmt::format("n {} count {}", order, count));
      const SparseRows a = laplacian(order);
      const auto result = solve_for(a, {.count = count, .tolerance = 1e-12});
      expect_values(result, values(order), 1e-11);
      expect_eigenpairs<double>(result, a, nullptr, 1e-10, 1e-12);
    }
}

TEST_F(Lanczos, StartsOfAllKinds) {
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto solve_from = [&](Index columns, const std::function<double(Index, Index)>& element,
                              Index count = 4) {
    const auto guess = vectors_of<double>(runtime(), op.segments(), columns, element);
    auto result = lobpcg(runtime(), {.a = &op, .guess = &guess, .guess_count = columns},
                         {.count = count, .method = lanczos, .iterations = 2000});
    expect_values(result, values(), 1e-10);
    expect_eigenpairs<double>(result, a, nullptr, 8e-8, 1e-11);
    EXPECT_EQ(result.restarts, 0);
    return result;
  };
  solve_from(4, [](Index, Index) { return 0; });
  solve_from(3, [](Index i, Index) { return random_uniform(3, 0, i, 0); });
  solve_from(4,
             [](Index i, Index j) { return random_uniform(3, 0, i, j) * std::pow(10.0, 20.0 * double(j)); });
  // Eigenvectors, and near ones.
  const auto exact = [](Index i, Index j) { return laplacian_vector(n, i, j + 1); };
  EXPECT_LE(solve_from(4, exact).columns_multiplied, 4 + 4 + 40);
  EXPECT_LE(solve_from(20, exact, 20).columns_multiplied, 20 + 20 + 40);
  const auto near = [&](Index i, Index j) { return exact(i, j) + 1e-6 * random_uniform(3, 0, i, j); };
  const Index from_near = solve_from(20, near, 20).columns_multiplied,
              from_nothing = solve_for(a, {.count = 20}).columns_multiplied;
  EXPECT_LT(from_near, from_nothing);
  // Unwanted eigenvectors.
  solve_from(3, [](Index i, Index j) { return laplacian_vector(n, i, j + 5); });
}

TEST_F(Lanczos, AGuessOfManyPairs) {
  const SparseRows a = grid_laplacian(20);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto once = lobpcg(runtime(), {.a = &op}, {.count = 60, .method = lanczos, .tolerance = 1e-10});
  const auto again = lobpcg(runtime(), {.a = &op, .guess = &once.vectors, .guess_count = 60},
                            {.count = 60, .method = lanczos});
  expect_values(again, grid_values(20), 1e-9);
  EXPECT_LT(again.columns_multiplied, 200);
}

TEST_F(Lanczos, BesideConstraints) {
  const SparseRows a = counting(300);
  const auto op = operator_of<double>(runtime(), a, 2);
  const auto first = vectors_of<double>(runtime(), op.segments(), 40, unit);
  for (const Index count : {3, 45}) {
    const auto result = lobpcg(runtime(), {.a = &op, .constraints = &first, .constraint_count = 35},
                               {.count = count, .method = lanczos});
    ASSERT_EQ(Index(result.values.size()), count);
    expect_values(result, counted(35, count), 1e-6);
    expect_eigenpairs(result, a, nullptr, 1e-5, 1e-12);
    const std::vector<double> x = columns_of(result.vectors, count);
    for (Index i = 0; i < 35; ++i)
      for (Index j = 0; j < count; ++j) EXPECT_NEAR(x[std::size_t(i * count + j)], 0, 1e-12) << i << " " << j;
  }
  // The whole rest of the space.
  const auto most = vectors_of<double>(runtime(), op.segments(), 290, unit);
  const auto rest = lobpcg(runtime(), {.a = &op, .constraints = &most, .constraint_count = 290},
                           {.count = 3, .method = lanczos});
  expect_values(rest, counted(290, 3), 1e-6);
}

/// The most pairs that are possible, and bases from the least to all columns.
TEST_F(Lanczos, BasesOfAllSizes) {
  const SparseRows a = grid_laplacian(15);
  for (const auto& [block, basis] : {std::pair<Index, Index>{1, 61}, {4, 61}, {4, 80}, {8, 225}, {32, 0}}) {
    SCOPED_TRACE(fmt::format("block {} basis {}", block, basis));
    const auto result = solve_for(a, {.count = 45, .block = block, .basis = basis, .iterations = 5000});
    expect_values(result, grid_values(15), 1e-8);
    expect_eigenpairs(result, a, nullptr, 1e-6, 1e-11);
  }
}

/// Relative residuals of eigenvalues of all sizes: what is locked must be good enough for the smallest.
TEST_F(Lanczos, RelativeResidualsOfValuesOfAllSizes) {
  std::vector<double> all;
  for (Index i = 0; i < 150; ++i) all.push_back(std::pow(10, -1 + 2 * double(i) / 150));
  const SparseRows a = diagonal(all);
  const auto op = operator_of<double>(runtime(), a, 2);
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest}) {
    std::vector<double> wanted = all;
    if (end == EigenEnd::largest) std::reverse(wanted.begin(), wanted.end());
    const auto result = lobpcg(runtime(), {.a = &op},
                               {.count = 12, .method = lanczos, .end = end, .norm = LobpcgNorm::relative});
    EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
    EXPECT_EQ(result.restarts, 0);
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_NEAR(result.values[k] / wanted[k], 1, 1e-10) << k;
      EXPECT_LE(result.residuals[k], 1e-8 * wanted[k]);
    }
  }
}

TEST_F(Lanczos, NumbersThatAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const SparseRows a = counting(300);
  for (const int when : {1, 2, 20, 40}) {
    int calls = 0;
    const auto times = function_of<double>(a);
    UserOperator<double> op(
        runtime(), RowSegments::even(runtime(), 300, 1),
        [&](Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy) {
          times(first, end, columns, x, ldx, y, ldy);
          if (++calls == when) y[0] = nan;
        },
        300);
    const auto result = lobpcg(runtime(), {.a = &op}, {.count = 5, .method = lanczos});
    EXPECT_EQ(result.status().code, StatusCode::not_finite) << when << ": " << result.status().message();
    EXPECT_EQ(result.values.empty(), when <= 2);
    EXPECT_EQ(result.vectors.width(), 5);
    for (const double x : columns_of(result.vectors, 5)) ASSERT_TRUE(std::isfinite(x));
  }
  const auto op = operator_of<double>(runtime(), a);
  const auto guess = vectors_of<double>(runtime(), op.segments(), 2, [&](Index, Index) { return nan; });
  const auto result =
      lobpcg(runtime(), {.a = &op, .guess = &guess, .guess_count = 2}, {.count = 2, .method = lanczos});
  EXPECT_EQ(result.status().code, StatusCode::not_finite);
  EXPECT_NE(result.status().message().find("start vectors"), std::string::npos) << result.status().message();
  UserOperator<double> throws(runtime(), n,
                              [](Index, Index, const double*, Index, double*, Index) { throw 1; });
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &throws}, {.count = 2, .method = lanczos}), int);
}

/// The operator changes in the middle: the final check finds it, and the solve begins again from its vectors.
TEST_F(Lanczos, BeginsAgainWhereProductsHaveChanged) {
  const SparseRows a = laplacian(n);
  int calls = 0;
  UserOperator<double> op(runtime(), n,
                          [&](Index rows, Index columns, const double* x, Index ldx, double* y, Index ldy) {
                            function_of<double>(a)(0, rows, columns, x, ldx, y, ldy);
                            ++calls;
                            for (Index i = 0; i < rows; ++i)
                              for (Index j = 0; j < columns; ++j) y[i * ldy + j] *= calls > 18 ? 1 + 1e-6 : 1;
                          });
  const auto result = lobpcg(runtime(), {.a = &op}, {.count = 5, .method = lanczos, .tolerance = 1e-11});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_GE(result.restarts, 1);
  for (Index j = 0; j < 5; ++j)
    EXPECT_NEAR(result.values[std::size_t(j)], (1 + 1e-6) * laplacian_value(n, j + 1), 1e-9);
}

TEST_F(Lanczos, ScalesOfAllKinds) {
  for (const double scale : {1e-130, 1e-30, 1e100}) {
    SparseRows a = laplacian(60);
    for (auto& row : a.rows)
      for (auto& [j, value] : row) value *= scale;
    for (const bool with_norm : {true, false}) {
      const auto op = operator_of<double>(runtime(), a, 1, with_norm);
      const auto result = lobpcg(runtime(), {.a = &op}, {.count = 3, .method = lanczos});
      EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
      EXPECT_EQ(result.restarts, 0);
      for (Index k = 0; k < 3; ++k)
        EXPECT_NEAR(result.values[std::size_t(k)] / scale, laplacian_value(60, k + 1), 1e-10) << scale;
    }
  }
  const auto tiny = operator_of<double>(runtime(), diagonal(std::vector<double>(60, 1e-160)));
  EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &tiny}, {.count = 2, .method = lanczos}),
               InvalidArgument);
}

/// It writes no checkpoint: refused, and not the automatic method then.
TEST_F(Lanczos, HasNoCheckpoints) {
  const SparseRows a = laplacian(400);
  const auto op = operator_of<double>(runtime(), a);
  for (const bool resumes : {false, true}) {
    LobpcgOptions options{.count = 40, .method = lanczos};
    (resumes ? options.resume : options.checkpoint.path) = "no_such_directory_here/c.h5";
    EXPECT_THROW(std::ignore = lobpcg(runtime(), {.a = &op}, options), InvalidArgument);
  }
  const LobpcgOptions plain{.count = 40, .method = EigenMethod::automatic};
  EXPECT_EQ(lobpcg(runtime(), {.a = &op}, plain).method, EigenMethod::lanczos);
  LobpcgOptions saved = plain;
  saved.checkpoint = {
      .path = testing::TempDir() + "lanczos_checkpoint.h5", .iterations = 1000000, .seconds = 0};
  EXPECT_NE(lobpcg(runtime(), {.a = &op}, saved).method, EigenMethod::lanczos);
}

TEST_F(Lanczos, HowItEnds) {
  const SparseRows a = counting(400);
  const auto op = operator_of<double>(runtime(), a);
  auto result =
      lobpcg(runtime(), {.a = &op}, {.count = 2, .method = lanczos, .tolerance = 1e-30, .iterations = 3000});
  EXPECT_EQ(result.status().code, StatusCode::stagnated) << result.status().message();
  for (Index k = 0; k < 2; ++k) EXPECT_NEAR(result.values[std::size_t(k)], double(k), 1e-10);

  result = lobpcg(runtime(), {.a = &op}, {.count = 40, .method = lanczos, .iterations = 3});
  EXPECT_EQ(result.status().code, StatusCode::iterations_exhausted);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_EQ(result.values.size(), 40u);
  EXPECT_LT(result.converged, 40);
  expect_eigenpairs<double>(result, a, nullptr, 400, 1e-11);

  std::vector<LobpcgStep> seen;
  result =
      lobpcg(runtime(), {.a = &op}, {.count = 40, .method = lanczos, .monitor = [&](const LobpcgStep& step) {
                                       seen.push_back(step);
                                       return step.converged < 3;
                                     }});
  EXPECT_EQ(result.status().code, StatusCode::stopped);
  EXPECT_GE(result.converged, 3);
  EXPECT_LT(result.converged, 40);
  expect_eigenpairs<double>(result, a, nullptr, 400, 1e-11);
  ASSERT_EQ(seen.size(), result.history.size());
  for (std::size_t k = 0; k < seen.size(); ++k) {
    EXPECT_EQ(seen[k].iteration, Index(k));
    EXPECT_EQ(seen[k].values.size(), 40u);
    EXPECT_EQ(seen[k].residuals.size(), 40u);
    EXPECT_EQ(seen[k].active, 40 - seen[k].converged);
  }
  SparseRows lopsided(n);
  for (Index i = 0; i < n; ++i) {
    lopsided.add(i, i, double(i));
    if (i > 0) lopsided.rows[std::size_t(i)].emplace_back(i - 1, 1.0);
  }
  const auto asymmetric = operator_of<double>(runtime(), lopsided);
  expect_refused("a", [&] { (void)lobpcg(runtime(), {.a = &asymmetric}, {.count = 2, .method = lanczos}); });
}

TEST_F(Lanczos, AutomaticChoice) {
  const auto op = operator_of<double>(runtime(), counting(300));
  const auto mass = operator_of<double>(runtime(), diagonal(std::vector<double>(300, 2.0)));
  std::vector<double> ones(300, 1.0);
  JacobiPreconditioner<double> jacobi(runtime(), op.segments(), ones);
  const auto method_of = [&](const LobpcgProblem<double>& problem, LobpcgOptions options) {
    options.method = EigenMethod::automatic;
    options.iterations = 0;
    return lobpcg(runtime(), problem, options).method;
  };
  EXPECT_EQ(method_of({.a = &op}, {.count = 33}), lanczos);
  EXPECT_NE(method_of({.a = &op}, {.count = 32}), lanczos);
  EXPECT_NE(method_of({.a = &op, .b = &mass}, {.count = 40}), lanczos);
  EXPECT_NE(method_of({.a = &op, .preconditioner = &jacobi}, {.count = 40}), lanczos);
  EXPECT_NE(method_of({.a = &op}, {.count = 40, .variant = LobpcgVariant::basic}), lanczos);
}

TEST_F(Lanczos, WhatDoesNotFitIsRefused) {
  const auto op = operator_of<double>(runtime(), counting(200), 2);
  const auto mass = operator_of<double>(runtime(), diagonal(std::vector<double>(200, 2.0)), 2);
  JacobiPreconditioner<double> jacobi(runtime(), op.segments(), std::vector<double>(200, 1.0));
  const auto call = [&](LobpcgOptions options, Index constraints = 0) {
    options.method = lanczos;
    return [&, options, constraints] {
      const auto vectors = vectors_of<double>(runtime(), op.segments(), 150, unit);
      (void)lobpcg(runtime(), {.a = &op, .constraints = &vectors, .constraint_count = constraints}, options);
    };
  };
  expect_refused("count", call({.count = 41}));
  expect_refused("count", call({.count = 0}));
  expect_refused("constraint_count", call({.count = 40}, 140));
  expect_refused("block", call({.count = 4, .block = 33}));
  expect_refused("block", call({.count = 4, .block = -1}));
  expect_refused("basis", call({.count = 40, .block = 4, .basis = 55}));
  expect_refused("basis", call({.count = 40, .basis = 201}));
  expect_refused("basis", call({.count = 10, .basis = 61}, 140));
  expect_refused("variant", call({.count = 2, .variant = LobpcgVariant::basic}));
  expect_refused("method",
                 [&] { (void)lobpcg(runtime(), {.a = &op, .b = &mass}, {.count = 2, .method = lanczos}); });
  expect_refused("method", [&] {
    (void)lobpcg(runtime(), {.a = &op, .preconditioner = &jacobi}, {.count = 2, .method = lanczos});
  });
  const auto vectors = vectors_of<double>(runtime(), op.segments(), 9, unit);
  expect_refused("guess_count", [&] {
    (void)lobpcg(runtime(), {.a = &op, .guess = &vectors, .guess_count = 9}, {.count = 8, .method = lanczos});
  });
  const auto equal =
      vectors_of<double>(runtime(), op.segments(), 2, [](Index i, Index) { return double(i); });
  expect_refused("constraints", [&] {
    (void)lobpcg(runtime(), {.a = &op, .constraints = &equal, .constraint_count = 2},
                 {.count = 8, .method = lanczos});
  });
}

TEST_F(Lanczos, TwoRunsGiveTheSameBits) {
  const auto op = operator_of<double>(runtime(), grid_laplacian(12), 3);
  const auto first = lobpcg(runtime(), {.a = &op}, {.count = 20, .method = lanczos}),
             second = lobpcg(runtime(), {.a = &op}, {.count = 20, .method = lanczos});
  EXPECT_EQ(first.values, second.values);
  EXPECT_EQ(first.residuals, second.residuals);
  EXPECT_EQ(columns_of(first.vectors, 20), columns_of(second.vectors, 20));
}

}  // namespace
}  // namespace tessera::test
