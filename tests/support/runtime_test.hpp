// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/runtime/sequence.hpp>

/// A runtime of two workers that all tests of a suite share. `cpu_only`: no GPUs, for tests that compare with
/// the CPU's kernels bit for bit.
namespace tessera::test {
using namespace detail;

template <class T, bool cpu_only = false>
class RuntimeTest : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    shared() = std::make_unique<Runtime>(RuntimeOptions{.cores = 2, .gpus = cpu_only ? 0 : -1});
  }
  static void TearDownTestSuite() { shared().reset(); }
  static Runtime& runtime() { return *shared(); }

  /// Inserts tasks and waits for them.
  template <class Insert>
  static Status run(const Insert& insert) {
    Sequence sequence(runtime());
    sequence.begin_stage("test");
    insert(sequence);
    return sequence.wait();
  }

 private:
  static std::unique_ptr<Runtime>& shared() {
    static std::unique_ptr<Runtime> runtime;
    return runtime;
  }
};

}  // namespace tessera::test
