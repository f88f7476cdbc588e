// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>

#include <tests/tools/program_test.hpp>

#include <tessera/runtime/types.hpp>

#include "lobpcg_peer.hpp"
#include "residual_plot.hpp"

/// `tessera lobpcg` and `tessera bench spmm` as a user runs them.
namespace {

using namespace tessera;
using namespace tessera::test;

class LobpcgProgram : public Program {
 protected:
  Json record(const std::string& arguments, int code = 0, const std::string& before = "") const {
    const Outcome outcome = run(arguments + " --json -", before);
    EXPECT_EQ(outcome.code, code) << arguments << '\n' << outcome.err << outcome.out;
    const Json json = Json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << arguments << '\n' << outcome.out;
    return json;
  }
  static const Json& result(const Json& record) { return record["runs"].back()["result"]; }
  static bool passed(const Json& record) { return record["runs"].back()["check"]["passed"].get<bool>(); }
};

TEST_F(LobpcgProgram, BadUsage) {
  expect_refused("lobpcg", "--matrix");
  expect_refused("lobpcg --generate nonsense", "--generate = nonsense: expected one of shell, heisenberg");
  expect_refused("lobpcg --generate laplacian1d:60 --matrix " + path("a.mtx"), "--matrix");
  expect_refused("lobpcg --matrix " + path("absent.mtx"), "absent.mtx");
  expect_refused("lobpcg --generate laplacian1d:60 --k 0", "--k");
  expect_refused("lobpcg --generate laplacian1d:60 --k 4 --block 3", "--block");
  expect_refused("lobpcg --generate laplacian1d:10 --k 4", "--k = 4 of order 10: expected at most n / 5 = 2");
  expect_refused("lobpcg --generate laplacian1d:60 --k 2 --block 21", "--block = 21");
  expect_refused("lobpcg --generate laplacian1d:60 --tol -1", "--tol: -1: expected a number > 0");
  expect_refused("lobpcg --generate laplacian1d:60 --tol 0", "--tol: 0: expected a number > 0");
  expect_refused("lobpcg --generate laplacian1d:60 --preconditioner ilu", "--preconditioner");
  expect_refused("lobpcg --generate laplacian1d:60 --vectors-type f", "--vectors-type");
  expect_refused("lobpcg --generate laplacian1d:60 --steps 33", "--steps");
  for (const char* shift : {"inf", "-inf", "nan", "1e400", "one"})
    expect_refused(fmt::format("lobpcg --generate laplacian1d:60 --shift {}", shift), "--shift: ");
  expect_refused("lobpcg --generate laplacian1d:60 --plot " + path("no/such.svg"), "such.svg");
  const std::string small =
      file("small.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 1 1\n");
  expect_refused("lobpcg --generate laplacian1d:60 --overlap " + small, "order");
  const std::string skew = file("skew.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n2 1 1\n");
  expect_refused("lobpcg --matrix " + skew, "symmetric");
  expect_refused("bench spmm", "--generate");
  expect_refused("bench spmm --generate laplacian1d:60 --peer lapack", "lapack");
  expect_refused("bench spmm --generate laplacian1d:60 --columns 33", "--columns");
  expect_refused("bench spmm --generate laplacian1d:60 --type z", "--type");
  expect_refused("bench gemm --generate laplacian2d:60", "laplacian2d");
  expect_refused("bench gemm --peer csr", "csr");
}

TEST_F(LobpcgProgram, OptionsWithoutEffectAreRefused) {
  const std::string orbits = file("sd.sps", ""), laplacian = "lobpcg --generate laplacian1d:60 ";
  const std::string matrix =
      file("m.mtx", "%%MatrixMarket matrix coordinate real symmetric\n40 40 1\n1 1 1\n");
  for (const char* name : {"random", "pairing"})
    expect_refused(laplacian + "--interaction " + name, fmt::format("--interaction = {}: ", name));
  expect_refused(laplacian + "--orbits " + orbits, "--orbits = " + orbits);
  expect_refused("lobpcg --matrix " + matrix + " --interaction pairing", "--interaction = pairing: ");
  expect_refused("lobpcg --matrix " + matrix + " --orbits " + orbits, "--orbits = " + orbits);
  for (const char* more : {"", " --interaction random", " --interaction pairing"})
    for (const char* kind : {"20Ne", "sd:2:2"})
      expect_refused(fmt::format("lobpcg --generate shell:{} --orbits {}{}", kind, orbits, more),
                     "--orbits = " + orbits + ": expected --interaction FILE");
  expect_refused("lobpcg --generate shell:20Ne --interaction usd.int",
                 "--orbits = nothing: expected the path of the .sps file");
  expect_refused("lobpcg --generate shell:20Ne --interaction usd", "--interaction = usd: ");
  expect_refused("lobpcg --generate mikota:40 --overlap " + matrix, "--overlap = " + matrix);
  expect_refused(laplacian + "--preconditioner jacobi --steps 2",
                 "--steps = 2: expected --preconditioner fom");
  expect_refused(laplacian + "--degree 4", "--degree = 4: expected --preconditioner chebyshev");
  expect_refused(laplacian + "--preconditioner none --shift 0", "--shift = 0");
}

TEST_F(LobpcgProgram, TakesOrbitsOfAFile) {
  const std::string orbits = file("two.sps", "iso\n2\n1 2 2.5 3\n2 0 0.5 3\n");
  const Json json = record("lobpcg --generate shell:file:2:2 --k 1 --interaction pairing --orbits " + orbits);
  EXPECT_TRUE(passed(json));
  EXPECT_EQ(json["options"]["orbits"], orbits);
  // -n (4 Omega + 6 - n) / 8 with n = 4, Omega = 3 + 1
  EXPECT_NEAR(result(json)["values"][0].get<double>(), -9, 1e-9);
}

TEST_F(LobpcgProgram, FindsTheLaplaciansEigenvalues) {
  const Index n = 90;
  const auto exact = [&](Index k) { return 2 - 2 * std::cos(std::numbers::pi * double(k) / double(n + 1)); };
  for (const char* more :
       {"", "--largest", "--variant basic --preconditioner none", "--preconditioner jacobi",
        "--preconditioner chebyshev --degree 6", "--preconditioner chebyshev --largest", "--nd 3"}) {
    const Json json = record(fmt::format("lobpcg --generate laplacian1d:{} --k 3 --block 6 {}", n, more));
    EXPECT_TRUE(passed(json)) << more;
    const bool largest = std::string(more).find("--largest") != std::string::npos;
    for (Index k = 0; k < 3; ++k)
      EXPECT_NEAR(result(json)["values"][std::size_t(k)].get<double>(), exact(largest ? n - k : k + 1), 1e-10)
          << more;
    EXPECT_EQ(result(json)["status"], "converged");
    EXPECT_EQ(result(json)["converged"], 3);
    EXPECT_EQ(result(json)["block"], 6);
    EXPECT_GT(json["runs"][0]["tasks"].get<Index>(), 0);
    EXPECT_GT(json["runs"][0]["stage_tasks"]["multiply"]["cpu"].get<Index>(), 0);
    EXPECT_EQ(json["options"]["n"], n);
    EXPECT_EQ(json["options"]["stored_entries"], 2 * n - 1);
    EXPECT_EQ(json["runs"][0]["check"]["values_against"], "the exact eigenvalues");
    const Json& history = result(json)["history"];
    EXPECT_EQ(history.back()["iteration"], result(json)["iterations"]);
    EXPECT_LE(history.back()["largest_residual"].get<double>(), 1);
    EXPECT_EQ(history[0]["residuals"].size(), 6u);
  }
}

TEST_F(LobpcgProgram, EveryTypeAndNorm) {
  const std::string shell = "lobpcg --generate shell:20Ne --k 2 ";
  for (const char* more :
       {"--storage f", "--storage f --vectors-type f", "--norm relative --tol 1e-6",
        "--norm absolute --tol 1e-5 --interaction pairing-quadrupole", "--steps 2 --block 7"})
    EXPECT_TRUE(passed(record(shell + more + " --peer dense"))) << more;
}

TEST_F(LobpcgProgram, AgreesWithPeers) {
  const std::string shell = "lobpcg --generate shell:20Ne --k 3 --repeat 2 --check all --peer ";
  for (const std::string peer : {"dense", "slepc-krylovschur", "slepc-lobpcg"}) {
    if (peer != "dense" && !program::has_slepc()) {
      expect_refused(shell + peer, "without SLEPc");
      continue;
    }
    const Json json = record(shell + peer);
    EXPECT_EQ(json["runs"].size(), 2u);
    EXPECT_TRUE(passed(json)) << peer;
    // SLEPc's LOBPCG does not always converge.
    if (peer != "slepc-lobpcg") {
      EXPECT_LT(json["runs"][0]["check"]["values_difference"].get<double>(), 1e-9) << peer;
    }
    EXPECT_GT(json["peer"]["ratio"].get<double>(), 0);
    EXPECT_EQ(json["runs"][0]["result"]["values"], json["runs"][1]["result"]["values"]);
  }
}

TEST_F(LobpcgProgram, Generalized) {
  EXPECT_TRUE(passed(record("lobpcg --generate mikota:60 --k 2 --shift 0")));
  // A = diag(2, 4, ..., 80), B = 2: eigenvalues 1, 2, ...
  std::string a = "%%MatrixMarket matrix coordinate real symmetric\n40 40 40\n", b = a;
  for (int i = 1; i <= 40; ++i) {
    a += fmt::format("{0} {0} {1}\n", i, 2 * i);
    b += fmt::format("{0} {0} 2\n", i);
  }
  const Json json =
      record(fmt::format("lobpcg --matrix {} --overlap {} --k 3 --peer dense --preconditioner none",
                         file("a.mtx", a), file("b.mtx", b)));
  EXPECT_TRUE(passed(json));
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(result(json)["values"][k].get<double>(), double(k + 1), 1e-9);
}

TEST_F(LobpcgProgram, NotConvergedIsAFailedCheck) {
  const Json json = record("lobpcg --generate laplacian2d:30:20 --iterations 3", 1);
  EXPECT_EQ(result(json)["status"], "iterations exhausted");
  EXPECT_FALSE(passed(json));
  EXPECT_NE(json["runs"][0]["check"]["failure"].get<std::string>().find("not converged"), std::string::npos);
  EXPECT_EQ(run("lobpcg --generate laplacian2d:30:20 --iterations 3 --check none").code, 1);
}

TEST_F(LobpcgProgram, WritesVectorsAndPlot) {
  const Outcome outcome = run(fmt::format("lobpcg --generate laplacian1d:60 --k 2 --output {} --plot {}",
                                          path("out"), path("residuals.svg")));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* text : {"iter", "res / tol", "SpMM%", "eigenvalues", "converged", "passed"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
  EXPECT_TRUE(run("lobpcg --generate laplacian1d:60 --k 2 --quiet").out.empty());
  EXPECT_NE(contents("residuals.svg").find("</svg>"), std::string::npos);
  EXPECT_NE(contents("out_values.mtx").find("2 1\n"), std::string::npos);
  // T v = lambda v for the first vector.
  std::istringstream values(contents("out_values.mtx")), vectors(contents("out_vectors.mtx"));
  const auto numbers = [](std::istringstream& in) {
    std::vector<double> found;
    for (std::string line; std::getline(in, line);)
      if (!line.empty() && line[0] != '%' && line.find(' ') == std::string::npos)
        found.push_back(std::stod(line));
    return found;
  };
  const std::vector<double> lambda = numbers(values), v = numbers(vectors);
  ASSERT_EQ(lambda.size(), 2u);
  ASSERT_EQ(v.size(), 120u);
  for (std::size_t i = 1; i + 1 < 60; ++i)
    EXPECT_NEAR(2 * v[i] - v[i - 1] - v[i + 1], lambda[0] * v[i], 1e-6);
}

TEST(ResidualPlot, HasACurveForEachPair) {
  program::ResidualPlot plot;
  plot.title = "a < b";
  plot.tolerance = 1e-8;
  plot.iterations = {0, 1, 2, 3};
  plot.curves = {{1, 1e-2, 0, 1e-6}, {1, 1, 1e-3, std::nan("")}};
  plot.labels = {"first", "second"};
  const std::string text = program::svg(plot);
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("<path"), 2u);
  EXPECT_EQ(count("M"), 3u) << "a zero leaves a gap";
  for (const char* what :
       {"a &lt; b", ">iteration<", ">tolerance<", ">first<", ">second<", ">10⁻⁸<", ">10⁰<"})
    EXPECT_GE(count(what), 1u) << what;
  EXPECT_EQ(count("nan"), 0u);
  EXPECT_NE(program::svg({}).find("</svg>"), std::string::npos);
}

TEST_F(LobpcgProgram, SameOverSeveralRanks) {
  const char* mpiexec = std::getenv("MPIEXEC");
  if (!mpiexec || !*mpiexec) GTEST_SKIP() << "MPIEXEC is not set";
  const std::string arguments = "lobpcg --generate shell:20Ne --k 2 --tol 1e-9";
  const Json one = record(arguments);
  const Json two =
      record(arguments, 0,
             fmt::format("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 STARPU_NCPU=1 "
                         "STARPU_MPI_NOBIND=1 OMPI_MCA_mpi_yield_when_idle=1 '{}' -n 2 --oversubscribe "
                         "--bind-to none",
                         mpiexec));
  EXPECT_EQ(two["machine"]["ranks"], 2);
  EXPECT_TRUE(passed(two));
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_NEAR(result(one)["values"][k].get<double>(), result(two)["values"][k].get<double>(), 1e-10);
}

TEST_F(LobpcgProgram, BenchesProducts) {
  for (const char* more : {"--generate shell:20Ne --columns 3", "--generate laplacian3d:9 --storage f --nd 2",
                           "--generate heisenberg:10 --storage f --type s --columns 12"}) {
    const Json json = record(fmt::format("bench spmm --peer csr --repeat 2 {}", more));
    EXPECT_TRUE(passed(json)) << more;
    const Json& found = result(json);
    EXPECT_GT(found["stream_bytes_per_second"].get<double>(), 0);
    EXPECT_GT(found["limit_fraction"].get<double>(), 0);
    EXPECT_GT(json["peer"]["ratio"].get<double>(), 0);
    const double n = json["options"]["n"].get<double>(),
                 entries = json["options"]["stored_entries"].get<double>();
    EXPECT_DOUBLE_EQ(found["flop"].get<double>(),
                     2 * json["options"]["columns"].get<double>() * (2 * entries - n));
    EXPECT_LT(json["runs"].back()["check"]["values"].get<double>(), 1) << more;
  }
  expect_refused("bench spmm --gpus 0 --generate laplacian1d:60 --peer cusparse", "GPU");
}

}  // namespace
