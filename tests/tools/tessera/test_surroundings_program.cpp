// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <random>
#include <vector>

#include <sys/stat.h>
#include <tests/tools/program_test.hpp>

/// The program with damaged or missing StarPU files, directories and variables.
namespace tessera::test {
namespace {

/// A run must end with exit code 0, or with 2 and one line. It must leave nothing in /tmp/.starpu
/// and no directory of its own.
class SurroundingsProgram : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    for (const char* name : {"home", "run"}) fs::create_directories(path(name));
  }
  /// Unsets variables that must not be inherited from the test's environment.
  std::string bare(const std::string& more) const {
    return fmt::format(
        "cd {0} && env -u STARPU_HOME -u XDG_CACHE_HOME -u STARPU_PERF_MODEL_DIR -u TMPDIR "
        "TESSERA_PERFMODELS= "
        "XDG_RUNTIME_DIR={0}/run env {1}",
        path(""), more);
  }
  std::string at_home() const { return bare("HOME=" + path("home")); }
  void expect_clean(const std::string& what) const {
    EXPECT_FALSE(fs::exists("/tmp/.starpu")) << what;
    EXPECT_TRUE(fs::is_empty(path("run"))) << what;
  }
  void expect_good(const Outcome& outcome, const std::string& what) const {
    EXPECT_EQ(outcome.code, 0) << what << '\n' << outcome.err;
    expect_clean(what);
  }
  std::vector<fs::path> kept_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(path("home")))
      if (entry.is_regular_file() && entry.path().extension() != ".xml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
  static std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  const std::string solve_ = "eigen --generate random --n 48 --cores 2 --json - --scheduler ";
};

/// Damages a text in a randomly chosen way.
std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  switch (below(7)) {
    case 0:
      return text.substr(0, below(text.size()));
    case 1:
      for (int k = 0; k < 20; ++k) text[below(text.size())] = static_cast<char>(random());
      return text;
    case 2: {  // a missing line
      const std::size_t begin = text.rfind('\n', below(text.size())) + 1;
      return text.erase(begin, text.find('\n', begin) - begin + 1);
    }
    case 3: {  // a number that is invalid or impossible
      const char* const wrong[] = {"-1", "abc", "99999999999999999999", "nan", "1e999", ""};
      const std::size_t begin = text.find_first_of("0123456789", below(text.size() / 2));
      if (begin == std::string::npos) return {};
      return text.replace(begin, text.find_first_of("\t\n ", begin) - begin, wrong[below(6)]);
    }
    case 4:
      for (char& c : text) c = static_cast<char>(random());
      return text;
    case 5:
      return std::string(text.size(), '\0');
    default:
      return text.insert(below(text.size()), "garbage ");
  }
}

TEST_F(SurroundingsProgram, DamagedModelsAndBusesAreMeasuredAnew) {
  expect_good(run(solve_ + "dmda", at_home() + " STARPU_CALIBRATE=1"), "first");
  const std::vector<fs::path> files = kept_files();
  ASSERT_GT(files.size(), 10u);
  ASSERT_TRUE(
      std::any_of(files.begin(), files.end(), [](const fs::path& f) { return f.extension() == ".config"; }));
  std::mt19937 random(20260101);
  int set_aside = 0;
  for (int trial = 0; trial < 30; ++trial) {
    // The few bus files are read for every policy.
    std::vector<fs::path> chosen;
    for (const fs::path& file : files)
      if ((file.parent_path().filename() == "bus") == (trial % 3 == 0)) chosen.push_back(file);
    const fs::path file = chosen[random() % chosen.size()];
    const std::string good = text_of(file);
    std::ofstream(file, std::ios::binary) << damaged(good, random);
    const std::string policy = trial % 5 == 0 ? "lws" : "dmda";
    const Outcome outcome = run(solve_ + policy, at_home());
    expect_good(outcome, fmt::format("trial {}, {} with {}", trial, file.string(), policy));
    EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    if (fs::exists(file.string() + ".damaged")) {
      ++set_aside;
      EXPECT_NE(outcome.err.find(file.string()), std::string::npos) << outcome.err;
      fs::remove(file.string() + ".damaged");
    }
    std::ofstream(file, std::ios::binary) << good;
  }
  EXPECT_GE(set_aside, 15);
}

