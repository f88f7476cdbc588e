// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <barrier>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/cpu_workers.hpp>
#include <tessera/runtime/gpu_memory.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::test {
using namespace detail;
namespace {

/// C := A B with tiles.
void insert_product(Sequence& sequence, const TiledMatrix<double>& a, const TiledMatrix<double>& b,
                    const TiledMatrix<double>& c) {
  for (Index i = 0; i < c.row_tiles(); ++i)
    for (Index j = 0; j < c.col_tiles(); ++j)
      for (Index k = 0; k < a.col_tiles(); ++k)
        sequence.insert(Gemm<double>{.a = a.tile(i, k),
                                     .b = b.tile(k, j),
                                     .c = c.tile(i, j),
                                     .part_a = {0, 0, a.tile_rows(i), a.tile_cols(k)},
                                     .part_b = {0, 0, b.tile_rows(k), b.tile_cols(j)},
                                     .part_c = {0, 0, c.tile_rows(i), c.tile_cols(j)}});
}

Matrix<double> small_integers(Index n, int seed) {
  Matrix<double> a(n, n, 3);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) a(i, j) = double((seed * (i + 2 * j)) % 7) - 3;
  return a;
}

TEST(Runtime, StartsAndStopsSeveralTimes) {
  for (int round = 0; round < 4; ++round) {
    Runtime runtime({.cores = 1 + round % 2, .gpus = 0});
    EXPECT_EQ(runtime.workers(), 1 + round % 2);
    EXPECT_EQ(runtime.info().cpu_workers, 1 + round % 2);
    EXPECT_EQ(runtime.rank(), 0);
    EXPECT_EQ(runtime.size(), 1);
    EXPECT_THROW(Runtime second, RuntimeError);
  }
}

TEST(Runtime, RunsOnAllCpuWorkersAtOnce) {
  Runtime runtime({.cores = 2, .gpus = 0});
  std::barrier together(2);
  std::array<std::thread::id, 2> threads;
  run_on_cpu_workers(runtime, [&](int thread) {
    together.arrive_and_wait();  // would hang if the tasks ran one after the other
    threads.at(static_cast<std::size_t>(thread)) = std::this_thread::get_id();
  });
  EXPECT_NE(threads[0], threads[1]);
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_NE(threads[1], std::this_thread::get_id());
  EXPECT_THROW(run_on_cpu_workers(runtime, [](int) { throw std::runtime_error("from the work"); }),
               std::runtime_error);
}

