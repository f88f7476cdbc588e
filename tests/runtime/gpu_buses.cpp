// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <string>
#include <vector>

#include <tests/support/device_array.hpp>
#include <tests/support/variables.hpp>

#include <tessera/runtime.hpp>

namespace tessera::test {
namespace {

/// StarPU would measure the buses once per process, so this must be the first test that starts it.
TEST(GpuBuses, WhatTheCallerHasOnGpusStaysWhenTheyAreMeasured) {
  TESSERA_NEED_GPU();
  int gpus = 0;
  ASSERT_EQ(cudaGetDeviceCount(&gpus), cudaSuccess);
  std::vector<void*> memory(static_cast<std::size_t>(gpus));
  constexpr std::size_t bytes = 1 << 20;
  for (int gpu = gpus - 1; gpu >= 0; --gpu) {  // the first one stays the current one
    ASSERT_EQ(cudaSetDevice(gpu), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&memory[static_cast<std::size_t>(gpu)], bytes), cudaSuccess);
    ASSERT_EQ(cudaMemset(memory[static_cast<std::size_t>(gpu)], 17 + gpu, bytes), cudaSuccess);
  }
  Variables variables;
  variables.set("STARPU_BUS_CALIBRATE", "1");
  std::vector<std::string> messages;
  {
    const Runtime runtime({.cores = 1, .gpus = 1, .log = [&](LogLevel, std::string_view text) {
                             messages.emplace_back(text);
                           }});
  }
  bool measured = false;
  for (const std::string& message : messages)
    measured = measured || message.find("another process has measured the buses") != std::string::npos;
  EXPECT_TRUE(measured) << messages.front();
  int current = -1;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    std::vector<unsigned char> host(bytes);
    void* const there = memory[static_cast<std::size_t>(gpu)];
    ASSERT_EQ(cudaMemcpy(host.data(), there, bytes, cudaMemcpyDefault), cudaSuccess) << gpu;
    EXPECT_EQ(host, std::vector<unsigned char>(bytes, static_cast<unsigned char>(17 + gpu)));
    EXPECT_EQ(cudaFree(there), cudaSuccess);
  }
}

}  // namespace
}  // namespace tessera::test
