// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <fstream>
#include <thread>

#include <malloc.h>
#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/algorithms/block_sparse/image_checks.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/block_sparse/image_plans.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

/// Images of the operands of products: their plans are found again, their values never.
namespace tessera::test {
namespace {

template <class T>
class MultiplyImages : public RuntimeTest<T> {};
TYPED_TEST_SUITE(MultiplyImages, Scalars);
using MultiplyImagesDouble = RuntimeTest<double, true>;

TYPED_TEST(MultiplyImages, AreMadeAgainAfterTheSamePlan) {
  for_each_image_case([&](const ProductCase& p) { check_images<TypeParam>(TestFixture::runtime(), p); });
}

/// A half-stored matrix in a layout that fits.
BlockSparseMatrix<double> half_stored(Runtime& runtime, Symmetry symmetry, std::uint64_t seed,
                                      double occupation = 0.5) {
  const BlockDimensionPointer blocks = BlockDimension::make(repeated({2, 3, 1}, 24), 1, {}, 12);
  return random_blocks<double>(runtime, {blocks, blocks, {}, symmetry}, {seed, occupation});
}

BlockSparseMatrix<double> nothing_like(const BlockSparseMatrix<double>& a,
                                       Symmetry symmetry = Symmetry::none) {
  BlockLayout layout = a.layout();
  layout.symmetry = symmetry;
  return BlockSparseBuilder<double>(a.runtime(), layout).finalize();
}

double bytes_of_panels(const BlockPattern& pattern, bool stored_half) {
  double elements = 0;
  for (Index p = 0; p < pattern.panels(); ++p)
    if ((pattern.row_panel(p) > pattern.col_panel(p)) == stored_half)
      elements += static_cast<double>(pattern.panel_elements(p));
  return elements * sizeof(double);
}

TEST_F(MultiplyImagesDouble, OneForBothFactorsWithoutTheStoredHalf) {
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::hermitian, Symmetry::antisymmetric}) {
    const auto a = half_stored(runtime(), symmetry, 3);
    auto c = nothing_like(a);
    const auto full = image_pattern(a, c.layout());
    const MultiplyResult square = tessera::multiply({.a = a, .b = a, .c = c});
    EXPECT_EQ(square.images, 1);
    EXPECT_EQ(square.image_bytes, bytes_of_panels(*full, false));
    EXPECT_LE(difference(dense(c), gemm(dense(a), dense(a))), 1e-13);
    // A^T is A or -A: of -A all is copied.
    auto d = nothing_like(a);
    const MultiplyResult transposed = tessera::multiply({.a = a, .b = {a, Op::transpose}, .c = d});
    const bool negative = symmetry == Symmetry::antisymmetric;
    EXPECT_EQ(transposed.images, negative ? 2 : 1);
    EXPECT_EQ(transposed.images_reused, 1);
    EXPECT_LE(difference(dense(d), gemm(dense(a), applied(Op::transpose, dense(a)))), 1e-13);
    // Alpha goes to one of two images.
    auto e = nothing_like(a);
    EXPECT_EQ(tessera::multiply({.alpha = 2.0, .a = a, .b = a, .c = e}).images, 2);
    EXPECT_EQ(difference(dense(e),
                         [&] {
                           DenseMatrix twice = dense(c);
                           for (Index j = 0; j < twice.cols(); ++j)
                             for (Index i = 0; i < twice.rows(); ++i) twice(i, j) *= 2;
                           return twice;
                         }()),
              0);
  }
}

/// What an operand shares panels with may be C itself.
TEST_F(MultiplyImagesDouble, OfTheResultItself) {
  for (const double beta : {0.0, 1.0, -2.0})
    for (const bool both : {false, true}) {
      auto c = half_stored(runtime(), Symmetry::symmetric, 5, 1.5);
      // A polynomial of one matrix: the product is symmetric.
      auto b = nothing_like(c);
      EXPECT_TRUE(tessera::multiply({.a = c, .b = c, .c = b}));
      const DenseMatrix before = dense(c), expected = gemm(before, both ? before : dense(b));
      EXPECT_TRUE(tessera::multiply({.a = c, .b = both ? c : b, .beta = beta, .c = c}));
      DenseMatrix error = dense(c);
      double scale = 0;
      for (Index j = 0; j < error.cols(); ++j)
        for (Index i = 0; i < error.rows(); ++i) {
          scale = std::max(scale, std::abs(expected(i, j)));
          error(i, j) -= expected(i, j) + beta * before(i, j);
        }
      EXPECT_LE(norm_inf(error), 1e-12 * scale);
    }
}

/// The call has returned, A changes or goes: the product is that of A as it was.
TEST_F(MultiplyImagesDouble, OperandsMayChangeAndGo) {
  auto a = half_stored(runtime(), Symmetry::symmetric, 6);
  auto c = nothing_like(a);
  const DenseMatrix expected = gemm(dense(a), dense(a));
  auto first = submit_multiply(runtime(), {.a = a, .b = a, .c = c});
  {
    Sequence sequence(runtime());
    set_all(sequence, 7.0, a);
    a = BlockSparseMatrix<double>();
  }
  EXPECT_TRUE(first.wait());
  EXPECT_LE(difference(dense(c), expected), 1e-13);
}

