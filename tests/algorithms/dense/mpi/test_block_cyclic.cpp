// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <gtest/gtest.h>
#include <tests/support/block_cyclic.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/mpi_test.hpp>

/// eigensolve between ScaLAPACK's arrays: input and vectors with blocks, grids, first processes and offsets of
/// their own. Each rank checks the gathered vectors against LAPACK, and that nothing else is written.
namespace tessera::test {
namespace {

/// Blocks of a matrix, and where the problem begins in it.
struct Blocks {
  Index rows = 8, cols = 8;  ///< of a block
  ProcessGrid grid{};
  int first_row = 0, first_col = 0;
  Index row = 0, col = 0;
};

struct Case {
  Index n;
  Blocks a, z;
  EigenRange range{};
  bool generalized = false;
  Uplo uplo = Uplo::lower;
  Solver solver = Solver::two_stage;
};

class BlockCyclicEigensolve : public MpiTest {
 public:
  static int ranks() { return runtime().size(); }
  static ProcessGrid row_of_ranks() { return {1, ranks(), false}; }
  static ProcessGrid column_of_ranks() { return {ranks(), 1, false}; }
  static ProcessGrid wide() { return ProcessGrid::squarest(ranks()); }
  static ProcessGrid tall() { return {wide().cols, wide().rows, true}; }

  /// The layout of an array in which m x n entries begin at (blocks.row, blocks.col), with some behind them.
  static TileLayout layout_of(const Blocks& blocks, Index m, Index n) {
    return {.rows = blocks.row + m + 2,
            .cols = blocks.col + n + 1,
            .tile_rows = blocks.rows,
            .tile_cols = blocks.cols,
            .grid = blocks.grid,
            .first_row = blocks.first_row % blocks.grid.rows,
            .first_col = blocks.first_col % blocks.grid.cols};
  }
  template <class T>
  static BlockCyclic<T> embed(const Matrix<T>& a, const Blocks& blocks, Uplo uplo = Uplo::general) {
    TileLayout layout = layout_of(blocks, a.rows(), a.cols());
    layout.uplo = uplo;
    Matrix<T> whole(layout.rows, layout.cols);
    for (Index j = 0; j < whole.cols(); ++j)
      for (Index i = 0; i < whole.rows(); ++i) whole(i, j) = not_a_number<T>();
    whole.set_block(blocks.row, blocks.col, a);
    return BlockCyclic<T>(runtime(), layout, whole);
  }
  template <class T>
  static MatrixInput<T> input(BlockCyclic<T>& a, const Blocks& blocks, Index n) {
    return {a.data(), a.ld(), a.layout(), blocks.row, blocks.col, n};
  }

  static EigensolveOptions options_of(const Case& c) {
    if (c.n < 10) return {.solver = c.solver, .range = c.range};
    return {
        .solver = c.solver, .range = c.range, .tile = 16, .band = 8, .update_width = 16, .slab_width = 10};
  }

  /// Numbers of the eigenvalues that the range has.
  template <class R>
  static std::pair<Index, Index> numbers(const EigenRange& range, const std::vector<R>& all) {
    const auto upto = [&](double x) {
      return Index(std::count_if(all.begin(), all.end(), [&](auto y) { return y <= x; }));
    };
    if (range.kind == EigenRange::Kind::index) return {range.lo, range.hi};
    if (range.kind == EigenRange::Kind::value) return {upto(range.above), upto(range.upto)};
    return {0, Index(all.size())};
  }

  template <class T>
  static void expect_right(const Case& c, const Matrix<T>& a, const Matrix<T>& b,
                           const EigenResult<T>& result, const Matrix<T>& z,
                           const std::vector<RealOf<T>>& reference) {
    const auto errors =
        eigen_errors(a, c.generalized ? &b : nullptr, result.values, &z, reference, result.first);
    EXPECT_LT(errors.residual, c.n >= 30 ? 1 : 30);
    EXPECT_LT(errors.orthogonality, c.n >= 30 ? random_orthogonality_gate(c.n) : 30);
    EXPECT_LT(errors.values, 30);
    EXPECT_EQ(result.vectors.count(), 0);
  }

