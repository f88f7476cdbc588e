// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tuple>

#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/support/expect_refused.hpp>

#include <tessera/block_operations.hpp>
#include <tessera/multiply.hpp>

/// If one rank makes a mistake, every rank throws, and the runtime stays usable.
namespace tessera::test {
namespace {

const std::vector<Index> sizes(12, 3);

class ErrorsMpi : public ::testing::Test {
 protected:
  /// True on exactly one rank, which is not the root if there are several.
  bool wrong() const { return runtime_.rank() == runtime_.size() - 1; }
  BlockLayout layout(Symmetry symmetry = Symmetry::none) {
    return square_layout(sizes, symmetry, ProcessGrid::squarest(runtime_.size()), 6);
  }
  BlockSparseMatrix<double> matrix(std::uint64_t seed) {
    return random_block_sparse<double>(runtime_, layout(), 0.5, seed);
  }
  /// The product of two matrices must equal its value from before the errors.
  void TearDown() override { EXPECT_EQ(product(), expected_); }
  void SetUp() override { expected_ = product(); }
  std::uint64_t product() {
    const auto a = matrix(1), b = matrix(2);
    auto c = matrix(3);
    EXPECT_TRUE(tessera::multiply({.a = a, .b = b, .beta = 1.0, .c = c}));
    return fingerprint(c);
  }
  Runtime runtime_{{.cores = 1, .bind = false}, Communicator::world()};

