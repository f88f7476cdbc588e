// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <thread>

#include <gtest/gtest.h>
#include <tests/codelets/block_sparse/product/device_stack.hpp>
#include <unistd.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_program.hpp>

namespace tessera::test {
using namespace detail;
namespace {

namespace fs = std::filesystem;
using device::SourceFile;
using device::StackCompiler;
using device::StackShape;

constexpr ShapeCount shapes[] = {{4, 6, 8, 400}, {13, 5, 7, 300}};

/// A stack of two shapes with specialized kernels, and a directory for compiled programs.
class GpuStackCompiler : public GpuTest<double> {
 protected:
  void SetUp() override {
    GpuTest<double>::SetUp();
    directory_ = fs::temp_directory_path() / ("tessera_stack_compiler_" + std::to_string(::getpid()));
    fs::remove_all(directory_);
  }
  void TearDown() override {
    fs::remove_all(directory_);
    GpuTest<double>::TearDown();
  }
  void expect_right_by(StackCompiler& compiler) {
    const TestStack<double> stack(shapes, Values::integers);
    EXPECT_EQ(DeviceStack<double>(stack).run(stream_, compiler), stack.by_cpu());
  }
  static void expect_counts(const StackCompiler& compiler, int compiled, int read, int failed) {
    EXPECT_EQ(compiler.counts().compiled, compiled);
    EXPECT_EQ(compiler.counts().read, read);
    EXPECT_EQ(compiler.counts().failed, failed);
  }
  fs::path directory_;
};

TEST_F(GpuStackCompiler, ReadsWhatAnotherHasCompiled) {
  StackCompiler first(directory_);
  expect_right_by(first);
  expect_counts(first, 2, 0, 0);
  expect_right_by(first);
  expect_counts(first, 2, 0, 0);
  StackCompiler second(directory_);
  expect_right_by(second);
  expect_counts(second, 0, 2, 0);
}

TEST_F(GpuStackCompiler, CompilesAgainWhatIsDamaged) {
  StackCompiler first(directory_);
  expect_right_by(first);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
    ++files;
  }
  EXPECT_EQ(files, 2);
  StackCompiler second(directory_), third(directory_);
  expect_right_by(second);
  expect_counts(second, 2, 0, 0);
  expect_right_by(third);
  expect_counts(third, 0, 2, 0);
}

TEST_F(GpuStackCompiler, PreparesInThreads) {
  std::vector<StackShape> wanted;
  for (int m = 1; m <= 12; ++m) wanted.push_back({'s', m, 3, 2});
  wanted.insert(wanted.end(), wanted.begin(), wanted.begin() + 5);
  StackCompiler compiler(directory_);
  std::vector<std::jthread> others;
  for (int t = 0; t < 2; ++t)  // for the same shapes concurrently
    others.emplace_back([&] { compiler.prepare(wanted, 3); });
  compiler.prepare(wanted, 4);
  others.clear();
  expect_counts(compiler, 12, 0, 0);
  for (const StackShape& shape : wanted) EXPECT_NE(compiler.kernel(shape), nullptr);
  expect_counts(compiler, 12, 0, 0);
  EXPECT_EQ(compiler.take_failures(), "");
  EXPECT_NE(compiler.description().find("NVRTC"), std::string::npos);
}

/// A store with a plan for {4, 6, 8} that is not the formula's.
device::TunedPlan other_plan() {
  const StackShape shape{'d', 4, 6, 8};
  return {shape, device::plans_near_formula(shape, 9).at(8), 1.5};
}

TEST_F(GpuStackCompiler, UsesTunedPlans) {
  const device::TunedPlanStore store(directory_ / "plans");
  const auto version = device::stack_source_version(device::stack_kernel_files());
  store.replace(device::gpu_model(0), version, {}, {other_plan()});
  const device::StackCache cache(directory_ / "kernels");
  StackCompiler tuned(cache, device::stack_kernel_files(), store), formula(cache);
  expect_right_by(tuned);
  expect_counts(tuned, 2, 0, 0);
  EXPECT_EQ(tuned.kernel({'d', 4, 6, 8})->plan, other_plan().plan);
  EXPECT_EQ(tuned.kernel({'d', 13, 5, 7})->plan, device::formula_plan({'d', 13, 5, 7}));
  EXPECT_EQ(tuned.take_flaws(), "");
  // The plan is in the key of what is kept.
  expect_right_by(formula);
  expect_counts(formula, 1, 1, 0);
  EXPECT_EQ(formula.kernel({'d', 4, 6, 8})->plan, device::formula_plan({'d', 4, 6, 8}));
  StackCompiler again(cache, device::stack_kernel_files(), store);
  expect_right_by(again);
  expect_counts(again, 0, 2, 0);
}

TEST_F(GpuStackCompiler, TunedPlansOfAnotherVersionOrGpuAreNotUsed) {
  const device::TunedPlanStore store(directory_ / "plans");
  const auto version = device::stack_source_version(device::stack_kernel_files());
  store.replace("another GPU", version, {}, {other_plan()});
  StackCompiler unaffected(device::StackCache{{}}, device::stack_kernel_files(), store);
  EXPECT_EQ(unaffected.kernel({'d', 4, 6, 8})->plan, device::formula_plan({'d', 4, 6, 8}));
  EXPECT_EQ(unaffected.take_flaws(), "");
  store.replace(device::gpu_model(0), "of before", {}, {other_plan()});
  StackCompiler compiler(device::StackCache{{}}, device::stack_kernel_files(), store);
  expect_right_by(compiler);
  EXPECT_EQ(compiler.kernel({'d', 4, 6, 8})->plan, device::formula_plan({'d', 4, 6, 8}));
  EXPECT_NE(compiler.take_flaws().find("another version"), std::string::npos);
  EXPECT_EQ(compiler.take_flaws(), "") << "once";
  EXPECT_EQ(compiler.take_failures(), "");
}

/// A kernel that takes no plan does not compile with one: the formula's is used.
TEST_F(GpuStackCompiler, TheFormulaStandsInForAPlanThatFails) {
  const SourceFile without_plans[] = {
      {"tessera/codelets/block_sparse/product/kernels/stack_kernel.cuh",
       "namespace tessera::detail::kernels {\n"
       "template <class T, int M, int N, int K>\n"
       "__global__ void multiply_stack_kernel(const void*, int, const void*, const T*, const T*, T*) {}\n"
       "}\n"}};
  const device::TunedPlanStore store(directory_ / "plans");
  store.replace(device::gpu_model(0), device::stack_source_version(without_plans), {}, {other_plan()});
  StackCompiler compiler(device::StackCache{{}}, without_plans, store);
  EXPECT_EQ(compiler.kernel({'d', 4, 6, 8}), nullptr) << "that kernel does nothing";
  const std::string flaws = compiler.take_flaws();
  EXPECT_TRUE(flaws.starts_with("tuned parameters of 4 x 6 x 8 of type d: not used")) << flaws;
  EXPECT_NE(compiler.take_failures().find("something else"), std::string::npos);
  expect_counts(compiler, 1, 0, 1);
}

/// Every kind of plan computes the same as the generic kernel, which has other code altogether.
TEST_F(GpuStackCompiler, AllKindsOfPlansComputeTheSame) {
  for (const StackShape& shape : {StackShape{'d', 23, 23, 23}, StackShape{'s', 5, 5, 5},
                                  StackShape{'z', 13, 9, 17}, StackShape{'c', 32, 24, 40}}) {
    const std::vector<StackPlan> plans = device::plans_near_formula(shape, 1000);
    for (std::size_t i = 0; i < plans.size(); i += 1 + plans.size() / 25) {
      device::LoadedStackKernel kernel(
          device::compile_stack(device::stack_kernel_files(), device::gpu_architecture(0), shape, plans[i]),
          plans[i]);
      kernel.allow_shared_memory(0);
      EXPECT_NO_THROW(device::require_same_as_generic(kernel.kernel(), shape))
          << device::describe_shape(shape) << ": " << device::describe_plan(plans[i]);
    }
  }
}

TEST(StackFailure, ShortMemoryPasses) {
  using device::PassingFailure;
  EXPECT_NO_THROW(device::require_success(cudaSuccess, "nothing"));
  EXPECT_THROW(device::require_success(cudaErrorMemoryAllocation, "loading"), PassingFailure);
  for (const cudaError_t lasting :
       {cudaErrorInvalidValue, cudaErrorNoKernelImageForDevice, cudaErrorNoDevice})
    try {
      device::require_success(lasting, "loading");
      ADD_FAILURE();
    } catch (const RuntimeError& failure) {
      EXPECT_EQ(dynamic_cast<const PassingFailure*>(&failure), nullptr);
      EXPECT_TRUE(std::string(failure.what()).starts_with("loading: ")) << failure.what();
    }
}

/// Allocates all memory of the device, in pieces of decreasing size.
class AllMemory {
 public:
  AllMemory() {
    for (std::size_t size = std::size_t(1) << 36; size >= 256; size /= 2)
      for (void* piece = nullptr; cudaMalloc(&piece, size) == cudaSuccess;) pieces_.push_back(piece);
    cudaGetLastError();
  }
  ~AllMemory() {
    for (void* piece : pieces_) cudaFree(piece);
  }
  AllMemory(const AllMemory&) = delete;
  AllMemory& operator=(const AllMemory&) = delete;

