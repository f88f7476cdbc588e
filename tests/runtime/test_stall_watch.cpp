// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/data.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/codelet.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/stall_watch.hpp>

namespace tessera {
using namespace detail;
namespace {

constexpr std::size_t mib = std::size_t(1) << 20;

struct Touch {
  static constexpr const char* name = "test_touch";
  WriteOrAdd<Array<char>> x;
};
void run(const HostContext&, const Touch& task) {
  task.x.view()[0] = 1;
}

struct Slow {
  static constexpr const char* name = "test_slow";
  Write<Array<char>> x;
};
void run(const HostContext&, const Slow&) {
  std::this_thread::sleep_for(std::chrono::seconds(4));
}

}  // namespace

TESSERA_DEFINE_TASK(Touch)
TESSERA_DEFINE_TASK(Slow)

namespace {

/// Limits the address space to the current size plus `more`.
void limit_address_space(std::size_t more) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE)) + more, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

/// Runs `work` in a separate process, which exits with the thrown exception.
template <class Work>
void expect_refusal(const Work& work, const char* text) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        alarm(60);
        try {
          work();
        } catch (const RuntimeError& error) {
          std::fprintf(stderr, "%s\n", error.what());
          std::exit(2);
        }
        std::exit(0);
      },
      ::testing::ExitedWithCode(2), text);
}

TEST(StallWatch, TasksThatWaitForAddressSpaceEnd) {
  expect_refusal(
      [] {
        StallWatch::patience = 2;
        Runtime runtime({.cores = 1, .gpus = 0, .bind = false});
        limit_address_space(64 * mib);
        Sequence sequence(runtime);
        sequence.begin_stage("test");
        const Data piece = Data::bytes(runtime, 512 * mib);
        sequence.insert(Touch{.x = piece});
        sequence.wait();
      },
      "tasks have waited [0-9]+ s for memory that is not there");
}

/// A task that runs longer than the time limit, or one that waits for it, is not a stall.
TEST(StallWatch, SlowTasksAreNone) {
  StallWatch::patience = 1;
  {
    Runtime runtime({.cores = 1, .gpus = 0, .bind = false});
    Sequence sequence(runtime);
    sequence.begin_stage("test");
    const Data piece = Data::bytes(runtime, 8);
    sequence.insert(Slow{.x = piece});
    sequence.insert(Touch{.x = piece});
    EXPECT_TRUE(sequence.wait().ok());
  }
  StallWatch::patience = 30;
}

/// Last safeguard: pieces that together exceed the limit cannot be created; released pieces do not
/// count.
TEST(HostMemory, PiecesBeyondTheLimitAreRefused) {
  setenv("STARPU_LIMIT_CPU_MEM", "8", 1);
  {
    Runtime runtime({.cores = 1, .gpus = 0, .bind = false});
    EXPECT_EQ(host_memory_limit(), 8 * mib);
    for (int round = 0; round < 20; ++round) {
      const Data first = Data::bytes(runtime, 3 * mib), second = Data::matrix(runtime, 512, 512, 8);
      EXPECT_THROW(Data::bytes(runtime, 4 * mib), RuntimeError);
      EXPECT_THROW(require_host_memory("a matrix", 4 * mib), RuntimeError);
      EXPECT_NO_THROW(require_host_memory("a matrix", 2 * mib));
      std::vector<char> own(32 * mib);
      Data wrapped = Data::wrap_bytes(runtime, own.data(), own.size());
      if (round % 2 == 0) wrapped.release_unchanged();
    }
    try {
      const Data piece = Data::bytes(runtime, 9 * mib);
      ADD_FAILURE() << "9 MiB of 8";
    } catch (const RuntimeError& error) {
      EXPECT_STREQ(error.what(),
                   "a piece of 9.0 MiB would be beyond the 8.0 MiB of host memory that all data may take");
    }
    // Work that fits must run, whatever memory StarPU counts.
    Sequence sequence(runtime);
    sequence.begin_stage("test");
    const Data piece = Data::bytes(runtime, 8 * mib);
    sequence.insert(Touch{.x = piece});
    EXPECT_TRUE(sequence.wait().ok());
  }
  unsetenv("STARPU_LIMIT_CPU_MEM");
}

}  // namespace
}  // namespace tessera
