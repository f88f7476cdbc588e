// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/runtime/sequence.hpp>

/// A runtime with two workers, shared by all tests of a suite. `cpu_only` excludes GPUs, for tests
/// that compare bitwise with CPU kernels.
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
