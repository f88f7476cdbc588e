// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstdlib>

#include <tests/tools/program_test.hpp>

/// `--checkpoint` and `--resume` as a user would use them: after a kill, with a full disk, with wrong files.
namespace {

using namespace tessera::test;

class CheckpointProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (const char* preload = std::getenv("TESSERA_FAULT_PRELOAD")) preload_ = preload;
  }
  /// The environment in which the nth call on paths in this test's folder fails.
  std::string fault(const std::string& call, int nth, const std::string& more) const {
    return fmt::format(
        "LD_PRELOAD='{}' TESSERA_FAULT_CALL={} TESSERA_FAULT_PATH='{}' TESSERA_FAULT_NTH={} {}", preload_,
        call, directory_.string(), nth, more);
  }
  static std::vector<double> values(const Json& record) { return result(record)["values"]; }
  static std::size_t iterations_of_run(const Json& record) { return result(record)["history"].size(); }
  void expect_same(const Json& a, const Json& b, double tolerance) const {
    ASSERT_EQ(values(a).size(), values(b).size());
    for (std::size_t k = 0; k < values(a).size(); ++k)
      EXPECT_NEAR(values(a)[k], values(b)[k], tolerance) << k;
  }
  std::string preload_;
};

/// SIGKILL while the third checkpoint takes its place: the second one is there, and one and two ranks go on from it.
TEST_F(CheckpointProgram, GoesOnAfterAKill) {
  if (preload_.empty()) GTEST_SKIP() << "TESSERA_FAULT_PRELOAD is not set";
  const std::string file = path("c.h5");
  for (const char* solve : {"--k 3 --method lobpcg", "--k 4 --method gd", "--k 36 --method gd"}) {
    SCOPED_TRACE(solve);
    const std::string problem = fmt::format("lobpcg --generate laplacian2d:19:17 {} --tol 1e-9 ", solve);
    const Json whole = record(problem);
    EXPECT_TRUE(passed(whole));
    const int every = static_cast<int>(iterations_of_run(whole) / 4);
    const Outcome killed =
        run(fmt::format("{} --checkpoint {} --checkpoint-iterations {}", problem, file, every),
            fault("rename", 3, "TESSERA_FAULT_KILLS=1"));
    EXPECT_TRUE(killed.code == 137 || killed.code == -1) << killed.code << killed.err;
    for (const std::string& ranks : {std::string(), two_ranks()}) {
      const Json resumed = record(problem + " --resume " + file, 0, ranks);
      EXPECT_TRUE(passed(resumed));  // residuals computed afresh, and the exact eigenvalues
      expect_same(whole, resumed, 1e-8);
      EXPECT_EQ(result(resumed)["iterations_before"], 2 * every);
      EXPECT_LT(iterations_of_run(resumed), iterations_of_run(whole));
      EXPECT_EQ(result(resumed)["history"][0]["iteration"], 2 * every + 1);
    }
    // The next file removes what the killed run has left.
    const Json next =
        record(problem + fmt::format(" --resume {} --checkpoint {} --checkpoint-iterations 4", file, file));
    EXPECT_GT(result(next)["checkpoints"], 0);
    EXPECT_TRUE(result(next)["checkpoint_failure"].is_null());
    for (const auto& entry : fs::directory_iterator(directory_)) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(name == "c.h5" || name.starts_with("std")) << name;
    }
    fs::remove(file);
  }
}

/// The disk is full from the second checkpoint on: the solve ends as without, and says so.
TEST_F(CheckpointProgram, GoesOnWithAFullDisk) {
  if (preload_.empty()) GTEST_SKIP() << "TESSERA_FAULT_PRELOAD is not set";
  const std::string file = path("c.h5"), problem = "lobpcg --generate laplacian2d:19:17 --k 3 ";
  const Json whole = record(problem);
  // Its first write was done by the check before the solve and the first checkpoint.
  fs::create_directory(path("full"));
  const std::string full = path("full") + "/c.h5";
  const auto in_full_folder = [&](int nth) {
    return fmt::format(
        "LD_PRELOAD='{}' TESSERA_FAULT_CALL=write TESSERA_FAULT_PATH='{}' TESSERA_FAULT_NTH={} "
        "TESSERA_FAULT_ERROR=28 "
        "TESSERA_FAULT_STAYS=1",
        preload_, path("full"), nth);
  };
  const Json record_full =
      record(problem + fmt::format(" --checkpoint {} --checkpoint-iterations 5", full), 0, in_full_folder(1));
  expect_same(whole, record_full, 1e-12);
  EXPECT_EQ(result(record_full)["checkpoints"], 0);
  EXPECT_NE(result(record_full)["checkpoint_failure"].get<std::string>().find("No space left on device"),
            std::string::npos);
  EXPECT_TRUE(fs::is_empty(path("full")));
  const Outcome said =
      run(problem + fmt::format(" --checkpoint {} --checkpoint-iterations 5", full), in_full_folder(1));
  EXPECT_EQ(said.code, 0);
  EXPECT_NE(said.out.find("not written: " + full), std::string::npos) << said.out;
}

