// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include <tests/tools/program_test.hpp>

#include <tessera/matgen.hpp>

#include "lanczos.hpp"
#include "lapack_peer.hpp"

/// The Lanczos method that `--peer lanczos` and `cusparse-lanczos` share, on the host.
namespace {

using namespace tessera;
using namespace tessera::program;
using namespace tessera::test;

template <class T>
FullRows<T> diagonal_rows(const std::vector<double>& values) {
  FullRows<T> rows{{0}, {}, {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    rows.columns.push_back(static_cast<std::int32_t>(i));
    rows.values.push_back(static_cast<T>(values[i]));
    rows.begins.push_back(static_cast<Index>(i + 1));
  }
  return rows;
}

template <class T>
LanczosResult solve(FullRows<T> rows, LanczosOptions options) {
  const auto n = static_cast<Index>(rows.begins.size()) - 1;
  const auto space = make_host_lanczos<T>(std::move(rows), lanczos_vectors(options.count, n), 2);
  begin_lanczos<T>(*space, 1);
  return solve_by_lanczos<T>(*space, options);
}

template <class T>
class LanczosPeer : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LanczosPeer, Reals);

/// Against LAPACK, whose values are further apart than the tolerance.
TYPED_TEST(LanczosPeer, FindsWhatLapackFinds) {
  using T = TypeParam;
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10;
  for (const char* kind : {"heisenberg:10", "hubbard:4", "shell:sd:0:4", "laplacian2d:11:7"}) {
    const SparseGenerator made = make_sparse_generator(kind);
    const Index n = made.a->order();
    RangeOption all;
    std::vector<double> exact =
        solve_with_lapack<double>(dense_matrix<double>(*made.a), {}, n, all, false).values;
    const double norm = std::max(std::abs(exact.front()), std::abs(exact.back()));
    for (const bool largest : {false, true}) {
      if (largest) std::reverse(exact.begin(), exact.end());
      for (const Index count : {1, 4, 12}) {
        SCOPED_TRACE(fmt::format("{} largest {} count {}", kind, largest, count));
        const LanczosResult found =
            solve<T>(full_rows<T>(*made.a, 1),
                     {.count = count, .largest = largest, .tolerance = tolerance, .a_norm = norm});
        const Index vectors = lanczos_vectors(count, n);
        EXPECT_EQ(vectors, std::min(std::max<Index>(20, 2 * count + 1), n));
        EXPECT_GE(found.columns_multiplied, vectors + count);
        EXPECT_LE(found.columns_multiplied, vectors * (found.restarts + 1) + count);
        EXPECT_LE(found.largest_residual, 1.1);
        ASSERT_EQ(Index(found.values.size()), count);
        for (std::size_t k = 0; k < found.values.size(); ++k) {
          // Of multiple eigenvalues one vector shows one at first: each must be an eigenvalue.
          const double nearest = *std::min_element(exact.begin(), exact.end(), [&](double x, double y) {
            return std::abs(x - found.values[k]) < std::abs(y - found.values[k]);
          });
          EXPECT_NEAR(found.values[k], nearest, 2.2 * tolerance * norm);
        }
        EXPECT_NEAR(found.values[0], exact[0], 2.2 * tolerance * norm);
      }
      if (largest) std::reverse(exact.begin(), exact.end());
    }
  }
}

/// Simple eigenvalues, the lowest close to each other: values by their closed form, in order, and thick restarts.
TEST(LanczosPeerInDouble, ClosedFormWithRestarts) {
  const Index n = 300;
  const SparseGenerator made = make_sparse_generator("laplacian1d:300");
  for (const char* norm : {"absolute", "backward", "relative"}) {
    const LanczosResult found = solve<double>(
        full_rows<double>(*made.a, 1),
        {.count = 5, .tolerance = norm == std::string("relative") ? 1e-5 : 1e-9, .norm = norm, .a_norm = 4});
    ASSERT_EQ(found.values.size(), 5u) << norm;
    EXPECT_GT(found.restarts, 5);
    for (std::size_t k = 0; k < 5; ++k) {
      const double s = std::sin(double(k + 1) * std::numbers::pi / (2.0 * double(n + 1)));
      EXPECT_NEAR(found.values[k], 4 * s * s, 1e-8);
    }
  }
}

TEST(LanczosPeerInDouble, EndsEarly) {
  const SparseGenerator made = make_sparse_generator("laplacian1d:300");
  const LanczosResult cut =
      solve<double>(full_rows<double>(*made.a, 1), {.count = 5, .tolerance = 1e-12, .restarts = 2});
  EXPECT_EQ(cut.restarts, 2);
  EXPECT_LT(cut.values.size(), 5u);
  EXPECT_GT(cut.largest_residual, 1);
  // Three different eigenvalues: an invariant space after three steps.
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(i % 3);
  const LanczosResult three = solve<double>(diagonal_rows<double>(values), {.count = 3, .tolerance = 1e-10});
  ASSERT_EQ(three.values.size(), 3u);
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(three.values[std::size_t(k)], k, 1e-12);
  EXPECT_THROW(solve<double>(diagonal_rows<double>(values), {.count = 4}), Error);
  values[7] = NAN;
  EXPECT_THROW(solve<double>(diagonal_rows<double>(values), {.count = 2}), Error);
  const LanczosResult small = solve<double>(diagonal_rows<double>({5, 1, 3, 2, 4}), {.count = 1});
  ASSERT_EQ(small.values.size(), 1u);
  EXPECT_NEAR(small.values[0], 1, 1e-12);
}

class LanczosProgram : public Program {};

TEST_F(LanczosProgram, IsAPeer) {
  const Json solved = record("lobpcg --generate heisenberg:12 --k 3 --peer lanczos --repeat 2");
  EXPECT_TRUE(passed(solved));
  const Json& peer = solved["peer"];
  EXPECT_EQ(peer["name"], "thick-restart Lanczos");
  EXPECT_NE(peer["version"], "");
  EXPECT_EQ(peer["runs"].size(), 2u);
  EXPECT_EQ(peer["result"]["converged"], 3);
  EXPECT_EQ(peer["result"]["basis"], 20);
  EXPECT_GE(peer["result"]["columns_multiplied"], 23);
  EXPECT_LE(peer["result"]["largest_residual"], 1.1);
  EXPECT_GT(peer["result"]["conversion_seconds"], 0);
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(peer["result"]["values"][k].get<double>(), result(solved)["values"][k].get<double>(), 1e-7);
  EXPECT_TRUE(passed(
      record("lobpcg --generate heisenberg:10 --k 2 --largest --storage f --vectors-type f --peer lanczos")));
  // One vector finds one of two equal eigenvalues first, which is told from what we have.
  const Json multiple = record("lobpcg --generate laplacian2d:9:9 --k 3 --tol 1e-3 --peer lanczos", 1);
  EXPECT_NE(multiple["runs"][0]["check"]["failure"].get<std::string>().find("the peer's"), std::string::npos);
}

TEST_F(LanczosProgram, WhereItCannotRun) {
  for (const char* peer : {"lanczos", "cusparse-lanczos"}) {
    const std::string solve = fmt::format("lobpcg --generate laplacian1d:60 --k 2 --peer {}", peer);
    if (peer == std::string("cusparse-lanczos")) {
      const Json machine = record("lobpcg --generate laplacian1d:60 --k 2")["machine"];
      if (machine["cuda_workers"] == 0) {
        expect_refused(solve, "this run has no GPU");
        continue;
      }
      EXPECT_TRUE(passed(record(solve)));
    }
    expect_refused(fmt::format("lobpcg --generate mikota:60 --k 2 --peer {}", peer),
                   fmt::format("--peer: '{}' is not possible", peer));
  }
}

/// The script that times eigsh of CuPy and SciPy: its values are ours, and so is the residual that it reaches.
class EigshScript : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    const char *python = std::getenv("TESSERA_TEST_PYTHON"), *tools = std::getenv("TESSERA_TOOLS");
    if (!python || !tools) GTEST_SKIP() << "TESSERA_TEST_PYTHON and TESSERA_TOOLS are not set";
    script_ = fmt::format("'{}' '{}/peers/eigsh_peer.py'", python, tools);
    if (!imports(python, "numpy, scipy")) GTEST_SKIP() << "no SciPy";
    python_ = python;
  }
  static bool imports(const std::string& python, const std::string& modules) {
    return std::system(fmt::format("'{}' -c 'import {}' 2>/dev/null", python, modules).c_str()) == 0;
  }
  Outcome run_script(const std::string& arguments) const {
    const std::string command =
        fmt::format("{} {} >{} 2>{}", script_, arguments, path("stdout"), path("stderr"));
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents("stdout"), contents("stderr")};
  }
  std::string script_, python_;
};

