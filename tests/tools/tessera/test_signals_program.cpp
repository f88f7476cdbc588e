// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/tools/program_test.hpp>

/// Signals must end the program with one line and leave no files behind.
namespace tessera::test {
namespace {

class Signals : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    fs::create_directories(path("tmp"));
    fs::create_directories(path("out"));
    std::ofstream(path("out/e_values.mtx")) << "old";
  }
  /// The program gets the signal after two seconds, during a much longer first solve. A launcher of
  /// ranks gets it only once, because Open MPI's launcher kills the ranks at a second signal.
  Outcome interrupted_by(const std::string& signal, const std::string& launcher = "") const {
    return run("eigen --generate random --n 6000 --check none --output " + path("out/e"),
               fmt::format("TMPDIR={0} XDG_RUNTIME_DIR={0} timeout {3} --preserve-status -s {1} 2 {2}",
                           path("tmp"), signal, launcher, launcher.empty() ? "" : "--foreground"));
  }
  void expect_nothing_left() const {
    EXPECT_TRUE(fs::is_empty(path("tmp"))) << fs::directory_iterator(path("tmp"))->path();
    EXPECT_EQ(std::distance(fs::directory_iterator(path("out")), fs::directory_iterator()), 1);
    EXPECT_EQ(contents("out/e_values.mtx"), "old");
  }
};

TEST_F(Signals, EndWithOneLineAndNoLeftovers) {
  for (const auto& [name, number] : {std::pair("INT", 2), std::pair("TERM", 15), std::pair("HUP", 1)}) {
    const Outcome outcome = interrupted_by(name);
    EXPECT_EQ(outcome.code, 128 + number) << name;
    EXPECT_EQ(
        outcome.err,
        fmt::format("tessera: interrupted by SIG{}: every output file is as it was or complete\n", name));
    EXPECT_EQ(outcome.out, "");
    expect_nothing_left();
  }
}

/// Signals that the parent has set to be ignored, as nohup does, must stay ignored.
TEST_F(Signals, ThatAreIgnoredStayIgnored) {
  const Outcome outcome = run("eigen --generate random --n 1500 --check none --quiet",
                              "timeout --preserve-status -s HUP 0.3 nohup");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Signals, OfAllRanksToo) {
  const char* const mpiexec = std::getenv("MPIEXEC");
  if (!mpiexec || !*mpiexec) GTEST_SKIP() << "MPIEXEC is not set";
  const Outcome outcome = interrupted_by(
      "TERM", fmt::format("env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 STARPU_NCPU=1 '{}' "
                          "--oversubscribe --bind-to none -n 2",
                          mpiexec));
  EXPECT_NE(outcome.code, 0);
  EXPECT_EQ(contents("out/e_values.mtx"), "old");
  for (const auto& left : fs::directory_iterator(path("tmp")))  // Open MPI may leave its own folder
    EXPECT_EQ(left.path().filename().string().find(".tessera"), std::string::npos) << left.path();
}

}  // namespace
}  // namespace tessera::test
