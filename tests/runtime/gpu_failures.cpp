// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include <tessera/data.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/sequence.hpp>

/// Failed CUDA calls become statuses. A lost GPU must end the work, not the process.
namespace tessera {
using namespace detail;
namespace {

enum class Fault { none, refused_call, exception, illegal_access };

struct Fail {
  static constexpr const char* name = "test_gpu_fault";
  WriteOrAdd<Array<char>> piece;
  Fault fault = Fault::none;
};
void run(const HostContext&, const Fail&) {}
void run(const DeviceContext& on, const Fail& task) {
  if (task.fault == Fault::refused_call) cudaMemsetAsync(nullptr, 0, 16, on.stream);
  if (task.fault == Fault::exception) throw std::bad_alloc();
  if (task.fault == Fault::illegal_access) {
    const double two = 2;
    cublasDscal(on.cublas, 1 << 20, &two, reinterpret_cast<double*>(0x100), 1);
  }
}

}  // namespace

TESSERA_DEFINE_TASK(Fail)
TESSERA_DEFINE_ON_GPU(Fail)

namespace {

Status run(Runtime& runtime, Fault fault) {
  Sequence sequence(runtime);
  sequence.begin_stage("test");
  const Data piece = Data::bytes(runtime, 64);
  sequence.insert(Fail{.piece = piece, .fault = fault});
  sequence.insert(Fail{.piece = piece});
  return sequence.wait();
}

TEST(GpuFailures, OfSingleCallsAreStatuses) {
  Runtime runtime({.cores = 1, .gpus = 1, .bind = false});
  const Status refused = run(runtime, Fault::refused_call);
  EXPECT_EQ(refused.code, StatusCode::task_failed);
  EXPECT_EQ(refused.stage, "test");
  EXPECT_EQ(refused.reason.rfind("test_gpu_fault: ", 0), 0u) << refused.reason;
  EXPECT_NE(refused.reason.find("cudaErrorInvalidValue"), std::string::npos) << refused.reason;
  const Status thrown = run(runtime, Fault::exception);
  EXPECT_EQ(thrown.code, StatusCode::task_failed);
  EXPECT_EQ(thrown.reason, "test_gpu_fault: there is not enough memory");
  EXPECT_TRUE(run(runtime, Fault::none).ok());  // the runtime must stay usable
}

TEST(GpuFailures, ALostGpuEndsTheWorkAndNotTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        alarm(60);
        try {
          Runtime runtime({.cores = 1, .gpus = 1, .bind = false});
          Status status;
          try {
            status = run(runtime, Fault::illegal_access);
            std::fprintf(stderr, "no exception: %s\n", status.message().c_str());
          } catch (const RuntimeError& error) {
            std::fprintf(stderr, "first: %s\n", error.what());
          }
          try {  // the GPU stays lost
            status = run(runtime, Fault::none);
            std::fprintf(stderr, "no second exception: %s\n", status.message().c_str());
          } catch (const RuntimeError& error) {
            std::fprintf(stderr, "second: %s\n", error.what());
          }
        } catch (const std::exception& error) {
          std::fprintf(stderr, "outside: %s\n", error.what());
        }
        Runtime::abort_ranks(2);
      },
      ::testing::ExitedWithCode(2), "first: GPU 0: .*\n?second: GPU 0: ");
}

}  // namespace
}  // namespace tessera
