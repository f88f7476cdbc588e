// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include <tests/support/device_array.hpp>

#include <tessera/runtime.hpp>

namespace tessera {
namespace {

// StarPU's bus measurement ends with the last GPU as the current device, where later allocations of
// the caller would go. StarPU measures the buses once per process, so this must be the first test
// that starts it.
TEST(GpuBuses, TheCurrentGpuStaysWhenTheyAreMeasured) {
  TESSERA_NEED_GPU();
  int gpus = 0;
  ASSERT_EQ(cudaGetDeviceCount(&gpus), cudaSuccess);
  if (gpus < 2) GTEST_SKIP() << "one GPU";
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  setenv("STARPU_BUS_CALIBRATE", "1", 1);
  const Runtime runtime({.cores = 1, .gpus = 1});
  unsetenv("STARPU_BUS_CALIBRATE");
  int gpu = -1;
  EXPECT_EQ(cudaGetDevice(&gpu), cudaSuccess);
  EXPECT_EQ(gpu, 0);
}

}  // namespace
}  // namespace tessera