/// A pattern that was found again needs no index of blocks on the host: here it has only counts and identity,
/// and the words of its index say that it has no blocks.
TEST_F(MultiplyImagesDouble, NoHostWorkOnBlocksTheSecondTime) {
  auto a = half_stored(runtime(), Symmetry::hermitian, 8);
  auto c = nothing_like(a);
  EXPECT_TRUE(tessera::multiply({.a = a, .b = a, .c = c}));
  const BlockPattern& pattern = a.pattern();
  std::vector<PanelCounts> counts;
  std::vector<std::shared_ptr<const Data>> values;
  for (Index p = 0; p < pattern.panels(); ++p) {
    counts.push_back(pattern.counts_of(p));
    values.push_back(a.shared_panel(p));
  }
  const auto nothing = BlockPattern::make_replicated(runtime(), a.layout(), {});
  const std::size_t words = [&] {
    const HostAccess access(nothing->packed(), HostAccess::Mode::read);
    return access.array<const std::int32_t>().size();
  }();
  Data packed = Data::bytes(runtime(), words * sizeof(std::int32_t), Data::every_rank);
  {
    const HostAccess from(nothing->packed(), HostAccess::Mode::read), to(packed, HostAccess::Mode::write);
    std::copy_n(from.array<const std::int32_t>().begin(), words, to.array<std::int32_t>().begin());
  }
  const auto known = BlockPattern::from_packed(runtime(), a.layout(), std::move(packed), std::move(counts),
                                               pattern.identity());
  const BlockSparseMatrix<double> same(known, std::move(values));
  const DenseMatrix expected = gemm(dense(a), dense(a));
  a = BlockSparseMatrix<double>();
  auto d = nothing_like(same);
  const MultiplyResult result = tessera::multiply({.a = same, .b = same, .c = d});
  EXPECT_TRUE(result);
  EXPECT_TRUE(result.plan_reused);
  EXPECT_EQ(result.images_reused, 1);
  EXPECT_LE(difference(dense(d), expected), 1e-13);
}

TEST(KeptImages, OtherPatternsHaveOtherPlans) {
  Runtime own({.cores = 2, .gpus = 0});
  const ImagePlans& plans = ImagePlans::of(own);
  const auto product = [&](std::uint64_t seed) {
    const auto a = half_stored(own, Symmetry::symmetric, seed, 0.3);
    auto c = nothing_like(a);
    const MultiplyResult result = tessera::multiply({.a = a, .b = a, .c = c});
    EXPECT_LE(difference(dense(c), gemm(dense(a), dense(a))), 1e-13);
    return result.images_reused;
  };
  EXPECT_EQ(product(1), 0);
  EXPECT_EQ(product(1), 1);
  EXPECT_EQ(product(2), 0);
  EXPECT_EQ(product(1), 1);
  EXPECT_EQ(plans.count(), 2u);
  for (std::uint64_t seed = 3; seed < 3 + ImagePlans::most_plans; ++seed) EXPECT_EQ(product(seed), 0);
  EXPECT_EQ(plans.count(), ImagePlans::most_plans);
  EXPECT_GT(plans.bytes(), 0);
  EXPECT_LE(plans.bytes(), ImagePlans::most_bytes);
  EXPECT_EQ(product(1), 0) << "it should be forgotten";
}

/// Bytes that the process has allocated: the least over a short time, because pieces are freed after their
/// last task.
std::int64_t settled() {
  const auto allocated = [] {
    const auto info = mallinfo2();
    return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
  };
  std::int64_t least = allocated();
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    least = std::min(least, allocated());
  }
  return least;
}

/// A few blocks in each row: small products whose patterns differ.
BlockSparseMatrix<double> some_blocks(Runtime& runtime, std::uint64_t seed) {
  const BlockDimensionPointer blocks = BlockDimension::make(repeated({4}, 32), 1, {}, 32);
  return random_blocks<double>(runtime, {blocks, blocks, {}, Symmetry::symmetric}, {seed, 0.15});
}

TEST(KeptImages, ThousandPatternsKeepNoMemory) {
  Runtime own({.cores = 2, .gpus = 0});
  std::uint64_t seed = 0;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      const auto a = some_blocks(own, ++seed);
      auto c = nothing_like(a);
      std::ignore = tessera::multiply({.a = a, .b = a, .c = c});
    }
    return settled();
  };
  const std::int64_t first = rounds(100), then = rounds(1000);
  EXPECT_LT(then - first, 2 << 20) << "of " << first << " bytes";
}

TEST(KeptImages, ThousandProductsKeepNoMemory) {
  for (const double eps : {0.0, 0.5}) {
    Runtime own({.cores = 2, .gpus = 0});
    auto a = some_blocks(own, 1);
    std::uint64_t bits = 0;
    const auto rounds = [&](int count) {
      for (int i = 0; i < count; ++i) {
        // StarPU keeps some bytes of each task that reads a piece until the piece is written again.
        a.for_each_block_mutable([](Index, Index, MatrixView<double>) {});
        auto c = nothing_like(a, Symmetry::symmetric);
        const MultiplyResult result = tessera::multiply({.a = a, .b = a, .c = c}, {.filter_eps = eps});
        EXPECT_TRUE(result);
        if (bits == 0) bits = fingerprint(c);
        if (i < count - 1) continue;
        EXPECT_EQ(fingerprint(c), bits);
        EXPECT_EQ(result.images_reused, 1);
      }
      return settled();
    };
    const std::int64_t first = rounds(100), then = rounds(1000);
    EXPECT_LT(then - first, 2 << 20) << "of " << first << " bytes, eps " << eps;
  }
}

}  // namespace
}  // namespace tessera::test