  template <class T>
  static void check(const Case& c) {
    SCOPED_TRACE(::testing::Message()
                 << type_letter<T> << " n " << c.n << " blocks " << c.a.rows << " x " << c.a.cols << ", "
                 << c.z.rows << " x " << c.z.cols << " grids " << c.a.grid.rows << " x " << c.a.grid.cols
                 << ", " << c.z.grid.rows << " x " << c.z.grid.cols << " rank " << runtime().rank());
    const auto a = generate<T>("random", c.n, 3), b = generate<T>("overlap", c.n, 4);
    const auto reference = c.generalized ? lapack_eigenvalues(a, b) : lapack_eigenvalues(a);
    const auto [lo, hi] = numbers(c.range, reference);
    const EigensolveOptions options = options_of(c);
    // The solver must not read the other triangle, nor what is around the matrix.
    auto array_a = embed(poison_other_triangle(a, c.uplo), c.a, c.uplo);
    // B has A's grid, and blocks of its own.
    Blocks of_b = c.a;
    of_b.rows = c.a.cols + 1, of_b.row = c.a.col, of_b.first_row = c.a.first_row + 1;
    auto array_b = embed(poison_other_triangle(b, Uplo::upper), of_b, Uplo::upper);
    auto array_z = embed(Matrix<T>(c.n, max_vectors(c.n, options)), c.z);
    EigenProblem<T> problem{.a = input(array_a, c.a, c.n)};
    if (c.generalized) problem.b = input(array_b, of_b, c.n);
    problem.vectors_to = {array_z.data(), array_z.ld(), array_z.layout(), c.z.row, c.z.col};
    auto completion = submit_eigensolve(runtime(), problem, options);
    ASSERT_TRUE(completion.wait().ok()) << completion.wait().message();
    const auto& result = completion.result();
    ASSERT_EQ(Index(result.values.size()), hi - lo);
    EXPECT_EQ(result.first, lo);
    expect_right(c, a, b, result, array_z.gather(c.z.row, c.z.col, c.n, hi - lo), reference);
    EXPECT_TRUE(array_z.unchanged_outside(c.z.row, c.z.col, c.n, hi - lo)) << "written beside the vectors";
    EXPECT_TRUE(array_a.unchanged()) << "A has changed";
    EXPECT_TRUE(array_b.unchanged()) << "B has changed";
  }
};

TEST_F(BlockCyclicEigensolve, OneRowAndOneColumnOfRanks) {
  check<double>({.n = 33, .a = {7, 7, row_of_ranks()}, .z = {3, 3, column_of_ranks()}});
  check<std::complex<float>>(
      {.n = 32, .a = {64, 64, column_of_ranks()}, .z = {7, 7, row_of_ranks()}, .uplo = Uplo::upper});
}

TEST_F(BlockCyclicEigensolve, GridsInBothOrders) {
  check<std::complex<double>>({.n = 35, .a = {7, 7, wide()}, .z = {5, 5, tall()}, .generalized = true});
  check<float>({.n = 31, .a = {3, 3, tall()}, .z = {9, 9, wide()}, .uplo = Uplo::upper});
}

TEST_F(BlockCyclicEigensolve, AnyProcessHasTheFirstBlock) {
  check<double>({.n = 33,
                 .a = {7, 7, wide(), ranks() - 1, ranks() - 2 + ranks() % 2},
                 .z = {4, 4, tall(), 1, 1},
                 .uplo = Uplo::upper});
  check<std::complex<float>>({.n = 33,
                              .a = {5, 5, column_of_ranks(), ranks() - 1, 0},
                              .z = {7, 7, row_of_ranks(), 0, ranks() - 1},
                              .range = index_range(3, 20),
                              .generalized = true});
}

TEST_F(BlockCyclicEigensolve, BlocksThatAreNotSquare) {
  for (const Uplo uplo : {Uplo::lower, Uplo::upper})
    check<double>({.n = 32, .a = {5, 9, wide(), 1, 1}, .z = {11, 2, wide()}, .uplo = uplo});
  check<std::complex<double>>(
      {.n = 30, .a = {13, 4, tall()}, .z = {2, 17, tall(), 1, 0}, .generalized = true});
}

TEST_F(BlockCyclicEigensolve, SubmatricesThatBeginAnywhere) {
  // A whole number of blocks, and within one.
  check<double>({.n = 31, .a = {6, 6, wide(), 1, 0, 12, 6}, .z = {5, 5, tall(), 0, 1, 10, 20}});
  check<float>({.n = 30,
                .a = {6, 4, tall(), 0, 1, 3, 7},
                .z = {5, 8, wide(), 1, 1, 4, 13},
                .range = index_range(10, 21),
                .uplo = Uplo::upper});
  check<std::complex<double>>({.n = 32,
                               .a = {7, 7, wide(), 0, 0, 2, 2},
                               .z = {64, 64, row_of_ranks(), 0, 0, 40, 50},
                               .generalized = true});
}

TEST_F(BlockCyclicEigensolve, RangesByValueAndByIndex) {
  check<double>({.n = 32, .a = {7, 7, wide()}, .z = {3, 4, tall(), 1, 0}, .range = value_range(-2.01, 1.52)});
  check<std::complex<float>>(
      {.n = 30, .a = {7, 7, wide()}, .z = {6, 6, wide()}, .range = index_range(29, 30)});
  check<double>({.n = 30, .a = {7, 7, wide()}, .z = {6, 6, wide()}, .range = value_range(1e5, 2e5)});
}

TEST_F(BlockCyclicEigensolve, SmallMatricesAndRanksWithoutData) {
  for (const Index n : {0, 1, 2, 5})
    check<double>({.n = n, .a = {8, 8, wide(), 1, 1}, .z = {3, 3, tall()}, .solver = Solver::automatic});
  check<std::complex<double>>({.n = 5, .a = {64, 64, wide()}, .z = {64, 64, tall(), 1, 1}});
  const ProcessGrid fewer{1, std::max(1, ranks() - 1), false};
  check<float>({.n = 20, .a = {6, 6, fewer, 0, 1}, .z = {4, 4, fewer, 0, 1}, .generalized = true});
  check<double>({.n = 20, .a = {6, 6, {}}, .z = {4, 4, {}}});
}

TEST_F(BlockCyclicEigensolve, OtherSolvers) {
  if (ranks() > 2) GTEST_SKIP() << "run with fewer ranks";

  for (const Solver solver : {Solver::one_stage, Solver::vendor})
    check<double>({.n = 30, .a = {7, 7, wide()}, .z = {4, 5, tall(), 1, 1}, .solver = solver});
}

/// Vectors in tiles of the caller, some of which have columns of several slabs, or of none.
TEST_F(BlockCyclicEigensolve, VectorsInTilesOfTheCaller) {
  using T = std::complex<double>;
  const Index n = 33;
  const Case c{.n = n, .a = {7, 7, wide()}, .z = {}, .range = index_range(2, 29)};
  const auto a = generate<T>("random", n, 3);
  auto array = embed(a, c.a, Uplo::lower);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{7, 4}, {5, 25}, {n, 10}}) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " rank " << runtime().rank());
    const TileLayout layout{.rows = n,
                            .cols = 32,
                            .tile_rows = rows,
                            .tile_cols = cols,
                            .grid = tall(),
                            .first_row = tall().rows - 1};
    TiledMatrix<T> tiles(runtime(), layout);
    const auto result =
        eigensolve<T>(runtime(), {.a = input(array, c.a, n), .vectors_to = tiles}, options_of(c));
    ASSERT_TRUE(result) << result.status().message();
    auto z = BlockCyclic<T>(runtime(), layout, Matrix<T>(n, 32));
    TiledMatrix<T> copy = TiledMatrix<T>::wrap_block_cyclic(runtime(), z.data(), z.ld(), layout);
    for (Index j = 0; j < layout.col_tiles(); ++j)
      for (Index i = 0; i < layout.row_tiles(); ++i) {
        if (!tiles.tile(i, j).local() || layout.col_begin(j) >= 27) continue;
        const HostAccess from(tiles.tile(i, j), HostAccess::Mode::read),
            to(copy.tile(i, j), HostAccess::Mode::write);
        for (Index k = 0; k < tiles.tile_cols(j); ++k)
          std::copy_n(&from.matrix<T>()(0, k), tiles.tile_rows(i), &to.matrix<T>()(0, k));
      }
    copy.release();
    expect_right<T>(c, a, a, result, z.gather(0, 0, n, 27), lapack_eigenvalues(a));
  }
}

