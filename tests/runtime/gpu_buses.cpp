// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include <tests/support/device_array.hpp>

#include <tessera/runtime.hpp>

namespace tessera {
namespace {

// StarPU ends the measurement of the buses on the last GPU: what the caller makes then would lie there. It
// measures them once in a process: this must be the first test that starts it.
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
