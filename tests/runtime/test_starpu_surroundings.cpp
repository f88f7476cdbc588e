// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tests/support/runtime_test.hpp>
#include <tests/support/variables.hpp>
#include <unistd.h>

#include <tessera/error.hpp>
#include <tessera/runtime/kept_files.hpp>
#include <tessera/runtime/model_files.hpp>
#include <tessera/runtime/model_store.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/starpu_environment.hpp>

namespace tessera::test {
using namespace detail;
namespace {

namespace fs = std::filesystem;

std::string refusal_of(const std::string& name, const char* value) {
  Variables variables;
  variables.set(name, value);
  try {
    require_sound_starpu_environment();
  } catch (const InvalidArgument& error) {
    return error.name() == name && error.value() == value ? error.expected() : "of another variable";
  }
  return {};
}

TEST(StarpuEnvironment, NonsenseIsNamed) {
  for (const char* name : {"STARPU_NCPU", "STARPU_NCUDA", "STARPU_LIMIT_CPU_MEM", "STARPU_LIMIT_CUDA_MEM",
                           "STARPU_LIMIT_CUDA_0_MEM", "STARPU_CALIBRATE", "STARPU_MPI_NOBIND",
                           "STARPU_FXT_TRACE", "STARPU_WORKERS_NOBIND", "STARPU_MPI_THREAD_CPUID",
                           "STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", "STARPU_SILENT", "STARPU_STATS"})
    for (const char* value : {"abc", "-5", "99999999999", "", "1x", " 1", "0x10", "1.5"})
      EXPECT_TRUE(refusal_of(name, value).starts_with("a whole number from 0 to ")) << name << "=" << value;
  for (const char* value : {"", "abc", "1 x", "-1", "3-1", "1,,x"})
    EXPECT_NE(refusal_of("STARPU_WORKERS_CPUID", value), "") << value;
  for (const char* value : {"0", "0 1", "0,1", "0-3", "2-", "1 3-4,7"})
    EXPECT_EQ(refusal_of("STARPU_WORKERS_CPUID", value), "") << value;
  EXPECT_NE(refusal_of("STARPU_WORKERS_CUDAID", "x"), "");
  EXPECT_NE(refusal_of("STARPU_SCHED_ALPHA", "x"), "");
  EXPECT_EQ(refusal_of("STARPU_SCHED_ALPHA", "1.5"), "");
  EXPECT_NE(refusal_of("STARPU_CALIBRATE", "3"), "");
  EXPECT_NE(refusal_of("STARPU_DISABLE_KERNELS", "1"), "") << "no task would compute anything";
  EXPECT_NE(refusal_of("STARPU_BACKOFF_MIN", "1000"), "") << "above the largest one: StarPU spins";
  EXPECT_NE(refusal_of("STARPU_HOSTNAME", "../x"), "");
  EXPECT_NE(refusal_of("STARPU_HOSTNAME", std::string(64, 'x').c_str()), "");
  EXPECT_NE(refusal_of("STARPU_HWLOC_INPUT", "/nonexistent"), "");
  EXPECT_NE(refusal_of("STARPU_SCHED", "nonsense").find("dmdas"), std::string::npos);
  EXPECT_EQ(refusal_of("STARPU_SCHED", "lws"), "");
  EXPECT_EQ(refusal_of("STARPU_OF_ANOTHER_VERSION", "abc"), "");
  EXPECT_THROW(require_scheduler("scheduler", "nonsense"), InvalidArgument);
}

TEST(StarpuEnvironment, TheRuntimeRefusesItAndStartsAfterwards) {
  {
    Variables variables;
    variables.set("STARPU_NCPU", "abc");
    EXPECT_THROW(Runtime runtime, InvalidArgument);
  }
  EXPECT_THROW(Runtime runtime({.scheduler = "nonsense"}), InvalidArgument);
  Runtime runtime({.cores = 1, .gpus = 0});
  EXPECT_EQ(runtime.workers(), 1);
}

TEST(PrivateDirectory, TheFirstPlaceThatWillDo) {
  Variables variables;
  const fs::path base = fs::temp_directory_path() / fmt::format("tessera_places_{}", ::getpid());
  fs::create_directories(base);
  variables.set("XDG_RUNTIME_DIR", base.c_str());
  {
    const TemporaryEntry entry = make_private_directory(1 << 16), other = make_private_directory(1 << 16);
    const fs::path made = entry.path();
    EXPECT_EQ(made.parent_path(), base);
    struct stat status {};
    ASSERT_EQ(::stat(made.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    EXPECT_TRUE(fs::is_empty(made));
    EXPECT_NE(other.path(), made);
  }
  EXPECT_TRUE(fs::is_empty(base));  // directories are removed with their objects
  fs::remove_all(base);
  for (const char* place : {base.c_str(), "relative", "", "/proc/version"}) {
    variables.set("XDG_RUNTIME_DIR", place);
    variables.set("TMPDIR", place);
    const TemporaryEntry entry = make_private_directory(1 << 16);
    EXPECT_TRUE(entry.path().starts_with("/tmp/") || entry.path().starts_with("/dev/shm/")) << entry.path();
  }
  EXPECT_THROW(make_private_directory(std::size_t(1) << 60), RuntimeError);
}

}  // namespace
}  // namespace tessera::test
