// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tessera/error.hpp>

#include "options.hpp"
#include "tuning.hpp"

namespace {

using namespace tessera;
using namespace tessera::program;

TEST(RangeText, IsParsed) {
  EXPECT_EQ(parse_range("all").kind, RangeOption::Kind::all);
  const RangeOption index = parse_range("index:3:20");
  EXPECT_EQ(index.kind, RangeOption::Kind::index);
  EXPECT_EQ(index.index_low, 3);
  EXPECT_EQ(index.index_high, 20);
  const RangeOption value = parse_range("value:-1.5:2e-3");
  EXPECT_EQ(value.kind, RangeOption::Kind::value);
  EXPECT_EQ(value.value_low, -1.5);
  EXPECT_EQ(value.value_high, 2e-3);
  EXPECT_EQ(parse_range("value:-inf:0").value_low, -HUGE_VAL);
  for (const char* text : {"all", "index:3:20", "value:-1.5:0.002"})
    EXPECT_EQ(to_string(parse_range(text)), text);
  for (const char* bad : {"", "some", "index:", "index:3", "index:3:", "index:5:3", "index:-1:3",
                          "index:1:2:3", "value:2:1", "value:1:1", "value:a:b", "value:nan:1"})
    EXPECT_THROW(parse_range(bad), InvalidArgument) << bad;
}

TEST(GridText, IsParsed) {
  EXPECT_EQ(parse_grid("2x3").rows, 2);
  EXPECT_EQ(parse_grid("2x3").cols, 3);
  for (const char* bad : {"", "2", "2x", "x3", "0x3", "2x-1", "axb", "2x3x4", "65536x65536"})
    EXPECT_THROW(parse_grid(bad), InvalidArgument) << bad;
}

/// Parses the words after `tessera eigen`.
EigenProgramOptions parse_eigen(std::vector<std::string> words) {
  CLI::App app;
  EigenProgramOptions options;
  parse_by_table(app, option_table(options));
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw usage_error_of(error);
  }
  validate(options);
  return options;
}

TEST(EigenOptions, APeerOnAGpuIsWarm) {
  EXPECT_EQ(parse_eigen({"--generate", "random", "--n", "10", "--peer", "cusolver"}).common.warmup, 1);
  EXPECT_EQ(parse_eigen({"--generate", "random", "--n", "10", "--peer", "cusolvermg"}).common.warmup, 1);
  EXPECT_EQ(
      parse_eigen({"--generate", "random", "--n", "10", "--peer", "cusolver", "--warmup", "0"}).common.warmup,
      0);
  EXPECT_EQ(parse_eigen({"--generate", "random", "--n", "10", "--peer", "lapack"}).common.warmup, 0);
}

TEST(EigenOptions, AreRead) {
  const auto options = parse_eigen(
      {"--generate",     "banded:7",   "--n",       "100",    "--type",      "z",  "--solver", "two_stage",
       "--range",        "index:0:20", "--vectors", "no",     "--tile",      "64", "--band",   "16",
       "--update-width", "32",         "--peer",    "lapack", "--cores",     "2",  "--gpus",   "0",
       "--seed",         "9",          "--repeat",  "3",      "--warmup",    "1",  "--check",  "all",
       "--json",         "-",          "--grid",    "1x2",    "--electrons", "10", "--quiet"});
  EXPECT_EQ(options.generate, "banded:7");
  EXPECT_EQ(options.n, 100);
  EXPECT_EQ(options.type, 'z');
  EXPECT_EQ(options.solver, "two_stage");
  EXPECT_EQ(options.range.index_high, 20);
  EXPECT_FALSE(options.vectors);
  EXPECT_EQ(options.tile, 64);
  EXPECT_EQ(options.band, 16);
  EXPECT_EQ(options.update_width, 32);
  EXPECT_EQ(options.column_groups, 0);
  EXPECT_EQ(options.peer, "lapack");
  EXPECT_EQ(options.common.cores, 2);
  EXPECT_EQ(options.common.gpus, 0);
  EXPECT_EQ(options.common.seed, 9u);
  EXPECT_EQ(options.common.repeat, 3);
  EXPECT_EQ(options.common.check, CheckPolicy::all);
  EXPECT_TRUE(options.common.json_alone());
  EXPECT_TRUE(options.common.quiet);
  EXPECT_EQ(options.grid.cols, 2);
  EXPECT_EQ(options.electrons, 10);
}

