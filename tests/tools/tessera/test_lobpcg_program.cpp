// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>

#include <tests/tools/program_test.hpp>

#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/types.hpp>

#include "residual_plot.hpp"
#include "slepc_peer.hpp"

/// Runs `tessera lobpcg` as a user would.
namespace {

using namespace tessera;
using namespace tessera::test;

class LobpcgProgram : public Program {
 protected:
  static bool on_gpus(const Json& record) { return record["machine"]["cuda_workers"] > 0; }
};

TEST_F(LobpcgProgram, BadUsage) {
  expect_refused("lobpcg", "--matrix");
  expect_refused("lobpcg --generate nonsense",
                 "--generate: 'nonsense' is unknown; expected one of shell, heisenberg");
  expect_refused("lobpcg --generate laplacian1d:60 --matrix " + path("a.mtx"), "--matrix");
  expect_refused("lobpcg --matrix " + path("absent.mtx"), "absent.mtx");
  expect_refused("lobpcg --generate laplacian1d:60 --k 0", "--k");
  expect_refused("lobpcg --generate laplacian1d:60 --k 4 --method lobpcg --block 3", "--block");
  expect_refused("lobpcg --generate laplacian1d:60 --k 4 --method gd --basis 11", "--basis: '11'");
  expect_refused("lobpcg --generate laplacian1d:60 --method lobpcg --basis 40",
                 "--basis: '40' has no effect");
  expect_refused("lobpcg --generate laplacian1d:60 --method gd --variant basic", "--variant: 'basic'");
  expect_refused("lobpcg --generate laplacian1d:60 --method lanczos --variant basic", "--variant: 'basic'");
  expect_refused("lobpcg --generate laplacian1d:60 --k 4 --method lanczos --basis 19", "--basis: '19'");
  for (const char* more : {"--preconditioner jacobi", "--steps 3", "--shift 1"})
    expect_refused(fmt::format("lobpcg --generate laplacian1d:60 --method lanczos {}", more),
                   "--method: 'lanczos' takes no preconditioner");
  expect_refused("lobpcg --generate laplacian1d:10 --k 4",
                 "--k: '4 of order 10' is not possible; expected at most n / 5 = 2");
  expect_refused("lobpcg --generate laplacian1d:60 --k 2 --block 21", "--block: '21'");
  expect_refused("lobpcg --generate laplacian1d:60 --tol -1",
                 "--tol: '-1' is out of range; expected a number: above 0");
  expect_refused("lobpcg --generate laplacian1d:60 --tol 0",
                 "--tol: '0' is out of range; expected a number: above 0");
  expect_refused("lobpcg --generate laplacian1d:60 --preconditioner ilu", "--preconditioner");
  expect_refused("lobpcg --generate laplacian1d:60 --vectors-type f", "--vectors-type");
  expect_refused("lobpcg --generate laplacian1d:60 --steps 33", "--steps");
  for (const char* shift : {"inf", "-inf", "nan", "1e400", "one"})
    expect_refused(fmt::format("lobpcg --generate laplacian1d:60 --shift {}", shift), "--shift: ");
  const std::string small =
      file("small.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 1 1\n");
  expect_refused("lobpcg --generate laplacian1d:60 --overlap " + small, "order");
  expect_refused("lobpcg --generate laplacian1d:60 --method lanczos --overlap " + small,
                 "--method: 'lanczos' has no inv(B)");
  const std::string skew = file("skew.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n2 1 1\n");
  expect_refused("lobpcg --matrix " + skew, "symmetric");
}

TEST_F(LobpcgProgram, OptionsWithoutEffectAreRefused) {
  const std::string orbits = file("sd.sps", ""), laplacian = "lobpcg --generate laplacian1d:60 ";
  const std::string matrix =
      file("m.mtx", "%%MatrixMarket matrix coordinate real symmetric\n40 40 1\n1 1 1\n");
  for (const char* name : {"random", "pairing"})
    expect_refused(laplacian + "--interaction " + name,
                   fmt::format("--interaction: '{}' has no effect", name));
  expect_refused(laplacian + "--orbits " + orbits, "--orbits: '" + orbits);
  expect_refused("lobpcg --matrix " + matrix + " --interaction pairing",
                 "--interaction: 'pairing' has no effect");
  expect_refused("lobpcg --matrix " + matrix + " --orbits " + orbits, "--orbits: '" + orbits);
  for (const char* more : {"", " --interaction random", " --interaction pairing"})
    for (const char* kind : {"20Ne", "sd:2:2"})
      expect_refused(fmt::format("lobpcg --generate shell:{} --orbits {}{}", kind, orbits, more),
                     "--orbits: '" + orbits + "' is not possible; expected --interaction FILE");
  expect_refused("lobpcg --generate shell:20Ne --interaction usd.int",
                 "--orbits is missing; expected the path of the .sps file");
  expect_refused("lobpcg --generate shell:20Ne --interaction usd", "--interaction: 'usd' is not possible");
  expect_refused("lobpcg --generate mikota:40 --overlap " + matrix, "--overlap: '" + matrix);
  expect_refused(laplacian + "--preconditioner jacobi --steps 2",
                 "--steps: '2' has no effect; expected it only with --preconditioner fom");
  expect_refused(laplacian + "--degree 4",
                 "--degree: '4' has no effect; expected it only with --preconditioner chebyshev");
  expect_refused(laplacian + "--preconditioner none --shift 0", "--shift: '0' has no effect");
}

TEST_F(LobpcgProgram, TakesOrbitsOfAFile) {
  const std::string orbits = file("two.sps", "iso\n2\n1 2 2.5 3\n2 0 0.5 3\n");
  const Json json = record("lobpcg --generate shell:file:2:2 --k 1 --interaction pairing --orbits " + orbits);
  EXPECT_TRUE(passed(json));
  EXPECT_EQ(json["options"]["orbits"], orbits);
  // -n (4 Omega + 6 - n) / 8 with n = 4, Omega = 3 + 1
  EXPECT_NEAR(result(json)["values"][0].get<double>(), -9, 1e-9);
}

/// The pairing force couples pairs to J = 0 and T = 1: of 18O the lowest state has J = 0 and T = 1, of 20Ne J = T = 0.
TEST_F(LobpcgProgram, TellsAngularMomentaAndWritesLevels) {
  const std::string levels = path("levels.txt"), results = path("levels.res"), vectors = path("states.h5"),
                    shell = "lobpcg --generate shell:20Ne --interaction pairing --k 1 ";
  const Json json = record(shell + "--levels " + levels + " --output " + vectors);
  const Json& found = result(json)["shell_model"];
  EXPECT_EQ(found["orbits"], (Json{"0d5/2", "1s1/2", "0d3/2"}));
  const Json& state = found["states"][0];
  EXPECT_NEAR(state["j"].get<double>(), 0, 1e-6);
  EXPECT_NEAR(state["t"].get<double>(), 0, 1e-6);
  EXPECT_EQ(state["parity"], 1);
  double protons = 0;
  for (const Json& number : state["protons"]) protons += number.get<double>();
  EXPECT_NEAR(protons, 2, 1e-12);
  EXPECT_NE(
      contents("levels.txt").find("    1     0 +     1     0    -13.000    0.000  log_20Ne_pairing.txt \n"),
      std::string::npos)
      << contents("levels.txt");
  Index rows = 0, columns = 0;
  const auto numbers = detail::Hdf5File::open(vectors).read<double>("quantum_numbers", rows, columns);
  ASSERT_EQ(rows, 3);
  ASSERT_EQ(columns, 1);
  EXPECT_EQ(numbers[0], state["j"].get<double>());
  EXPECT_EQ(numbers[2], 1);
  const Outcome outcome = run("lobpcg --generate shell:18O --interaction pairing --k 1 --levels " + results);
  EXPECT_NE(outcome.out.find("J 0      T 1      +"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("neutrons"), std::string::npos) << outcome.out;
  // -G n (4 Omega + 6 - n) / 8 + T (T + 1) / 2 with n = 2, Omega = 6, T = 1
  EXPECT_NE(contents("levels.res").find("    1     -6.00000   0.00000     0.000   1.000       1\n"),
            std::string::npos)
      << contents("levels.res");
  EXPECT_FALSE(result(record(shell + "--quantum-numbers no")).contains("shell_model"));
}

/// A product from lists of protons and neutrons, and a stored matrix.
TEST_F(LobpcgProgram, AppliesAShellModelWithoutItsMatrix) {
  struct Case {
    std::string options;
    double tolerance;  ///< of eigenvalues, relative
  };
  for (const Case& one :
       {Case{"--method gd", 1e-10}, Case{"--method lobpcg --preconditioner chebyshev", 1e-10},
        Case{"--method lobpcg --preconditioner none --largest", 1e-10},
        Case{"--storage f --vectors-type f --tol 1e-4", 1e-3}}) {
    SCOPED_TRACE(one.options);
    const std::string shell = "lobpcg --generate shell:21Ne --k 4 " + one.options + " --product ";
    const Json free = record(shell + "free"), stored = record(shell + "stored");
    EXPECT_EQ(free["options"]["product"], "free");
    EXPECT_GT(free["options"]["products_a_column"].get<double>(), 0);
    EXPECT_FALSE(free["options"].contains("stored_entries"));
    EXPECT_EQ(stored["options"]["product"], "stored");
    for (std::size_t j = 0; j < 4; ++j) {
      const double expected = result(stored)["values"][j];
      EXPECT_NEAR(result(free)["values"][j].get<double>(), expected, one.tolerance * std::abs(expected));
      EXPECT_NEAR(result(free)["shell_model"]["states"][j]["j"].get<double>(),
                  result(stored)["shell_model"]["states"][j]["j"].get<double>(), 0.05);
    }
  }
  EXPECT_EQ(record("lobpcg --generate shell:20Ne --k 1")["options"]["product"], "free");
  EXPECT_EQ(record("lobpcg --generate shell:20Ne --k 1 --preconditioner fom")["options"]["product"],
            "stored");
  EXPECT_EQ(record("lobpcg --generate laplacian1d:60 --k 1")["options"]["product"], "stored");
  for (const char* more : {"laplacian1d:60", "shell:20Ne --nd 2", "shell:20Ne --preconditioner fom",
                           "shell:20Ne --steps 3", "shell:20Ne --storage f"})
    expect_refused(fmt::format("lobpcg --generate {} --k 1 --product free", more),
                   "--product: 'free' is not possible");
}

TEST_F(LobpcgProgram, TakesInteractionsOfKshellAndTruncates) {
  // Two neutrons with one element that is not zero: -2 for J = 0 in the first orbit, whose weight is 3, the second's 4.
  const std::string interaction = file("one.snt",
                                       "2 2 20 20\n1 0 3 7 -1\n2 0 4 9 -1\n3 0 3 7 1\n4 0 4 9 1\n"
                                       "4 0\n1 1 0\n2 2 5\n3 3 0.5\n4 4 7\n1 0\n3 3 3 3 0 -2\n"),
                    shell = "lobpcg --generate shell:file:0:2 --interaction " + interaction + " --k 1 ";
  // M = 0: 4 pairs in the first orbit, 8 with a neutron in each, 5 in the second.
  for (const auto& [more, order] : {std::pair{"", 17}, {"--excitation 1", 12}}) {
    const Json json = record(shell + more);
    EXPECT_TRUE(passed(json)) << more;
    EXPECT_NEAR(result(json)["values"][0].get<double>(), -1, 1e-9);
    EXPECT_EQ(json["options"]["n"], order);
  }
  expect_refused("lobpcg --generate shell:20Ne --excitation 2", "--excitation");
  expect_refused(shell + "--orbits " + interaction, "--orbits");
}

TEST_F(LobpcgProgram, SolvesNucleiWithoutACore) {
  // The deuteron of the Minnesota potential in a small basis: J = 1, T = 0, whatever the centre of mass does; both
  // products.
  const std::string deuteron = "lobpcg --generate shell:nocore:2H:4 --interaction minnesota --hw 12 --k 2 ";
  std::vector<double> energies;
  for (const char* more : {"--product free", "--lawson 10", "--lawson 10 --product free"}) {
    const Json json = record(deuteron + more);
    EXPECT_TRUE(passed(json)) << more;
    EXPECT_EQ(json["options"]["n"], 116);
    energies.push_back(result(json)["values"][0].get<double>());
    EXPECT_NEAR(energies.back(), energies.front(), 1e-7);
  }
  const Json json = record(deuteron + "--lawson 10 --levels " + path("deuteron.res"));
  EXPECT_EQ(json["options"]["product"], "stored");
  const Json state = result(json)["shell_model"]["states"][0];
  EXPECT_NEAR(state["j"].get<double>(), 1, 1e-6);
  EXPECT_NEAR(state["t"].get<double>(), 0, 1e-6);
  EXPECT_EQ(state["parity"], 1);
  EXPECT_TRUE(fs::exists(path("deuteron.res")));
  EXPECT_GT(energies[0], -2.203);
  EXPECT_LT(energies[0], 0);
  // Spaces of any size are counted.
  const Json counted = record("lobpcg --generate shell:nocore:12C:8 --dimension");
  EXPECT_EQ(counted["options"]["n"], 594496743.);
  EXPECT_TRUE(counted["runs"].empty());
  expect_refused("lobpcg --generate shell:nocore:4He:2 --excitation 2", "--excitation");
  expect_refused("lobpcg --generate shell:nocore:4He:20", "--generate");
  expect_refused("lobpcg --generate shell:nocore:4He:2 --hw 0", "--hw");
  expect_refused("lobpcg --generate shell:24Mg --interaction minnesota", "--interaction");
}

TEST_F(LobpcgProgram, OutputsThatCannotBeWrittenAreRefusedBeforeTheSolve) {
  // expect_refused also checks that stdout is empty, so the table of iterations must not have
  // begun.
  const std::string laplacian = "lobpcg --generate laplacian1d:60 ", folder = directory_.string();
  fs::create_directory(path("taken_vectors.mtx"));
  for (const char* option : {"--plot", "--json"}) {
    expect_refused(fmt::format("{}{} {}", laplacian, option, folder),
                   fmt::format("{}: '{}' is not possible; expected a file", option, folder));
    expect_refused(fmt::format("{}{} {}/no/such", laplacian, option, folder),
                   fmt::format("{}: '{}/no/such' is not possible; expected a file", option, folder));
    expect_refused(fmt::format("{}{} /proc/such", laplacian, option),
                   fmt::format("{}: '/proc/such'", option));
  }
  for (const std::string command : {"lobpcg --generate laplacian1d:60", "eigen --generate random --n 60"}) {
    expect_refused(command + " --output /proc/such", "--output: '/proc/such_values.mtx'");
    expect_refused(command + " --output " + path("no/such.h5"), "--output: '" + path("no/such.h5"));
    expect_refused(command + " --output " + path("taken"), "--output: '" + path("taken_vectors.mtx"));
  }
  expect_refused("multiply --generate random --n 60 --output /proc/such", "--output: '/proc/such'");
  expect_refused("tune --n 20 --output /proc/such", "--output: '/proc/such'");
}

TEST_F(LobpcgProgram, WhereASolveFailsFilesStayAsTheyWere) {
  file("plot.svg", "before");
  file("kept_values.mtx", "before");
  expect_refused(fmt::format("lobpcg --generate laplacian1d:60 --k 13 --plot {} --output {} --json {}",
                             path("plot.svg"), path("kept"), path("record.json")),
                 "--k: '13 of order 60' is not possible");
  EXPECT_EQ(contents("plot.svg"), "before");
  EXPECT_EQ(contents("kept_values.mtx"), "before");
  EXPECT_FALSE(fs::exists(path("kept_vectors.mtx")));
  EXPECT_FALSE(fs::exists(path("record.json")));
}

TEST_F(LobpcgProgram, ZeroMatrix) {
  const std::string matrix = file("zero.mtx", "%%MatrixMarket matrix coordinate real symmetric\n40 40 0\n");
  for (const char* more : {"", "--norm relative", "--norm absolute", "--peer dense"}) {
    const Json json = record(fmt::format("lobpcg --matrix {} --k 3 {}", matrix, more));
    const Json& check = json["runs"][0]["check"];
    EXPECT_TRUE(passed(json)) << more;
    EXPECT_EQ(check["residual"], 0) << more;
    EXPECT_EQ(result(json)["values"], Json::array({0, 0, 0})) << more;
    EXPECT_EQ(check["values"].is_null(), std::string(more) != "--peer dense");
  }
}

TEST_F(LobpcgProgram, RecordHasWhatRepeatsTheRun) {
  const Json whole = record("lobpcg --generate shell:20Ne --k 3 --method lobpcg --preconditioner chebyshev");
  const Json& chosen = whole["options"];
  EXPECT_EQ(chosen["matrix"], "shell:20Ne");
  EXPECT_EQ(chosen["interaction"], "random");
  EXPECT_FALSE(chosen.contains("orbits"));
  EXPECT_EQ(chosen["block"], on_gpus(whole) ? 8 : 5);
  EXPECT_EQ(chosen["degree"], 8);
  EXPECT_FALSE(chosen.contains("steps"));
  EXPECT_TRUE(chosen.at("shift").is_null()) << "chosen anew in each iteration";
  EXPECT_EQ(chosen["tol"], 1e-8);
  const Json given = record(fmt::format(
      "lobpcg --generate laplacian1d:60 --k 2 --block 4 --shift -0.25 --steps 3 --seed 7 --plot {}",
      path("plot.svg")))["options"];
  EXPECT_EQ(given["block"], 4);
  EXPECT_EQ(given["shift"], -0.25);
  EXPECT_EQ(given["steps"], 3);
  EXPECT_EQ(given["seed"], 7);
  EXPECT_EQ(given["plot"], path("plot.svg"));
  EXPECT_FALSE(given.contains("interaction"));
  const Json none = record("lobpcg --generate laplacian1d:60 --k 2 --preconditioner none")["options"];
  for (const char* of_others : {"steps", "degree", "shift"}) EXPECT_FALSE(none.contains(of_others));
}

TEST_F(LobpcgProgram, ComparesTheEigenvaluesThatAreKnown) {
  struct Case {
    const char* arguments;
    int known;
    const char* against;
  };
  for (const Case& one : {Case{"shell:20Ne --interaction pairing --k 3", 1, " (1 of 3 are known)"},
                          Case{"heisenberg:6 --largest --k 4", 3, " (3 of 4 are known)"},
                          Case{"heisenberg:6 --largest --k 2", 2, ""}}) {
    const std::string arguments = fmt::format("lobpcg --generate {}", one.arguments);
    const Json json = record(arguments);
    const Json& check = json["runs"][0]["check"];
    EXPECT_EQ(check["values_against"], std::string("the exact eigenvalues") + one.against);
    EXPECT_LT(check["values_difference"].get<double>(), 1e-10) << arguments;
    const Json beside = record(arguments + " --peer dense");
    const std::string against = beside["runs"][0]["check"]["values_against"];
    EXPECT_EQ(against.find(" and lapack") != std::string::npos, *one.against != 0) << against;
    EXPECT_LT(beside["runs"][0]["check"]["values_difference"].get<double>(), 1e-10) << arguments;
  }
  // One line for known values; 13 = (n (4 Omega + 6 - n) / 4) / 2 with n = 4, Omega = 6.
  const Outcome outcome = run("lobpcg --generate shell:20Ne --interaction pairing --k 3");
  EXPECT_NE(outcome.out.find("spectrum      Every level with angular momentum J >= 0/2"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("eigenvalues      1                     -13 "), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("of the exact eigenvalues (1 of 3 are known)"), std::string::npos)
      << outcome.out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST_F(LobpcgProgram, SaysHowManyPairsAPeerConverged) {
  if (!program::has_slepc()) GTEST_SKIP() << "built without SLEPc";
  // Krylov-Schur stops after one iteration with the pairs of its first subspace.
  const std::string few =
      "lobpcg --generate laplacian1d:400 --k 3 --check none --tol 1e-3 --peer slepc-krylovschur";
  const Outcome outcome = run(few + " --iterations 1");
  EXPECT_NE(outcome.out.find("it converged 0 of 3 pairs"), std::string::npos) << outcome.out << outcome.err;
  EXPECT_EQ(run("lobpcg --generate shell:20Ne --k 3 --peer slepc-krylovschur").out.find("it converged"),
            std::string::npos);
}

TEST_F(LobpcgProgram, FindsTheLaplaciansEigenvalues) {
  const Index n = 90;
  const auto exact = [&](Index k) { return 2 - 2 * std::cos(std::numbers::pi * double(k) / double(n + 1)); };
  for (const char* more :
       {"", "--largest", "--variant basic --preconditioner none", "--preconditioner jacobi",
        "--preconditioner chebyshev --degree 6", "--preconditioner chebyshev --largest", "--nd 3",
        "--method gd", "--method gd --preconditioner chebyshev --largest",
        "--method gd --basis 20 --preconditioner none"}) {
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
    EXPECT_GT(json["runs"][0]["stage_tasks"]["multiply"][on_gpus(json) ? "cuda" : "cpu"].get<Index>(), 0);
    EXPECT_EQ(json["options"]["n"], n);
    EXPECT_EQ(json["options"]["stored_entries"], 2 * n - 1);
    EXPECT_EQ(json["runs"][0]["check"]["values_against"], "the exact eigenvalues");
    const Json& history = result(json)["history"];
    EXPECT_EQ(history.back()["iteration"], result(json)["iterations"]);
    EXPECT_LE(history.back()["largest_residual"].get<double>(), 1);
    EXPECT_EQ(history[0]["residuals"].size(), 6u);
  }
}

/// More than a block holds: the matrix has most eigenvalues twice, and all in closed form.
TEST_F(LobpcgProgram, FindsManyPairs) {
  for (const std::string method : {"lobpcg", "gd", "lanczos", "auto"}) {
    const Json json = record(fmt::format("lobpcg --generate laplacian2d:19:19 --k 50 --method {}", method));
    EXPECT_TRUE(passed(json)) << method;
    const bool whole = method == "lanczos" || method == "auto";
    EXPECT_EQ(result(json)["method"], whole ? "lanczos" : method);
    EXPECT_EQ(json["options"]["preconditioner"] == "none", whole);
    EXPECT_EQ(result(json)["values"].size(), 50u);
    EXPECT_EQ(result(json)["converged"], 50);
    EXPECT_EQ(json["runs"][0]["check"]["values_against"], "the exact eigenvalues");
    const Json& history = result(json)["history"];
    EXPECT_GE(history.back()["converged"].get<Index>(), 50);
    EXPECT_EQ(history.back()["iteration"], result(json)["iterations"]);
    EXPECT_LE(result(json)["block"].get<Index>(), 32);
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
  EXPECT_EQ(count("M"), 2u) << "a zero leaves a gap";
  EXPECT_EQ(count("<circle"), 1u) << "a point alone";
  for (const char* what :
       {"a &lt; b", ">iteration<", ">tolerance<", ">first<", ">second<", ">10⁻⁸<", ">10⁰<"})
    EXPECT_GE(count(what), 1u) << what;
  EXPECT_EQ(count("nan"), 0u);
  EXPECT_NE(program::svg({}).find("</svg>"), std::string::npos);
}

TEST_F(LobpcgProgram, SameOverSeveralRanks) {
  const std::string ranks = two_ranks();
  if (ranks.empty()) GTEST_SKIP() << "MPIEXEC is not set";
  const std::string arguments = "lobpcg --generate shell:20Ne --k 2 --tol 1e-9";
  const Json one = record(arguments), two = record(arguments, 0, ranks);
  EXPECT_EQ(two["machine"]["ranks"], 2);
  EXPECT_TRUE(passed(two));
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_NEAR(result(one)["values"][k].get<double>(), result(two)["values"][k].get<double>(), 1e-10);
}

/// SLEPc distributes its rows to the same ranks; LAPACK solves in one process only.
TEST_F(LobpcgProgram, PeersOfSeveralRanks) {
  const std::string ranks = two_ranks();
  if (ranks.empty()) GTEST_SKIP() << "MPIEXEC is not set";
  const std::string arguments = "lobpcg --generate shell:20Ne --k 3 --peer ";
  const Outcome dense = run(arguments + "dense", ranks);
  EXPECT_NE(dense.code, 0);
  EXPECT_NE(dense.err.find("--peer: 'dense' is not possible; expected one process"), std::string::npos)
      << dense.err;
  if (!program::has_slepc()) GTEST_SKIP() << "built without SLEPc";
  const Json json = record(arguments + "slepc-krylovschur", 0, ranks);
  EXPECT_TRUE(passed(json));
  EXPECT_EQ(json["peer"]["threads"], 2);
  EXPECT_EQ(json["peer"]["result"]["converged"], json["peer"]["result"]["values"].size());
  EXPECT_LT(json["runs"][0]["check"]["values_difference"].get<double>(), 1e-9);
  const Json one = record(arguments + "slepc-krylovschur");
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(json["peer"]["result"]["values"][k].get<double>(),
                one["peer"]["result"]["values"][k].get<double>(), 1e-9);
}

}  // namespace
