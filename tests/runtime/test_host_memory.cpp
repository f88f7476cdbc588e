// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera {
using namespace detail;
namespace {

constexpr std::size_t mib = std::size_t(1) << 20;

TEST(HostMemory, PiecesAreUsedAgain) {
  HostMemory memory;
  void* const first = memory.allocate(3 * mib);
  ASSERT_NE(first, nullptr);
  std::memset(first, 1, 3 * mib);
  EXPECT_GE(memory.bytes_in_use(), 3 * mib);
  memory.free(first);
  EXPECT_EQ(memory.bytes_in_use(), 0u);
  EXPECT_GE(memory.bytes_kept(), 3 * mib);
  void* const second = memory.allocate(3 * mib - 1000);
  EXPECT_EQ(second, first) << "of about the same size";
  EXPECT_EQ(memory.bytes_kept(), 0u);
  std::memset(second, 2, 3 * mib - 1000);
  memory.free(second);
}

TEST(HostMemory, NeverMoreThanWereInUseAtOneTime) {
  HostMemory memory;
  std::size_t most = 0;
  for (std::size_t size = mib; size < 40 * mib; size += 3 * mib) {
    void* const a = memory.allocate(size);
    void* const b = memory.allocate(size / 2);
    ASSERT_TRUE(a && b);
    most = std::max(most, memory.bytes_in_use());
    EXPECT_LE(memory.bytes_in_use() + memory.bytes_kept(), most);
    memory.free(a);
    memory.free(b);
    EXPECT_LE(memory.bytes_kept(), most);
  }
}

TEST(HostMemory, SmallPiecesAreNotKept) {
  HostMemory memory;
  for (const std::size_t size : {std::size_t(1), std::size_t(1000), std::size_t(100000)}) {
    void* const piece = memory.allocate(size);
    ASSERT_NE(piece, nullptr);
    std::memset(piece, 3, size);
    memory.free(piece);
  }
  EXPECT_EQ(memory.bytes_kept(), 0u);
}

TEST(HostMemory, NoMemoryIsNull) {
  HostMemory memory;
  EXPECT_EQ(memory.allocate(std::size_t(1) << 60), nullptr);
  EXPECT_EQ(memory.bytes_in_use(), 0u);
}

TEST(HostMemory, ThreadsShareIt) {
  HostMemory memory;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&memory, t] {
      for (int i = 0; i < 200; ++i) {
        const std::size_t size = mib / 4 * static_cast<std::size_t>(1 + (i + t) % 5);
        auto* const piece = static_cast<unsigned char*>(memory.allocate(size));
        ASSERT_NE(piece, nullptr);
        std::memset(piece, t, size);
        EXPECT_EQ(piece[size / 2], t);
        memory.free(piece);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.bytes_in_use(), 0u);
}

/// The limit is nine tenths of the memory. hwloc may report less than the system has, because
/// memory may have been added later.
TEST(HostMemory, LimitIsOfTheMachine) {
  const Runtime runtime({.cores = 1, .gpus = 0, .bind = false});
  const auto physical =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  EXPECT_GE(static_cast<double>(host_memory_limit()), 0.89 * physical);
  EXPECT_LE(static_cast<double>(host_memory_limit()), 0.95 * physical);
}

TEST(HostMemory, MoreThanThereIsIsRefused) {
  const Runtime runtime({.cores = 1, .gpus = 0, .bind = false});
  EXPECT_NO_THROW(require_host_memory("a matrix", 100 * mib));
  try {
    require_host_memory("a matrix", std::size_t(1) << 60);
    ADD_FAILURE() << "an exbibyte was not refused";
  } catch (const RuntimeError& error) {
    EXPECT_EQ(std::string_view(error.what()).find("a matrix needs "), 0u) << error.what();
  }
}

}  // namespace
}  // namespace tessera
