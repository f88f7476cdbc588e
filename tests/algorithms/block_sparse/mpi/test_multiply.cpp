// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <tuple>

#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/algorithms/block_sparse/image_checks.hpp>
#include <tests/algorithms/block_sparse/product_checks.hpp>

#include <tessera/block_operations.hpp>

namespace tessera::test {
namespace {

template <class T>
void sweep(Runtime& runtime) {
  constexpr Symmetry none = Symmetry::none, symmetric = Symmetry::symmetric;
  constexpr Symmetry triples[][3] = {{none, none, none},
                                     {symmetric, none, none},
                                     {none, Symmetry::antisymmetric, none},
                                     {symmetric, symmetric, symmetric},
                                     {Symmetry::hermitian, none, Symmetry::hermitian}};
  constexpr Op ops[] = {Op::none, Op::transpose, Op::adjoint};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // Many ranks on few cores are slow, so runs with 3, 4 and 6 ranks take a third of the cases
    // each.
    if (runtime.size() > 2 && seed % 3 != static_cast<std::uint64_t>(runtime.size() / 2) % 3) continue;
    ProductCase p;
    p.rows = p.cols = p.inner = repeated({1, 2, 1, 3, 0}, 20);
    const auto& [a, b, c] = triples[seed % 5];
    p.a = a, p.b = b, p.c = c, p.op_a = ops[seed % 3], p.op_b = ops[seed / 3 % 3];
    p.seed = seed, p.random_owners = seed / 5 % 2 == 1, p.panel_elements = seed % 3 ? 6 : 0;
    p.alpha = seed % 3 ? Wide(1) : Wide(0.3, 0.4), p.beta = seed % 2 ? 1 : -2;
    p.options.retain_sparsity = seed % 7 == 3;
    if (seed % 4 == 0) p.options.limits = {3, 20, 2, 25, 5, 21};
    SCOPED_TRACE(seed);
    check_product<T>(runtime, p);
    if (seed % 2 == 1) continue;
    p.options.limits = {};
    p.options.dense = UseDense::always;
    const MultiplyResult result = check_product<T>(runtime, p);
    EXPECT_GT(result.panel_products, 0);
    EXPECT_EQ(result.dense_panel_products, result.panel_products);
  }
}

TEST(MultiplyMpi, AnyDistribution) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  sweep<double>(runtime);
  sweep<std::complex<float>>(runtime);
}

TEST(MultiplyMpi, RectangularIntegers) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  for (const bool random_owners : {false, true}) {
    ProductCase p;
    p.rows = repeated({5}, 25), p.cols = repeated({13, 5, 5}, 15), p.inner = repeated({3, 7}, 31);
    p.integers = true, p.random_owners = random_owners, p.alpha = -3, p.beta = 2, p.panel_elements = 30;
    check_product<double>(runtime, p);
    check_product<std::complex<double>>(runtime, p);
    p.options.dense = UseDense::always;
    check_product<double>(runtime, p);
  }
}

/// The counts on every rank must equal those of rank 0.
void expect_equal_everywhere(const Runtime& runtime, const MultiplyResult& result) {
  std::vector<double> mine{double(result.products),
                           result.flop,
                           double(result.filtered_products),
                           double(result.filtered_blocks),
                           double(result.shapes.size()),
                           double(result.panel_products),
                           double(result.dense_panel_products)};
  for (const ProductCount& s : result.shapes)
    for (const Index x : {s.m, s.n, s.k, s.products, s.cpu_products, s.gpu_products})
      mine.push_back(double(x));
  auto root = mine;
  runtime.broadcast(root.data(), static_cast<Index>(root.size() * sizeof(double)), 0);
  EXPECT_EQ(mine, root);
}

TEST(MultiplyMpi, FilteredResultsDoNotDependOnTheDistribution) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  ProductCase p;
  p.rows = p.cols = p.inner = repeated({2, 4, 3}, 24);
  p.panel_elements = 20;
  p.integers = true;
  p.options.filter_eps = 40;
  BlockSet blocks;
  Index products = -1, skipped = -1;
  DenseMatrix values;
  for (int i = 0; i < 5; ++i) {
    p.random_owners = i > 0;
    if (i == 4) p.options.dense = UseDense::always;
    ProductMatrices<double> m = make_matrices<double>(runtime, p);
    // The same values in another distribution.
    const auto redistributed = [&](const BlockSparseMatrix<double>& a, std::uint64_t seed) {
      const ProcessGrid grid = some_grid(runtime.size(), seed);
      const BlockLayout layout{some_dimension(p.rows, grid.rows, seed, i > 0, 20),
                               some_dimension(p.rows, grid.cols, seed + 1, i > 0, 20), grid, Symmetry::none};
      Sequence sequence(runtime);
      auto image = make_image(sequence, 1.0, a, layout);
      sequence.wait();
      return image;
    };
    const auto a = redistributed(m.a, 5 + i), b = redistributed(m.b, 50 + i);
    auto c = redistributed(m.c, 500 + i);
    const MultiplyResult result = tessera::multiply({.a = a, .b = b, .beta = 1.0, .c = c}, p.options);
    expect_equal_everywhere(runtime, result);
    if (i == 0) {
      blocks = stored_blocks(c), products = result.products, skipped = result.filtered_products;
      values = dense(c);
      EXPECT_GT(skipped, 0);
      EXPECT_GT(result.filtered_blocks, 0);
    }
    // With GPUs an exact filter that leaves anything out forbids dense panels altogether.
    EXPECT_EQ(result.dense_panel_products > 0, i == 4 && runtime.gpus() == 0)
        << "there are panels that the filter leaves whole";
    EXPECT_EQ(stored_blocks(c), blocks);
    EXPECT_EQ(result.products, products);
    EXPECT_EQ(result.filtered_products, skipped);
    EXPECT_EQ(difference(dense(c), values), 0);
  }
}

