// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>
#include <unistd.h>

#include <tessera/runtime/sequence.hpp>

/// StarPU's communication thread on ranks that have no core for it.
namespace tessera::test {
using namespace detail;
namespace {

struct Sleep {
  static constexpr const char* name = "test_mpi_sleep";
  Write<Array<double>> x;
};
void run(const HostContext&, const Sleep& task) {
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  task.x.view()[0] = 3;
}

struct Twice {
  static constexpr const char* name = "test_mpi_double";
  Read<Array<double>> x;
  Write<Array<double>> y;
};
void run(const HostContext&, const Twice& task) {
  task.y.view()[0] = 2 * task.x.view()[0];
}

}  // namespace
}  // namespace tessera::test

namespace tessera {
using namespace detail;
TESSERA_DEFINE_TASK(test::Sleep)
TESSERA_DEFINE_TASK(test::Twice)
}  // namespace tessera

namespace tessera::test {
using namespace detail;
namespace {

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Processor time that the threads with this name in this process have used.
double seconds_of_threads(const std::string& name) {
  double ticks = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (contents(thread.path() / "comm") != name + "\n") continue;
    const std::string line = contents(thread.path() / "stat");
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    ticks += user + system;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Whether StarPU has the patch of tools/setup.
bool starpu_can_pause() {
  std::istringstream maps(contents("/proc/self/maps"));
  for (std::string line; std::getline(maps, line);)
    if (line.find("/libstarpumpi-") != std::string::npos)
      return contents(line.substr(line.find('/'))).find("STARPU_MPI_POLLING_PAUSE") != std::string::npos;
  return false;
}

TEST(MessageThread, SleepsWhileItWaitsWhereItHasNoCore) {
  Runtime runtime({.cores = 1, .gpus = 0, .bind = false}, Communicator::world());
  if (runtime.size() == 1) GTEST_SKIP() << "one rank has no messages";
  if (static_cast<int>(std::thread::hardware_concurrency()) >= 2 * runtime.size())
    GTEST_SKIP() << "there are cores for the threads that bring the messages";
  if (!starpu_can_pause()) GTEST_SKIP() << "StarPU is not the one of tools/setup";
  const Data first = Data::bytes(runtime, sizeof(double), 0),
             last = Data::bytes(runtime, sizeof(double), runtime.size() - 1);
  Sequence sequence(runtime);
  const double before = seconds_of_threads("MPI");
  const auto begin = std::chrono::steady_clock::now();
  sequence.insert(Sleep{.x = first});
  sequence.insert(Twice{.x = first, .y = last});
  ASSERT_TRUE(sequence.wait().ok());
  const double used = seconds_of_threads("MPI") - before,
               elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (last.local()) {
    EXPECT_EQ(download_values<double>(last)[0], 6);
    EXPECT_GE(elapsed, 0.4);         // ranks do not start simultaneously
    EXPECT_LE(used, 0.4 * elapsed);  // without pauses the thread would use almost all of it
  }
}

}  // namespace
}  // namespace tessera::test
