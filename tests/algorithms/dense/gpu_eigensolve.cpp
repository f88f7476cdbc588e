// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>

#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>
#include <unistd.h>

#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/error.hpp>

/// The solver on GPUs, beyond the CPU solver's tests when they run on GPUs: larger orders with the
/// default sizes for GPUs, several tiles, little memory, device memory as input and output, and
/// errors.
namespace tessera::test {
using namespace detail;
namespace {

int gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

template <class T>
class EigensolveOnGpu : public RuntimeTest<T> {
 public:
  void SetUp() override { ASSERT_GE(this->runtime().info().cuda_workers, 1); }
  static SolveCase two_stage(Index tile = 0, Index band = 0, Index update_width = 0) {
    SolveCase c;
    c.options.solver = Solver::two_stage;
    c.options.tile = tile, c.options.band = band, c.options.update_width = update_width;
    return c;
  }
};
TYPED_TEST_SUITE(EigensolveOnGpu, Scalars);

TYPED_TEST(EigensolveOnGpu, OneTile) {
  for (const Index n : {300, 1000, 1537}) {
    SCOPED_TRACE(n);
    auto c = this->two_stage();
    c.residual_gate = 1, c.orthogonality_gate = 3;
    expect_solved<TypeParam>(this->runtime(), generate<TypeParam>("random", n), nullptr, c);
  }
}

TYPED_TEST(EigensolveOnGpu, SeveralTiles) {
  for (const auto& [tile, band, width] : {std::array<Index, 3>{256, 32, 128}, {192, 64, 64}, {512, 16, 64}}) {
    SCOPED_TRACE(tile);
    expect_solved<TypeParam>(this->runtime(), generate<TypeParam>("random", 1001), nullptr,
                             this->two_stage(tile, band, width));
  }
}

TYPED_TEST(EigensolveOnGpu, DegenerateSpectra) {
  for (const char* kind :
       {"zero", "identity", "rank-one", "glued-wilkinson", "clustered", "doubly-degenerate", "toeplitz"}) {
    SCOPED_TRACE(kind);
    bool known = false;
    for (const auto& one : generator_kinds()) known = known || std::string_view(one.name) == kind;
    ASSERT_TRUE(known);
    expect_solved<TypeParam>(this->runtime(), generate<TypeParam>(kind, 735), nullptr, this->two_stage());
  }
}

TYPED_TEST(EigensolveOnGpu, RangesAndValuesOnly) {
  auto c = this->two_stage();
  const auto a = generate<TypeParam>("random", 900);
  c.options.vectors = false;
  expect_solved<TypeParam>(this->runtime(), a, nullptr, c);
  c.options.vectors = true;
  for (const auto& range :
       {index_range(0, 180), index_range(500, 503), index_range(7, 7), value_range(-3, 4)}) {
    c.options.range = range;
    expect_solved<TypeParam>(this->runtime(), a, nullptr, c);
  }
}

TYPED_TEST(EigensolveOnGpu, GeneralizedAndOtherSolvers) {
  const auto a = generate<TypeParam>("random", 700), b = generate<TypeParam>("overlap", 700);
  expect_solved<TypeParam>(this->runtime(), a, &b, this->two_stage());
  for (const Solver solver : {Solver::one_stage, Solver::vendor, Solver::automatic}) {
    SCOPED_TRACE(to_string(solver));
    SolveCase c;
    c.options.solver = solver;
    expect_solved<TypeParam>(this->runtime(), a, nullptr, c);
    c.options.range = index_range(10, 100);
    expect_solved<TypeParam>(this->runtime(), a, &b, c);
  }
}

/// The arrays of the blocking call may be in device memory; the results then stay on the device.
TYPED_TEST(EigensolveOnGpu, DeviceMemoryInAndOut) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 500;
  const auto a = generate<T>("random", n);
  const DeviceMatrix<T> device_a(a), device_z(n, n, 0);
  const auto result =
      eigensolve(this->runtime(), {.a = {device_a.data(), n, n}, .vectors_to = {device_z.data(), n}},
                 this->two_stage().options);
  EXPECT_TRUE(result) << result.status().message();
  const std::vector<R>& w = result.values;
  const Matrix<T> z = device_z.get();
  EXPECT_TRUE(identical(a, device_a.get()));
  const auto errors =
      eigen_errors(a, static_cast<const Matrix<T>*>(nullptr), w, &z, lapack_eigenvalues(a), 0);
  EXPECT_LT(errors.residual, 1);
  EXPECT_LT(errors.orthogonality, 3);
  EXPECT_LT(errors.values, 1);
}

TYPED_TEST(EigensolveOnGpu, NotFiniteIsAStatus) {
  using T = TypeParam;
  auto a = generate<T>("random", 400);
  a(300, 17) = not_a_number<T>();
  const Status status = eigensolve(this->runtime(), {.a = {a.data(), 400, a.ld()}},
                                   {.solver = Solver::two_stage, .vectors = false})
                            .status();
  EXPECT_EQ(status.code, StatusCode::not_finite);
  EXPECT_EQ(status.index, 18);
}

TYPED_TEST(EigensolveOnGpu, NotPositiveDefiniteNamesTheMinor) {
  using T = TypeParam;
  const Index n = 300;
  const auto a = generate<T>("random", n);
  auto b = generate<T>("identity", n);
  b(210, 210) = T(-1);
  for (const Index tile : {Index(0), Index(64)}) {
    EigensolveOptions options;
    options.vectors = false;
    options.solver = Solver::two_stage;
    if (tile) options.tile = tile, options.band = 16, options.update_width = 32;
    const Status status =
        eigensolve(this->runtime(), {.a = {a.data(), n, a.ld()}, .b = {b.data(), n, b.ld()}}, options)
            .status();
    EXPECT_EQ(status.code, StatusCode::not_positive_definite);
    EXPECT_EQ(status.index, 211);
  }
}

/// Two concurrent solves on the stream of one GPU.
TYPED_TEST(EigensolveOnGpu, TwoInFlight) {
  using T = TypeParam;
  const auto a = generate<T>("random", 400, 1), b = generate<T>("random", 350, 2);
  auto copy_a = a, copy_b = b;
  const auto tiles_a =
      TiledMatrix<T>::wrap(this->runtime(), copy_a.data(), 400, {400, 400, 400, 400, {}, Uplo::lower});
  const auto tiles_b =
      TiledMatrix<T>::wrap(this->runtime(), copy_b.data(), 350, {350, 350, 350, 350, {}, Uplo::lower});
  EigensolveOptions options;
  options.solver = Solver::two_stage;
  auto first = submit_eigensolve(this->runtime(), {.a = tiles_a}, options);
  auto second = submit_eigensolve(this->runtime(), {.a = tiles_b}, options);
  EXPECT_TRUE(second.wait().ok());
  EXPECT_TRUE(first.wait().ok());
  const auto expect_values = [](const auto& w, const Matrix<T>& matrix) {
    EXPECT_LT(eigen_errors<T>(matrix, nullptr, w, nullptr, lapack_eigenvalues(matrix), 0).values, 1);
  };
  expect_values(first.result().values, a);
  expect_values(second.result().values, b);
  // These stages must run on the GPU.
  int found = 0;
  for (const auto& stage : first.statistics().stages)
    if (stage.name == "reduce_to_band" || stage.name == "back_tridiagonal") {
      ++found;
      EXPECT_EQ(stage.device_tasks, stage.tasks);
    }
  EXPECT_EQ(found, 2);
}

/// Ends the process if a test hangs, because StarPU waits forever for memory that never becomes
/// free.
class Watchdog {
 public:
  explicit Watchdog(unsigned seconds) {
    std::signal(SIGALRM, [](int) {
      constexpr char text[] =
          "the solver waits: a task's buffers do not fit into the GPU's memory together?\n";
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
      std::abort();
    });
    alarm(seconds);
  }
  ~Watchdog() {
    alarm(0);
    std::signal(SIGALRM, SIG_DFL);
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
};

/// Limits StarPU to 48 MiB of GPU memory.
class EigensolveMemoryOfGpu : public ::testing::Test {
 public:
  void SetUp() override {
    setenv("STARPU_LIMIT_CUDA_MEM", "48", 1);
    runtime_ = std::make_unique<Runtime>(RuntimeOptions{.cores = 2});
    EXPECT_EQ(runtime_->info().gpu_memory_bytes, 48 << 20);
  }
  void TearDown() override {
    runtime_.reset();
    unsetenv("STARPU_LIMIT_CUDA_MEM");
  }
  Runtime& runtime() { return *runtime_; }

