// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <tests/codelets/block_sparse/product/device_stack.hpp>

#include <tessera/runtime/sequence.hpp>

namespace tessera::test {
using namespace detail;
namespace {

using device::StackCompiler;
using device::StackKernel;
using device::StackShape;

template <class T>
StackShape own_shape(const StackClass& shape) {
  return {type_letter<T>, shape.m, shape.n, shape.k};
}

/// Compiled kernels are not kept on disk. They are released before another suite may start a
/// Runtime.
template <class T>
class GpuMultiplyStack : public GpuTest<T> {
 public:
  static void TearDownTestSuite() { shared_.reset(); }

 protected:
  static StackCompiler& compiler() {
    if (!shared_) shared_ = std::make_unique<StackCompiler>(std::filesystem::path());
    return *shared_;
  }

 private:
  static inline std::unique_ptr<StackCompiler> shared_;
};
TYPED_TEST_SUITE(GpuMultiplyStack, Scalars);

/// All orders up to 80, all combinations of common ones, flat and long blocks, and a sample of the
/// rest.
std::vector<ShapeCount> dense_sweep() {
  std::set<std::tuple<int, int, int>> shapes;
  for (int order = 1; order <= 80; ++order) shapes.insert({order, order, order});
  for (const auto& sizes : {std::array{5, 13, 23}, std::array{1, 16, 80}, std::array{9, 32, 45}})
    for (const int m : sizes)
      for (const int n : sizes)
        for (const int k : sizes) shapes.insert({m, n, k});
  constexpr int others[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 23, 24, 26, 31, 32, 33, 45, 64, 72, 80};
  std::uint64_t number = 0;
  const auto draw = [&] { return others[splitmix(5, number++) % std::size(others)]; };
  while (shapes.size() < 260) shapes.insert({draw(), draw(), draw()});
  std::vector<ShapeCount> result;
  for (const auto& [m, n, k] : shapes) result.push_back({m, n, k, 40});
  return result;
}

TYPED_TEST(GpuMultiplyStack, EveryShapeExactly) {
  using T = TypeParam;
  const TestStack<T> stack(dense_sweep(), Values::integers);
  const DeviceStack<T> on_gpu(stack);
  std::vector<StackShape> shapes;
  for (const StackClass& shape : stack.classes) shapes.push_back(own_shape<T>(shape));
  this->compiler().prepare(shapes, static_cast<int>(std::thread::hardware_concurrency()));
  ASSERT_EQ(this->compiler().take_failures(), "");
  const DeviceArray<T> own(stack.c), generic(stack.c);
  for (const StackClass& shape : stack.classes) {
    const StackRun* const runs = on_gpu.runs.data() + shape.first_run;
    const StackKernel* const kernel = this->compiler().kernel(own_shape<T>(shape));
    ASSERT_NE(kernel, nullptr) << shape.m << ' ' << shape.n << ' ' << shape.k;
    device::launch_stack_kernel<T>(this->stream_, *kernel, shape, on_gpu.entries.data(), runs,
                                   on_gpu.factors(), own.data());
    device::launch_generic_stack<T>(this->stream_, shape, on_gpu.entries.data(), runs, on_gpu.factors(),
                                    generic.data());
  }
  const std::vector<T> expected = stack.by_cpu(), by_own = own.get(), by_generic = generic.get();
  for (const StackClass& shape : stack.classes) {
    bool own_right = true, generic_right = true;
    for (std::int32_t r = shape.first_run; r < shape.first_run + shape.runs; ++r) {
      const auto first = static_cast<std::size_t>(stack.runs[static_cast<std::size_t>(r)].c);
      for (std::size_t i = first; i < first + static_cast<std::size_t>(shape.m * shape.n); ++i) {
        own_right = own_right && by_own[i] == expected[i];
        generic_right = generic_right && by_generic[i] == expected[i];
      }
    }
    EXPECT_TRUE(own_right) << shape.m << ' ' << shape.n << ' ' << shape.k;
    EXPECT_TRUE(generic_right) << shape.m << ' ' << shape.n << ' ' << shape.k;
  }
  EXPECT_EQ(by_own, expected) << "nothing beside the blocks changes";
}

/// Each run is taken once, whatever the number of runs in a row: none to all of them, with a rest or without.
TYPED_TEST(GpuMultiplyStack, TheSameBitsInStrips) {
  using T = TypeParam;
  const ShapeCount shapes[] = {{5, 5, 5, 6000}, {23, 23, 23, 3000}};
  const TestStack<T> stack(shapes, Values::reals);
  const DeviceStack<T> on_gpu(stack);
  const DeviceArray<T> plain(stack.c);
  const auto launch = [&](const DeviceArray<T>& c, std::int32_t rows) {
    for (StackClass shape : stack.classes) {
      shape.rows = rows;
      const StackKernel* const kernel = this->compiler().kernel(own_shape<T>(shape));
      ASSERT_NE(kernel, nullptr);
      device::launch_stack_kernel<T>(this->stream_, *kernel, shape, on_gpu.entries.data(),
                                     on_gpu.runs.data() + shape.first_run, on_gpu.factors(), c.data(), true,
                                     rows > 0);
    }
  };
  launch(plain, 0);
  const std::vector<T> expected = plain.get();
  for (const std::int32_t rows : {1, 2, 3, 7, 10, 15, 100, 100000}) {
    const DeviceArray<T> c(stack.c);
    launch(c, rows);
    EXPECT_EQ(c.get(), expected) << rows;
  }
}

/// So many runs that a thread block takes several, one for each of its groups of warps; with a rest.
TYPED_TEST(GpuMultiplyStack, ManyRunsExactly) {
  using T = TypeParam;
  const ShapeCount shapes[] = {{4, 9, 5, 140001}, {13, 13, 13, 90001}, {23, 23, 23, 60001}};
  const TestStack<T> stack(shapes, Values::integers);
  EXPECT_EQ(DeviceStack<T>(stack).run(this->stream_, this->compiler()), stack.by_cpu());
}

TYPED_TEST(GpuMultiplyStack, RoundsAsTheTypeAllows) {
  using T = TypeParam;
  const ShapeCount shapes[] = {{5, 5, 5, 300}, {23, 23, 23, 300}, {32, 9, 80, 300}, {80, 80, 80, 300}};
  const TestStack<T> stack(shapes, Values::reals);
  const std::vector<T> result = DeviceStack<T>(stack).run(this->stream_, this->compiler()),
                       expected = stack.by_cpu();
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_LE(std::abs(result[i] - expected[i]), this->tolerance(9 * 80)) << i;
}

/// One stack with shapes that get specialized kernels, shapes with too few products, and shapes too
/// large for one.
constexpr ShapeCount mixed_shapes[] = {{5, 5, 5, 2000},   {5, 13, 23, 700}, {13, 5, 5, 10},
                                       {23, 23, 23, 900}, {80, 1, 80, 256}, {81, 5, 5, 300},
                                       {90, 100, 70, 40}, {1, 1, 1, 5000},  {13, 13, 13, 255}};

TYPED_TEST(GpuMultiplyStack, StacksOfSeveralShapes) {
  using T = TypeParam;
  StackCompiler compiler{std::filesystem::path()};
  const TestStack<T> stack(mixed_shapes, Values::integers);
  EXPECT_EQ(DeviceStack<T>(stack).run(this->stream_, compiler), stack.by_cpu());
  EXPECT_EQ(compiler.counts().compiled, 5) << "5 5 5, 5 13 23, 23 23 23, 80 1 80 and 1 1 1";
  EXPECT_EQ(compiler.counts().failed, 0);
}

TYPED_TEST(GpuMultiplyStack, LargeBlocks) {
  using T = TypeParam;
  const ShapeCount shapes[] = {{81, 81, 81, 30}, {100, 3, 90, 300}, {200, 150, 130, 20}, {1, 300, 1, 400},
                               {5, 5, 500, 300}, {300, 1, 7, 20},   {65, 64, 129, 300}};
  const TestStack<T> stack(shapes, Values::integers);
  EXPECT_EQ(DeviceStack<T>(stack).run(this->stream_, this->compiler()), stack.by_cpu());
}

TYPED_TEST(GpuMultiplyStack, EmptyStacks) {
  using T = TypeParam;
  const TestStack<T> nothing({}, Values::integers);
  EXPECT_EQ(DeviceStack<T>(nothing).run(this->stream_, this->compiler()), nothing.c);
  const ShapeCount none[] = {
      {5, 5, 5, 0}, {100, 100, 100, 0}, {0, 5, 5, 300}, {5, 0, 5, 300}, {5, 5, 0, 300}};
  const TestStack<T> stack(none, Values::integers);
  EXPECT_EQ(DeviceStack<T>(stack).run(this->stream_, this->compiler()), stack.c);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TYPED_TEST(GpuMultiplyStack, TheSameBitsAlways) {
  using T = TypeParam;
  TestStack<T> stack(mixed_shapes, Values::reals);
  const std::vector<T> first = DeviceStack<T>(stack).run(this->stream_, this->compiler());
  EXPECT_NE(first, stack.c);
  {
    const DeviceStack<T> on_gpu(stack);
    EXPECT_EQ(on_gpu.run(this->stream_, this->compiler()), first) << "again";
    const DeviceHandles other;
    const DeviceArray<T> c(stack.c), c_other(stack.c);
    on_gpu.launch(this->stream_, this->compiler(), c);
    on_gpu.launch(other.stream, this->compiler(), c_other);
    EXPECT_EQ(c.get(), first) << "beside another stream";
    EXPECT_EQ(c_other.get(), first) << "on another stream";
  }
  for (const StackClass& shape : stack.classes) {
    const auto begin = stack.runs.begin() + shape.first_run;
    std::reverse(begin, begin + shape.runs);
    std::rotate(begin, begin + shape.runs / 3, begin + shape.runs);
  }
  EXPECT_EQ(DeviceStack<T>(stack).run(this->stream_, this->compiler()), first) << "runs in another order";
  // Each class alone.
  for (const StackClass& shape : stack.classes) {
    std::vector<T> alone = stack.c;
    TestStack<T> one = stack;
    one.classes = {shape};
    const std::vector<T> result = DeviceStack<T>(one).run(this->stream_, this->compiler());
    for (std::int32_t r = shape.first_run; r < shape.first_run + shape.runs; ++r) {
      const auto c = stack.runs[static_cast<std::size_t>(r)].c;
      std::copy_n(first.begin() + c, shape.m * shape.n, alone.begin() + c);
    }
    EXPECT_EQ(result, alone) << shape.m << ' ' << shape.n << ' ' << shape.k;
  }
}

/// Keeps no data of its own on the device, because the first Runtime on a machine may reset it
/// (runtime.hpp).
template <class T>
class GpuStackTask : public ::testing::Test {
  void SetUp() override { TESSERA_NEED_GPU(); }
};
TYPED_TEST_SUITE(GpuStackTask, Scalars);

/// Runs the task twice; the first run overwrites a C of NaN.
TYPED_TEST(GpuStackTask, TwiceTheProducts) {
  using T = TypeParam;
  TestStack<T> stack(mixed_shapes, Values::integers);
  std::fill(stack.c.begin(), stack.c.end(), T(0));
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  Runtime runtime({.cores = 1, .gpus = 1});
  ASSERT_EQ(runtime.gpus(), 1);
  ASSERT_EQ(cudaSetDevice(devices - 1), cudaSuccess);
  EXPECT_GE(runtime.first_gpu(), 0);
  EXPECT_FALSE(describe_stack_kernels(runtime).empty());
  prepare_stack_kernels<T>(runtime, stack.classes);
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, devices - 1) << "the caller's device is not touched";
  cudaSetDevice(0);
  std::vector<std::byte> lists(
      stack_bytes(static_cast<Index>(stack.runs.size()), static_cast<Index>(stack.entries.size())));
  const auto* const entries = reinterpret_cast<const std::byte*>(stack.entries.data());
  const auto* const runs = reinterpret_cast<const std::byte*>(stack.runs.data());
  const auto middle = std::copy_n(entries, stack.entries.size() * sizeof(StackEntry), lists.begin());
  std::copy_n(runs, stack.runs.size() * sizeof(StackRun), middle);
  const Data list = upload(runtime, lists), a = upload(runtime, stack.a), b = upload(runtime, stack.b),
             c = upload(runtime, std::vector<T>(stack.c.size(), not_a_number<T>()));
  const Data* const factors[] = {&a, &b};
  ProductWorker ran_on[2] = {};
  Sequence sequence(runtime);
  sequence.begin_stage("stacks");
  sequence.insert(MultiplyStack<T>{
      .stack = list, .c = c, .factors = {factors}, .classes = stack.classes, .ran_on = &ran_on[0]});
  sequence.insert(MultiplyStack<T>{
      .stack = list, .c = c, .factors = {factors}, .classes = stack.classes, .ran_on = &ran_on[1]});
  ASSERT_TRUE(sequence.wait());
  for (const ProductWorker worker : ran_on) EXPECT_EQ(worker, ProductWorker::gpu);
  std::vector<T> expected = stack.by_cpu();
  for (T& x : expected) x *= RealOf<T>(2);
  const HostAccess result(c, HostAccess::Mode::read);
  EXPECT_TRUE(std::ranges::equal(result.array<const T>(), expected));
}

}  // namespace
}  // namespace tessera::test
