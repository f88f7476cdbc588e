// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tests/tools/program_test.hpp>

#include <tessera/types.hpp>

#include "dbcsr_peer.hpp"

/// Runs `tessera multiply` as a user would.
namespace {

using namespace tessera;
using namespace tessera::test;

using MultiplyProgram = Program;

TEST_F(MultiplyProgram, BadUsage) {
  expect_refused("multiply", "--matrix-a");
  expect_refused("multiply --generate random", "--n");
  expect_refused("multiply --generate nonsense --n 50", "nonsense");
  expect_refused("multiply --generate random --n 50 --occupation 1.5", "--occupation");
  expect_refused("multiply --generate random --n 50 --blocks 5,0", "--blocks");
  expect_refused("multiply --generate random --n 50 --filter -1",
                 "--filter: '-1' is out of range; expected a number: 0 or more");
  expect_refused("multiply --generate random --n 50 --filter nan",
                 "--filter: 'nan' is not finite; expected a number: 0 or more");
  expect_refused("multiply --generate random --n 50 --op-a X", "--op-a");
  expect_refused("multiply --generate random --n 50 --alpha nan", "--alpha");
  expect_refused("multiply --generate random --n 50 --symmetry Q", "--symmetry");
  expect_refused("multiply --generate random --n 50 --peer lapack", "lapack");
  expect_refused("multiply --generate random --n 50 --dense perhaps", "perhaps");
  expect_refused("multiply --generate random --n 50 --matrix-b " + path("b.mtx"), "--matrix-b");
  expect_refused("multiply --generate random --n 50 --grid 2x2", "2x2");
  expect_refused("multiply --generate random --n 50 --output " + path("no/such/c.mtx"), "c.mtx");
  expect_refused("multiply --generate random --n 20000000", "memory");
  expect_refused("multiply --matrix-a " + path("absent.mtx"), "absent.mtx");
  expect_refused("multiply --matrix-a " + path("absent.mtx") + " --occupation 0.2", "--occupation");
  expect_refused("multiply --matrix-a " + path("absent.mtx") + " --beta 2", "--matrix-c");
}

TEST_F(MultiplyProgram, ReportsWhatWasComputed) {
  const Json json =
      record("multiply --generate water --n 460 --occupation 0.3 --repeat 2 --check all --peer dense");
  EXPECT_EQ(json["command"], "multiply");
  EXPECT_EQ(json["options"]["type"], "d");
  EXPECT_EQ(json["options"]["n"], 460);
  EXPECT_NEAR(json["options"]["occupation_A"].get<double>(), 0.3, 0.03);
  ASSERT_EQ(json["runs"].size(), 2u);
  for (const Json& run : json["runs"]) {
    EXPECT_TRUE(run["check"]["passed"].get<bool>());
    const Json& result = run["result"];
    const double products = result["products"].get<double>();
    EXPECT_GT(products, 0);
    EXPECT_DOUBLE_EQ(result["flop"].get<double>(), products * 2 * 23 * 23 * 23);
    EXPECT_DOUBLE_EQ(result["bytes"]["products"].get<double>(), products * 2 * 23 * 23 * 8);
    EXPECT_GT(result["occupation"].get<double>(), 0.3);
    EXPECT_GT(result["checksum"].get<double>(), 0);
    EXPECT_GT(result["symbolic_share"].get<double>(), 0);
    ASSERT_EQ(result["shapes"].size(), 1u);
    EXPECT_EQ(result["shapes"][0]["m"], 23);
    EXPECT_EQ(result["shapes"][0]["products"], result["products"]);
    for (const char* stage : {"symbolic", "images", "numeric"})
      EXPECT_TRUE(run["seconds"]["stages"].contains(stage)) << stage;
  }
  EXPECT_EQ(json["runs"][0]["result"]["checksum"], json["runs"][1]["result"]["checksum"]);
  EXPECT_GT(json["peer"]["ratio"].get<double>(), 0);
}

TEST_F(MultiplyProgram, SaysWhatWasDense) {
  const std::string full =
      "multiply --generate random --n 200 --blocks 2 --occupation 0.9 --panel 50 --dense ";
  for (const std::string use : {"auto", "never", "always"}) {
    const Json json = record(full + use);
    EXPECT_TRUE(passed(json)) << use;
    EXPECT_EQ(json["options"]["dense"], use);
    const Json& result = json["runs"][0]["result"];
    EXPECT_EQ(result["panel_products"], 64);
    EXPECT_EQ(result["dense_panel_products"], use == "never" ? 0 : 64) << use;
  }
}

TEST_F(MultiplyProgram, AgreesWithDbcsr) {
  const std::string small = "multiply --generate random --n 120 --blocks 13,5,5 --peer dbcsr ";
  if (!program::has_dbcsr()) {
    expect_refused(small, "without DBCSR");
    GTEST_SKIP() << "built without DBCSR";
  }
  for (const char* more :
       {"--type s --occupation 0.4", "--type d --symmetry S --op-b T --alpha -2 --repeat 2 --check all",
        "--type c --symmetry A --op-a C", "--type z --symmetry H --op-a T --op-b C --beta 2",
        "--type d --retain-sparsity --beta 0.5", "--type d --filter 1e-6", "--occupation 0"}) {
    const Json json = record(small + more);
    const Json &check = json["runs"].back()["check"], &result = json["runs"].back()["result"],
               &peer = json["peer"];
    EXPECT_TRUE(check["passed"].get<bool>()) << more;
    EXPECT_TRUE(check["values"].is_number()) << more;
    EXPECT_NE(peer["name"].get<std::string>().find("DBCSR"), std::string::npos);
    EXPECT_EQ(peer["threads"], json["runs"][0]["workers"]["count"]) << more;
    EXPECT_EQ(peer["runs"].size(), json["runs"].size());
    EXPECT_EQ(peer["result"]["blocks"], result["blocks"]) << more;
    EXPECT_NEAR(peer["result"]["checksum"].get<double>(), result["checksum"].get<double>(),
                1e-5 * result["checksum"].get<double>())
        << more;
    EXPECT_TRUE(peer["result"]["largest_difference"].is_number()) << more;
  }
}

/// With a GPU and cuTENSOR it must compute the same; without one of them each run must print one line and exit
/// with code 2.
TEST_F(MultiplyProgram, AgreesWithCutensor) {
  const std::string small = "multiply --generate random --n 120 --blocks 13,5,5 --peer cutensor ";
  expect_refused(small + "--filter 1e-6", "cuTENSOR has no filter");
  expect_refused(small + "--type z --op-b C", "cuTENSOR has no adjoints");
  expect_refused("bench_products --n 60 --peer cutensor --filter 1e-6", "cuTENSOR has no filter");
  if (const std::string ranks = two_ranks(); !ranks.empty()) {
    const Outcome outcome = run(small, ranks);
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.err.find("one process"), std::string::npos) << outcome.err;
  }
  const Outcome first = run(small + "--json -");
  if (first.code != 0) {
    expect_refused(small, first.err.find("GPU") == std::string::npos ? "libcutensor.so.2" : "no GPU");
    GTEST_SKIP() << first.err;
  }
  for (const char* more :
       {"--type s --occupation 0.4", "--type d --symmetry S --op-b T --alpha -2 --repeat 2 --check all",
        "--type d --op-a C", "--type c --op-a T",
        "--type z --symmetry H --op-a T --op-b T --beta 2 --repeat 2",
        "--type d --retain-sparsity --beta 0.5", "--occupation 0"}) {
    const Json json = record(small + more);
    const Json &check = json["runs"].back()["check"], &result = json["runs"].back()["result"],
               &peer = json["peer"];
    EXPECT_TRUE(check["passed"].get<bool>()) << more;
    EXPECT_TRUE(check["values"].is_number()) << more;
    EXPECT_EQ(peer["threads"], 0) << more;
    EXPECT_EQ(peer["runs"].size(), json["runs"].size()) << more;
    EXPECT_EQ(peer["result"]["blocks"], result["blocks"]) << more;
    EXPECT_GT(peer["result"]["plan_seconds"].get<double>(), 0) << more;
    EXPECT_NEAR(peer["result"]["checksum"].get<double>(), result["checksum"].get<double>(),
                1e-5 * result["checksum"].get<double>())
        << more;
  }
}

