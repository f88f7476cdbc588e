// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <sstream>

#include <tests/tools/program_test.hpp>

/// No printed or recorded rate may exceed the rate that the machine can reach.
namespace {

using namespace tessera::test;

class Rates : public Program {
 protected:
  /// The best rate in GFLOP/s of several large products in double.
  double gemm_rate() const {
    const Outcome outcome =
        run("bench_dense gemm --gpus 0 --n 1500 --warmup 1 --repeat 5 --check none --json -");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    double best = 0;
    const Json record = Json::parse(outcome.out);
    for (const Json& one : record["runs"]) best = std::max(best, one["gflops"]["total"].get<double>());
    return best;
  }
  /// The numbers under "GFLOP/s" in the table of stages, which ends with the total.
  static std::vector<double> printed_rates(const std::string& text) {
    std::vector<double> rates;
    std::istringstream lines(text);
    std::size_t column = std::string::npos;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("stage ")) {
        column = line.find("GFLOP/s") + std::string("GFLOP/s").size();
        continue;
      }
      if (column == std::string::npos) continue;
      constexpr std::size_t width = 10;
      const std::string cell = line.size() >= column ? line.substr(column - width, width) : std::string();
      if (cell.find_first_not_of(' ') != std::string::npos) rates.push_back(std::stod(cell));
      if (line.starts_with("  total")) break;
    }
    return rates;
  }
};

TEST_F(Rates, AreBelowTheMachines) {
  const std::vector<std::string> commands{
      "eigen --generate random --n 500 --overlap generated --solver one_stage",
      "eigen --generate random --n 700 --overlap generated --solver two_stage",
      "eigen --generate random --n 300 --solver two_stage --tile 64 --band 32",
      "multiply --generate random --n 1150 --occupation 0.4",
      "lobpcg --generate laplacian2d:80 --k 3 --tol 1e-4",
      "bench_dense to_standard --n 700",
      "bench_dense reduce_to_band --n 300 --tile 64 --band 64",
      "bench_dense tridiagonalize --n 500",
      "bench_dense back_band --n 600",
      "bench_stack --products 2000",
      "bench_spmm --generate laplacian2d:100"};
  const double before = gemm_rate();
  std::vector<std::pair<std::string, double>> rates;
  for (const std::string& command : commands) {
    const std::string words = command + " --gpus 0 --json " + path("record.json");
    const Outcome outcome = run(words);
    ASSERT_EQ(outcome.code, 0) << words << outcome.err;
    for (const double rate : printed_rates(outcome.out)) rates.emplace_back(command, rate);
    const Json record = Json::parse(contents("record.json"));
    for (const Json& one : record["runs"])
      for (const auto& [stage, rate] : one["gflops"].items())
        if (rate.is_number()) rates.emplace_back(command + ": " + stage, rate.get<double>());
  }
  ASSERT_GT(rates.size(), 2 * commands.size());
  // Clock rates and the load from other programs vary between runs, so a short stage may run
  // undisturbed while the products did not. The errors that this test looks for are factors of 5
  // and more.
  constexpr double noise = 1.5;
  const double limit = noise * std::max(before, gemm_rate());
  for (const auto& [what, rate] : rates) EXPECT_LE(rate, limit) << what;
}

}  // namespace
