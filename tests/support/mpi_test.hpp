// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include <tessera/runtime.hpp>

/// A runtime over all ranks with one worker per rank, shared by all tests of a suite.
namespace tessera::test {

class MpiTest : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    shared() = std::make_unique<Runtime>(RuntimeOptions{.cores = 1, .bind = false}, Communicator::world());
  }
  static void TearDownTestSuite() { shared().reset(); }
  static Runtime& runtime() { return *shared(); }

 private:
  static std::unique_ptr<Runtime>& shared() {
    static std::unique_ptr<Runtime> runtime;
    return runtime;
  }
};

}  // namespace tessera::test