TEST(MultiplyMpi, ImagesAreMadeAgainAfterTheSamePlan) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  int number = 0;
  // Many ranks on few cores are slow: they take a part of the cases each.
  for_each_image_case([&](const ProductCase& p) {
    if (++number % runtime.size() == 0 || number % 6 == 0) check_images<std::complex<double>>(runtime, p);
  });
}

TEST(MultiplyMpi, AnImageSharesTheStoredHalf) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  const ProcessGrid grid = ProcessGrid::squarest(runtime.size());
  const std::vector<Index> sizes = repeated({2, 3}, 24);
  const BlockLayout layout{some_dimension(sizes, grid.rows, 1, false, 10),
                           some_dimension(sizes, grid.cols, 1, false, 10), grid, Symmetry::symmetric};
  BlockLayout full = layout;
  full.symmetry = Symmetry::none;
  const auto a = random_blocks<double>(runtime, layout, {.seed = 4, .occupation = 1.5});
  auto c = BlockSparseBuilder<double>(runtime, full).finalize();
  const MultiplyResult result = tessera::multiply({.a = a, .b = a, .c = c});
  double bytes = result.image_bytes;
  runtime.all_reduce_sum(&bytes, 1);
  EXPECT_GT(bytes, 0);
  const double all = static_cast<double>(result.images * c.rows() * c.cols()) * sizeof(double);
  EXPECT_LT(bytes, 0.7 * all) << "of " << all;
  EXPECT_LE(difference(dense(c), gemm(dense(a), dense(a))), 1e-12);
}

/// Every rank uses a GPU; ranks may share one.
TEST(MultiplyMpi, OnGpus) {
  ProductCase p;
  p.rows = p.cols = p.inner = repeated({5, 13, 5, 2}, 40);
  p.panel_elements = 150, p.occupation = 0.9, p.integers = true, p.alpha = -2, p.beta = 3;
  const auto fingerprints = [&](Runtime& runtime) {
    std::vector<std::uint64_t> bits;
    for (const auto& [eps, use] :
         {std::pair(0.0, UseDense::never), {500.0, UseDense::never}, {0.0, UseDense::always}}) {
      ProductMatrices<double> m = make_matrices<double>(runtime, p);
      const MultiplyResult result =
          tessera::multiply({.alpha = -2.0, .a = m.a, .b = {m.b, Op::transpose}, .beta = 3.0, .c = m.c},
                            {.filter_eps = eps, .dense = use});
      expect_equal_everywhere(runtime, result);
      for (const ProductCount& shape : result.shapes)
        EXPECT_EQ(runtime.gpus() > 0 ? shape.gpu_products : shape.cpu_products, shape.products);
      bits.push_back(fingerprint(m.c));
    }
    return bits;
  };
  std::vector<std::uint64_t> on_gpus;
  {
    Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
    if (runtime.gpus() == 0) GTEST_SKIP() << "no GPU";
    on_gpus = fingerprints(runtime);
    for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian}) {
      p.a = p.c = symmetry, p.random_owners = true;
      check_product<std::complex<float>>(runtime, p);
    }
    p.a = p.c = Symmetry::none, p.random_owners = false;
  }
  Runtime runtime({.cores = 1, .gpus = 0, .bind = false}, Communicator::world());
  EXPECT_EQ(fingerprints(runtime), on_gpus);
}

/// Only one rank knows the lengths of its lists of products, yet all ranks must throw if they do
/// not fit a GPU.
TEST(MultiplyMpi, ListsTooLongForAGpu) {
  setenv("STARPU_LIMIT_CUDA_MEM", "32", 1);
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  unsetenv("STARPU_LIMIT_CUDA_MEM");
  if (runtime.gpus() == 0) GTEST_SKIP() << "no GPU";
  ProductCase p;
  p.rows = p.cols = p.inner = repeated({1}, 256);
  p.panel_elements = 256, p.occupation = 1.5;  // one panel with 2^24 products
  ProductMatrices<double> m = make_matrices<double>(runtime, p);
  EXPECT_THROW(std::ignore = tessera::multiply({.a = m.a, .b = m.b, .c = m.c}), RuntimeError);
  p.rows = p.cols = p.inner = repeated({3, 5}, 30), p.panel_elements = 40, p.integers = true;
  check_product<double>(runtime, p);
}

}  // namespace
}  // namespace tessera::test
