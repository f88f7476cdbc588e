// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tests/tools/program_test.hpp>

#include <tessera/density_matrix.hpp>

#include "density_check.hpp"
#include "density_steps.hpp"

/// Runs `tessera density` as a user would.
namespace {

using namespace tessera;
using namespace tessera::test;

class DensityProgram : public Program {
 protected:
  /// The water molecules in tests/data. @param name  water32_dzvp
  std::string water(const std::string& name) const {
    const char* data = std::getenv("TESSERA_TEST_DATA");
    return data ? fmt::format("density {0}/{1}_H.mtx.gz {0}/{1}_S.mtx.gz ", data, name) : std::string();
  }
  /// A diagonal Hamiltonian with the levels 1, 2, ..., n.
  std::string levels(int n) const {
    std::string matrix = fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {0}\n", n);
    for (int i = 1; i <= n; ++i) matrix += fmt::format("{0} {0} {0}\n", i);
    return file("levels.mtx", matrix);
  }
};

const std::string small_water = "density --generate water --molecules 6 --blocks 4,1,1 ";

TEST_F(DensityProgram, BadUsage) {
  const std::string h = levels(12);
  expect_refused("density",
                 "--hamiltonian is missing; expected either --hamiltonian FILE or --generate KIND");
  expect_refused("density " + h, "--electrons is missing");
  expect_refused("density --generate ice --molecules 5",
                 "--generate: 'ice' is unknown; expected one of water");
  expect_refused("density --generate water", "--molecules is missing");
  expect_refused("density --generate water --molecules 5 --method trs5", "--method: 'trs5' is unknown");
  expect_refused("density --generate water --molecules 5 --gap 0", "--gap: '0' is out of range");
  expect_refused(
      "density --generate water --molecules 5 --blocks 2,1",
      "--blocks: '2,1' is not possible; expected sizes from 1, of more than 4 functions a molecule");
  expect_refused("density --generate water --molecules 5 --coupling 0.9",
                 "--coupling: '0.9' is not possible; expected 0 to below");
  expect_refused("density --generate tio2 --molecules 1000000000",
                 "--molecules: '1000000000' is not possible");
  expect_refused("density --generate water --molecules 40000000", "memory");
  expect_refused("density --generate water --molecules 5 --keep-on gpu --gpus 0",
                 "--keep-on: 'gpu' is not possible; expected host");
  expect_refused("density --generate water --molecules 5 --electrons 41",
                 "--electrons: '41' is not possible; expected 2 times a whole number of states");
  expect_refused(fmt::format("density {} --electrons 26 --blocks 6", h),
                 "--electrons: '26' is not possible; expected 2 times a whole number of states, at most 12");
  expect_refused(fmt::format("density {} --electrons 8 --mu 4", h), "--electrons: '8' has no effect");
  expect_refused(fmt::format("density {} --electrons 7.5 --blocks 6", h),
                 "--electrons: '7.5' is not possible; expected 2 times a whole number of states, at most 12");
  expect_refused(fmt::format("density {} --occupation 3 --electrons 3", h), "--occupation: '3' is unknown");
  expect_refused(fmt::format("density {} --electrons 8 --plot {}/no/such", h, directory_.string()),
                 "--plot: '");
  expect_refused(fmt::format("density {} --electrons 8 --output /proc/such", h), "--output: '/proc/such'");
  expect_refused("density --electrons 8 " + path("absent.mtx"), "absent.mtx");
}

TEST_F(DensityProgram, FilesThatFitNot) {
  const std::string h = levels(12);
  const std::string wide = file("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n"),
                    skew = file("skew.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n2 1 1\n"),
                    few = file("few.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 1 1\n"),
                    zero = file("zero.mtx", "%%MatrixMarket matrix coordinate real symmetric\n12 12 0\n");
  expect_refused(fmt::format("density {} --electrons 2", wide), "wide.mtx: is a matrix of 2 x 3");
  expect_refused(fmt::format("density {} --electrons 2 --blocks 3", skew), "skew.mtx: is not Hermitian");
  expect_refused(fmt::format("density {} {} --electrons 2 --blocks 3", h, few),
                 "few.mtx: is of order 3, the Hamiltonian of order 12");
  expect_refused(fmt::format("density {} --electrons 2 --block-sizes {}", h, file("sizes.txt", "5 5\n")),
                 "--block-sizes: 'a sum of 10' is not possible");
  const Json bad = record(fmt::format("density {} {} --electrons 2 --blocks 3", h, zero), 1);
  EXPECT_EQ(result(bad)["energy"], nullptr);
  EXPECT_NE(result(bad)["status"], "converged");
}

/// Both halves in a file, and complex files, give what a half-stored real file gives.
TEST_F(DensityProgram, TakesFilesOfAllForms) {
  const char* entries = "1 1 -1\n2 2 -0.5\n3 3 2\n4 4 3\n";
  const std::string half = file("half.mtx",
                                fmt::format("%%MatrixMarket matrix coordinate real symmetric\n4 4 5\n"
                                            "{}3 1 0.25\n",
                                            entries)),
                    whole =
                        file("whole.mtx", fmt::format("%%MatrixMarket matrix coordinate real general\n4 4 6\n"
                                                      "{}3 1 0.25\n1 3 0.25\n",
                                                      entries)),
                    hermitian = file("c.mtx",
                                     "%%MatrixMarket matrix coordinate complex hermitian\n4 4 5\n"
                                     "1 1 -1 0\n2 2 -0.5 0\n3 3 2 0\n4 4 3 0\n3 1 0 0.25\n");
  const double lowest = 0.5 - std::sqrt(1.5 * 1.5 + 0.25 * 0.25), wanted = 2 * (lowest - 0.5);
  for (const std::string& use : {half, whole, half + " --type z", hermitian}) {
    const Json json = record(fmt::format("density {} --electrons 4 --blocks 2 --filter 0", use));
    EXPECT_NEAR(result(json)["energy"].get<double>(), wanted, 1e-9) << use;
    EXPECT_TRUE(passed(json));
    EXPECT_FALSE(json["options"].contains("seed"));
    EXPECT_FALSE(json["options"].contains("factor_order"));
  }
}

TEST_F(DensityProgram, MethodsAgreeOnWater) {
  const Json dense = record(small_water + "--method dense");
  EXPECT_TRUE(passed(dense));
  EXPECT_EQ(result(dense)["electrons"].get<double>(), 48) << 8 * 6;
  const double energy = result(dense)["energy"];
  for (const std::string more :
       {"--method auto", "--method sign", "--method sign --sign-order 4 --factor-order 2", "--method trs4",
        "--method tc2", "--method sp2", "--method curvy", "--method trs4 --filter 0",
        "--method trs4 --type z --filter 1e-7"}) {
    const Json json = record(small_water + more);
    const Json& found = result(json);
    EXPECT_TRUE(passed(json)) << more;
    EXPECT_EQ(found["status"], "converged");
    EXPECT_NEAR(found["electrons"].get<double>(), 48, 1e-3) << more;
    // Complex types have other matrices.
    if (more.find("--type") == std::string::npos) {
      EXPECT_NEAR(found["energy"].get<double>(), energy, 1e-6 * std::abs(energy)) << more;
    }
    EXPECT_EQ(found["iterations"], found["steps"].size());
    const double mu = found["mu"];
    if (found["lumo"][1].is_number()) EXPECT_LT(mu, found["lumo"][1].get<double>()) << more;
    if (found["homo"][0].is_number()) EXPECT_GT(mu, found["homo"][0].get<double>()) << more;
  }
  const Json chosen = record(small_water);
  EXPECT_EQ(chosen["options"]["method"], "trs4") << "what auto was";
  EXPECT_GT(result(chosen)["idempotency"].get<double>(), 0) << "what the check leaves out counts";
}

TEST_F(DensityProgram, SinglePrecisionAndOneSpin) {
  const double both = result(record(small_water + "--method dense"))["energy"];
  const Json one = record(small_water + "--occupation 1");
  EXPECT_EQ(one["options"]["electrons"], 24) << "half of the generator's";
  EXPECT_NEAR(2 * result(one)["energy"].get<double>(), both, 1e-6 * std::abs(both));
  const Json single = record(small_water + "--type s --filter 1e-5");
  EXPECT_TRUE(passed(single));
  EXPECT_NEAR(result(single)["energy"].get<double>(), both, 1e-5 * std::abs(both));
}

TEST_F(DensityProgram, MuOccupiesTheStatesBelow) {
  const std::string h = levels(20);
  const Json json = record(fmt::format("density {} --mu 6.5 --blocks 5", h));
  EXPECT_TRUE(passed(json));
  EXPECT_EQ(result(json)["method"], "sign");
  EXPECT_EQ(json["options"]["mu"], 6.5);
  EXPECT_FALSE(json["options"].contains("electrons"));
  EXPECT_NEAR(result(json)["electrons"].get<double>(), 12, 1e-4);
  EXPECT_NEAR(result(json)["energy"].get<double>(), 2 * 21, 1e-4);
  const Json beside = record(fmt::format("density {} --mu 6.5 --blocks 5 --peer dense", h));
  EXPECT_LT(std::abs(beside["peer"]["result"]["energy_difference"].get<double>()), 1e-4);
}

TEST_F(DensityProgram, RecordHasAllFields) {
  const Json json = record("density --generate tio2 --n 40 --blocks 6,4,4 --repeat 2 --check all --panel 14");
  EXPECT_EQ(json["command"], "density");
  const Json& options = json["options"];
  EXPECT_EQ(options["n"], 42) << "whole molecules";
  EXPECT_EQ(options["molecules"], 3);
  EXPECT_EQ(options["blocks"], Json::array({6, 4, 4}));
  EXPECT_EQ(options["electrons"], 72);
  EXPECT_EQ(options["occupation"], 2);
  EXPECT_EQ(options["filter"], 1e-6);
  EXPECT_TRUE(options.at("tolerance").is_null());
  EXPECT_EQ(options["method"], "trs4");
  EXPECT_EQ(options["hamiltonian"], "tio2");
  EXPECT_EQ(options["grid"], "1x1");
  for (const char* chosen : {"gap", "decay", "coupling", "panel"})
    EXPECT_GT(options[chosen].get<double>(), 0) << chosen;
  EXPECT_TRUE(options.at("mu").is_null());
  EXPECT_EQ(json["runs"].size(), 2u);
  for (const Json& run : json["runs"]) {
    const Json& found = run["result"];
    for (const char* name : {"energy", "energy_per_molecule", "mu", "electrons", "idempotency", "commutator",
                             "iterations", "products", "flop", "occupation"})
      EXPECT_TRUE(found.at(name).is_number()) << name;
    EXPECT_EQ(found["homo"].size(), 2u);
    EXPECT_EQ(found["lumo"].size(), 2u);
    EXPECT_TRUE(run["check"]["passed"]);
    for (const char* gate : {"idempotency", "commutator", "electrons"})
      EXPECT_LE(run["check"]["gates"][gate]["value"], run["check"]["gates"][gate]["bound"]) << gate;
    ASSERT_FALSE(found["steps"].empty());
    double products = 0;
    for (const Json& step : found["steps"]) {
      for (const char* name : {"stage", "iteration", "convergence", "occupation", "electrons", "energy",
                               "seconds", "products", "flop", "gflops", "threshold", "gpu_bytes"})
        EXPECT_TRUE(step.contains(name)) << name;
      EXPECT_TRUE(run["seconds"]["stages"].contains(step["stage"].get<std::string>()));
      products += step["products"].get<double>();
    }
    EXPECT_LE(products, found["products"].get<double>());
  }
  const Json unchecked = record(small_water + "--check none");
  EXPECT_FALSE(unchecked["runs"][0].contains("check"));
  EXPECT_TRUE(result(unchecked)["idempotency"].is_null());
}

TEST_F(DensityProgram, PrintsATableAndAReport) {
  const Outcome outcome = run(small_water + "--peer dense");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line + "\n", program::step_heading(false));
  for (; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  for (const char* text :
       {"\ntrs4 ", "\ninverse_factor ", "\nenergy ", " a molecule\n", "\nelectrons     4", "\nmu ", "\nHOMO ",
        "\nLUMO ", "\nerrors ", "\npeer ", "largest |P - theirs|", ": passed\n"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
  EXPECT_EQ(run(small_water + "--quiet").out, "");
}

TEST_F(DensityProgram, FailuresHaveTheTable) {
  const Outcome outcome = run(fmt::format("{}--iterations 2 --output {}", small_water, path("p.mtx")));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with(program::step_heading(false))) << outcome.out;
  for (const char* text : {"\nstatus        iterations exhausted: ", ": FAILED\n", "not written"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
  EXPECT_FALSE(fs::exists(path("p.mtx")));
  const Json json = record(small_water + "--iterations 2", 1);
  EXPECT_EQ(result(json)["status"], "iterations exhausted");
  EXPECT_FALSE(result(json)["steps"].empty());
  EXPECT_TRUE(result(json)["energy"].is_null());
  // Two states at the same level cannot be told apart.
  const std::string same = file("same.mtx",
                                "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n"
                                "1 1 1\n2 2 2\n3 3 2\n4 4 3\n");
  for (const char* method : {"sign", "dense"})
    EXPECT_EQ(result(record(fmt::format("density {} --electrons 4 --blocks 2 --method {}", same, method),
                            1))["status"],
              "no gap")
        << method;
}

TEST_F(DensityProgram, WritesFiles) {
  const Json json = record(fmt::format("{}--method sign --tolerance 1e-6 --plot {} --output {}", small_water,
                                       path("steps.svg"), path("p.h5")));
  const std::string drawing = contents("steps.svg");
  for (const char* text :
       {">matrix_sign<", ">inverse_factor<", ">chemical_potential<", ">tolerance<", "</svg>"})
    EXPECT_NE(drawing.find(text), std::string::npos) << text;
  if (std::system("command -v python3 >/dev/null") == 0) {
    const std::string parser = fmt::format(
        "python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' {}", path("steps.svg"));
    EXPECT_EQ(std::system(parser.c_str()), 0) << drawing;
  }
  // P written is P: its squares add up to the checksum that a product reads.
  const Json square = record(fmt::format("multiply {0} {0}", path("p.h5")));
  EXPECT_EQ(square["options"]["symmetry"][0], "S");
  EXPECT_NEAR(square["options"]["occupation_A"].get<double>(), result(json)["occupation"].get<double>(),
              1e-12);
  EXPECT_EQ(run(fmt::format("{}--output {}", small_water, path("p.mtx"))).code, 0);
  EXPECT_TRUE(contents("p.mtx").starts_with("%%MatrixMarket matrix coordinate real symmetric\n"));
}

TEST_F(DensityProgram, AtATemperature) {
  // Levels 1 to 12, 8 electrons of one spin: mu is between the levels 8 and 9, by symmetry nearly 8.5.
  const std::string h = levels(12);
  constexpr double kt = 0.8;
  const auto electrons = [&](double mu) {
    double sum = 0;
    for (int level = 1; level <= 12; ++level) sum += 1 / (1 + std::exp((level - mu) / kt));
    return sum;
  };
  double lower = 0, upper = 20;
  for (int k = 0; k < 100; ++k) (electrons((lower + upper) / 2) < 8 ? lower : upper) = (lower + upper) / 2;
  double energy = 0, entropy = 0;
  for (int level = 1; level <= 12; ++level) {
    const double f = 1 / (1 + std::exp((level - lower) / kt));
    energy += f * level;
    entropy -= f * std::log(f) + (1 - f) * std::log(1 - f);
  }
  const std::string line =
      fmt::format("density {} --electrons 8 --occupation 1 --blocks 3 --filter 0 --temperature {} ", h, kt);
  for (const char* method : {"auto", "dense"}) {
    const Json json = record(line + "--method " + method);
    const Json& found = result(json);
    EXPECT_TRUE(passed(json));
    EXPECT_EQ(found["method"], std::string(method) == "auto" ? "fermi" : "dense");
    EXPECT_NEAR(found["mu"].get<double>(), lower, 1e-9);
    EXPECT_NEAR(found["energy"].get<double>(), energy, 1e-9);
    EXPECT_NEAR(found["entropy"].get<double>(), entropy, 1e-9);
    EXPECT_NEAR(found["free_energy"].get<double>(), energy - kt * entropy, 1e-9);
    EXPECT_TRUE(found["idempotency"].is_null());
    EXPECT_FALSE(json["runs"][0]["check"]["gates"].contains("idempotency"));
  }
  // Half an electron more.
  const Json half = record(
      fmt::format("density {} --electrons 8.5 --occupation 1 --blocks 3 --filter 0 --temperature {}", h, kt));
  EXPECT_EQ(half["options"]["electrons"], 8.5);
  EXPECT_NEAR(electrons(result(half)["mu"].get<double>()), 8.5, 1e-9);
  const Outcome outcome = run(small_water + "--temperature 0.02 --peer dense");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  for (const char* text : {"\nfermi ", "\nfree energy ", " k_B\n", ", kT 0.02", ": passed\n"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
  expect_refused(line + "--method trs4", "--temperature: '0.8' has no effect");
  expect_refused(small_water + "--method fermi",
                 "--temperature: '0' is not possible; expected a number above 0");
}

TEST_F(DensityProgram, RestartsFromAFile) {
  const std::string saved = path("state.h5");
  const Json first = record(small_water + "--save " + saved);
  const double energy = result(first)["energy"];
  // Another Hamiltonian of the same blocks: Z of the file, and its gap.
  const Json next = record(small_water + "--coupling 0.01 --restart " + saved);
  EXPECT_TRUE(passed(next));
  EXPECT_EQ(result(next)["method"], "sp2");
  const Json same = record(small_water + "--moved 0 --restart " + saved);
  EXPECT_NEAR(result(same)["energy"].get<double>(), energy, 1e-7);
  EXPECT_LT(result(same)["products"].get<double>(), result(first)["products"].get<double>());
  const Json bounds = result(first);
  const Json given = record(fmt::format("{}--gap-bounds {}:{}", small_water, bounds["homo"][1].get<double>(),
                                        bounds["lumo"][0].get<double>()));
  EXPECT_EQ(result(given)["method"], "sp2");
  EXPECT_NEAR(result(given)["energy"].get<double>(), energy, 1e-7);
  expect_refused(small_water + "--gap-bounds 1:0", "--gap-bounds: '1:0' is not possible; expected HOMO:LUMO");
  expect_refused(small_water + "--gap-bounds 1", "--gap-bounds: '1' is not possible");
  expect_refused("density --generate water --molecules 5 --blocks 4,1,1 --restart " + saved,
                 "state.h5: is of 36 functions in 18 blocks, the Hamiltonian of 30 in 15");
  expect_refused(fmt::format("density {} --electrons 8 --blocks 3 --restart {}", levels(36), saved),
                 "state.h5: is of 36 functions in 18 blocks, the Hamiltonian of 36 in 12");
  const std::string whole = contents("state.h5");
  file("cut.h5", whole.substr(0, whole.size() / 2));
  expect_refused(small_water + "--restart " + path("cut.h5"), "cut.h5");
  expect_refused(small_water + "--restart " + file("text.h5", "no\n"), "text.h5");
  expect_refused(small_water + "--restart " + path("absent.h5"), "absent.h5");
}

/// Kohn-Sham matrices of water; energies by LAPACK from tests/data/README.md.
TEST_F(DensityProgram, RealWater) {
  if (water("").empty()) GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  const std::string arguments =
      water("water32_dzvp") + "--blocks 13,5,5 --electrons 256 --method trs4 --filter 1e-6";
  const Json json = record(arguments);
  EXPECT_TRUE(passed(json));
  EXPECT_NEAR(result(json)["energy"].get<double>(), -95.653821261, 32e-9);
  EXPECT_GT(result(json)["mu"].get<double>(), -0.0797670777);
  EXPECT_LT(result(json)["mu"].get<double>(), 0.1392856730);
  EXPECT_NEAR(result(json)["electrons"].get<double>(), 256, 1e-3);
  constexpr double homo = -0.0797670777, lumo = 0.1392856730, rounding = 1e-9;
  EXPECT_LE(result(json)["homo"][0].get<double>(), homo + rounding);
  EXPECT_GE(result(json)["homo"][1].get<double>(), homo - rounding);
  EXPECT_LE(result(json)["lumo"][0].get<double>(), lumo + rounding);
  EXPECT_GE(result(json)["lumo"][1].get<double>(), lumo - rounding);
}

TEST_F(DensityProgram, SameOverSeveralRanks) {
  const std::string ranks = two_ranks();
  if (ranks.empty()) GTEST_SKIP() << "MPIEXEC is not set";
  const std::string problem = small_water + "--panel 20";
  const Json one = record(problem), two = record(problem + " --peer dense", 0, ranks);
  EXPECT_EQ(two["machine"]["ranks"], 2);
  EXPECT_TRUE(passed(two));
  EXPECT_NEAR(result(one)["energy"].get<double>(), result(two)["energy"].get<double>(), 1e-9);
  EXPECT_LT(std::abs(two["peer"]["result"]["energy_difference"].get<double>()), 2e-5);
  const Outcome outcome = run(small_water, ranks);
  const std::string heading = program::step_heading(false);
  EXPECT_EQ(outcome.out.find(heading), outcome.out.rfind(heading)) << "only one rank prints";
}

TEST(DensityChecks, HaveBoundsThatFollowTheFilter) {
  using namespace tessera::program;
  EXPECT_EQ(density_unit<double>(1e-6), 1e-6);
  EXPECT_LT(density_unit<double>(0), 1e-13);
  EXPECT_GT(density_unit<float>(1e-9), 1e-6);
  CheckRecord check;
  check.gates = density_checks({1e-6, 1e-7, 1e-7}, 1e-6, 10.00001, 10, 2, 0);
  EXPECT_TRUE(check.any());
  EXPECT_TRUE(check.passed());
  check.gates = density_checks({2e-5, 1e-7, 1e-7}, 1e-6, 10, 10, 2, 0);
  EXPECT_FALSE(check.passed());
  check.gates = density_checks({1e-6, unknown, unknown}, 1e-6, 10, 10, 2, 0);
  EXPECT_FALSE(check.passed()) << "a number that is none fails";
  check.gates = density_checks({0, 0, 0}, 1e-3, 1e6 + 1.5, 1e6, 2, 0);
  EXPECT_FALSE(check.passed()) << "at most half a state";
}

TEST(DensitySteps, WithoutTimeHaveNoRate) {
  using namespace tessera::program;
  const IterationStep idle{.stage = "trs4", .iteration = 1, .convergence = 0.5, .flop = 1e9},
      busy{.stage = "trs4", .iteration = 2, .convergence = 0.25, .seconds = 0.5, .flop = 1e9, .electrons = 8};
  EXPECT_EQ(step_row(idle, false).size(), step_heading(false).size());
  EXPECT_EQ(step_row(busy, true).size(), step_heading(true).size());
  EXPECT_EQ(step_row(idle, false).find("inf"), std::string::npos);
  EXPECT_NE(step_row(busy, false).find(" 2.0 "), std::string::npos);
  const Json rows = steps_json({idle, busy});
  EXPECT_TRUE(rows[0]["gflops"].is_null());
  EXPECT_EQ(rows[1]["gflops"], 2);
  IterationReport report;
  report.steps = {idle, busy};
  report.seconds = 0.75;
  report.flop = 3e9;
  const auto stages = stages_of_steps(report, "rest");
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(stages[0].name, "trs4");
  EXPECT_EQ(stages[0].seconds, 0.5);
  EXPECT_EQ(stages[1].seconds, 0.25);
  EXPECT_EQ(stages[1].flops, 1e9);
}

}  // namespace
