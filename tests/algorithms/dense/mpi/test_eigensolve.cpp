// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/mpi_test.hpp>

#include <tessera/algorithms/dense/check.hpp>

/// eigensolve with block-cyclic input over any number of ranks. Each rank checks the gathered
/// result against LAPACK.
namespace tessera::test {
using namespace detail;
namespace {

class EigensolveMpi : public MpiTest {
 public:
  /// This rank's part of a matrix in 2-D block-cyclic layout, as in a ScaLAPACK program.
  template <class T>
  struct Distributed {
    Matrix<T> local;
    TiledMatrix<T> tiles;
  };
  template <class T>
  static void distribute(const Matrix<T>& a, Index block, const ProcessGrid& grid, Uplo uplo,
                         Distributed<T>& out) {
    const Index n = a.rows();
    const int rank = runtime().rank();
    const bool has = rank < grid.rows * grid.cols;
    const int p = grid.column_major ? rank % grid.rows : rank / grid.cols;
    const int q = grid.column_major ? rank / grid.rows : rank % grid.cols;
    out.local = Matrix<T>(has ? local_extent(n, block, p, grid.rows) : 0,
                          has ? local_extent(n, block, q, grid.cols) : 0, 2);
    for (Index j = 0; j < out.local.cols(); ++j)
      for (Index i = 0; i < out.local.rows(); ++i)
        out.local(i, j) = a((i / block * grid.rows + p) * block + i % block,
                            (j / block * grid.cols + q) * block + j % block);
    out.tiles = TiledMatrix<T>::wrap_block_cyclic(runtime(), out.local.data(), out.local.ld(),
                                                  {n, n, block, block, grid, uplo});
  }

  /// Gathers all columns on every rank.
  template <class T>
  static Matrix<T> gather(const ColumnSlabs<T>& z) {
    std::vector<double> all(static_cast<std::size_t>(2 * z.rows() * z.cols()), 0.0);
    for (Index s = 0; s < z.count(); ++s) {
      if (!z.slab(s).local()) continue;
      const auto slab = download<T>(z.slab(s));
      for (Index j = 0; j < slab.cols(); ++j)
        for (Index i = 0; i < slab.rows(); ++i) {
          const auto at = static_cast<std::size_t>(2 * (i + (z.first_col(s) + j) * z.rows()));
          all[at] = real_part(slab(i, j)), all[at + 1] = imag_part(slab(i, j));
        }
    }
    runtime().all_reduce_sum(all.data(), static_cast<Index>(all.size()));
    Matrix<T> a(z.rows(), z.cols());
    for (Index j = 0; j < a.cols(); ++j)
      for (Index i = 0; i < a.rows(); ++i) {
        const auto at = static_cast<std::size_t>(2 * (i + j * a.rows()));
        if constexpr (is_complex<T>)
          a(i, j) = T(RealOf<T>(all[at]), RealOf<T>(all[at + 1]));
        else
          a(i, j) = T(all[at]);
      }
    return a;
  }

  template <class Value>
  static bool same_everywhere(const std::vector<Value>& values) {
    double count = double(values.size()), most = count;
    runtime().all_reduce_max(&most, 1);
    double least = -count;
    runtime().all_reduce_max(&least, 1);
    if (most != count || -least != count) return false;
    auto first = values;
    runtime().broadcast(first.data(), Index(first.size() * sizeof(Value)), 0);
    double different =
        !first.empty() && std::memcmp(first.data(), values.data(), first.size() * sizeof(Value)) != 0;
    runtime().all_reduce_max(&different, 1);
    return different == 0;
  }