TEST(EigenOptions, ColumnGroupsAreRead) {
  EXPECT_EQ(parse_eigen({"--generate", "random", "--n", "10", "--column-groups", "3"}).column_groups, 3);
}

TEST(EigenOptions, DefaultsCheckTheLastRun) {
  auto options = parse_eigen({"--generate", "random", "--n", "10", "--repeat", "3"});
  EXPECT_FALSE(options.common.wants_check(1));
  EXPECT_TRUE(options.common.wants_check(2));
  EXPECT_TRUE(options.vectors);
  EXPECT_EQ(options.type, 0);
}

TEST(EigenOptions, BadValuesAreRefused) {
  const std::vector<std::string> good{"--generate", "random", "--n", "10"};
  const std::vector<std::vector<std::string>> refused_by_parser{{"--range", "index:5:2"},
                                                                {"--type", "x"},
                                                                {"--solver", "magic"},
                                                                {"--vectors", "maybe"},
                                                                {"--tile", "0"},
                                                                {"--tile", "many"},
                                                                {"--column-groups", "33"},
                                                                {"--cores", "-3"},
                                                                {"--repeat", "0"},
                                                                {"--check", "some"},
                                                                {"--peer", "matlab"},
                                                                {"--grid", "2"},
                                                                {"--generate", "foo"},
                                                                {"--n", "-5"},
                                                                {"--n", "2.5"},
                                                                {"--n", "010"},
                                                                {"--n", "1_0"},
                                                                {"--n", "0x10"},
                                                                {"--n", "1000000000000000000"},
                                                                {"--seed", "18446744073709551616"},
                                                                {"--scale", "nan"},
                                                                {"--scale", "1e400"},
                                                                {"--tile", "64.5"},
                                                                {"--repeat", "3", "--repeat", "4"},
                                                                {"--nonsense"},
                                                                {"--json"}};
  for (const auto& extra : refused_by_parser) {
    auto words = good;
    words.insert(words.end(), extra.begin(), extra.end());
    EXPECT_THROW(parse_eigen(words), UsageError) << fmt::format("{}", fmt::join(extra, " "));
  }
  EXPECT_THROW(parse_eigen({}), UsageError) << "no matrix";
  EXPECT_THROW(parse_eigen({"--generate", "random"}), UsageError) << "no order";
  EXPECT_THROW(parse_eigen({"--matrix", "a.mtx", "--generate", "random", "--n", "3"}), UsageError);
  EXPECT_THROW(parse_eigen({"--matrix", "a.mtx", "--n", "3"}), UsageError);
  EXPECT_THROW(parse_eigen({"--generate", "random", "--n", "3", "--electrons", "3"}), UsageError);
  EXPECT_THROW(
      parse_eigen({"--generate", "random", "--n", "3", "--overlap", "generated", "--peer", "cusolvermg"}),
      UsageError);
  EXPECT_THROW(parse_eigen({"--generate", "random", "--n", "3", "--output", "/no/such/place/x"}),
               InvalidArgument);
}

TEST(MultiplyOptions, NumbersThatAreNoneAreRefused) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"--occupation", "nan"},
                                                                                    {"--occupation", "1.5"},
                                                                                    {"--filter", "inf"},
                                                                                    {"--alpha", "nan"},
                                                                                    {"--beta", "0x1p3"},
                                                                                    {"--blocks", "2.5"},
                                                                                    {"--blocks", "13,05"}}) {
    CLI::App app;
    MultiplyProgramOptions options;
    parse_by_table(app, option_table(options));
    std::vector<std::string> words{value, name, "100", "--n", "random", "--generate"};
    EXPECT_THROW(app.parse(words), UsageError) << name << ' ' << value;
  }
}

