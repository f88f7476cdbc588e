// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <ctime>
#include <sstream>

#include <fmt/format.h>
#include <tests/tools/program_test.hpp>

#include "option_commands.hpp"

/// What the tables of options do in the programs.
namespace {

using namespace tessera;
using namespace tessera::test;

class OptionsProgram : public Program {};

TEST_F(OptionsProgram, HelpIsNarrow) {
  for (const auto& [name, command] : commands()) {
    const Outcome outcome = run(name + " --help");
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, command.table.help());
  }
  std::istringstream help(run("--help").out);
  for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST_F(OptionsProgram, ComplaintsNameTheCommand) {
  EXPECT_EQ(run("bench_stack --m 300").err,
            "bench_stack: --m: '300' is out of range; expected an integer from 1 to 256\n");
  EXPECT_EQ(run("eigen --generate random --n 12x").err,
            "tessera eigen: --n: '12x' is not a number; expected an integer from 0 to 2147483647\n");
  EXPECT_EQ(run("egien").err, "tessera: unknown command 'egien'; did you mean 'eigen'?\n");
  expect_refused("--frobnicate", "unknown option '--frobnicate'");
  expect_refused("eigen --generate random --n 20 --gpus 0 --peer cusolvermg", "tessera eigen: ");
}

TEST_F(OptionsProgram, FilesOfOtherKindsAreNamed) {
  const std::string hdf5 = file("a.h5", "\x89HDF\r\n\x1a\n and more"), json = file("t.json", "{\"a\": 1}"),
                    pdf = file("paper.mtx", "%PDF-1.7\n"), text = file("text.h5", "1 2 3\n"),
                    hidden = file("hidden.mtx", "\x89HDF\r\n\x1a\n");
  for (const char* use : {"eigen ", "lobpcg ", "bench_spmm ", "eigen --generate random --n 5 --overlap "}) {
    const bool reads_both = std::string(use) == "lobpcg " || std::string(use) == "bench_spmm ";
    expect_refused(use + hdf5, reads_both ? "a.h5: cannot be read, or is not an HDF5 file"
                                          : "a.h5: seems to be an HDF5 file; expected a Matrix Market file");
    if (reads_both) expect_refused(use + text, "text.h5: seems to be some text; expected an HDF5 file");
    expect_refused(use + json, "seems to be a JSON document; expected a Matrix Market file");
    expect_refused(use + pdf, "seems to be a PDF document; expected a Matrix Market file");
  }
  expect_refused("multiply " + text, "text.h5: seems to be some text; expected an HDF5 file");
  expect_refused("multiply " + hidden, "the names of HDF5 files end in .h5");
  expect_refused("eigen --generate random --n 5 --tuning " + pdf, "expected a JSON document");
}

TEST_F(OptionsProgram, FilesNeedNoOption) {
  std::string matrix = "%%MatrixMarket matrix coordinate real symmetric\n40 40 40\n";
  for (int i = 1; i <= 40; ++i) matrix += fmt::format("{0} {0} {0}\n", i);
  const std::string path = file("d.mtx", matrix);
  for (const auto& [words, key] : {std::pair(std::string("eigen {0} --range index:0:2 --json -"), "matrix"),
                                   {"lobpcg {0} --k 2 --json -", "matrix"},
                                   {"bench_spmm {0} --columns 2 --json -", "matrix"},
                                   {"multiply {0} {0} --blocks 8 --json -", "matrix_b"}}) {
    const Outcome outcome = run(fmt::format(fmt::runtime(words), path));
    ASSERT_EQ(outcome.code, 0) << words << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["options"][key], path);
  }
}

/// The common head of all records, and that the recorded options are those that were used.
TEST_F(OptionsProgram, RecordsHaveSchemaDateAndWhatWasUsed) {
  for (const std::string& command :
       {std::string("eigen --generate random --n 300 --solver two_stage"),
        std::string("multiply --generate random --n 60"), std::string("lobpcg --generate laplacian1d:60"),
        std::string("density --generate water --molecules 2"), std::string("info"),
        std::string("bench_dense gemm --n 60"), std::string("bench_stack --m 5 --products 40"),
        std::string("bench_spmm --generate laplacian1d:60"), std::string("bench_products --n 60"),
        std::string("bench_density --generate water --molecules 2"), std::string("bench_batch --count 3"),
        std::string("batch --generate random --n 5 --count 3"), "tune --n 40 --output " + path("t.json"),
        "calibrate --sizes 40 --types d --output " + path("set")}) {
    const Outcome outcome = run(command + " --json - --cores 1 --gpus 0", "STARPU_HOME=" + path("s"));
    ASSERT_EQ(outcome.code, 0) << command << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["schema"], 1) << command;
    EXPECT_EQ(json["command"], command.substr(0, command.find(' ')));
    std::tm read{};
    EXPECT_NE(::strptime(json["date"].get<std::string>().c_str(), "%Y-%m-%dT%H:%M:%SZ", &read), nullptr);
    const Json& options = json["options"];
    EXPECT_EQ(options["cores"], 1) << command;
    EXPECT_EQ(options["gpus"], 0) << command;
    EXPECT_EQ(options["scheduler"], json["machine"]["scheduler"]) << command;
    if (command.starts_with("eigen") || command.starts_with("bench_dense")) {
      for (const char* chosen : {"tile", "band", "update_width", "column_groups"})
        EXPECT_GT(options[chosen].get<Index>(), 0) << chosen;
      EXPECT_EQ(options["grid"], "1x1");
    }
    if (command.starts_with("bench_stack")) {
      for (const char* like_m : {"m", "n", "k"}) EXPECT_EQ(options[like_m], 5);
    }
    if (command.starts_with("bench_spmm")) {
      EXPECT_GT(options["nd"].get<Index>(), 0);
      EXPECT_GT(options["segments"].get<Index>(), 0);
    }
    if (command.starts_with("multiply")) {
      EXPECT_EQ(options["occupation"], 0.1);
      EXPECT_EQ(options["blocks"], Json::array({23}));
    }
  }
}

}  // namespace
