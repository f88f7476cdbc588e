// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tessera/runtime/system_memory.hpp>

namespace tessera {
using namespace detail;
namespace {

namespace fs = std::filesystem;

constexpr std::size_t mib = std::size_t(1) << 20;

/// System files of a machine with 8000 MiB of free memory.
class SystemMemoryFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / fmt::format("tessera_system_{}_{}", test->name(), ::getpid());
    put("proc/meminfo", "MemTotal:       16384000 kB\nMemFree:  1000 kB\nMemAvailable:    8192000 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  SystemMemory read() const { return system_memory({root_ / "proc", root_ / "groups"}); }

  fs::path root_;
};

TEST_F(SystemMemoryFiles, WithoutGroupsWhatTheSystemSays) {
  const SystemMemory memory = read();
  EXPECT_EQ(memory.available, std::size_t(8192000) * 1024);
  EXPECT_EQ(memory.most, physical_memory());
}

TEST_F(SystemMemoryFiles, VersionTwo) {
  put("proc/self/cgroup", "0::/user/job\n");
  put("groups/user/job/memory.max", "2097152000\n");
  put("groups/user/job/memory.high", "max\n");
  put("groups/user/job/memory.current", "1048576000\n");
  EXPECT_EQ(read().most, 2000 * mib);
  EXPECT_EQ(read().available, 1000 * mib);
  // Memory in the file caches of the group counts as free.
  put("groups/user/job/memory.stat", "anon 5\nfile 9\ninactive_file 104857600\nactive_file 209715200\n");
  EXPECT_EQ(read().available, 1300 * mib);
  put("groups/user/job/memory.high", "1468006400\n");
  EXPECT_EQ(read().most, 1400 * mib);
  EXPECT_EQ(read().available, 700 * mib);
}

TEST_F(SystemMemoryFiles, TheGroupThatLeavesLeastCounts) {
  put("proc/self/cgroup", "0::/user/job/step\n");
  put("groups/user/job/step/memory.max", "max\n");
  put("groups/user/job/step/memory.current", "10485760\n");
  put("groups/user/job/memory.max", "524288000\n");
  put("groups/user/job/memory.current", "104857600\n");
  put("groups/user/memory.max", "419430400\n");
  put("groups/user/memory.current", "0\n");
  EXPECT_EQ(read().most, 400 * mib);
  EXPECT_EQ(read().available, 400 * mib);
  put("groups/memory.max", "734003200\n");
  put("groups/memory.current", "629145600\n");
  EXPECT_EQ(read().most, 400 * mib);
  EXPECT_EQ(read().available, 100 * mib);
}

TEST_F(SystemMemoryFiles, VersionOne) {
  put("proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/job\n3:cpuset:/\n0::/\n");
  put("groups/memory/job/memory.limit_in_bytes", "1048576000\n");
  put("groups/memory/job/memory.usage_in_bytes", "524288000\n");
  put("groups/memory/job/memory.stat", "total_inactive_file 52428800\ntotal_active_file 52428800\n");
  put("groups/memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("groups/memory/memory.usage_in_bytes", "99999999999\n");
  EXPECT_EQ(read().most, 1000 * mib);
  EXPECT_EQ(read().available, 600 * mib);
}

/// In a container the path may belong to the host or lead out of the container; the group's files
/// are then at the top.
TEST_F(SystemMemoryFiles, PathsOfTheHost) {
  put("groups/memory.max", "314572800\n");
  put("groups/memory.current", "104857600\n");
  for (const char* path : {"/docker/0123456789abcdef", "/../../other", "/", "", "/a/../../../b"}) {
    put("proc/self/cgroup", fmt::format("0::{}\n", path));
    EXPECT_EQ(read().most, 300 * mib) << path;
    EXPECT_EQ(read().available, 200 * mib) << path;
  }
}

TEST_F(SystemMemoryFiles, UnifiedBesideVersionOne) {
  put("proc/self/cgroup", "0::/job\n");
  put("groups/unified/job/memory.max", "209715200\n");
  EXPECT_EQ(read().most, 200 * mib);
}

TEST_F(SystemMemoryFiles, GarbageIsNoLimit) {
  for (const char* text : {"", "\n", "maximal\n", "-5\n", "99999999999999999999999999\n", "\xff\xfe"}) {
    put("proc/self/cgroup", "0::/job\n\n:::\nxyz\n4:memory\n");
    put("groups/job/memory.max", text);
    put("groups/job/memory.current", text);
    put("groups/job/memory.stat", text);
    EXPECT_EQ(read().most, physical_memory()) << text;
    EXPECT_EQ(read().available, std::size_t(8192000) * 1024) << text;
  }
  put("groups/job/memory.max", "104857600\n");  // everything else is unknown
  EXPECT_EQ(read().available, 100 * mib);
  put("proc/meminfo", "nothing\n");
  EXPECT_EQ(read().available, 100 * mib);
}

TEST_F(SystemMemoryFiles, MoreInUseThanAllowedLeavesNothing) {
  put("proc/self/cgroup", "0::/job\n");
  put("groups/job/memory.max", "104857600\n");
  put("groups/job/memory.current", "204857600\n");
  EXPECT_EQ(read().available, 0u);
}

TEST(SystemMemory, AddressSpaceIsThisProcesss) {
  EXPECT_EQ(system_memory().own_most, SystemMemory::unlimited);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{std::size_t(3) << 30, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    const SystemMemory memory = system_memory();
    const bool good = memory.own_most == std::size_t(3) << 30 && memory.own_available < memory.own_most &&
                      memory.own_available > 0;
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(SystemMemory, OfThisMachine) {
  const SystemMemory memory = system_memory();
  EXPECT_GT(memory.available, mib);
  EXPECT_LE(memory.most, physical_memory());
}

}  // namespace
}  // namespace tessera