  struct Case {
    Index n, block;
    ProcessGrid grid;
    EigensolveOptions options;
    bool generalized = false;
    Uplo uplo = Uplo::lower;
    const char* kind = "random";
  };
  template <class T>
  static void check(const Case& c) {
    SCOPED_TRACE(::testing::Message()
                 << type_letter<T> << " n " << c.n << " block " << c.block << " grid " << c.grid.rows << " x "
                 << c.grid.cols << ' ' << to_string(c.options.solver) << " rank " << runtime().rank());
    const auto a = generate<T>(c.kind, c.n, 3), b = generate<T>("overlap", c.n, 4);
    Distributed<T> dist_a, dist_b;
    // The solver must not read the other triangle.
    distribute(poison_other_triangle(a, c.uplo), c.block, c.grid, c.uplo, dist_a);
    if (c.generalized) distribute(poison_other_triangle(b, c.uplo), c.block, c.grid, c.uplo, dist_b);
    const auto before = dist_a.local;
    EigenProblem<T> problem{.a = dist_a.tiles};
    if (c.generalized) problem.b = dist_b.tiles;
    auto completion = submit_eigensolve(runtime(), problem, c.options);
    ASSERT_TRUE(completion.wait().ok()) << completion.wait().message();
    auto& result = completion.result();
    EXPECT_TRUE(same_everywhere(result.values));
    const auto reference = c.generalized ? lapack_eigenvalues(a, b) : lapack_eigenvalues(a);
    const auto& range = c.options.range;
    Index first = 0, last = c.n;
    if (range.kind == EigenRange::Kind::index) first = range.lo, last = range.hi;
    if (range.kind == EigenRange::Kind::value) {
      const auto upto = [&](double x) {
        return Index(std::count_if(reference.begin(), reference.end(), [&](auto y) { return y <= x; }));
      };
      first = upto(range.above), last = upto(range.upto);
    }
    ASSERT_EQ(Index(result.values.size()), last - first);
    EXPECT_EQ(result.first, first);
    const auto z = gather(result.vectors);
    const bool vectors = c.options.vectors && last > first;
    const auto errors = eigen_errors(a, c.generalized ? &b : nullptr, result.values, vectors ? &z : nullptr,
                                     reference, first);
    EXPECT_LT(errors.residual, c.n >= 30 ? 1 : 30);
    EXPECT_LT(errors.orthogonality, c.n >= 30 ? random_orthogonality_gate(c.n) : 30);
    EXPECT_LT(errors.values, 30);
    if (vectors) {
      const EigenCheck gates = check_eigenpairs<T>(
          runtime(), dist_a.tiles, c.generalized ? &dist_b.tiles : nullptr, result.values, result.vectors);
      EXPECT_NEAR(gates.residual, errors.residual, 0.5 * errors.residual + 0.05);
      EXPECT_NEAR(gates.orthogonality, errors.orthogonality, 0.5 * errors.orthogonality + 0.05);
      EXPECT_TRUE(same_everywhere(std::vector<double>{gates.residual, gates.orthogonality, gates.norm_a}));
    }
    result.vectors.release();
    dist_a.tiles.release();
    EXPECT_TRUE(identical(dist_a.local, before)) << "A has changed";
  }
  /// Ranks that share few cores wait for each other at every message, so cases that do not depend
  /// on the grid run with at most two ranks.
  static bool crowded() { return runtime().size() > 2; }
  static ProcessGrid squarest() { return ProcessGrid::squarest(runtime().size()); }
  static EigensolveOptions few_tiles(EigenRange range = {}, Solver solver = Solver::two_stage) {
    return {.solver = solver, .range = range, .tile = 16, .band = 8, .update_width = 16, .slab_width = 10};
  }
};

TEST_F(EigensolveMpi, SquareGrid) {
  check<double>({32, 13, squarest(), few_tiles()});
}

TEST_F(EigensolveMpi, GridInColumnOrderUpperTriangle) {
  if (crowded()) GTEST_SKIP() << "run with fewer ranks";

  ProcessGrid grid = squarest();
  grid.column_major = true;
  check<float>({30, 11, grid, few_tiles(), false, Uplo::upper});
}

TEST_F(EigensolveMpi, OneColumnOfRanksGeneralized) {
  check<std::complex<double>>({31, 8, {runtime().size(), 1, false}, few_tiles(), true});
}

TEST_F(EigensolveMpi, OneRowOfRanksByValue) {
  check<std::complex<float>>(
      {32, 13, {1, runtime().size(), false}, few_tiles(value_range(-2.01, 1.52)), false, Uplo::general});
}

TEST_F(EigensolveMpi, RanksWithoutDataByIndex) {
  check<double>({30, 8, {1, std::max(1, runtime().size() - 1), false}, few_tiles(index_range(0, 12)), true});
}

TEST_F(EigensolveMpi, AllDataOnOneRank) {
  if (crowded()) GTEST_SKIP() << "run with fewer ranks";

  check<double>({24, 24, {1, 1, false}, few_tiles()});
}

TEST_F(EigensolveMpi, FewerTilesThanRanks) {
  for (const Index n : {0, 3, 10}) {
    check<double>({n, 8, squarest(), {.solver = Solver::two_stage}});
    check<std::complex<double>>({n, 8, squarest(), {.solver = Solver::automatic}, n == 10});
  }
}

/// With GPUs the first rank reduces the whole matrix, and all ranks take part in the other stages.
TEST_F(EigensolveMpi, SizesChosenForGpus) {
  if (runtime().gpus() == 0) GTEST_SKIP() << "no GPUs";

  check<double>({260, 100, squarest(), {.solver = Solver::two_stage}});
  check<std::complex<double>>({260, 100, squarest(), {.solver = Solver::two_stage}, true});
}

TEST_F(EigensolveMpi, FallBackPanels) {
  if (crowded()) GTEST_SKIP() << "run with fewer ranks";

  check<double>({30, 11, squarest(), few_tiles(), false, Uplo::lower, "rank-one"});
  check<double>({30, 11, squarest(), few_tiles(), false, Uplo::lower, "identity"});
}

TEST_F(EigensolveMpi, OneStageAndVendor) {
  if (crowded()) GTEST_SKIP() << "run with fewer ranks";

  check<double>({30, 17, squarest(), few_tiles({}, Solver::one_stage)});
  check<std::complex<float>>({28, 16, squarest(), few_tiles(index_range(5, 20), Solver::one_stage), true});
  check<double>({30, 17, squarest(), few_tiles({}, Solver::vendor)});
  check<std::complex<double>>({28, 16, squarest(), few_tiles(value_range(-1, 0.5), Solver::vendor), true});
}

TEST_F(EigensolveMpi, ValuesOnly) {
  if (crowded()) GTEST_SKIP() << "run with fewer ranks";

  for (const Solver solver : {Solver::two_stage, Solver::one_stage, Solver::vendor}) {
    auto options = few_tiles({}, solver);
    options.vectors = false;
    check<double>({30, 16, squarest(), options});
  }
}

TEST_F(EigensolveMpi, FailuresAreTheSameOnAllRanks) {
  const Index n = 24;
  const auto a = generate<double>("random", n);
  const auto text = [](const Status& s) {
    const std::string message = s.message();
    return std::vector<char>(message.begin(), message.end());
  };
  for (const Index minor : {1, 23}) {
    if (crowded() && minor == 1) continue;
    auto l = identity<double>(n), d = identity<double>(n);
    for (Index j = 0; j + 1 < n; ++j) l(j + 1, j) = double(j % 3 - 1);
    d(minor - 1, minor - 1) = -1;
    const auto b = multiply(Op::none, multiply(l, d), Op::adjoint, l);
    Distributed<double> dist_a, dist_b;
    distribute(a, 9, squarest(), Uplo::lower, dist_a);
    distribute(b, 9, squarest(), Uplo::lower, dist_b);
    auto completion = submit_eigensolve(runtime(), {.a = dist_a.tiles, .b = dist_b.tiles}, few_tiles());
    const Status status = completion.wait();
    EXPECT_EQ(status.code, StatusCode::not_positive_definite);
    EXPECT_EQ(status.stage, "cholesky");
    EXPECT_EQ(status.index, minor);
    EXPECT_TRUE(same_everywhere(text(status)));
  }
  for (const bool by_value : {false, true}) {
    if (crowded() && !by_value) continue;
    auto broken = a;
    broken(23, 17) = std::nan("");
    Distributed<double> dist_a;
    distribute(broken, 9, squarest(), Uplo::lower, dist_a);
    auto completion = submit_eigensolve(runtime(), {.a = dist_a.tiles},
                                        few_tiles(by_value ? value_range(0, 1) : EigenRange{}));
    const Status status = completion.wait();
    EXPECT_EQ(status.code, StatusCode::not_finite);
    EXPECT_EQ(status.stage, "input");
    EXPECT_EQ(status.index, 18);
    EXPECT_TRUE(same_everywhere(text(status)));
  }
  check<double>({8, 8, squarest(), {.solver = Solver::two_stage}});
}

TEST_F(EigensolveMpi, TwoSolvesInFlight) {
  if (crowded()) GTEST_SKIP() << "run with fewer ranks";

  const auto a = generate<double>("random", 30), b = generate<double>("even", 20);
  Distributed<double> dist_a, dist_b;
  distribute(a, 20, squarest(), Uplo::lower, dist_a);
  distribute(b, 11, squarest(), Uplo::lower, dist_b);
  auto first = submit_eigensolve(runtime(), {.a = dist_a.tiles}, few_tiles());
  auto second = submit_eigensolve(runtime(), {.a = dist_b.tiles}, few_tiles());
  ASSERT_TRUE(second.wait().ok());
  ASSERT_TRUE(first.wait().ok());
  EXPECT_LT(eigen_errors<double>(a, nullptr, first.result().values, nullptr, lapack_eigenvalues(a), 0).values,
            30);
  EXPECT_LT(
      eigen_errors<double>(b, nullptr, second.result().values, nullptr, lapack_eigenvalues(b), 0).values, 30);
}

}  // namespace
}  // namespace tessera::test
