// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <thread>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>

#include <tessera/status.hpp>
#include <tessera/version.hpp>

namespace tessera::test {
namespace {

class CBase : public CTest<double> {};

TEST_F(CBase, CodesHaveNames) {
  std::set<std::string> names;
  for (int code = -7; code <= TESSERA_NO_GAP; ++code) names.insert(tessera_code_name(code));
  EXPECT_EQ(names.size(), 19u);
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_STREQ(tessera_code_name(TESSERA_NO_GAP), to_string(StatusCode::no_gap));
  EXPECT_STREQ(tessera_code_name(TESSERA_STOPPED), to_string(StatusCode::stopped));
  EXPECT_STREQ(tessera_code_name(99), "unknown");
  EXPECT_STREQ(tessera_code_name(-99), "unknown");
}

TEST_F(CBase, Versions) {
  EXPECT_STREQ(tessera_version(), TESSERA_VERSION_STRING);
  EXPECT_EQ(tessera_version_number(),
            1000000 * TESSERA_VERSION_MAJOR + 1000 * TESSERA_VERSION_MINOR + TESSERA_VERSION_PATCH);
  EXPECT_GT(std::string(tessera_commit()).size(), 0u);
}

TEST_F(CBase, Types) {
  EXPECT_EQ(tessera_type_bytes(TESSERA_FLOAT), sizeof(float));
  EXPECT_EQ(tessera_type_bytes(TESSERA_DOUBLE), sizeof(double));
  EXPECT_EQ(tessera_type_bytes(TESSERA_COMPLEX_FLOAT), sizeof(std::complex<float>));
  EXPECT_EQ(tessera_type_bytes(TESSERA_COMPLEX_DOUBLE), sizeof(std::complex<double>));
  EXPECT_EQ(tessera_type_bytes('x'), 0u);
}

/// A null Runtime is the one that is alive.
TEST_F(CBase, RuntimeTells) {
  for (tessera_runtime* given : {runtime, static_cast<tessera_runtime*>(nullptr)}) {
    int rank = -1, size = -1, cpus = -1, gpus = -1, poisoned = -1;
    EXPECT_C(tessera_runtime_rank(given, &rank, &size));
    EXPECT_EQ(rank, 0);
    EXPECT_EQ(size, 1);
    EXPECT_C(tessera_runtime_workers(given, &cpus, &gpus));
    EXPECT_EQ(cpus, 2);
    EXPECT_GE(gpus, 0);
    EXPECT_C(tessera_runtime_poisoned(given, &poisoned));
    EXPECT_EQ(poisoned, 0);
    const char* text = nullptr;
    EXPECT_C(tessera_runtime_text(given, "version", &text));
    EXPECT_STREQ(text, tessera_version());
    EXPECT_EQ(tessera_runtime_text(given, "colour", &text), TESSERA_INVALID_ARGUMENT);
  }
}

TEST_F(CBase, ASecondRuntimeIsRefused) {
  tessera_runtime* second = runtime;
  EXPECT_EQ(tessera_runtime_create(nullptr, &second), TESSERA_RUNTIME_ERROR);
  EXPECT_EQ(second, nullptr);
  EXPECT_GT(std::string(tessera_last_message()).size(), 10u);
}

/// Messages belong to the thread whose call has failed.
TEST_F(CBase, MessagesOfThreads) {
  EXPECT_EQ(tessera_runtime_text(runtime, "colour", nullptr), TESSERA_INVALID_ARGUMENT);
  const std::string here = tessera_last_message();
  EXPECT_NE(here.find("colour"), std::string::npos);
  std::thread([] {
    EXPECT_STREQ(tessera_last_message(), "");
    EXPECT_EQ(tessera_test(nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tessera_last_message()).find("completion"), std::string::npos);
  }).join();
  EXPECT_EQ(here, tessera_last_message());
}

/// Null pointers where an object is needed are errors, and to free them is none.
TEST_F(CBase, NullPointers) {
  EXPECT_EQ(tessera_runtime_create(nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_wait(nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_block_matrix_to_dense(nullptr, nullptr, 1), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_block_add(nullptr, nullptr, nullptr, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_density_matrix(nullptr, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_scf(runtime, nullptr, nullptr, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_lobpcg(nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_matrix_sign(nullptr, nullptr, nullptr, nullptr), TESSERA_INVALID_ARGUMENT);
  tessera_runtime_free(nullptr);
  tessera_completion_free(nullptr);
  tessera_sequence_free(nullptr);
  tessera_block_layout_free(nullptr);
  tessera_block_matrix_free(nullptr);
  tessera_block_builder_free(nullptr);
  tessera_operator_free(nullptr);
  tessera_preconditioner_free(nullptr);
  tessera_density_result_free(nullptr);
}

/// What the library says reaches the caller's function.
TEST(CRuntime, LogReachesTheCaller) {
  tessera_runtime_options options;
  tessera_runtime_options_init(&options);
  options.cores = 1;
  options.gpus = 0;
  std::vector<std::string> lines;
  options.log_user = &lines;
  options.log = [](int level, const char* message, void* user) {
    EXPECT_GE(level, 0);
    EXPECT_LE(level, 3);
    static_cast<std::vector<std::string>*>(user)->push_back(message);
  };
  tessera_runtime* runtime = nullptr;
  ASSERT_C(tessera_runtime_create(&options, &runtime));
  tessera_runtime_free(runtime);
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.front().find("CPU"), std::string::npos) << lines.front();
}

}  // namespace
}  // namespace tessera::test
