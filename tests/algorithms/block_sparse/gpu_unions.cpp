// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/device_array.hpp>

#include <tessera/multiply.hpp>

#include "union_cases.hpp"

/// Sums of matrices on a GPU whose blocks were found there.
namespace tessera {
namespace {

using namespace operations_test;

template <class T>
class GpuUnions : public ::testing::Test {
 public:
  void SetUp() override { TESSERA_NEED_GPU(); }
};
TYPED_TEST_SUITE(GpuUnions, test::Scalars);

/// The bits of sums, of all symmetries.
template <class T>
std::vector<std::uint64_t> sums_of(Runtime& runtime) {
  std::vector<std::uint64_t> bits;
  for_each_symmetry<T>(runtime, 5, all_symmetries,
                       [&](Symmetry symmetry, const BlockLayout& layout, const BlockLayout&) {
                         auto a = filtered_problem<T>(runtime, layout, 43);
                         const auto b = filtered_problem<T>(runtime, layout, 44);
                         run_sequence(runtime, [&](Sequence& sequence) {
                           add(sequence, some_factor<T>(symmetry, 0.5, -0.25), a, T(2), b);
                         });
                         bits.push_back(test::fingerprint(a));
                         bits.push_back(a.pattern().identity().first);
                       });
  return bits;
}

TYPED_TEST(GpuUnions, HaveTheBitsOfTheCpu) {
  std::vector<std::uint64_t> expected;
  {
    Runtime runtime({.cores = 2, .gpus = 0});
    expected = sums_of<TypeParam>(runtime);
  }
  Runtime runtime({.cores = 2, .gpus = 1});
  EXPECT_EQ(sums_of<TypeParam>(runtime), expected);
}

TYPED_TEST(GpuUnions, AsOnTheHost) {
  Runtime runtime({.cores = 2, .gpus = 1});
  check_all_unions(runtime, 7);
  check_all_sums<TypeParam>(runtime, 9, all_symmetries);
}

class GpuSums : public ::testing::Test {
 public:
  void SetUp() override { TESSERA_NEED_GPU(); }
};

/// The sum of two products: of their indices nothing comes to the host, of the new one the numbers of blocks.
TEST_F(GpuSums, OfProductsStayOnTheGpu) {
  Runtime runtime({.cores = 2, .gpus = 1});
  const std::vector<Index> sizes(400, 5);
  const BlockLayout layout = test::square_layout(sizes, Symmetry::none, {}, 500);
  const auto square = [&](std::uint64_t seed) {
    const auto a = random_block_sparse<double>(runtime, layout, 0.03, seed);
    BlockSparseMatrix<double> c(BlockPattern::make(runtime, layout, std::span<const BlockCoordinate>()));
    const MultiplyResult done = multiply({.a = a, .b = a, .c = c});
    EXPECT_TRUE(done) << done.status().message();
    return c;
  };
  auto c = square(1);
  const auto d = square(2);
  ASSERT_TRUE(c.pattern().found_by_task() && d.pattern().found_by_task());
  const Index before = c.pattern().blocks();
  runtime.profile(true);
  run_sequence(runtime, [&](Sequence& sequence) { add(sequence, 1.0, c, 0.5, d); });
  const double moved = runtime.bytes_moved();
  runtime.profile(false);
  const double of_indices = 2 * sizeof(std::int32_t) * static_cast<double>(before);
  EXPECT_GT(c.pattern().blocks(), before);
  EXPECT_LT(moved, 0.1 * of_indices) << "numbers of the panels, and of those that have blocks";
  EXPECT_TRUE(c.pattern().found_by_task());
}

TEST_F(GpuSums, WaitForTheirSizeAlone) {
  Runtime runtime({.cores = 2, .gpus = 1});
  const std::vector<Index> sizes = mixed_sizes();
  check_union_waits(runtime, make_block_layout(runtime, sizes, sizes));
}

}  // namespace
}  // namespace tessera
