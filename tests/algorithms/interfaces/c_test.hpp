// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <string>

#include <gtest/gtest.h>
#include <tessera.h>
#include <tests/support/matrix.hpp>

/// Tests of the C interface: only functions of tessera.h, compared with LAPACK, plain loops and closed forms.
namespace tessera::test {

/// An assertion that a call of the C interface succeeds, with its message.
#define EXPECT_C(call) EXPECT_EQ(call, TESSERA_SUCCESS) << tessera_last_message()
#define ASSERT_C(call) ASSERT_EQ(call, TESSERA_SUCCESS) << tessera_last_message()

/// A Runtime with two workers, shared by all tests of a suite.
template <class T>
class CTest : public ::testing::Test {
 public:
  static void SetUpTestSuite() {
    tessera_runtime_options options;
    tessera_runtime_options_init(&options);
    options.cores = 2;
    ASSERT_C(tessera_runtime_create(&options, &runtime));
  }
  static void TearDownTestSuite() {
    tessera_runtime_free(runtime);
    runtime = nullptr;
  }
  static constexpr int type = type_letter<T>;
  static inline tessera_runtime* runtime = nullptr;
};

/// Frees what it holds.
template <class Handle, auto free>
class Held {
 public:
  Held() = default;
  ~Held() { free(handle_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  operator Handle*() const { return handle_; }
  Handle** operator&() {
    free(handle_);
    handle_ = nullptr;
    return &handle_;
  }

 private:
  Handle* handle_ = nullptr;
};
using Layout = Held<tessera_block_layout, tessera_block_layout_free>;
using BlockMatrix = Held<tessera_block_matrix, tessera_block_matrix_free>;
using Builder = Held<tessera_block_builder, tessera_block_builder_free>;
using CompletionHandle = Held<tessera_completion, tessera_completion_free>;
using Operator = Held<tessera_operator, tessera_operator_free>;
using PreconditionerHandle = Held<tessera_preconditioner, tessera_preconditioner_free>;
using Factor = Held<tessera_cholesky_factor, tessera_cholesky_factor_free>;

}  // namespace tessera::test