TEST_F(SurroundingsProgram, TwoThatStartTogetherWithNothing) {
  const std::string other = file("both", fmt::format("'{0}' {1}dmda >first 2>&1 &\none=$!\n\"$@\"\ntwo=$?\n"
                                                     "wait $one && exit $two\nexit 3\n",
                                                     program_, solve_));
  for (int round = 0; round < 3; ++round) {
    fs::remove_all(path("home"));
    fs::create_directories(path("home"));
    expect_good(run(solve_ + "dmda", at_home() + " STARPU_CALIBRATE=1 bash " + other), contents("first"));
    const Outcome third = run(solve_ + "dmda", at_home());
    expect_good(third, "third");
    EXPECT_EQ(third.err, "") << "all that was kept is whole";
  }
}

TEST_F(SurroundingsProgram, HomesThatAreNoGood) {
  file("file", "not a directory");
  const std::string folder = path("file"), deep = path(std::string(150, 'x') + "/" + std::string(150, 'y'));
  const std::vector<std::string> cases{std::string("-u HOME"),
                                       std::string("HOME="),
                                       std::string("HOME=relative"),
                                       "HOME=" + folder,
                                       std::string("HOME=/nonexistent/home"),
                                       std::string("HOME=/proc"),
                                       "HOME=" + path("home") + " XDG_CACHE_HOME=" + folder,
                                       "HOME=" + path("home") + " XDG_CACHE_HOME=relative",
                                       std::string("XDG_CACHE_HOME=/proc"),
                                       "XDG_CACHE_HOME=" + deep,
                                       "STARPU_HOME=" + folder,
                                       "STARPU_PERF_MODEL_DIR=" + folder,
                                       "STARPU_PERF_MODEL_DIR=" + deep,
                                       "TMPDIR=/nonexistent",
                                       "TMPDIR=" + folder,
                                       std::string("TMPDIR=relative"),
                                       std::string("STARPU_PERF_MODEL_PATH=/nonexistent:,:")};
  for (const std::string& variables : cases)
    for (const char* policy : {"lws", "dmda"}) {
      const Outcome outcome = run(solve_ + policy, bare(variables));
      expect_good(outcome, variables);
      EXPECT_EQ(outcome.err, "") << variables;
    }
  EXPECT_FALSE(fs::exists("/nonexistent"));
  EXPECT_FALSE(fs::exists(path("relative")));
}

TEST_F(SurroundingsProgram, NonsenseInVariablesIsOneLine) {
  for (const char* variable :
       {"STARPU_NCPU=abc", "STARPU_NCPU=-5", "STARPU_NCPU=99999999999", "STARPU_NCUDA=x",
        "STARPU_LIMIT_CPU_MEM=-1", "STARPU_LIMIT_CUDA_MEM=1G", "STARPU_WORKERS_CPUID=x",
        "STARPU_SCHED=nonsense", "STARPU_CALIBRATE=yes", "STARPU_MPI_NOBIND=no", "STARPU_FXT_TRACE=on",
        "STARPU_STATS=abc", "STARPU_SILENT=", "STARPU_DISABLE_KERNELS=1", "STARPU_HOSTNAME=a/b"}) {
    const std::string text = variable, name = text.substr(0, text.find('='));
    const Outcome outcome = run("eigen --generate random --n 32", at_home() + " '" + text + "'");
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_TRUE(outcome.err.starts_with("tessera eigen: " + name + " = ")) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    expect_clean(text);
  }
  expect_refused("eigen --generate random --n 32 --scheduler nonsense", "dmdas");
}

}  // namespace
}  // namespace tessera::test