TEST(CommandLine, WordsThatNothingMeansAreRefused) {
  const auto refusal = [](std::vector<std::string> words) -> std::string {
    words.insert(words.begin(), "tessera");
    try {
      require_plain_words(words);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal({"eigen", "--matrix", "B\xc3\xa4r, x.mtx", "--n", "5", "--blocks=13,5", "--shift", "-3"}),
            "");
  EXPECT_EQ(refusal({"eigen", "--matrix", ""}), "--matrix = '': expected a value that is not empty");
  EXPECT_EQ(refusal({"eigen", "--json="}), "--json = '': expected a value that is not empty");
  EXPECT_EQ(refusal({""}), "argument = '': expected a value that is not empty");
  EXPECT_EQ(refusal({"eigen", "--json", "a\xff"}),
            "--json = 'a?': expected UTF-8 text, which the record of the run can hold");
  EXPECT_EQ(refusal({"eigen", "--json=a\n"}), "--json = 'a?': expected text without control characters");
  for (const char* list : {"13,,5", ",13", "13,", ","})
    EXPECT_NE(refusal({"multiply", "--blocks", list}), "") << list;
}

TEST(Tuning, EntriesThatCannotBeAreRefused) {
  const auto path =
      (std::filesystem::temp_directory_path() / fmt::format("tessera_bad_tuning_{}.json", ::getpid()))
          .string();
  const Json good = to_json(TuningEntry{1000, 'd', true, 2, Solver::two_stage, 192, 48, 96, 1.5});
  const auto read = [&](const Json& entry) {
    std::ofstream(path) << Json{{"tuning", Json::array({entry})}}.dump();
    return read_tuning(path).size();
  };
  EXPECT_EQ(read(good), 1u);
  for (const auto& [name, value] : std::vector<std::pair<std::string, Json>>{{"tile", 2.5},
                                                                             {"tile", -1},
                                                                             {"n", 1e300},
                                                                             {"n", 0},
                                                                             {"n", 18446744073709551615u},
                                                                             {"workers", 1ll << 40},
                                                                             {"type", ""},
                                                                             {"type", "dd"},
                                                                             {"vectors", 1},
                                                                             {"solver", "magic"},
                                                                             {"band", nullptr},
                                                                             {"seconds", -1}}) {
    Json bad = good;
    bad[name] = value;
    EXPECT_THROW(read(bad), InputError) << bad.dump();
  }
  for (const std::string& text : {std::string("{\"tuning\": {\"a\": 1}}"), std::string("[]"), std::string(),
                                  std::string(200000, '['), std::string("{\"tuning\": [")}) {
    std::ofstream(path) << text;
    EXPECT_THROW(read_tuning(path), InputError) << text.substr(0, 20);
  }
  EXPECT_THROW(read_tuning("/dev/zero"), InputError);
  std::filesystem::remove(path);
}

TEST(Tuning, SurvivesTheFileAndIsApplied) {
  const auto path =
      (std::filesystem::temp_directory_path() / fmt::format("tessera_tuning_{}.json", ::getpid())).string();
  std::filesystem::remove(path);
  EXPECT_THROW(read_tuning(path), InputError);
  write_tuning(path, {{1000, 'd', true, 2, Solver::two_stage, 192, 48, 96, 1.5}});
  write_tuning(path, {{4000, 'd', true, 2, Solver::two_stage, 256, 64, 128, 9},
                      {1000, 'd', false, 2, Solver::vendor, 0, 0, 0, 1}});
  write_tuning(path, {{1000, 'd', true, 2, Solver::one_stage, 128, 32, 64, 1.25}});
  const auto entries = read_tuning(path);
  ASSERT_EQ(entries.size(), 3u) << "the new entry replaces the old one";

  EigensolveOptions options;
  apply_tuning(entries, 'd', 1100, true, 2, options);
  EXPECT_EQ(options.solver, Solver::one_stage);
  EXPECT_EQ(options.tile, 128);
  EXPECT_EQ(options.update_width, 64);
  options = {};
  options.solver = Solver::two_stage;
  options.band = 16;
  apply_tuning(entries, 'd', 3500, true, 2, options);
  EXPECT_EQ(options.solver, Solver::two_stage) << "what the user says stays";
  EXPECT_EQ(options.band, 16);
  EXPECT_EQ(options.tile, 0);
  for (const auto& [type, n, vectors, workers] : std::vector<std::tuple<char, Index, bool, int>>{
           {'s', 1000, true, 2}, {'d', 100, true, 2}, {'d', 1000, true, 8}}) {
    options = {};
    apply_tuning(entries, type, n, vectors, workers, options);
    EXPECT_EQ(options.solver, Solver::automatic) << type << n << workers;
  }
  std::ofstream(path) << "{\"something\": 3}";
  EXPECT_THROW(read_tuning(path), InputError);
  std::filesystem::remove(path);
}

}  // namespace