 private:
  std::uint64_t expected_ = 0;
};

TEST_F(ErrorsMpi, BlocksOutside) {
  const Index outside = wrong() ? 99 : 0;
  const std::vector<BlockCoordinate> named{{0, outside}};
  expect_refused("block column", [&] { BlockPattern::make(runtime_, layout(), named); });
  auto a = matrix(1);
  expect_refused("block column", [&] { reserve_blocks(a, named); });
}

TEST_F(ErrorsMpi, BuildersThatOneRankLeaves) {
  const BlockLayout l = layout();
  expect_refused("block row", [&] {
    BlockSparseBuilder<double> builder(runtime_, l);
    builder.reserve_diagonal();
    if (wrong()) builder.reserve(-1, 0);
    builder.finalize();
  });
  const std::vector<double> values(4, 1.0);
  expect_refused("values", [&] {
    BlockSparseBuilder<double> builder(runtime_, l);
    for (Index i = 0; i < 12 && wrong(); ++i)
      for (Index j = 0; j < 12; ++j)
        if (builder.owner(i, j) == runtime_.rank()) builder.add(i, j, {values.data(), 2, 2, 2});
    builder.finalize();
  });
  // An exception of the caller's own type.
  struct Mine {};
  const auto interrupted = [&] {
    BlockSparseBuilder<double> builder(runtime_, l);
    if (wrong()) throw Mine();
    builder.finalize();
  };
  if (wrong())
    EXPECT_THROW(interrupted(), Mine);
  else
    EXPECT_THROW(interrupted(), RuntimeError);
  // An exception that the caller catches on one rank must not affect the other ranks.
  BlockSparseBuilder<double> builder(runtime_, l);
  if (wrong()) {
    EXPECT_THROW(builder.reserve(-1, 0), InvalidArgument);
  }
  builder.reserve_diagonal();
  EXPECT_EQ(builder.finalize().pattern().blocks(), 12);
}

TEST_F(ErrorsMpi, Layouts) {
  BlockLayout l = layout();
  if (wrong()) l.grid.rows = 100;
  expect_refused("grid", [&] { BlockSparseBuilder<double>(runtime_, l).finalize(); });
  expect_refused("grid", [&] { random_block_sparse<double>(runtime_, l, 0.5, 1); });
  const auto a = matrix(1);
  Sequence sequence(runtime_);
  expect_refused("grid", [&] { redistribute(sequence, a, l); });
  if (runtime_.size() == 1) return;
  const std::vector<Index> others(12, wrong() ? 4 : 3);
  expect_refused("arguments", [&] { make_block_layout(runtime_, others, sizes); });
  const BlockLayout other = square_layout(others, Symmetry::none, layout().grid);
  expect_refused("arguments", [&] { BlockSparseBuilder<double>(runtime_, other).finalize(); });
}

TEST_F(ErrorsMpi, OptionsOfProducts) {
  const auto a = matrix(1), b = matrix(2);
  auto c = matrix(3);
  const std::uint64_t before = fingerprint(c);
  const auto refused = [&](const char* name, double alpha, double beta, const MultiplyOptions& options) {
    expect_refused(name, [&] {
      std::ignore = tessera::multiply({.alpha = alpha, .a = a, .b = b, .beta = beta, .c = c}, options);
    });
  };
  const double infinite = std::numeric_limits<double>::infinity();
  refused("alpha", wrong() ? infinite : 1, 1, {});
  refused("beta", 1, wrong() ? infinite : 1, {});
  refused("filter_eps", 1, 1, {.filter_eps = wrong() ? -1.0 : 0.0});
  refused("limits of the columns", 1, 1, {.limits = {.first_col = wrong() ? Index(1000) : 0}});
  if (runtime_.size() > 1) {
    refused("arguments", wrong() ? 2 : 1, 1, {});
    refused("arguments", 1, 1, {.retain_sparsity = wrong()});
    refused("arguments", 1, 1, {.limits = {.first_inner = wrong() ? Index(4) : 3}});
  }
  EXPECT_EQ(fingerprint(c), before);
}

TEST_F(ErrorsMpi, ArgumentsOfOperations) {
  using C = std::complex<double>;
  auto a = matrix(1);
  const auto b = matrix(2);
  const auto h = random_block_sparse<C>(runtime_, layout(Symmetry::hermitian), 0.5, 1);
  const C factor(2, wrong() ? 1 : 0);
  const std::vector<double> v(wrong() ? 7 : 36, 1.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Sequence sequence(runtime_);
  expect_refused("alpha", [&] { scale(sequence, factor, h); });
  expect_refused("v", [&] { scale_by_vector<double>(sequence, Side::left, v, a); });
  expect_refused("v", [&] { set_diagonal<double>(sequence, v, a); });
  expect_refused("eps", [&] { filter(a, wrong() ? nan : 0.0); });
  expect_refused("first", [&] {
    function_of_elements(sequence, ElementFunction::sin, wrong() ? C(0, 1) : C(0), C(0), h);
  });
  expect_refused("occupation",
                 [&] { random_block_sparse<double>(runtime_, layout(), wrong() ? 2.0 : 0.5, 1); });
  if (runtime_.size() > 1) {
    expect_refused("arguments", [&] { add(sequence, 1.0, a, wrong() ? 0.0 : 1.0, b); });
    expect_refused("arguments", [&] { scale(sequence, wrong() ? 1.0 : 2.0, a); });
    expect_refused("arguments", [&] { copy_blocks(sequence, 1.0, b, a, {.add = wrong()}); });
  }
  sequence.wait();
}

TEST_F(ErrorsMpi, CompressedRowsAndDenseMatrices) {
  CompressedRows<double> rows{36, 36, {0}, {0, 1}, {wrong() ? 36 : 0}, {1.0}};
  expect_refused("column", [&] { from_compressed_rows(runtime_, rows, layout()); });
  const std::vector<double> dense(36 * 36, 1.0);
  expect_refused("dense", [&] {
    from_dense<double>(runtime_, {dense.data(), wrong() ? 35 : 36, 36, 36}, layout());
  });
}

/// When an exception leaves the scope of a sequence, the inserted tasks have run, even while other
/// ranks still insert tasks.
TEST_F(ErrorsMpi, SequencesThatAnExceptionEnds) {
  struct Mine {};
  const auto a = matrix(1);
  const double norm = frobenius_norm(a);
  const auto left = [&] {
    Sequence sequence(runtime_);
    scale(sequence, 2.0, a);
    if (!wrong()) runtime_.barrier();  // until the other rank has left the scope
    throw Mine();
  };
  EXPECT_THROW(left(), Mine);
  if (wrong()) runtime_.barrier();
  EXPECT_NEAR(frobenius_norm(a), 2 * norm, 1e-12 * norm);
  if (runtime_.size() == 1) return;
  expect_refused("arguments", [&] {
    Sequence sequence(runtime_);
    scale(sequence, 2.0, a);
    scale(sequence, wrong() ? 3.0 : 2.0, a);
  });
  EXPECT_NEAR(frobenius_norm(a), 4 * norm, 1e-12 * norm);
}

}  // namespace
}  // namespace tessera::test
