// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <numbers>

#include <tests/tools/program_test.hpp>

/// Runs `tessera density` with several Hamiltonians: k-points and spin channels.
namespace {

using namespace tessera::test;

class DensityBatchProgram : public Program {
 protected:
  static constexpr int count = 12;
  /// A diagonal Hamiltonian with the levels 1, 2, ..., 12, all higher by `shift`.
  std::string levels(const std::string& name, double shift) const {
    std::string matrix = fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {0}\n", count);
    for (int i = 1; i <= count; ++i) matrix += fmt::format("{0} {0} {1}\n", i, i + shift);
    return file(name, matrix);
  }
  /// Electrons of these levels, one in a state, and their energy.
  static std::pair<double, double> of_levels(double shift, double mu, double kt) {
    double electrons = 0, energy = 0;
    for (int i = 1; i <= count; ++i) {
      const double f = 1 / (1 + std::exp((i + shift - mu) / kt));
      electrons += f;
      energy += f * (i + shift);
    }
    return {electrons, energy};
  }
};

TEST_F(DensityBatchProgram, KPointsShareAChemicalPotential) {
  constexpr double kt = 0.8, shift = 0.5, weights[] = {0.25, 0.75}, wanted = 8.2;
  double lower = 0, upper = 20;
  for (int k = 0; k < 100; ++k) {
    const double mu = (lower + upper) / 2;
    const double electrons =
        weights[0] * of_levels(0, mu, kt).first + weights[1] * of_levels(shift, mu, kt).first;
    (electrons < wanted ? lower : upper) = mu;
  }
  const auto [first, first_energy] = of_levels(0, lower, kt);
  const auto [second, second_energy] = of_levels(shift, lower, kt);
  const std::string line = fmt::format(
      "density {},{} --electrons {} --weights 0.25,0.75 --occupation 1 --blocks 3 --filter 0 "
      "--temperature {} ",
      levels("a.mtx", 0), levels("b.mtx", shift), wanted, kt);
  for (const char* more : {"--peer dense", "--method dense"}) {
    const Json json = record(line + more);
    const Json& found = result(json);
    EXPECT_TRUE(passed(json));
    EXPECT_NEAR(found["mu"].get<double>(), lower, 1e-9);
    EXPECT_NEAR(found["electrons"].get<double>(), wanted, 1e-9);
    EXPECT_NEAR(found["energy"].get<double>(), 0.25 * first_energy + 0.75 * second_energy, 1e-9);
    ASSERT_EQ(found["problems"].size(), 2u);
    EXPECT_NEAR(found["problems"][0]["electrons"].get<double>(), first, 1e-9);
    EXPECT_NEAR(found["problems"][1]["electrons"].get<double>(), second, 1e-9);
    EXPECT_NEAR(found["problems"][1]["energy"].get<double>(), second_energy, 1e-9);
    EXPECT_EQ(found["problems"][1]["weight"], 0.75);
    EXPECT_EQ(json["options"]["weights"], Json::array({0.25, 0.75}));
    EXPECT_EQ(json["options"]["common_mu"], true);
    if (json.contains("peer")) {
      EXPECT_LT(std::abs(json["peer"]["result"]["energy_difference"].get<double>()), 1e-9);
      EXPECT_LT(json["peer"]["result"]["largest_difference"].get<double>(), 1e-9);
    }
  }
  // Each its own: by symmetry the second mu is higher by the shift.
  const Json apart = record(line + "--common-mu no");
  EXPECT_TRUE(result(apart)["mu"].is_null());
  EXPECT_NEAR(
      result(apart)["problems"][1]["mu"].get<double>() - result(apart)["problems"][0]["mu"].get<double>(),
      shift, 1e-9);
}

TEST_F(DensityBatchProgram, SpinChannelsHaveTheirElectrons) {
  const std::string both = levels("a.mtx", 0) + "," + levels("b.mtx", 0.5);
  const Outcome outcome = run(fmt::format("density {} --electrons 9,7 --occupation 1 --blocks 3 --output {}",
                                          both, path("p.mtx.gz")));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* text :
       {"\nH             2 of them, n = 12, ", "\nH 1           weight 1, 9 electrons, mu 9.",
        ", energy 45, ", "\nenergy        76.5", ": passed\n"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_TRUE(fs::exists(path("p_1.mtx.gz")));
  EXPECT_TRUE(fs::exists(path("p_2.mtx.gz")));
  // One that fails is told, and is exit code 1.
  const std::string same =
      file("same.mtx", "%%MatrixMarket matrix coordinate real symmetric\n12 12 3\n1 1 1\n2 2 2\n3 3 3\n");
  const Json bad =
      record(fmt::format("density {},{} --electrons 8 --blocks 3 --method dense", path("a.mtx"), same), 1);
  EXPECT_EQ(result(bad)["status"], "no gap");
  EXPECT_EQ(result(bad)["problems"][0]["status"], "converged");
  EXPECT_TRUE(result(bad)["energy"].is_null());
  expect_refused(fmt::format("density {},{} --electrons 8", path("a.mtx"), path("absent.mtx")), "absent.mtx");
}

/// A chain with two sites in a cell, hopping t within it and u to the next: energies -|t + u exp(i k)| and
/// +|t + u exp(i k)|; with a common overlap of 2 they are half of that.
TEST_F(DensityBatchProgram, ComplexKPointsOfAChain) {
  constexpr double t = 1, u = 0.5;
  std::string files;
  double energy = 0;
  constexpr int points = 4;
  for (int p = 0; p < points; ++p) {
    const std::complex<double> hop = t + u * std::polar(1.0, std::numbers::pi * (p + 0.5) / points);
    energy -= std::abs(hop) / points;
    files +=
        (p > 0 ? "," : "") +
        file(fmt::format("h{}.mtx", p),
             fmt::format(
                 "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 0 0\n2 1 {} {}\n2 2 0 0\n",
                 hop.real(), hop.imag()));
  }
  const std::string s =
      file("s.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 2 0\n2 2 2 0\n");
  const Json json = record(fmt::format(
      "density {} {} --electrons 2 --blocks 1 --weights 0.25,0.25,0.25,0.25 --filter 0", files, s));
  EXPECT_TRUE(passed(json));
  EXPECT_EQ(json["options"]["type"], "z");
  EXPECT_EQ(json["options"]["overlap"], s);
  EXPECT_NEAR(result(json)["energy"].get<double>(), energy, 1e-10);
  EXPECT_NEAR(result(json)["electrons"].get<double>(), 2, 1e-10);
}

}  // namespace
