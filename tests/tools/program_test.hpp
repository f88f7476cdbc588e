// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::test {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string out, err;
};

/// Runs the program and the benchmarks as a user would, in a separate directory.
class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* program = std::getenv("TESSERA_PROGRAM");
    if (!program) GTEST_SKIP() << "TESSERA_PROGRAM is not set";
    program_ = program;
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = fs::temp_directory_path() / fmt::format("tessera_program_{}_{}", test->name(), ::getpid());
    fs::create_directories(directory_);
  }
  void TearDown() override {
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string contents(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  /// The quoted executable for the arguments, and the remaining arguments. A first word bench_NAME
  /// names a benchmark.
  std::string words(const std::string& arguments) const {
    if (!arguments.starts_with("bench_")) return fmt::format("'{}' {}", program_, arguments);
    const char* directory = std::getenv("TESSERA_BENCHES");
    const std::string name = arguments.substr(0, arguments.find(' '));
    return fmt::format("'{}/{}' {}", directory ? directory : "build/bin", name,
                       arguments.substr(name.size()));
  }
  Outcome run(const std::string& arguments, const std::string& before = "") const {
    const std::string command =
        fmt::format("{} {} >{} 2>{}", before, words(arguments), path("stdout"), path("stderr"));
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents("stdout"), contents("stderr")};
  }
  /// The record of a run, which must end with this exit code.
  Json record(const std::string& arguments, int code = 0, const std::string& before = "") const {
    const Outcome outcome = run(arguments + " --json -", before);
    EXPECT_EQ(outcome.code, code) << arguments << '\n' << outcome.err << outcome.out;
    const Json json = Json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << arguments << '\n' << outcome.out;
    return json;
  }
  static const Json& result(const Json& record) { return record["runs"].back()["result"]; }
  static bool passed(const Json& record) { return record["runs"].back()["check"]["passed"].get<bool>(); }
  /// The command prefix for several ranks of the program; empty without mpiexec.
  static std::string ranks(int count) {
    const char* mpiexec = std::getenv("MPIEXEC");
    if (!mpiexec || !*mpiexec) return {};
    return fmt::format(
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 STARPU_NCPU=1 STARPU_MPI_NOBIND=1 "
        "OMPI_MCA_mpi_yield_when_idle=1 '{}' -n {} --oversubscribe --bind-to none",
        mpiexec, count);
  }
  static std::string two_ranks() { return ranks(2); }
  /// Exit code 2, nothing on stdout, and one line on stderr that contains `what`.
  void expect_refused(const std::string& arguments, const std::string& what) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << arguments << '\n'
                                                                           << outcome.err;
    const std::string name =
        arguments.starts_with("bench_") ? arguments.substr(0, arguments.find(' ')) : "tessera";
    // The message also names the program's command if it is known.
    EXPECT_TRUE(outcome.err.starts_with(name + ": ") || outcome.err.starts_with(name + " ")) << outcome.err;
    EXPECT_NE(outcome.err.find(": "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(what), std::string::npos) << arguments << '\n' << outcome.err;
  }

  std::string program_;
  fs::path directory_;
};

}  // namespace tessera::test