TEST_F(MultiplyProgram, EveryTypeAndOption) {
  const std::string small = "multiply --generate random --n 120 --blocks 13,5,5 ";
  for (const char* more :
       {"--type s --occupation 0.4", "--type d --symmetry S --op-b T",
        "--type c --symmetry A --op-a C --alpha -0.5", "--type z --symmetry H --op-a T --op-b C --beta 2",
        "--type d --filter 1e-3", "--type z --retain-sparsity",
        "--type d --retain-sparsity --beta 0.5 --filter 1e-6", "--panel 40", "--dense always --panel 40",
        "--occupation 0", "--occupation 1"}) {
    const Json json = record(small + more);
    EXPECT_TRUE(passed(json)) << more;
  }
  EXPECT_TRUE(passed(record("multiply --generate water --n 0")));
}

TEST_F(MultiplyProgram, FilterLeavesOutAndDrops) {
  const std::string water = "multiply --generate water --n 920 --occupation 0.5 ";
  const Json all = record(water)["runs"][0]["result"],
             some = record(water + "--filter 3")["runs"][0]["result"];
  EXPECT_LT(some["products"].get<Index>(), all["products"].get<Index>());
  EXPECT_EQ(some["products"].get<Index>() + some["filtered_products"].get<Index>(),
            all["products"].get<Index>());
  EXPECT_GT(some["filtered_blocks"].get<Index>(), 0);
}

