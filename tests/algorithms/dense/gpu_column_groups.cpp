// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/device_array.hpp>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/codelets/dense/copy.hpp>

/// The reduction in column groups on GPUs: several groups on one GPU, and one group on each of
/// several GPUs. Small matrices use groups only if the options request them.
namespace tessera::test {
using namespace detail;
namespace {

int gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

SolveCase in_groups(Index groups, Index tile = 0, Index band = 0, Index update_width = 0) {
  SolveCase c;
  c.options.solver = Solver::two_stage;
  c.options.column_groups = groups;
  c.options.tile = tile, c.options.band = band, c.options.update_width = update_width;
  c.residual_gate = 1, c.orthogonality_gate = 3;
  return c;
}

template <class T>
void expect_groups_solve(Runtime& runtime, Index groups) {
  SCOPED_TRACE(::testing::Message() << groups << " groups, complex " << is_complex<T>);
  for (const Index n : {300, 1537})
    expect_solved<T>(runtime, generate<T>("random", n), nullptr, in_groups(groups));
  // Narrow blocks, panels and tiles; a group without columns; last panels that use the fallback.
  expect_solved<T>(runtime, generate<T>("random", 1001), nullptr, in_groups(groups, 256, 32, 64));
  expect_solved<T>(runtime, generate<T>("random", 100), nullptr, in_groups(groups, 128, 16, 64));
  // An update with more panels than one launch gathers.
  expect_solved<T>(runtime, generate<T>("random", 700), nullptr, in_groups(groups, 256, 8, 256));
  expect_solved<T>(runtime, generate<T>("clustered", 735), nullptr, in_groups(groups, 384, 64, 128));
  const auto a = generate<T>("random", 640), b = generate<T>("overlap", 640);
  SolveCase generalized = in_groups(groups, 256, 32, 128);
  expect_solved<T>(runtime, a, &b, generalized);
  SolveCase values = in_groups(groups);
  values.options.vectors = false;
  expect_solved<T>(runtime, a, nullptr, values);
}

template <class T>
class ColumnGroupsOnOneGpu : public ::testing::Test {};
TYPED_TEST_SUITE(ColumnGroupsOnOneGpu, Scalars);

TYPED_TEST(ColumnGroupsOnOneGpu, Solve) {
  Runtime runtime({.cores = 2, .gpus = 1});
  for (const Index groups : {2, 3, 4}) expect_groups_solve<TypeParam>(runtime, groups);
}

template <class T>
class ColumnGroupsOnSeveralGpus : public ::testing::Test {
 public:
  void SetUp() override {
    if (gpus() < 2) GTEST_SKIP() << "one GPU";
  }
};
TYPED_TEST_SUITE(ColumnGroupsOnSeveralGpus, Scalars);

/// One group per GPU, and more groups than GPUs.
TYPED_TEST(ColumnGroupsOnSeveralGpus, Solve) {
  Runtime runtime({.cores = 2});
  for (const Index groups : {runtime.gpus(), runtime.gpus() + 1})
    expect_groups_solve<TypeParam>(runtime, groups);
}

/// Number of tasks on each GPU of the runtime since profiling began.
std::vector<Index> tasks_of_gpus(const Runtime& runtime) {
  std::vector<Index> tasks;
  for (const WorkerProfile& profile : runtime.worker_profiles())
    if (profile.name.find("CUDA") != std::string::npos) tasks.push_back(profile.tasks);
  return tasks;
}

TYPED_TEST(ColumnGroupsOnSeveralGpus, EveryGpuReducesItsGroup) {
  using T = TypeParam;
  Runtime runtime({.cores = 2});
  auto a = generate<T>("random", 1024);
  const auto tiles = TiledMatrix<T>::wrap(runtime, a.data(), a.ld(), {1024, 1024, 512, 512, {}, Uplo::lower});
  const BandMatrix<T> band(runtime, 1024, 32);
  TiledMatrix<T> work(runtime, {1024, 1024, 512, 512, {}, Uplo::lower});
  Sequence sequence(runtime);
  sequence.begin_stage("input");
  copy_hermitian(sequence, tiles, unit_scale<T>(sequence), work);
  sequence.begin_stage("reduce_to_band");
  runtime.profile(true);
  reduce_to_band<T>(sequence, std::move(work), 128, band, nullptr, runtime.gpus());
  ASSERT_TRUE(sequence.wait().ok());
  const auto& stage = sequence.statistics().stages.back();
  EXPECT_EQ(stage.device_tasks, stage.tasks);
  const auto tasks = tasks_of_gpus(runtime);
  runtime.profile(false);
  ASSERT_EQ(tasks.size(), static_cast<std::size_t>(runtime.gpus()));
  // Each GPU runs a product for each of the 32 panels except the last ones.
  for (const Index count : tasks) EXPECT_GE(count, 20);
}

/// Number of tasks on `gpu`, placed by the task itself (`by_task`) or by the piece that it writes.
Index tasks_there(Runtime& runtime, int gpu, bool by_task) {
  const TilePart whole(0, 0, 8, 8);
  const Data source = upload(runtime, random_matrix<double>(8, 8, 1));
  Data destination = Data::matrix(runtime, 8, 8, sizeof(double));
  if (!by_task) destination.set_gpu(gpu);
  Sequence sequence(runtime);
  sequence.begin_stage("scale");
  const Data scale = unit_scale<double>(sequence);
  sequence.begin_stage("copies");
  runtime.profile(true);
  for (int k = 0; k < 50; ++k)
    sequence.insert(
        CopyTile<double>{
            .source = source, .scale = scale, .destination = destination, .from = whole, .to = whole},
        {.gpu = by_task ? gpu : -1});
  EXPECT_TRUE(sequence.wait().ok());
  const Index count = tasks_of_gpus(runtime)[static_cast<std::size_t>(gpu)];
  runtime.profile(false);
  return count;
}

TEST(TaskOnOneGpu, RunsThere) {
  if (gpus() < 2) GTEST_SKIP() << "one GPU";
  Runtime runtime({.cores = 2});
  for (int gpu = 0; gpu < runtime.gpus(); ++gpu)
    for (const bool by_task : {true, false}) EXPECT_GE(tasks_there(runtime, gpu, by_task), 50) << by_task;
}

TEST(TaskOnOneGpu, NeighboursStayTogether) {
  Runtime runtime({.cores = 2});
  if (runtime.gpus() < 2) {
    EXPECT_EQ(runtime.gpu_of_part(3, 8), -1);
    return;
  }
  for (const Index parts : {1, 3, 8, 33}) {
    EXPECT_EQ(runtime.gpu_of_part(0, parts), 0);
    for (Index part = 1; part < parts; ++part) {
      const int step = runtime.gpu_of_part(part, parts) - runtime.gpu_of_part(part - 1, parts);
      EXPECT_TRUE(step == 0 || parts < runtime.gpus() || step == 1) << part << " of " << parts;
    }
    EXPECT_LT(runtime.gpu_of_part(parts - 1, parts), runtime.gpus());
  }
}

}  // namespace
}  // namespace tessera::test
