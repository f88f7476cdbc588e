// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/tools/program_test.hpp>

#include "spmm_plots.hpp"
#include "spmm_speedups.hpp"

namespace tessera::test {
namespace {

using program::HeatMap;
using program::SizeHistogram;

std::size_t times(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(SizeHistogram, CountsByPowersOfTwo) {
  const SizeHistogram h("t", "rows", {1, 2, 3, 4, 7, 8, 60, 64});
  const std::vector<std::vector<Index>> expected{{1, 1, 1},   {2, 3, 2},   {4, 7, 2},   {8, 15, 1},
                                                 {16, 31, 0}, {32, 63, 1}, {64, 127, 1}};
  ASSERT_EQ(h.bins.size(), expected.size());
  for (std::size_t b = 0; b < expected.size(); ++b)
    EXPECT_EQ((std::vector<Index>{h.bins[b].first, h.bins[b].last, h.bins[b].count}), expected[b]);
  EXPECT_EQ(h.smallest, 1);
  EXPECT_EQ(h.largest, 64);
  EXPECT_DOUBLE_EQ(h.mean, 149. / 8);
  EXPECT_EQ(program::to_json(h)["bins"].size(), 7u);
  EXPECT_EQ(program::table_of(h).size(), 8u);
  EXPECT_EQ(times(program::svg({h, h}), "fill=\"#0072b2\""), 14u);
  const SizeHistogram none("a < b", "rows", {});
  EXPECT_TRUE(none.bins.empty());
  EXPECT_NE(program::svg({none}).find("a &lt; b"), std::string::npos);
  EXPECT_EQ(SizeHistogram("", "", {0, 1}).bins.size(), 2u);
}

TEST(HeatMap, HasANumberForEachMeasurement) {
  const HeatMap map{"t", "matrix", "vectors", {"a", "b"}, {"4", "8"}, {{16., std::nullopt}, {0.0625, 1.}}};
  const std::string text = program::svg({map});
  for (const char* part : {">16.00<", ">0.06<", ">1.00<", ">-<", "#0072b2", "#d55e00", "#eeeeee", "</svg>"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

class SpmmSpeedups : public Program {
 protected:
  static std::string record_of(const std::string& matrix, int columns, const std::string& peer, double ours,
                               double theirs) {
    return fmt::format(
        R"({{"command": "bench_spmm", "options": {{"matrix": "{}", "columns": {}, "storage": "d",
      "type": "d"}}, "runs": [{{"result": {{"seconds": {}}}}}], "peer": {{"name": "{}", "seconds": [{}, 9, 0]}}}})",
        matrix, columns, ours, peer, theirs);
  }
};

TEST_F(SpmmSpeedups, MediansByMatrixAndVectors) {
  const std::vector<std::string> files{
      file("a.json", record_of("m", 4, "p", 2, 3)), file("b.json", record_of("m", 8, "p", 1, 5)),
      file("c.json", record_of("n", 8, "q", 4, 1)), file("d.json", record_of("m", 4, "p", 2, 4))};
  const std::vector<HeatMap> maps = program::speedups_of(files);
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0].rows, (std::vector<std::string>{"m (dd)", "n (dd)"}));
  EXPECT_EQ(maps[0].columns, (std::vector<std::string>{"4", "8"}));
  EXPECT_EQ(maps[0].values[0][0], 2.0);  // the last record of the place: the median of 4, 9, 0, over 2
  EXPECT_EQ(maps[0].values[0][1], 5.0);
  EXPECT_FALSE(maps[0].values[1][0].has_value());
  EXPECT_EQ(maps[1].values[1][0], 0.25);
  const std::string list = files[0] + "," + files[1] + "," + files[2];
  const Json json = record("bench_spmm --speedups " + list + " --plot " + path("s.svg"));
  EXPECT_EQ(json["maps"][0]["speedups"][0][1], 5.0);
  EXPECT_TRUE(json["maps"][0]["speedups"][1][0].is_null());
  EXPECT_NE(contents("s.svg").find(">5.00<"), std::string::npos);
}

TEST_F(SpmmSpeedups, BadRecords) {
  for (const auto& [text, reason] : {std::pair<std::string, std::string>("[]", "is no record of bench_spmm"),
                                     {"no", "is no record of bench_spmm"},
                                     {R"({"command": "eigen"})", "is no record of bench_spmm"},
                                     {R"({"command": "bench_spmm"})", "has no baseline"},
                                     {R"({"command": "bench_spmm", "peer": {}})", "is a damaged record"},
                                     {record_of("m", 4, "p", 0, 1), "times that are not positive"}})
    expect_refused("bench_spmm --speedups " + file("r.json", text), reason);
  expect_refused("bench_spmm --speedups " + path("absent.json"), "there is no such file");
  expect_refused("bench_spmm --generate laplacian1d:60 --speedups " + file("r.json", "{}"), "--speedups");
  expect_refused("bench_spmm --generate laplacian1d:60 --plot " + path("p.svg"), "--plot");
}

}  // namespace
}  // namespace tessera::test
