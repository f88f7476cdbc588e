// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <memory>
#include <tuple>

#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/algorithms/block_sparse/product_checks.hpp>
#include <tests/support/device_array.hpp>

/// Products on GPUs, with block shapes that have specialized kernels and with some that have none,
/// against dense products, against CPUs, and against other numbers of GPUs.
namespace tessera::test {
namespace {

constexpr Op ops[] = {Op::none, Op::transpose, Op::adjoint};
constexpr Symmetry none = Symmetry::none, symmetric = Symmetry::symmetric,
                   antisymmetric = Symmetry::antisymmetric, hermitian = Symmetry::hermitian;

/// Two panels in each dimension. Their stacks hold several hundred products of each common block
/// shape and a few of other shapes.
ProductCase mixed_case(std::uint64_t seed, bool integers) {
  ProductCase p;
  p.rows = p.cols = p.inner = repeated({5, 13, 5, 13, 5, 13, 5, 2}, 40);
  p.panel_elements = 150;
  p.occupation = 0.9;
  p.seed = seed;
  p.integers = integers;
  p.alpha = -2, p.beta = 3;
  return p;
}

/// Outcome of the products: a hash of all bits of C, and the counts.
struct Outcome {
  std::uint64_t bits;
  Index products, filtered_products, filtered_blocks;
  bool operator==(const Outcome&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Outcome& o) {
  return out << o.bits << ' ' << o.products << ' ' << o.filtered_products << ' ' << o.filtered_blocks;
}

/// C := alpha A B + beta C, then C := alpha A C + beta C. The second product reads C wherever the
/// first left it, on the host or on a GPU.
template <class T>
Outcome outcome(Runtime& runtime, const ProductCase& p) {
  ProductMatrices<T> m = make_matrices<T>(runtime, p);
  const T alpha = narrow<T>(p.alpha), beta = narrow<T>(p.beta);
  MultiplyResult result = tessera::multiply(
      {.alpha = alpha, .a = {m.a, p.op_a}, .b = {m.b, p.op_b}, .beta = beta, .c = m.c}, p.options);
  const bool on_gpu = runtime.gpus() > 0;
  for (const ProductCount& shape : result.shapes)
    EXPECT_EQ(on_gpu ? shape.gpu_products : shape.cpu_products, shape.products);
  std::ignore =
      tessera::multiply({.alpha = alpha, .a = {m.a, p.op_a}, .b = m.c, .beta = beta, .c = m.c}, p.options);
  return {fingerprint(m.c), result.products, result.filtered_products, result.filtered_blocks};
}

/// Sets an environment variable while a Runtime lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

template <class T>
class GpuMultiplySweep : public ::testing::Test {
 protected:
  void SetUp() override { TESSERA_NEED_GPU(); }
  static Outcome outcome_on(const RuntimeOptions& options, const ProductCase& p) {
    Runtime runtime(options);
    return outcome<T>(runtime, p);
  }
};
TYPED_TEST_SUITE(GpuMultiplySweep, Scalars);

TYPED_TEST(GpuMultiplySweep, SymmetriesAndTransposes) {
  constexpr Symmetry triples[][3] = {{none, none, none},
                                     {symmetric, none, none},
                                     {none, antisymmetric, none},
                                     {symmetric, symmetric, symmetric},
                                     {antisymmetric, symmetric, antisymmetric},
                                     {hermitian, none, hermitian}};
  Runtime runtime({.cores = 2, .gpus = 1});
  std::uint64_t seed = 0;
  for (const auto& [a, b, c] : triples)
    for (const Op op : ops)
      for (const bool integers : {false, true}) {
        ProductCase p = mixed_case(++seed, integers);
        p.a = a, p.b = b, p.c = c, p.op_a = op, p.op_b = ops[seed % 3];
        p.random_owners = seed % 4 == 0;
        if (!integers && c != hermitian) p.alpha = Wide(0.7, -0.3), p.beta = Wide(-1.2, 0.4);
        SCOPED_TRACE(::testing::Message() << char(a) << char(b) << char(c) << char(op) << seed);
        for (const UseDense use : {UseDense::never, UseDense::always}) {
          p.options.dense = use;
          const MultiplyResult result = check_product<TypeParam>(runtime, p);
          for (const ProductCount& shape : result.shapes) EXPECT_EQ(shape.gpu_products, shape.products);
          EXPECT_EQ(result.dense_panel_products, use == UseDense::always ? result.panel_products : 0);
        }
      }
}

TYPED_TEST(GpuMultiplySweep, LimitsAndKeptBlocks) {
  constexpr Index all = std::numeric_limits<Index>::max();
  const MultiplyLimits limits[] = {{},
                                   {3, 201, 0, all, 0, all},
                                   {0, all, 20, 290, 0, all},
                                   {0, all, 0, all, 40, 130},
                                   {7, 250, 3, 200, 9, 240}};
  Runtime runtime({.cores = 2, .gpus = 1});
  std::uint64_t seed = 100;
  for (const MultiplyLimits& l : limits)
    for (const bool retain : {false, true})
      for (const double beta : {0.0, 1.0, 3.0}) {
        ProductCase p = mixed_case(++seed, true);
        p.options.limits = l, p.options.retain_sparsity = retain, p.beta = beta, p.op_b = ops[seed % 3];
        SCOPED_TRACE(seed);
        check_product<TypeParam>(runtime, p);
        p.options.dense = UseDense::always;
        check_product<TypeParam>(runtime, p);
      }
}

/// Exact products equal those of the CPU bitwise, with and without a filter, wherever results are
/// kept.
TYPED_TEST(GpuMultiplySweep, WholeNumbersAsOnTheCpu) {
  ProductCase cases[] = {mixed_case(200, true), mixed_case(201, true), mixed_case(202, true),
                         mixed_case(203, true)};
  // This bound skips some products of the smallest blocks and drops some small blocks of C.
  constexpr double eps = is_complex<TypeParam> ? 1300 : 400;
  cases[1].options.filter_eps = eps;
  cases[2].options.filter_eps = eps, cases[2].options.retain_sparsity = true;
  cases[3].a = cases[3].c = symmetric, cases[3].b = symmetric;
  // Keeps the products of the second multiplication below 2^24, so that they are exact in float.
  for (ProductCase& p : cases) p.occupation = 0.6;
  for (ProductCase& p : cases) {
    const Outcome expected = this->outcome_on({.cores = 2, .gpus = 0}, p);
    EXPECT_EQ(expected.filtered_products > 0, p.options.filter_eps > 0);
    EXPECT_EQ(expected.filtered_blocks > 0, p.options.filter_eps > 0 && !p.options.retain_sparsity);
    EXPECT_GT(expected.products, expected.filtered_products);
    for (const bool on_host : {false, true}) {
      p.options.result_on_host = on_host;
      for (const UseDense use : {UseDense::never, UseDense::always}) {
        p.options.dense = use;
        EXPECT_EQ(this->outcome_on({.cores = 2, .gpus = 1}, p), expected) << p.seed << on_host;
      }
    }
  }
}

/// Rounded products have the same bits for every schedule: however many tasks are queued ahead,
/// whichever copies are on the GPU, and whichever worker runs the small tasks.
TYPED_TEST(GpuMultiplySweep, TheSameBitsInEveryOrder) {
  for (const UseDense use : {UseDense::never, UseDense::always}) {
    ProductCase p = mixed_case(300, false);
    p.options.filter_eps = 60;
    p.options.dense = use;
    const Outcome expected = this->outcome_on({.cores = 2, .gpus = 1}, p);
    for (const char* const ahead : {"0", "1", "4"}) {
      const Variable pipeline("STARPU_CUDA_PIPELINE", ahead);
      for (const bool on_host : {false, true}) {
        p.options.result_on_host = on_host;
        EXPECT_EQ(this->outcome_on({.cores = 1, .gpus = 1}, p), expected) << ahead << on_host;
      }
    }
    EXPECT_EQ(this->outcome_on({.cores = 2, .gpus = 1, .scheduler = "eager"}, p), expected);
  }
}

/// The library chooses dense products for full panels of small blocks if these fit into a quarter
/// of the GPU's memory.
TYPED_TEST(GpuMultiplySweep, DenseWhereItIsWorthItAndFits) {
  ProductCase p = mixed_case(500, true);
  p.rows = p.cols = p.inner = repeated({13, 5, 5}, 150);
  p.panel_elements = 600;
  p.alpha = 1, p.beta = 0;
  for (const bool fits : {true, false}) {
    const std::unique_ptr<Variable> limit =
        fits ? nullptr : std::make_unique<Variable>("STARPU_LIMIT_CUDA_MEM", "64");
    Runtime runtime({.cores = 2, .gpus = 1});
    const MultiplyResult result = check_product<TypeParam>(runtime, p);
    EXPECT_EQ(result.dense_panel_products, fits ? result.panel_products : 0);
  }
}

TYPED_TEST(GpuMultiplySweep, TheSameBitsOnTwoGpus) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) GTEST_SKIP() << "fewer than two GPUs";
  for (const double eps : {0.0, 60.0}) {
    ProductCase p = mixed_case(400, false);
    p.options.filter_eps = eps;
    const Outcome expected = this->outcome_on({.cores = 2, .gpus = 1}, p);
    for (const bool on_host : {false, true}) {
      p.options.result_on_host = on_host;
      EXPECT_EQ(this->outcome_on({.cores = 2, .gpus = 2}, p), expected) << eps << on_host;
      // With the eager scheduler an idle worker takes the next task, so both GPUs compute.
      EXPECT_EQ(this->outcome_on({.cores = 2, .gpus = 2, .scheduler = "eager"}, p), expected)
          << eps << on_host;
    }
  }
  Runtime runtime({.cores = 2, .gpus = 2, .scheduler = "eager"});
  check_product<TypeParam>(runtime, mixed_case(401, true));
}

}  // namespace
}  // namespace tessera::test