TEST_F(EigshScript, FindsWhatWeFind) {
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n300 300 599\n1 1 2\n";
  for (int i = 2; i <= 300; ++i) text += fmt::format("{0} {0} 2\n{0} {1} -1\n", i, i - 1);
  const std::string matrix = file("l.mtx", text);
  const Json ours = record("lobpcg " + matrix + " --k 3 --tol 1e-9 --peer lanczos");
  std::vector<std::string> files{matrix};
  if (imports(python_, "h5py")) {
    record("lobpcg " + matrix + " --k 1 --iterations 0 --save-matrix " + path("l.h5"), 1);
    files.push_back(path("l.h5"));
  }
  for (const std::string& name : files) {
    const Outcome outcome = run_script(name + " --library scipy --k 3 --tol 1e-9");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json theirs = Json::parse(outcome.out);
    EXPECT_EQ(theirs["n"], 300);
    EXPECT_EQ(theirs["entries"], 898);
    EXPECT_EQ(theirs["converged"], true);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(theirs["values"][k].get<double>(), result(ours)["values"][k].get<double>(), 1e-8);
      EXPECT_LE(theirs["scaled_residuals"][k].get<double>(), 1.1);
    }
    // The Lanczos method here is ARPACK's: as many products, but for the start vector.
    const double products = theirs["products"].get<double>(),
                 lanczos = ours["peer"]["result"]["columns_multiplied"].get<double>();
    EXPECT_GT(products, lanczos / 2);
    EXPECT_LT(products, 2 * lanczos);
  }
}

TEST_F(EigshScript, SaysWhatIsMissing) {
  if (imports(python_, "cupy")) GTEST_SKIP() << "there is CuPy";
  const std::string matrix =
      file("m.mtx", "%%MatrixMarket matrix coordinate real symmetric\n30 30 1\n1 1 2\n");
  const Outcome outcome = run_script(matrix);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.starts_with("eigsh_peer: CuPy cannot be imported")) << outcome.err;
  EXPECT_EQ(run_script(path("none.mtx") + " --library scipy").code, 2);
  EXPECT_EQ(run_script(matrix + " --library scipy --k 40").code, 2);
}

}  // namespace