 private:
  std::vector<void*> pieces_;
};

/// A shape for which memory was short keeps using the generic kernel, so that bits stay equal,
/// until kernels are prepared the next time.
TEST_F(GpuStackCompiler, TriesAgainWhenThereWasNoMemory) {
  const StackShape shape{'d', 13, 5, 7};
  StackCompiler compiler(directory_);
  {
    const AllMemory taken;
    EXPECT_EQ(compiler.kernel(shape), nullptr);
    compiler.prepare({&shape, 1}, 1);
    EXPECT_EQ(compiler.kernel(shape), nullptr);
  }
  EXPECT_NE(compiler.take_failures().find("memory"), std::string::npos);
  EXPECT_EQ(compiler.counts().failed, 2) << "asked for three times, tried twice";
  EXPECT_EQ(compiler.kernel(shape), nullptr) << "not before it is prepared";
  compiler.prepare({&shape, 1}, 1);
  EXPECT_NE(compiler.kernel(shape), nullptr);
  EXPECT_EQ(compiler.counts().failed, 2);
  EXPECT_EQ(compiler.take_failures(), "");
  expect_right_by(compiler);
}

/// The generic kernel must replace a kernel that does not compile, gives wrong results, or does not
/// load, and one line must report it.
void expect_generic(StackCompiler& compiler, const std::string& reason) {
  EXPECT_EQ(compiler.kernel({'d', 4, 6, 8}), nullptr);
  const std::string said = compiler.take_failures();
  EXPECT_NE(said.find(reason), std::string::npos) << said;
  EXPECT_NE(said.find("other shape"), std::string::npos) << said;
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  EXPECT_EQ(compiler.take_failures(), "") << "once";
  EXPECT_NE(compiler.description().find("generic"), std::string::npos);
}

TEST_F(GpuStackCompiler, FailsToCompile) {
  const SourceFile wrong[] = {
      {"tessera/codelets/block_sparse/product/kernels/stack_kernel.cuh", "__device__ int x = undeclared;\n"}};
  StackCompiler compiler(directory_, wrong);
  expect_right_by(compiler);
  expect_counts(compiler, 0, 0, 2);
  expect_generic(compiler, "undeclared");
}

TEST_F(GpuStackCompiler, ComputesSomethingElse) {
  // The kernel has an empty body.
  const SourceFile wrong[] = {
      {"tessera/codelets/block_sparse/product/kernels/stack_kernel.cuh",
       "namespace tessera::detail::kernels {\n"
       "template <class T, int M, int N, int K>\n"
       "__global__ void multiply_stack_kernel(const void*, int, const void*, const T*, const T*, T*) {}\n"
       "}\n"}};
  StackCompiler compiler(directory_, wrong);
  expect_right_by(compiler);
  expect_counts(compiler, 2, 0, 2);
  expect_generic(compiler, "something else");
  EXPECT_FALSE(fs::exists(directory_)) << "nothing wrong is kept";
}

TEST_F(GpuStackCompiler, WritesBesideItsBlocks) {
  const SourceFile wrong[] = {
      {"tessera/codelets/block_sparse/product/kernels/stack_kernel.cuh",
       "namespace tessera::detail::kernels {\n"
       "struct Run { int c, first, count, block; };\n"
       "struct Entry { unsigned long long a : 29, b : 29, panel : 6; };\n"
       "template <class T> struct Factors { const T *a[64], *b[64]; };\n"
       "template <class T, int M, int N, int K>\n"
       "__global__ void multiply_stack_kernel(const Run* runs, int count, const Entry* entries,\n"
       "                                      Factors<T> of, T* c, bool) {\n"
       "  if (threadIdx.x > 0 || blockIdx.x > 0) return;\n"
       "  for (int r = 0; r < count; ++r)\n"
       "    for (int e = runs[r].first; e < runs[r].first + runs[r].count; ++e)\n"
       "      for (int i = 0; i < M; ++i)\n"
       "        for (int j = 0; j < N; ++j)\n"
       "          for (int l = 0; l < K; ++l)\n"
       "            c[runs[r].c + i + j * M] += of.a[entries[e].panel][entries[e].a + i + l * M] *\n"
       "                                        of.b[entries[e].panel][entries[e].b + l + j * K];\n"
       "#ifdef BESIDE\n"
       "  c[runs[0].c + M * N] += T(1);\n"
       "#endif\n"
       "}\n"
       "}\n"}};
  const std::string text = std::string("#define BESIDE\n") + wrong[0].text;
  const SourceFile beside[] = {{wrong[0].name, text.c_str()}};
  StackCompiler good{fs::path(), wrong}, bad{fs::path(), beside};
  expect_right_by(good);
  expect_counts(good, 2, 0, 0);
  expect_right_by(bad);
  expect_counts(bad, 2, 0, 2);
  expect_generic(bad, "something else");
}

}  // namespace
}  // namespace tessera::test
