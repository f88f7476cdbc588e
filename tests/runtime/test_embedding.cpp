// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a host program may do, and finds again as it was.
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <starpu.h>
#include <sys/wait.h>
#include <tests/support/matrix.hpp>
#include <unistd.h>

#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/sequence.hpp>
#if TESSERA_WITH_MPI
#include <mpi.h>
#endif

extern "C" {
int openblas_get_num_threads(void);
void openblas_set_num_threads(int);
}

namespace tessera::test {
using namespace detail;
namespace {

/// Runs `work` in a forked process, which ends by exit() with its result. @return its exit status; 142 if it
/// hangs
int in_child(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    int code = 99;
    try {
      code = work();
    } catch (const std::exception&) {
    }
    std::exit(code);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(HostProgram, AForkedProcessCannotUseTheRuntimeOfTheOther) {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.cores = 2, .gpus = 0});
  const auto refused = [](const std::function<void()>& work) {
    try {
      work();
    } catch (const RuntimeError& error) {
      return std::string(error.what()).find("forked") != std::string::npos ? 7 : 8;
    }
    return 9;
  };
  EXPECT_EQ(in_child([&] { return refused([&] { Sequence sequence(*runtime); }); }), 7);
  EXPECT_EQ(in_child([&] { return refused([&] { Runtime other; }); }), 7);
  EXPECT_EQ(in_child([&] { return runtime.reset(), 6; }), 6);
  Sequence sequence(*runtime);
  EXPECT_TRUE(sequence.wait().ok());
}

TEST(HostProgram, AfterTheRuntimeHasEndedAForkedProcessCanHaveItsOwn) {
  { Runtime runtime({.cores = 1, .gpus = 0}); }
  EXPECT_EQ(in_child([] {
              Runtime runtime({.cores = 1, .gpus = 0});
              Sequence sequence(runtime);
              return sequence.wait().ok() ? 5 : 4;
            }),
            5);
}

TEST(HostProgram, AStarpuOfTheHostsIsNotTouched) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 1;
  conf.ncuda = 0;
  ASSERT_EQ(starpu_init(&conf), 0);
  EXPECT_THROW(Runtime runtime, RuntimeError);
  EXPECT_EQ(starpu_is_initialized(), 1);
  starpu_shutdown();
  Runtime runtime({.cores = 1, .gpus = 0});
}

#if TESSERA_WITH_MPI
TEST(HostProgram, CommunicatorsThatAreNone) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised) GTEST_SKIP() << "MPI is in use";
  EXPECT_THROW(Runtime({}, Communicator::from_fortran(0)), RuntimeError);
}
#endif

TEST(HostProgram, AForkedProcessEndsOrStartsAnotherProgram) {
  auto runtime = std::make_unique<Runtime>(RuntimeOptions{.cores = 2, .gpus = 0});
  // Memory that is StarPU's is among what ends with the process.
  const Data data = upload(*runtime, random_matrix<double>(8, 8, 1));
  EXPECT_EQ(in_child([] { return 11; }), 11);
  EXPECT_EQ(in_child([]() -> int { ::_exit(12); }), 12);
  EXPECT_EQ(in_child([] { return ::execl("/bin/sh", "sh", "-c", "exit 13", nullptr); }), 13);
  Sequence sequence(*runtime);
  sequence.insert(SetZero<double>{.a = data});
  EXPECT_TRUE(sequence.wait().ok());
}

TEST(HostProgram, OneThreadAfterTheOther) {
  std::unique_ptr<Runtime> runtime;
  const auto elsewhere = [](const std::function<void()>& work) { std::thread(work).join(); };
  elsewhere([&] { runtime = std::make_unique<Runtime>(RuntimeOptions{.cores = 2, .gpus = 0}); });
  const double a[] = {2, 1, 1, 2};
  for (int round = 0; round < 3; ++round)
    elsewhere([&] {
      const auto r = eigensolve(*runtime, {.a = {a, 2, 2}});
      ASSERT_TRUE(r);
      EXPECT_NEAR(r.values[1], 3, 1e-15);
    });
  Matrix<double> c = random_matrix<double>(5, 5, 1);
  {
    // Begun on one thread, waited for on another.
    const Data data = upload(*runtime, c);
    std::unique_ptr<Sequence> sequence;
    elsewhere([&] {
      sequence = std::make_unique<Sequence>(*runtime);
      sequence->insert(SetZero<double>{.a = data});
    });
    elsewhere([&] { EXPECT_TRUE(sequence->wait().ok()); });
    elsewhere([&] { c = download<double>(data); });
  }
  EXPECT_EQ(difference(c, Matrix<double>(5, 5)), 0);
  elsewhere([&] { runtime.reset(); });
  const Runtime next({.cores = 1, .gpus = 0});
}

/// Gives BLAS a number of threads for one test.
class BlasThreads : public ::testing::Test {
 protected:
  void SetUp() override { openblas_set_num_threads(2); }
  void TearDown() override { openblas_set_num_threads(before_); }
  const int before_ = openblas_get_num_threads();
};

TEST_F(BlasThreads, AreTheCallersButWhileWorkIsInFlight) {
  Runtime runtime({.cores = 2, .gpus = 0});
  EXPECT_EQ(openblas_get_num_threads(), 2);
  {
    Sequence first(runtime);
    EXPECT_EQ(openblas_get_num_threads(), 1);
    {
      Sequence second(runtime);
      second.wait();
    }
    EXPECT_EQ(openblas_get_num_threads(), 1) << "the first one is in flight";
    first.wait();
    EXPECT_EQ(openblas_get_num_threads(), 2);
  }
  EXPECT_EQ(openblas_get_num_threads(), 2);
  const double a[] = {2, 1, 1, 2};
  EXPECT_TRUE(eigensolve(runtime, {.a = {a, 2, 2}}));
  EXPECT_EQ(openblas_get_num_threads(), 2);
}

TEST_F(BlasThreads, ANumberThatTheCallerHasChangedStays) {
  Runtime runtime({.cores = 2, .gpus = 0});
  Sequence sequence(runtime);
  openblas_set_num_threads(3);
  sequence.wait();
  EXPECT_EQ(openblas_get_num_threads(), 3);
}

TEST_F(BlasThreads, RunExclusivelyHasItsOwn) {
  Runtime runtime({.cores = 2, .gpus = 0});
  int inside = 0;
  runtime.run_exclusively(3, [&] { inside = openblas_get_num_threads(); });
  EXPECT_EQ(inside, 3);
  EXPECT_EQ(openblas_get_num_threads(), 2);
  EXPECT_THROW(runtime.run_exclusively(1, [] { throw std::runtime_error("from the work"); }),
               std::runtime_error);
  EXPECT_EQ(openblas_get_num_threads(), 2);
  Sequence sequence(runtime);
  EXPECT_THROW(runtime.run_exclusively(3, [] {}), RuntimeError);
  EXPECT_EQ(openblas_get_num_threads(), 1);
}

}  // namespace
}  // namespace tessera::test