/// A run that is out of iterations leaves a checkpoint; the same command with --resume comes to the end at last.
TEST_F(CheckpointProgram, ShortRuns) {
  const std::string file = path("c.h5"),
                    problem = fmt::format(
                        "lobpcg --generate laplacian1d:100 --k 2 --iterations 25 --checkpoint {} ", file);
  Json last = record(problem, 1);
  EXPECT_EQ(result(last)["status"], "iterations exhausted");
  int runs = 1;
  for (; runs < 30 && result(last)["status"] != "success"; ++runs) {
    const Outcome outcome = run(problem + "--resume " + file + " --json " + path("last.json"));
    last = Json::parse(contents("last.json"), nullptr, false);
    ASSERT_FALSE(last.is_discarded()) << outcome.err;
    EXPECT_NE(outcome.out.find("iter  conv"), std::string::npos) << "the heading of the table";
    EXPECT_NE(outcome.out.find("iterations of these before " + file), std::string::npos);
  }
  EXPECT_GT(runs, 2);
  EXPECT_TRUE(passed(last));
}

/// A stored matrix and a product without it have their vectors in different orders.
TEST_F(CheckpointProgram, ProductsStoredAndFree) {
  const std::string file = path("c.h5"), problem = "lobpcg --generate shell:20Ne --k 2 --quantum-numbers no ";
  const Json whole = record(problem);
  for (const char* product : {"stored", "free"}) {
    const std::string of = fmt::format("{} --product {} ", problem, product);
    record(of + "--iterations 6 --checkpoint " + file, 1);
    const Json resumed = record(of + "--resume " + file);
    expect_same(whole, resumed, 1e-6);
    EXPECT_EQ(result(resumed)["iterations_before"], 6);
    const char* other = product == std::string("stored") ? "free" : "stored";
    expect_refused(fmt::format("{} --product {} --resume {}", problem, other, file),
                   fmt::format("--resume: '{}'", file));
  }
}

TEST_F(CheckpointProgram, BadFilesAndUsage) {
  const std::string file = path("c.h5"), problem = "lobpcg --generate laplacian2d:19:17 --k 3 ";
  record(problem + "--iterations 5 --checkpoint " + file, 1);
  const std::string good = contents("c.h5");
  expect_refused("lobpcg --generate laplacian2d:19:17 --k 4 --resume " + file, "--resume: '" + file);
  expect_refused("lobpcg --generate laplacian2d:17:19 --k 3 --resume " + file, "Ritz value");
  expect_refused("lobpcg --generate laplacian2d:19:18 --k 3 --resume " + file, "order 342, not 323");
  expect_refused(problem + "--largest --resume " + file, "largest = 1, not 0");
  expect_refused(problem + "--storage f --vectors-type f --resume " + file, "type d, expected s");
  expect_refused(problem + "--resume " + path("none.h5"), "none.h5");
  expect_refused(problem + "--resume " + this->file("text.h5", "%%MatrixMarket"), "seems to be");
  for (const std::size_t length : {std::size_t(600), good.size() / 2, good.size() - 1})
    expect_refused(problem + "--resume " + this->file("short.h5", good.substr(0, length)), "short.h5");
  std::string damaged = good;
  damaged[good.size() / 2] = static_cast<char>(damaged[good.size() / 2] ^ 1);
  expect_refused(problem + "--resume " + this->file("damaged.h5", damaged), "is damaged");
  expect_refused(problem + "--save-matrix " + path("m.h5") + " --iterations 0 --resume " + path("m.h5"),
                 "m.h5");
  expect_refused(problem + "--checkpoint " + path("c.txt"), "a file whose name ends in .h5");
  expect_refused(problem + "--checkpoint /nowhere/c.h5", "--checkpoint");
  expect_refused(problem + "--checkpoint-seconds 5", "--checkpoint-seconds: '5' has no effect");
  expect_refused(problem + "--checkpoint-iterations 5", "--checkpoint-iterations: '5' has no effect");
  expect_refused(problem + "--checkpoint-seconds 0 --checkpoint " + file, "--checkpoint-seconds: '0'");
  expect_refused(problem + "--repeat 2 --checkpoint " + file, "--checkpoint: '" + file);
  expect_refused(problem + "--warmup 1 --resume " + file, "--resume: '" + file);
  EXPECT_EQ(contents("c.h5"), good);
}

}  // namespace