TEST_F(MultiplyProgram, TellsWhereTheProductsWere) {
  const Json json = record("multiply --generate random --n 230 --occupation 0.2 --keep-on host");
  EXPECT_EQ(json["options"]["keep_on"], "host");
  const Json& result = json["runs"][0]["result"];
  EXPECT_GT(result["products"].get<Index>(), 0);
  EXPECT_EQ(result["cpu_products"].get<Index>() + result["gpu_products"].get<Index>(),
            result["products"].get<Index>());
  EXPECT_GT(result["products_per_second"].get<double>(), 0);
  EXPECT_EQ(result["bytes"]["moved"], json["runs"][0]["workers"]["bytes_moved"]);
  const Json& held = json["runs"][0]["memory"]["gpu_bytes"];
  if (json["machine"]["cuda_workers"] == 0)
    EXPECT_TRUE(held.is_null()) << held;
  else
    EXPECT_GT(held.get<double>(), 0) << "panels and patterns";
  expect_refused("multiply --generate random --n 230 --keep-on disk", "--keep-on");
  expect_refused("multiply --generate random --n 230 --gpus 0 --keep-on gpu", "--keep-on: 'gpu'");
}

TEST_F(MultiplyProgram, ReadsAndWritesFiles) {
  const std::string sizes = file("sizes.txt", "13 5 5 # one molecule\n13 5 5 13 1\n");
  const std::string made =
      "multiply --generate random --n 60 --blocks 13,5,5 --occupation 0.3 --quiet --output ";
  for (const char* name : {"c.mtx", "c.mtx.gz", "c.h5"}) ASSERT_EQ(run(made + path(name)).code, 0) << name;
  const Json expected = record("multiply --matrix-a " + path("c.h5"));
  EXPECT_TRUE(passed(expected));
  EXPECT_EQ(expected["options"]["n"], 60);
  for (const char* name : {"c.mtx", "c.mtx.gz"}) {
    const Json json = record(fmt::format("multiply --matrix-a {} --matrix-b {} --block-sizes {}", path(name),
                                         path("c.h5"), sizes));
    EXPECT_TRUE(passed(json)) << name;
    EXPECT_NEAR(json["runs"][0]["result"]["checksum"].get<double>(),
                expected["runs"][0]["result"]["checksum"].get<double>(), 1e-9)
        << name;
  }
  const std::string wide = file(
      "wide.mtx", "%%MatrixMarket matrix coordinate complex general\n3 5 3\n1 1 1 0\n2 4 0 2\n3 5 1 1\n");
  const Json gram = record("multiply --blocks 2 --op-b C --matrix-a " + wide);
  EXPECT_EQ(gram["options"]["type"], "z") << "the type follows the file";
  EXPECT_EQ(gram["runs"][0]["result"]["checksum"], 1 + 16 + 4);
  const std::string short_list = file("short.txt", "13 5 5\n"), words = file("words.txt", "13 five\n");
  expect_refused("multiply --matrix-a " + path("c.mtx") + " --block-sizes " + short_list,
                 "--block-sizes: 'a sum of 23'");
  expect_refused("multiply --matrix-a " + path("c.mtx") + " --block-sizes " + words, "words.txt");
  expect_refused("multiply --matrix-a " + path("c.mtx") + " --block-sizes " + path("absent.txt"),
                 "absent.txt");
  expect_refused("multiply --type d --matrix-a " + wide, "complex");
  expect_refused("multiply --blocks 2 --matrix-a " + wide, "block sizes");
}

TEST_F(MultiplyProgram, MultipliesTheWaterPair) {
  const char* data = std::getenv("TESSERA_TEST_DATA");
  if (!data) GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  const Json json = record(fmt::format(
      "multiply --matrix-a {0}/water32_dzvp_S.mtx.gz --matrix-b {0}/water32_dzvp_H.mtx.gz --filter 1e-6",
      data));
  EXPECT_TRUE(passed(json));
  EXPECT_EQ(json["options"]["n"], 736);
  EXPECT_EQ(json["options"]["symmetry"][0], "S");
}

/// Above the order for which the dense product is computed, random vectors check the result.
TEST_F(MultiplyProgram, LargeMatrices) {
  const std::string water = "multiply --generate water --n 2070 --occupation 0.05 ";
  EXPECT_TRUE(passed(record(water + "--beta -1")));
  EXPECT_TRUE(passed(record(water + "--retain-sparsity --filter 1e-5")));
}