TEST(Runtime, LogsToTheSinkAndPrintsNothing) {
  std::vector<std::string> messages;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  {
    Runtime runtime(
        {.cores = 1, .log = [&](LogLevel, std::string_view text) { messages.emplace_back(text); }});
    runtime.log(LogLevel::warning, "from the test");
    const Data data = upload(runtime, random_matrix<double>(4, 4, 1));
    Sequence sequence(runtime);
    sequence.insert(SetZero<double>{.a = data});
    sequence.wait();
  }
  {
    Runtime silent({.cores = 1});
    silent.log(LogLevel::error, "nobody listens");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ASSERT_GE(messages.size(), 2u);
  EXPECT_NE(messages.front().find("1 CPU"), std::string::npos) << messages.front();
  EXPECT_EQ(messages.back(), "from the test");
}

TEST(Runtime, InfoIsFilled) {
  Runtime runtime({.cores = 2, .scheduler = "eager"});
  const RuntimeInfo& info = runtime.info();
  EXPECT_EQ(info.scheduler, "eager");
  EXPECT_EQ(info.ranks, 1);
  EXPECT_GE(info.physical_cores, 1);
  EXPECT_GE(info.numa_nodes, 1);
  EXPECT_GT(info.memory_bytes, std::int64_t(1) << 24);
  for (const std::string* text :
       {&info.version, &info.starpu_version, &info.blas, &info.host, &info.cpu_model})
    EXPECT_FALSE(text->empty());
}

TEST(Runtime, GpusThatAreNotThereAreAnError) {
  EXPECT_THROW(Runtime({.cores = 1, .gpus = 64}), RuntimeError);
  Runtime after({.cores = 1, .gpus = 0});  // the failed start must leave no state behind
  EXPECT_EQ(after.workers(), 1);
}

/// Scheduler, synchronous mode and number of workers must not change results.
TEST(Runtime, TiledProductIsExactOnIntegersUnderEveryOption) {
  const Index n = 37, tile = 10;
  const auto a = small_integers(n, 1), b = small_integers(n, 3), expected = multiply(a, b);
  const RuntimeOptions choices[] = {{.cores = 2},
                                    {.cores = 1, .synchronous = true},
                                    {.cores = 2, .scheduler = "lws"},
                                    {.cores = 2, .scheduler = "prio"},
                                    {.cores = 2, .scheduler = "eager"},
                                    {.cores = 4, .bind = false}};
  for (const RuntimeOptions& options : choices) {
    Runtime runtime(options);
    SCOPED_TRACE(runtime.info().scheduler);
    EXPECT_EQ(runtime.synchronous(), options.synchronous);
    auto c = a;
    const TileLayout layout{n, n, tile, tile, {}, Uplo::general};
    {
      auto copy_a = a, copy_b = b;
      auto tiles_a = TiledMatrix<double>::wrap(runtime, copy_a.data(), copy_a.ld(), layout);
      auto tiles_b = TiledMatrix<double>::wrap(runtime, copy_b.data(), copy_b.ld(), layout);
      auto tiles_c = TiledMatrix<double>::wrap(runtime, c.data(), c.ld(), layout);
      Sequence sequence(runtime);
      sequence.begin_stage("product");
      insert_product(sequence, tiles_a, tiles_b, tiles_c);
      EXPECT_TRUE(sequence.wait().ok());
    }
    EXPECT_EQ(difference(c, expected), 0);
  }
}

TEST(Runtime, SynchronousTasksAreDoneWhenInserted) {
  Runtime runtime({.cores = 1, .synchronous = true});
  auto a = random_matrix<double>(3, 3, 1);
  const Data data = Data::wrap_matrix(runtime, a.data(), 3, 3, 3, sizeof(double));
  Sequence sequence(runtime);
  sequence.insert(SetZero<double>{.a = data});
  {
    // After a GPU task the only wait is for a copy.
    const HostAccess access(data, HostAccess::Mode::read);
    EXPECT_EQ(difference(a, Matrix<double>(3, 3)), 0);
  }
  sequence.wait();
}

TEST(Runtime, WorkerProfilesCountTasksAndTime) {
  Runtime runtime({.cores = 2});
  runtime.profile(true);
  const Data data = upload(runtime, random_matrix<double>(64, 64, 1));
  {
    Sequence sequence(runtime);
    for (int k = 0; k < 20; ++k) sequence.insert(SetZero<double>{.a = data});
    sequence.wait();
  }
  Index tasks = 0;
  const auto profiles = runtime.worker_profiles();
  ASSERT_EQ(profiles.size(), static_cast<std::size_t>(runtime.workers()));
  for (const WorkerProfile& profile : profiles) {
    EXPECT_FALSE(profile.name.empty());
    EXPECT_GE(profile.executing, 0);
    EXPECT_GT(profile.total, 0);
    tasks += profile.tasks;
  }
  EXPECT_EQ(tasks, 20);
  runtime.profile(false);
}

TEST(Runtime, BytesMovedAreThoseBetweenHostAndGpus) {
  Runtime runtime({.cores = 2});
  const Data data = upload(runtime, random_matrix<double>(64, 64, 1));
  runtime.profile(true);
  {
    Sequence sequence(runtime);
    sequence.insert(SetZero<double>{.a = data});
    sequence.wait();
  }
  EXPECT_EQ(difference(download<double>(data), Matrix<double>(64, 64)), 0);
  // With GPUs the zeros are created there, and the host reads them.
  EXPECT_EQ(runtime.bytes_moved(), runtime.info().cuda_workers > 0 ? 64 * 64 * sizeof(double) : 0);
  EXPECT_EQ(runtime.bytes_moved(), 0) << "reading clears";
  runtime.profile(false);
}

TEST(Runtime, WithoutGpusHoldsNothingOnThem) {
  Runtime runtime({.cores = 2, .gpus = 0});
  const Data data = upload(runtime, random_matrix<double>(64, 64, 1));
  EXPECT_EQ(detail::gpu_bytes_held(), 0u);
}

}  // namespace
}  // namespace tessera::test
