// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <limits>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <tests/codelets/block_sparse/product/device_stack.hpp>

#include <tessera/codelets/block_sparse/product/kernels/stack_plan.hpp>

/// Products in single precision against double precision: within the bound of stack_float.cuh, with infinities
/// and NaN where plain float arithmetic has them.
namespace tessera::test {
using namespace detail;
namespace {

using device::StackCompiler;
using Complex = std::complex<double>;

constexpr double u = 0x1p-24;

template <class T>
class GpuStackFloat : public GpuTest<T> {
 protected:
  std::vector<T> computed(const TestStack<T>& stack) {
    StackCompiler compiler{std::filesystem::path()};
    std::vector<device::StackShape> shapes;
    for (const StackClass& shape : stack.classes)
      shapes.push_back({type_letter<T>, shape.m, shape.n, shape.k});
    compiler.prepare(shapes, static_cast<int>(std::thread::hardware_concurrency()));
    EXPECT_EQ(compiler.take_failures(), "");
    return DeviceStack<T>(stack).run(this->stream_, compiler);
  }
};
using SingleScalars = ::testing::Types<float, std::complex<float>>;
TYPED_TEST_SUITE(GpuStackFloat, SingleScalars);

/// Instructions in a chain and, for so many products of a run, chains.
struct Chains {
  Chains(bool complex, const StackClass& shape, int products) {
    const StackPlan plan = stack_plan(complex ? 8 : 4, complex, shape.m, shape.n, shape.k);
    const int inner = plan.staged ? plan.slice : plan.products * shape.k;
    instructions = stack_ceil(inner, complex ? 4 : 8);
    if (!stack_two_chains(complex, plan.tiles_m, plan.tiles_n)) instructions *= 3;
    chains = plan.staged ? products * stack_ceil(shape.k, plan.slice) : products;
  }
  int instructions, chains;
};

/// Real parts: what each of them is, and the sum of the absolute values of its terms.
struct Term {
  double value = 0, size = 0;
  void add(double a, double b) { value += a * b, size += std::abs(a * b); }
};
void add_product(Term (&sum)[2], float a, float b) {
  sum[0].add(a, b);
}
void add_product(Term (&sum)[2], std::complex<float> a, std::complex<float> b) {
  sum[0].add(a.real(), b.real()), sum[0].add(-double(a.imag()), b.imag());
  sum[1].add(a.real(), b.imag()), sum[1].add(a.imag(), b.real());
}

/// Infinity and its sign, NaN, or finite.
int kind_of(double x) {
  return std::isnan(x) ? 2 : std::isinf(x) ? (x > 0 ? 1 : -1) : 0;
}
void add_plain(float& sum, float a, float b) {
  sum += a * b;
}
void add_plain(std::complex<float>& sum, std::complex<float> a, std::complex<float> b) {
  sum = {sum.real() + (a.real() * b.real() - a.imag() * b.imag()),
         sum.imag() + (a.real() * b.imag() + a.imag() * b.real())};
}

/// All elements of C are finite and within the bound, or of the kind that plain arithmetic gives. Returns how
/// many are not finite.
template <class T>
int expect_within_bound(const TestStack<T>& stack, const std::vector<T>& result) {
  constexpr int parts = is_complex<T> ? 2 : 1;
  int not_finite = 0, wrong = 0;
  for (const StackClass& shape : stack.classes)
    for (std::int32_t r = shape.first_run; r < shape.first_run + shape.runs; ++r) {
      const StackRun& run = stack.runs[static_cast<std::size_t>(r)];
      const Chains chains(is_complex<T>, shape, run.count);
      for (std::int32_t j = 0; j < shape.n; ++j)
        for (std::int32_t i = 0; i < shape.m; ++i) {
          Term sum[2];
          T plain{};
          for (std::int32_t e = run.first; e < run.first + run.count; ++e) {
            const StackEntry& entry = stack.entries[static_cast<std::size_t>(e)];
            for (std::int32_t l = 0; l < shape.k; ++l) {
              const T a = stack.a[static_cast<std::size_t>(entry.a + i + l * shape.m)],
                      b = stack.b[static_cast<std::size_t>(entry.b + l + j * shape.k)];
              add_product(sum, a, b), add_plain(plain, a, b);
            }
          }
          const auto at = static_cast<std::size_t>(run.c + i + j * shape.m);
          const auto* const before = reinterpret_cast<const float*>(&stack.c[at]);
          const auto* const after = reinterpret_cast<const float*>(&result[at]);
          const auto* const by_plain = reinterpret_cast<const float*>(&plain);
          for (int p = 0; p < parts; ++p) {
            const double bound =
                u * (18 + 18 * chains.instructions + chains.chains) * sum[p].size + u * std::abs(before[p]);
            const int kind = kind_of(before[p] + by_plain[p]);
            const bool right = kind == 0 ? std::abs(after[p] - (before[p] + sum[p].value)) <= bound
                                         : kind_of(after[p]) == kind;
            not_finite += kind != 0;
            if (!right && ++wrong <= 3)
              ADD_FAILURE() << shape.m << " x " << shape.n << " x " << shape.k << ", (" << i << ", " << j
                            << ")[" << p << "]: " << after[p] << ", expected " << before[p] + sum[p].value
                            << " +- " << bound;
          }
        }
    }
  EXPECT_EQ(wrong, 0);
  return not_finite;
}

/// Rows and columns up to 40, odd inner sizes, and what is used most.
std::vector<ShapeCount> sweep() {
  std::set<std::tuple<int, int, int>> shapes;
  for (int order = 1; order <= 40; ++order) {
    shapes.insert({order, 41 - order, 2 * (order % 12) + 1});
    shapes.insert({order, order, 23});
  }
  for (const int order : {5, 8, 9, 13, 16, 23, 24, 32, 45, 48, 64, 80}) shapes.insert({order, order, order});
  std::vector<ShapeCount> result;
  for (const auto& [m, n, k] : shapes) result.push_back({m, n, k, 256});
  return result;
}

TYPED_TEST(GpuStackFloat, StaysWithinItsBound) {
  const TestStack<TypeParam> stack(sweep(), Values::reals);
  EXPECT_EQ(expect_within_bound(stack, this->computed(stack)), 0);
}

/// Blocks begin anywhere in 16 bytes.
TYPED_TEST(GpuStackFloat, WhereverBlocksBegin) {
  constexpr ShapeCount shapes[] = {{23, 23, 23, 300}, {32, 32, 32, 300}, {16, 24, 12, 300},
                                   {13, 13, 13, 300}, {64, 64, 64, 256}, {1, 80, 80, 300},
                                   {80, 1, 80, 300},  {48, 16, 80, 256}};
  for (std::int32_t first = 0; first < 5; ++first) {
    const TestStack<TypeParam> stack(shapes, Values::reals, 3, first);
    expect_within_bound(stack, this->computed(stack));
  }
}

/// Integers up to 2^11 with sums below 2^24: no rounding at all.
TYPED_TEST(GpuStackFloat, IntegersExactly) {
  using T = TypeParam;
  constexpr ShapeCount shapes[] = {
      {5, 5, 5, 300}, {9, 9, 9, 300}, {13, 13, 13, 300}, {23, 23, 23, 300}, {32, 32, 32, 300}};
  TestStack<T> stack(shapes, Values::integers);
  // A up to 2^11, B up to 3: 9 products of 32 inner indices, twice for complex numbers, are below 2^21.
  for (std::size_t i = 0; i < stack.a.size(); ++i)
    stack.a[i] = static_cast<RealOf<T>>(1 + static_cast<int>(splitmix(9, i) % 2048));
  EXPECT_EQ(this->computed(stack), stack.by_cpu());
}

/// Elements that are infinite, NaN, and so large that their rounding to fewer bits overflows.
TYPED_TEST(GpuStackFloat, InfinitiesAndNaNAreThoseOfFloat) {
  using T = TypeParam;
  constexpr ShapeCount shapes[] = {
      {5, 5, 5, 300}, {9, 7, 11, 300}, {13, 13, 13, 300}, {23, 23, 23, 300}, {32, 32, 32, 300}};
  const float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  for (const float special : {infinity, -infinity, std::nanf(""), std::nanf("0x3fffff")}) {
    TestStack<T> stack(shapes, Values::reals);
    for (std::size_t i = 40; i < stack.a.size(); i += 997) stack.a[i] = T(special);
    for (std::size_t i = 90; i < stack.b.size(); i += 1499) stack.b[i] = T(-special);
    EXPECT_GT(expect_within_bound(stack, this->computed(stack)), 0) << special;
  }
  TestStack<T> stack(shapes, Values::reals);
  for (T& x : stack.b) x *= RealOf<T>(0x1p-20F);
  for (std::size_t i = 40; i < stack.a.size(); i += 997) stack.a[i] = T(largest);
  EXPECT_EQ(expect_within_bound(stack, this->computed(stack)), 0) << "finite";
}

}  // namespace
}  // namespace tessera::test