/// What is wrong on one rank is refused on all.
TEST_F(BlockCyclicEigensolve, RefusedOnAllRanks) {
  const Index n = 24;
  const auto a = generate<double>("random", n);
  const Blocks blocks{5, 5, wide()};
  auto array = embed(a, blocks, Uplo::lower), z = embed(Matrix<double>(n, n), blocks);
  const bool last = runtime().rank() == ranks() - 1;
  const auto refused = [&](const std::string& name, const MatrixInput<double>& in,
                           const MatrixOutput<double>& out, const EigensolveOptions& options = {}) {
    SCOPED_TRACE(name);
    expect_refused(name, [&] { (void)eigensolve<double>(runtime(), {.a = in, .vectors_to = out}, options); });
  };
  const auto in = input(array, blocks, n);
  const MatrixOutput<double> out{z.data(), z.ld(), z.layout()};
  refused("vectors_to.ld", in, {z.data(), last ? 1 : z.ld(), z.layout()});
  refused("vectors_to.local", in, {last ? nullptr : z.data(), z.ld(), z.layout()});
  refused("vectors_to", in, {z.data(), z.ld(), z.layout(), 3, 0});
  refused("vectors_to", in, {z.data(), z.ld(), z.layout(), 0, 2});
  refused("vectors_to", in, {z.data(), z.ld(), z.layout(), -1, 0});
  refused("vectors_to", in, {z.data(), z.ld(), array.layout()});
  refused("a.ld", {array.data(), last ? 1 : array.ld(), array.layout(), 0, 0, n}, out);
  refused("a", {array.data(), array.ld(), array.layout(), 0, 4, n}, out);
  refused("a.n", {array.data(), array.ld(), array.layout(), 0, 0, -2}, out);
  TileLayout wrong = z.layout();
  wrong.first_col = ranks();
  refused("vectors_to.first", in, {z.data(), z.ld(), wrong});
  TiledMatrix<double> narrow(runtime(), {n, 10, 5, 5, wide()});
  refused("vectors_to", in, narrow);
  refused("range", in, out, {.range = index_range(3, n + 1)});
  if (ranks() > 1) {
    refused("vectors_to", in, {z.data(), n});
    // Different on one rank: of no argument by name.
    EXPECT_THROW((void)eigensolve<double>(
                     runtime(), {.a = in, .vectors_to = {z.data(), z.ld(), z.layout(), last ? 1 : 0, 0}}),
                 InvalidArgument);
  }
  EXPECT_TRUE(z.unchanged());
  // The Runtime stays usable.
  ASSERT_TRUE(eigensolve<double>(runtime(), {.a = in, .vectors_to = out}));
}

}  // namespace
}  // namespace tessera::test
