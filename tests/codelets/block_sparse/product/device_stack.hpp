// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tests/codelets/block_sparse/product/test_stack.hpp>
#include <tests/support/device_array.hpp>

#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>

namespace tessera::test {
using namespace detail;

/// The lists and operands of a test stack on the device.
template <class T>
struct DeviceStack {
  explicit DeviceStack(const TestStack<T>& stack)
      : host(stack), entries(stack.entries), runs(stack.runs), a(stack.a), b(stack.b) {}
  void launch(cudaStream_t stream, device::StackCompiler& compiler, const DeviceArray<T>& c) const {
    device::launch_stack<T>(stream, compiler, host.classes, entries.data(), runs.data(), factors(), c.data());
  }
  StackFactors<T> factors() const { return one_pair<T>(a.data(), b.data()); }
  /// C after the products.
  std::vector<T> run(cudaStream_t stream, device::StackCompiler& compiler) const {
    const DeviceArray<T> c(host.c);
    launch(stream, compiler, c);
    return c.get();
  }
  const TestStack<T>& host;
  DeviceArray<StackEntry> entries;
  DeviceArray<StackRun> runs;
  DeviceArray<T> a, b;
};

}  // namespace tessera::test