  /// Solves a matrix of 52 MiB, whose tiles StarPU has to evict.
  void solve(SolveCase c) {
    const Index n = 2600;
    const auto used = resolve_options<double>(runtime(), n, c.options);
    EXPECT_EQ(used.solver, Solver::two_stage);
    std::cout << "tile " << used.tile << ", band " << used.band << ", update width " << used.update_width
              << ", slab width " << used.slab_width << std::endl;
    c.residual_gate = 1;
    expect_solved<double>(runtime(), generate<double>("random", n), nullptr, c);
  }

 private:
  Watchdog watchdog_{60};
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(EigensolveMemoryOfGpu, SizesGiven) {
  SolveCase c;
  c.options.solver = Solver::two_stage;
  c.options.tile = 512, c.options.band = 64, c.options.update_width = 128, c.options.slab_width = 256;
  solve(c);
}

TEST_F(EigensolveMemoryOfGpu, SizesChosen) {
  SolveCase c;
  c.options.range = index_range(100, 1100);
  solve(c);
}

TEST_F(EigensolveMemoryOfGpu, WhatCannotFitIsAnError) {
  const Index n = 2600;
  EigensolveOptions options;
  options.slab_width = n;
  EXPECT_THROW(resolve_options<double>(runtime(), n, options), InvalidArgument);
  options = {};
  options.tile = n, options.band = 65, options.update_width = 65;
  EXPECT_THROW(resolve_options<double>(runtime(), n, options), InvalidArgument);
  auto a = generate<double>("random", n);
  for (const Solver solver : {Solver::vendor, Solver::one_stage}) {
    options = {};
    options.solver = solver, options.vectors = false;
    EXPECT_THROW(std::ignore = eigensolve(runtime(), {.a = {a.data(), n, a.ld()}}, options), RuntimeError);
  }
  // A tile of the caller may also be too large for the GPU.
  const auto whole = TiledMatrix<double>::wrap(runtime(), a.data(), a.ld(), {n, n, n, n, {}, Uplo::lower});
  EXPECT_THROW(std::ignore = submit_eigensolve(runtime(), {.a = whole}), RuntimeError);
}

TEST(EigensolveGpus, CpusMayTakePart) {
  Runtime runtime({.cores = 4, .hybrid = true});
  SolveCase c;
  c.options.solver = Solver::two_stage;
  c.options.tile = 256, c.options.band = 32, c.options.update_width = 128;
  expect_solved<double>(runtime, generate<double>("random", 1100), nullptr, c);
}

/// With the eager scheduler any idle worker takes the next task, so tasks mix between CPUs and
/// GPUs, with one tile and with several.
template <class T>
void expect_any_mixture_solves() {
  Runtime runtime({.cores = 4, .hybrid = true, .scheduler = "eager"});
  const Index n = 610;
  const auto a = generate<T>("random", n), b = generate<T>("overlap", n);
  for (const Index tile : {Index(64), Index(128), n / 32 * 32 + 32}) {
    SCOPED_TRACE(::testing::Message() << "tile " << tile << ", complex " << is_complex<T>);
    SolveCase c;
    c.options.solver = Solver::two_stage;
    c.options.tile = tile, c.options.band = 16, c.options.update_width = 32;
    expect_solved<T>(runtime, a, nullptr, c);
    expect_solved<T>(runtime, a, &b, c);
  }
  for (const Solver solver : {Solver::one_stage, Solver::vendor}) {
    SolveCase c;
    c.options.solver = solver;
    expect_solved<T>(runtime, a, nullptr, c);
  }
}

TEST(EigensolveGpus, AnyMixtureOfCpusAndGpusSolves) {
  expect_any_mixture_solves<double>();
  expect_any_mixture_solves<std::complex<float>>();
}

/// Four CPU workers are idle, yet they take no task that would occupy one of them for long.
TEST(EigensolveGpus, LargeTasksAreNotForCpus) {
  Runtime runtime({.cores = 4, .hybrid = true, .scheduler = "eager"});
  for (const Index n : {1024, 64}) {
    Sequence sequence(runtime);
    const TilePart whole(0, 0, n, n);
    const Data a = Data::matrix(runtime, n, n, sizeof(double));
    sequence.begin_stage("zero");
    sequence.insert(SetZero<double>{.a = a});
    sequence.begin_stage("product");
    std::vector<Data> products;
    for (int i = 0; i < 40; ++i) {
      products.push_back(Data::matrix(runtime, n, n, sizeof(double)));
      sequence.insert(Gemm<double>{
          .a = a, .b = a, .c = products.back(), .part_a = whole, .part_b = whole, .part_c = whole});
    }
    ASSERT_TRUE(sequence.wait().ok());
    const auto& stage = sequence.statistics().stages.back();
    EXPECT_EQ(stage.tasks, 40);
    if (n == 1024)
      EXPECT_EQ(stage.device_tasks, 40);
    else
      EXPECT_LT(stage.device_tasks, 40);
  }
}

TEST(EigensolveGpus, WhatIsMadeForGpusRunsThereAlone) {
  Runtime runtime({.cores = 4, .hybrid = true, .scheduler = "eager"});
  auto a = generate<double>("random", 500);
  const auto tiles =
      TiledMatrix<double>::wrap(runtime, a.data(), a.ld(), {500, 500, 500, 500, {}, Uplo::lower});
  EigensolveOptions options;
  options.solver = Solver::two_stage;
  auto completion = submit_eigensolve(runtime, {.a = tiles}, options);
  EXPECT_TRUE(completion.wait().ok());
  int found = 0;
  for (const auto& stage : completion.statistics().stages)
    if (stage.name == "back_tridiagonal") {
      ++found;
      EXPECT_GT(stage.tasks, 0);
      EXPECT_EQ(stage.device_tasks, stage.tasks);
    }
  EXPECT_EQ(found, 1);
}

TEST(EigensolveGpus, BandsTooWideForPanelsInSeveralTilesAreAnError) {
  Runtime runtime({.cores = 1});
  SolveCase c;
  c.options.solver = Solver::two_stage;
  c.options.band = 130, c.options.update_width = 130, c.options.tile = 260;
  const auto a = generate<double>("random", 500);
  EXPECT_THROW(expect_solved<double>(runtime, a, nullptr, c), InvalidArgument);
  c.options.tile = 520;
  expect_solved<double>(runtime, a, nullptr, c);
}

TEST(EigensolveGpus, EveryGpuTakesPart) {
  if (gpus() < 2) GTEST_SKIP() << "one GPU";
  Runtime runtime({.cores = 2});
  ASSERT_EQ(runtime.info().cuda_workers, gpus());
  SolveCase c;
  c.options.solver = Solver::two_stage;
  c.residual_gate = 1;
  expect_solved<double>(runtime, generate<double>("random", 3001), nullptr, c);
}

TEST(EigensolveGpus, MoreThanThereAreIsAnError) {
  EXPECT_THROW(Runtime({.cores = 1, .gpus = gpus() + 1}), RuntimeError);
  Runtime none({.cores = 1, .gpus = 0});
  EXPECT_EQ(none.info().cuda_workers, 0);
}

}  // namespace
}  // namespace tessera::test
