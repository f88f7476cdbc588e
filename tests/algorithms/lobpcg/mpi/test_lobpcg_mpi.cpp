// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <span>
#include <stdexcept>
#include <tuple>

#include <tests/algorithms/lobpcg/lobpcg_problems.hpp>
#include <tests/algorithms/matgen/sparse_rows_checks.hpp>

#include <tessera/algorithms/lobpcg/share_result.hpp>
#include <tessera/algorithms/lobpcg/small_dense.hpp>
#include <tessera/interior.hpp>
#include <tessera/preconditioners.hpp>

/// With segments on several ranks the values equal those of one rank, and all ranks take the same
/// decisions.
namespace tessera::test {
using namespace detail;
namespace {

class LobpcgMpi : public ::testing::Test {
 protected:
  Runtime runtime_{{.cores = 1, .bind = false}, Communicator::world()};
};

template <class T>
void expect_equal_on_all_ranks(Runtime& runtime, const LobpcgResult<T>& result) {
  std::vector<double> numbers(result.values);
  numbers.insert(numbers.end(), result.residuals.begin(), result.residuals.end());
  numbers.push_back(double(result.iterations));
  numbers.push_back(double(result.status().code));
  for (const LobpcgStep& step : result.history) numbers.push_back(step.largest_residual);
  const auto all = runtime.all_gather(std::as_bytes(std::span<const double>(numbers)));
  for (const auto& other : all) EXPECT_EQ(other, all[0]);
}

/// Results that rank 0 shares, in one message if they are short, else in two.
struct Shared {
  Index number = 0;
  std::vector<double> values;
  SmallMatrix matrix;
  template <class Visit>
  void each_field(const Visit& visit) {
    visit(number), visit(values), visit(matrix);
  }
};

TEST_F(LobpcgMpi, ResultsOfAnyLengthAreShared) {
  for (const Index count : {0, 5, 1010, 1020, 1021, 5000}) {
    Shared shared;
    if (runtime_.rank() == 0) {
      shared.number = count + 1;
      for (Index k = 0; k < count; ++k) shared.values.push_back(double(k));
      shared.matrix = SmallMatrix(2, 3);
      shared.matrix(1, 2) = 4;
    }
    share_result(runtime_, shared);
    EXPECT_EQ(shared.number, count + 1);
    ASSERT_EQ(Index(shared.values.size()), count);
    for (Index k = 0; k < count; ++k) ASSERT_EQ(shared.values[static_cast<std::size_t>(k)], double(k));
    ASSERT_EQ(shared.matrix.cols, 3);
    EXPECT_EQ(shared.matrix(1, 2), 4);
  }
}

// Ranks that share a core exchange messages slowly, so preconditioners keep the iteration counts
// low.

TEST_F(LobpcgMpi, Smallest) {
  const Index n = 60;
  const SparseRows a = laplacian(n);
  std::vector<double> values;
  for (Index k = 1; k <= 3; ++k) values.push_back(laplacian_value(n, k));
  for (const Index segments : {1, 6}) {
    const auto op = operator_of<double>(runtime_, a, segments);
    UserPreconditioner<double> inverse(runtime_, op.segments(), tridiagonal_inverse<double>(n, 2, -1));
    const auto result = lobpcg(runtime_, {.a = &op, .preconditioner = &inverse}, {.count = 3});
    expect_values(result, values, 1e-10);
    expect_eigenpairs<double>(result, a, nullptr, 8e-8, 1e-11);
    expect_equal_on_all_ranks(runtime_, result);
  }
}

/// All decisions about a deep basis are the same on all ranks: its trust in directions, restarts, locking.
TEST_F(LobpcgMpi, DeepBases) {
  constexpr EigenMethod davidson = EigenMethod::generalized_davidson;
  const Index n = 60;
  const SparseRows k = laplacian(n);
  SparseRows m(n);
  for (Index i = 0; i < n; ++i) {
    m.add(i, i, 3 + double(i % 4));
    if (i > 0) m.add(i, i - 1, 1);
  }
  const std::vector<double> alone = lapack_eigenvalues(dense(k)),
                            pairs = lapack_eigenvalues(dense(k), dense(m));
  const auto a = operator_of<double>(runtime_, k, 5), b = operator_of<double>(runtime_, m, 5);
  UserPreconditioner<double> inverse(runtime_, a.segments(), tridiagonal_inverse<double>(n, 2.02, -1));
  for (const bool generalized : {false, true})
    for (const auto& [block, basis] : {std::pair<Index, Index>{0, 0}, {1, 6}, {2, 9}}) {
      const LobpcgProblem<double> problem{
          .a = &a, .b = generalized ? &b : nullptr, .preconditioner = &inverse};
      const LobpcgOptions options{
          .count = 3, .method = davidson, .block = block, .basis = basis, .tolerance = 1e-12};
      const std::vector<double>& all = generalized ? pairs : alone;
      const auto result = lobpcg(runtime_, problem, options);
      expect_values(result, all, 1e-10);
      expect_eigenpairs<double>(result, k, generalized ? &m : nullptr, 1e-10, 1e-10);
      expect_equal_on_all_ranks(runtime_, result);
      LobpcgProblem<double> next = problem;
      next.constraints = next.guess = &result.vectors;
      next.constraint_count = next.guess_count = 3;
      const auto more = lobpcg(runtime_, next, options);
      expect_values(more, {all.begin() + 3, all.end()}, 1e-9);
      expect_equal_on_all_ranks(runtime_, more);
    }
  const auto single = operator_of<float>(runtime_, k, 4);
  const auto result = lobpcg(runtime_, {.a = &single}, {.count = 3, .method = davidson, .tolerance = 1e-5});
  expect_values(result, alone, 1e-4);
  expect_equal_on_all_ranks(runtime_, result);
}

/// More than a block holds.
TEST_F(LobpcgMpi, ManyPairs) {
  const SparseRows a = grid_laplacian(16);
  const auto op = operator_of<double>(runtime_, a, 3);
  for (const EigenMethod method : {EigenMethod::lobpcg, EigenMethod::generalized_davidson}) {
    const auto result = lobpcg(runtime_, {.a = &op}, {.count = 45, .method = method});
    ASSERT_EQ(result.values.size(), 45u);
    expect_values(result, grid_values(16), 1e-7);
    expect_eigenpairs(result, a, nullptr, 1e-6, 1e-12);
    expect_equal_on_all_ranks(runtime_, result);
  }
}

/// All ranks decide alike what is locked and kept, and where the basis ends.
TEST_F(LobpcgMpi, Lanczos) {
  constexpr EigenMethod lanczos = EigenMethod::lanczos;
  const SparseRows grid = grid_laplacian(14);
  const auto a = operator_of<double>(runtime_, grid, 5);
  const LobpcgOptions options{.count = 36, .method = lanczos, .tolerance = 1e-10};
  const auto result = lobpcg(runtime_, {.a = &a}, options);
  expect_values(result, grid_values(14), 1e-8);
  expect_eigenpairs(result, grid, nullptr, 1e-8, 1e-12);
  expect_equal_on_all_ranks(runtime_, result);
  const auto again = lobpcg(runtime_, {.a = &a, .guess = &result.vectors, .guess_count = 36}, options);
  expect_values(again, grid_values(14), 1e-8);
  expect_equal_on_all_ranks(runtime_, again);
  const auto more = lobpcg(runtime_, {.a = &a, .constraints = &result.vectors, .constraint_count = 35},
                           {.count = 3, .method = lanczos, .block = 1, .basis = 24, .tolerance = 1e-9});
  const std::vector<double> values = grid_values(14);
  expect_values(more, {values.begin() + 35, values.end()}, 1e-7);
  expect_equal_on_all_ranks(runtime_, more);
  const auto unit = operator_of<float>(runtime_, diagonal(std::vector<double>(50, 3.0)), 4);
  const auto equal = lobpcg(runtime_, {.a = &unit}, {.count = 10, .method = lanczos});
  expect_values(equal, std::vector<double>(10, 3.0), 1e-4);
  expect_equal_on_all_ranks(runtime_, equal);
}

TEST_F(LobpcgMpi, InteriorPairs) {
  const Index n = 60;
  const auto a = operator_of<double>(runtime_, laplacian(n), 5);
  const double sigma = 0.1 * laplacian_value(n, 3) + 0.9 * laplacian_value(n, 4);
  const FoldedOperator<double> folded(runtime_, a, sigma);
  const auto found = lobpcg(
      runtime_, {.a = &folded},
      {.count = 2, .method = EigenMethod::generalized_davidson, .tolerance = 1e-12, .iterations = 2000});
  ASSERT_EQ(found.status().code, StatusCode::success) << found.status().message();
  const auto pairs = interior_pairs(runtime_, a, sigma, found);
  EXPECT_NEAR(pairs.values.at(0), laplacian_value(n, 4), 1e-9);
  EXPECT_NEAR(pairs.values.at(1), laplacian_value(n, 3), 1e-9);
}

TEST_F(LobpcgMpi, RandomStartsDoNotDependOnRanks) {
  // Sums differ by rounding, which does not yet show in the first iterations.
  const Index n = 60;
  const SparseRows a = laplacian(n);
  const auto whole = operator_of<double>(runtime_, a, 1), cut = operator_of<double>(runtime_, a, 5);
  const auto one = lobpcg(runtime_, {.a = &whole}, {.count = 3, .iterations = 3});
  const auto many = lobpcg(runtime_, {.a = &cut}, {.count = 3, .iterations = 3});
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(one.values[k], many.values[k], 1e-12);
}

TEST_F(LobpcgMpi, GeneralizedWithConstraintsGuessAndPreconditioner) {
  const Index n = 50;
  const SparseRows k = laplacian(n);
  SparseRows m(n);
  for (Index i = 0; i < n; ++i) {
    m.add(i, i, 3 + double(i % 4));
    if (i > 0) m.add(i, i - 1, 1);
  }
  const std::vector<double> reference = lapack_eigenvalues(dense(k), dense(m));
  const auto a = operator_of<double>(runtime_, k, 5), b = operator_of<double>(runtime_, m, 5);
  UserPreconditioner<double> inverse(runtime_, a.segments(), tridiagonal_inverse<double>(n, 2, -1));
  const auto first =
      lobpcg(runtime_, {.a = &a, .b = &b, .preconditioner = &inverse}, {.count = 2, .tolerance = 1e-13});
  expect_values(first, reference, 1e-10);
  const auto result = lobpcg(runtime_,
                             {.a = &a,
                              .b = &b,
                              .preconditioner = &inverse,
                              .constraints = &first.vectors,
                              .constraint_count = 2,
                              .guess = &first.vectors,
                              .guess_count = 3},
                             {.count = 3, .tolerance = 1e-11});
  expect_values(result, {reference.begin() + 2, reference.end()}, 1e-10);
  expect_eigenpairs<double>(result, k, &m, 1e-9, 1e-10);
  expect_equal_on_all_ranks(runtime_, result);
}

/// One application makes two directions equal. All ranks must detect it and multiply by A once
/// more.
TEST_F(LobpcgMpi, DirectionsThatSuddenlyDepend) {
  const Index n = 60;
  const SparseRows a = laplacian(n);
  const auto op = operator_of<double>(runtime_, a, 6);
  int application = 0;
  tessera::UserPreconditioner<double> t(
      [&](Index, Index rows, Index columns, const double* r, Index ldr, double* w, Index ldw) {
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < columns; ++j)
            w[i * ldw + j] = r[i * ldr + (application == 4 ? std::max<Index>(j, 1) : j)];
      },
      [&](std::span<const double>, Index) { ++application; });
  const auto result =
      lobpcg(runtime_, {.a = &op, .preconditioner = &t}, {.count = 2, .block = 6, .tolerance = 1e-6});
  EXPECT_EQ(result.status().code, StatusCode::success) << result.status().message();
  EXPECT_GT(application, 4);
  EXPECT_EQ(result.restarts, 0);
  EXPECT_EQ(result.multiplications, result.iterations + 3);
  for (Index k = 0; k < 2; ++k) EXPECT_NEAR(result.values[std::size_t(k)], laplacian_value(n, k + 1), 1e-8);
  expect_equal_on_all_ranks(runtime_, result);
}

TEST_F(LobpcgMpi, LargestInSinglePrecisionByBothVariants) {
  std::vector<double> values;
  for (Index i = 0; i < 40; ++i) values.push_back(i < 4 ? 100 - 20 * double(i) : 1 + 0.01 * double(i));
  const auto op = operator_of<float>(runtime_, diagonal(values), 4);
  for (const LobpcgVariant variant : {LobpcgVariant::orthonormal, LobpcgVariant::basic}) {
    const auto result =
        lobpcg(runtime_, {.a = &op}, {.count = 3, .end = EigenEnd::largest, .variant = variant});
    expect_values(result, values, 1e-4 * 100);
    expect_equal_on_all_ranks(runtime_, result);
  }
}

using HalfStored = CsbMatrix<double, double>;

std::unique_ptr<Preconditioner<double>> built_in(const std::string& name, Runtime& runtime,
                                                 const HalfStored& a) {
  if (name == "jacobi")
    return std::make_unique<JacobiPreconditioner<double>>(runtime, a.segments(), a.diagonal());
  if (name == "fom") return std::make_unique<FomPreconditioner<double, double>>(runtime, a);
  if (name == "chebyshev")
    return std::make_unique<ChebyshevPreconditioner<double>>(runtime, a, ChebyshevOptions{.degree = 2});
  return nullptr;
}

struct HalfStoredCase {
  const char *kind, *preconditioner;
  Index block;             ///< many guard vectors, so that few iterations suffice
  std::vector<int> ranks;  ///< in addition to one rank
};
/// With three ranks each has a column of sub-matrices, with six and 15 ranks each has one sub-matrix;
/// these numbers cover every preconditioner. Two and four ranks divide the sub-matrices by their
/// numbers of entries.
const std::vector<HalfStoredCase> half_stored_cases{
    {"laplacian2d:6:6", "none", 10, {2, 6}}, {"laplacian2d:6:6", "jacobi", 10, {3, 4}},
    {"laplacian2d:6:6", "fom", 10, {3}},     {"laplacian2d:6:6", "chebyshev", 10, {6}},
    {"shell:sd:0:4", "none", 24, {3}},       {"shell:sd:0:4", "jacobi", 24, {6}},
    {"shell:sd:0:4", "fom", 24, {2, 6}},     {"shell:sd:0:4", "chebyshev", 24, {3, 4}},
    {"laplacian2d:12:11", "fom", 10, {15}}};

using History = std::vector<std::vector<double>>;
constexpr Index whole_solve = 500;  ///< more iterations than any solve needs

/// The two lowest Ritz values of each iteration. A solve that is not cut short must find the exact
/// values.
History ritz_values(Runtime& runtime, const HalfStoredCase& c, const SparseGenerator& made,
                    const std::vector<double>& exact, Index iterations = whole_solve) {
  const CsbOptions options{.tile_rows = made.a->tiles().empty() ? 3 : 0};
  const auto a = HalfStored::build(runtime, *made.a, options);
  std::set<int> owners;
  for (Index s = 0; s < a.segments()->count(); ++s) owners.insert(a.segments()->owner(s));
  EXPECT_EQ(owners.size(), std::size_t(runtime.size()));
  const auto preconditioner = built_in(c.preconditioner, runtime, a);
  const auto result = lobpcg(runtime, {.a = &a, .preconditioner = preconditioner.get()},
                             {.count = 2, .block = c.block, .tolerance = 1e-7, .iterations = iterations});
  if (iterations == whole_solve) expect_values(result, exact, 1e-10);
  expect_equal_on_all_ranks(runtime, result);
  History history;
  for (const LobpcgStep& step : result.history) history.push_back({step.values[0], step.values[1]});
  return history;
}

/// Half-stored matrices with each of the library's preconditioners, on one rank and on all ranks.
/// Many ranks that share cores exchange messages slowly, so there most solves stop after two
/// iterations.
TEST(LobpcgMpiHalfStored, ExactValuesInTheIterationsOfOneRank) {
  std::vector<SparseGenerator> made;
  std::vector<std::vector<double>> exact;
  std::vector<History> alone;
  {
    Runtime runtime({.cores = 1, .bind = false});
    for (const HalfStoredCase& c : half_stored_cases) {
      made.push_back(make_sparse_generator(c.kind));
      exact.push_back(made.back().lowest_eigenvalues(2).value_or(eigenvalues(made.back())));
      alone.push_back(ritz_values(runtime, c, made.back(), exact.back()));
    }
  }
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  for (std::size_t k = 0; k < half_stored_cases.size(); ++k) {
    const HalfStoredCase& c = half_stored_cases[k];
    if (runtime.size() > 1 && std::count(c.ranks.begin(), c.ranks.end(), runtime.size()) == 0) continue;
    SCOPED_TRACE(fmt::format("{}, {}", c.kind, c.preconditioner));
    const Index most = runtime.size() <= 3 || c.preconditioner == std::string("fom") ? whole_solve : 2;
    const History found = ritz_values(runtime, c, made[k], exact[k], most);
    if (most == whole_solve) {
      EXPECT_NEAR(double(found.size()), double(alone[k].size()), 2);
    }
    for (std::size_t step = 0; step <= 2; ++step)
      for (std::size_t j = 0; j < 2; ++j)
        EXPECT_NEAR(found.at(step).at(j), alone[k].at(step).at(j), 1e-10) << step << ' ' << j;
  }
}

TEST_F(LobpcgMpi, OneRankStopsAll) {
  const auto op = operator_of<double>(runtime_, laplacian(80), 6);
  LobpcgOptions options{.count = 2};
  const bool last = runtime_.rank() == runtime_.size() - 1;
  options.monitor = [&](const LobpcgStep& step) { return !(last && step.iteration == 2); };
  const auto result = lobpcg(runtime_, {.a = &op}, options);
  EXPECT_EQ(result.status().code, StatusCode::stopped);
  EXPECT_EQ(result.iterations, 2);
}

TEST_F(LobpcgMpi, OneRanksErrorIsEverybodys) {
  const auto op = operator_of<double>(runtime_, laplacian(80), 6);
  const bool last = runtime_.rank() == runtime_.size() - 1;
  expect_refused("a", [&] { std::ignore = lobpcg(runtime_, {.a = last ? nullptr : &op}, {.count = 2}); });
  // Only one rank produces the NaN.
  UserOperator<double> broken(
      runtime_, op.segments(),
      [&](Index first, Index end, Index columns, const double* x, Index ldx, double* y, Index ldy) {
        function_of<double>(laplacian(80))(first, end, columns, x, ldx, y, ldy);
        if (first == 0) y[0] = NAN;
      });
  const auto result = lobpcg(runtime_, {.a = &broken}, {.count = 2});
  EXPECT_EQ(result.status().code, StatusCode::not_finite);
  EXPECT_EQ(lobpcg(runtime_, {.a = &op}, {.count = 2, .iterations = 1}).status().code,
            StatusCode::iterations_exhausted);
}

TEST_F(LobpcgMpi, WhatTheMonitorOfOneRankThrows) {
  const auto op = operator_of<double>(runtime_, laplacian(60), 4);
  LobpcgOptions options{.count = 2};
  const int last = runtime_.size() - 1;
  options.monitor = [&](const LobpcgStep& step) {
    if (step.iteration == 2 && runtime_.rank() == last) throw std::logic_error("enough");
    return true;
  };
  try {
    std::ignore = lobpcg(runtime_, {.a = &op}, options);
    ADD_FAILURE() << "no exception";
  } catch (const std::exception& error) {
    EXPECT_EQ(error.what(), runtime_.rank() == last ? "enough" : "rank " + std::to_string(last) + ": enough");
  }
  // The runtime and operators must stay usable.
  EXPECT_EQ(lobpcg(runtime_, {.a = &op}, {.count = 2, .iterations = 3}).status().code,
            StatusCode::iterations_exhausted);
  // The preconditioner's prepare() fails in the same way.
  UserPreconditioner<double> none(runtime_, op.segments(), tridiagonal_inverse<double>(60, 2, -1));
  tessera::UserPreconditioner<double> prepares(
      [](Index, Index, Index, const double*, Index, double*, Index) {},
      [&](std::span<const double>, Index) {
        if (runtime_.rank() == last) throw std::logic_error("unprepared");
      });
  EXPECT_THROW(std::ignore = lobpcg(runtime_, {.a = &op, .preconditioner = &prepares}, {.count = 2}),
               std::exception);
  EXPECT_EQ(lobpcg(runtime_, {.a = &op, .preconditioner = &none}, {.count = 2}).status().code,
            StatusCode::success);
}

}  // namespace
}  // namespace tessera::test