TEST_F(MultiplyProgram, PrintsAReport) {
  const Outcome outcome = run("multiply --generate random --n 230 --occupation 0.2");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* text : {"symbolic", "numeric", "products", "checksum", "23 x  23 x  23", "passed"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
}

TEST_F(MultiplyProgram, SameOverSeveralRanks) {
  const std::string ranks = two_ranks();
  if (ranks.empty()) GTEST_SKIP() << "MPIEXEC is not set";
  const std::string arguments = "multiply --generate water --n 460 --blocks 13,5,5 --occupation 0.3";
  const Json one = record(arguments), two = record(arguments, 0, ranks);
  EXPECT_EQ(two["machine"]["ranks"], 2);
  EXPECT_TRUE(passed(two));
  const Json &a = one["runs"][0]["result"], &b = two["runs"][0]["result"];
  EXPECT_EQ(a["products"], b["products"]);
  EXPECT_EQ(a["blocks"], b["blocks"]);
  EXPECT_NEAR(a["checksum"].get<double>(), b["checksum"].get<double>(), 1e-12 * a["checksum"].get<double>());
}

/// Blocks dealt at random, or in runs: the same product, and the record tells each rank's share.
TEST_F(MultiplyProgram, BlocksDealtAtRandom) {
  expect_refused("multiply --generate random --n 50 --permute perhaps", "perhaps");
  const std::string ranks = two_ranks();
  if (ranks.empty()) GTEST_SKIP() << "MPIEXEC is not set";
  const std::string arguments = "multiply --generate water --n 1380 --occupation 0.05 --panel 138 --permute ";
  const Json runs = record(arguments + "none", 0, ranks), random = record(arguments + "random", 0, ranks);
  EXPECT_EQ(random["options"]["permute"], "random");
  EXPECT_TRUE(passed(random));
  const Json &a = runs["runs"][0]["result"], &b = random["runs"][0]["result"];
  EXPECT_EQ(a["products"], b["products"]);
  EXPECT_NEAR(a["checksum"].get<double>(), b["checksum"].get<double>(), 1e-12 * a["checksum"].get<double>());
  for (const Json* result : {&a, &b})
    for (const char* name : {"products", "flop", "elements"}) {
      const Json& balance = (*result)["balance"][name];
      ASSERT_EQ(balance["ranks"].size(), 2u);
      const double first = balance["ranks"][0].get<double>(), second = balance["ranks"][1].get<double>();
      EXPECT_DOUBLE_EQ(balance["max_over_mean"].get<double>(),
                       2 * std::max(first, second) / (first + second));
      if (result->contains(name)) {
        EXPECT_DOUBLE_EQ(first + second, (*result)[name].get<double>());
      }
    }
  EXPECT_LT(b["balance"]["products"]["max_over_mean"].get<double>(), 1.15);
  EXPECT_NE(run(arguments + "random", ranks).out.find("(largest rank / mean)"), std::string::npos);
  // A file of one comes back in the user's numbering.
  const Json written = record(arguments + "random --output " + path("c.h5"), 0, ranks);
  const Json again = record("multiply --matrix-a " + path("c.h5") + " --permute random", 0, ranks),
             plain = record("multiply --matrix-a " + path("c.h5"));
  EXPECT_EQ(again["runs"][0]["result"]["products"], plain["runs"][0]["result"]["products"]);
  EXPECT_TRUE(passed(again));
}

/// With libxsmm the program must use it as a peer; without it the program must say so.
TEST_F(MultiplyProgram, LibxsmmIsAPeer) {
  const Outcome outcome = run("bench_stack --products 100 --peer libxsmm --json -");
  if (outcome.code == 0) {
    EXPECT_GT(Json::parse(outcome.out)["peer"]["ratio"].get<double>(), 0);
  } else {
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("libxsmm"), std::string::npos) << outcome.err;
  }
  expect_refused("bench_stack --products 100 --type z --peer libxsmm", "libxsmm");
  const std::string product =
      "multiply --generate random --n 90 --blocks 5,13 --occupation 0.5 --peer libxsmm ";
  const Outcome whole = run(product + "--repeat 2 --json -");
  if (outcome.code == 0) {
    const Json json = Json::parse(whole.out);
    // The time is that of all products at the rates of their shapes.
    double seconds = 0;
    for (const Json& shape : json["runs"][0]["result"]["shapes"])
      for (const Json& rate : json["peer"]["result"]["shapes"])
        if (rate["m"] == shape["m"] && rate["n"] == shape["n"] && rate["k"] == shape["k"])
          seconds += shape["flop"].get<double>() / rate["gflops"].get<double>() * 1e-9;
    EXPECT_EQ(json["peer"]["result"]["shapes"].size(), 8u);
    EXPECT_NEAR(json["peer"]["runs"][1].get<double>(), seconds, 1e-6 * seconds);
  } else {
    EXPECT_EQ(whole.code, 2) << whole.err;
  }
  expect_refused(product + "--type z", "libxsmm");
}

}  // namespace
