// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>

#include <tests/tools/program_test.hpp>

/// Runs the benchmarks as a user would.
namespace {

using namespace tessera::test;

using BenchProgram = Program;

constexpr std::array benches{"bench_dense",    "bench_stack",   "bench_spmm",
                             "bench_products", "bench_density", "bench_batch"};

TEST_F(BenchProgram, HelpHasExamplesAndTheCommonOptions) {
  for (const std::string bench : benches) {
    const Outcome help = run(bench + " --help");
    EXPECT_EQ(help.code, 0) << bench;
    EXPECT_EQ(help.err, "") << bench;
    EXPECT_NE(help.out.find("\nExamples:\n  " + bench), std::string::npos) << help.out;
    for (const char* option : {"--json", "--repeat", "--warmup", "--cores", "--gpus", "--check", "--seed",
                               "--peer", "--trace", "--quiet", "--help", "--version"})
      EXPECT_NE(help.out.find(option), std::string::npos) << bench << ' ' << option;
    EXPECT_NE(run(bench + " --version").out.find(bench + " "), std::string::npos);
  }
}

TEST_F(BenchProgram, BadUsage) {
  expect_refused("bench_dense", "bench_dense: STAGE is missing; expected one of cholesky, to_standard");
  expect_refused("bench_dense nonsense",
                 "bench_dense: stage: 'nonsense' is unknown; expected one of cholesky");
  expect_refused("bench_dense gem", "did you mean 'gemm'?");
  expect_refused("bench_dense gemm more",
                 "'more' is one word too many; bench_dense --help lists the options");
  expect_refused("bench_dense gemm --n 20 --columns 30",
                 "--columns: '30' is too large; expected at most n = 20");
  expect_refused("bench_spmm", "--generate");
  expect_refused("bench_spmm --generate nonsense",
                 "--generate: 'nonsense' is unknown; expected one of shell, heisenberg");
  expect_refused("bench_spmm --generate laplacian1d:60 --interaction pairing", "--interaction: 'pairing'");
  expect_refused("bench_spmm --generate shell:20Ne --orbits x", "--orbits: 'x'");
  expect_refused("bench_dense gemm --kernel elpa", "--kernel: 'elpa' has no effect");
  for (const char* other : {"bench_spmm --generate laplacian1d:60", "bench_stack", "bench_products --n 60"})
    expect_refused(std::string(other) + " --kernel elpa", "--kernel");
  expect_refused("bench_dense gemm --generate nonsense",
                 "--generate: 'nonsense' is unknown; expected one of random, even");
  for (const char* of_spmm : {"--interaction pairing", "--orbits x", "--matrix x"})
    expect_refused(fmt::format("bench_dense gemm {}", of_spmm), std::string(of_spmm).substr(0, 8));
  expect_refused("bench_spmm --generate laplacian1d:60 --peer lapack", "lapack");
  expect_refused("bench_spmm --generate laplacian1d:60 --columns 33", "--columns");
  expect_refused("bench_spmm --generate laplacian1d:60 --type z", "--type");
  expect_refused("bench_dense gemm --generate laplacian2d:60", "laplacian2d");
  expect_refused("bench_dense gemm --peer csr", "csr");
  expect_refused("bench_stack --generate wilkinson", "wilkinson");
  expect_refused("bench_stack --peer lapack", "lapack");
  for (const char* peer : {"cublas-batched", "cublas-grouped"})
    expect_refused(fmt::format("bench_stack --gpus 0 --peer {}", peer),
                   fmt::format("--peer: '{}' is not possible; expected another peer (", peer));
  expect_refused("bench_stack --peer cublas", "did you mean 'cublas-");
  expect_refused("bench_stack --generate water --m 5 --n 6", "--m");
  expect_refused("bench_stack --m 0", "--m");
  expect_refused("bench_dense gemm --generate water", "water");
  expect_refused("bench_dense gemm --peer libxsmm", "libxsmm");
  expect_refused("bench_products --generate nonsense --n 60", "nonsense");
  expect_refused("bench_products --n 60 --blocks 5,0", "--blocks");
  expect_refused("bench_products --n 60 --occupation 0.1,1.5", "--occupation: '1.5' is out of range");
  expect_refused("bench_products --n 60 --occupation nan", "--occupation: 'nan' is not finite");
  expect_refused("bench_products --n 60 --peer lapack", "lapack");
  expect_refused("bench_products --n 20000000", "memory");
  expect_refused("bench_batch --gpus 0 --keep-on gpu", "--keep-on: 'gpu' is not possible; expected host");
  expect_refused("bench_batch --peer cusparse", "--peer: 'cusparse' is unknown");
  expect_refused("bench_batch --n 2049", "--n: '2049' is out of range");
  expect_refused("bench_density --generate water --n 60 --gpus 0 --peer cusolver", "--peer: 'cusolver'");
  expect_refused("bench_density --generate water --n 60 --gpus 0 --keep-on gpu", "--keep-on: 'gpu'");
  expect_refused("bench_density --generate water --molecules 40000000", "memory");
}

TEST_F(BenchProgram, BenchesEveryStage) {
  for (const char* stage :
       {"cholesky", "to_standard", "reduce_to_band", "band_to_tridiagonal", "tridiagonalize",
        "tridiagonal_eigen", "back_tridiagonal", "back_band", "to_general", "gemm"})
    for (const char* type : {"s", "z"}) {
      const Outcome outcome = run(fmt::format(
          "bench_dense {} --n 130 --columns 50 --type {} --peer lapack --repeat 2 --json -", stage, type));
      ASSERT_EQ(outcome.code, 0) << stage << outcome.err;
      const Json record = Json::parse(outcome.out);
      EXPECT_TRUE(record["runs"][1]["check"]["passed"].get<bool>()) << stage;
      if (stage == std::string("tridiagonalize")) continue;  // recorded as two stages
      EXPECT_TRUE(record["runs"][1]["seconds"]["stages"].contains(stage)) << outcome.out;
      if (std::string(stage) != "gemm") {
        EXPECT_GT(record["limit"]["gflops"].get<double>(), 0);
        EXPECT_GT(record["limit"]["fractions"][stage].get<double>(), 0);
      }
    }
}

TEST_F(BenchProgram, BenchesProducts) {
  for (const char* more : {"--generate shell:20Ne --columns 3", "--generate laplacian3d:9 --storage f --nd 2",
                           "--generate heisenberg:10 --storage f --type s --columns 12"}) {
    const Json json = record(fmt::format("bench_spmm --peer csr --repeat 2 {}", more));
    EXPECT_TRUE(passed(json)) << more;
    const Json& found = result(json);
    EXPECT_GT(found["stream_bytes_per_second"].get<double>(), 0);
    EXPECT_GT(found["limit_fraction"].get<double>(), 0);
    EXPECT_GT(json["peer"]["ratio"].get<double>(), 0);
    EXPECT_LT(json["runs"].back()["check"]["values"].get<double>(), 1) << more;
  }
  expect_refused("bench_spmm --gpus 0 --generate laplacian1d:60 --peer cusparse", "GPU");
}

/// The product without the matrix: the same Y to rounding.
TEST_F(BenchProgram, BenchesProductsBesideTwoSpecies) {
  for (const char* more :
       {"--generate shell:20Ne --columns 3", "--generate shell:24Mg --storage f --type s --columns 8"}) {
    const Json json = record(fmt::format("bench_spmm --peer free --repeat 2 {}", more));
    EXPECT_TRUE(passed(json)) << more;
    EXPECT_LT(json["runs"].back()["check"]["values"].get<double>(), 1) << more;
    EXPECT_EQ(json["peer"]["name"], "two species, not stored");
    EXPECT_GT(json["peer"]["ratio"].get<double>(), 0);
    // The lists are less than the matrix.
    EXPECT_GT(json["peer"]["result"]["bytes"].get<double>(), 0);
    EXPECT_LT(json["peer"]["result"]["bytes"].get<double>(), result(json)["bytes"].get<double>());
  }
  expect_refused("bench_spmm --generate laplacian1d:60 --peer free", "--generate shell:");
  expect_refused("bench_spmm --generate shell:20Ne --storage f --peer free", "one precision");
}

/// The products of Maris et al., on a GPU if there is one, else on cores: the same Y as ours to rounding.
TEST_F(BenchProgram, BenchesProductsBesideHalfStoredBlocks) {
  const bool gpus = record("info")["machine"]["cuda_workers"] > 0;
  for (const std::string peer : {"naive", "atomic", "cached"})
    for (const char* more :
         {"--generate shell:20Ne --columns 3", "--generate laplacian3d:9 --storage f --nd 2",
          "--generate heisenberg:10 --storage f --type s --columns 12"}) {
      const std::string command =
          fmt::format("bench_spmm --peer {} --repeat 2 --histogram {} {}", peer, path("h.svg"), more);
      if (peer == "cached" && !gpus) {
        expect_refused(command, "expected naive or atomic without a GPU");
        continue;
      }
      const Json json = record(command);
      EXPECT_TRUE(passed(json)) << command;
      EXPECT_LT(json["runs"].back()["check"]["values"].get<double>(), 1) << command;
      const Json& theirs = json["peer"]["result"];
      EXPECT_GT(theirs["bytes_per_second"].get<double>(), 0);
      EXPECT_GT(theirs["limit_fraction"].get<double>(), 0);
      // They read the matrix twice for the same flops.
      EXPECT_LT(theirs["flop_per_byte"].get<double>(), result(json)["flop_per_byte"].get<double>());
      EXPECT_EQ(json["peer"]["name"].get<std::string>().find("on a GPU") != std::string::npos, gpus);
      // All rows are in tiles, all entries in cells.
      const Json& histograms = json["options"]["histograms"];
      ASSERT_EQ(histograms.size(), 2u);
      for (std::size_t k = 0; k < 2; ++k)
        EXPECT_NEAR(histograms[k]["mean"].get<double>() * histograms[k]["count"].get<double>(),
                    json["options"][k == 0 ? "n" : "stored_entries"].get<double>(), 1e-6);
      EXPECT_NE(contents("h.svg").find("rows of a tile"), std::string::npos);
    }
}

TEST_F(BenchProgram, CountsTheFlopsOfStoredEntries) {
  // Two of 60 diagonal elements are stored, one of them a zero, so the whole matrix has 2 + 2 * 4
  // entries.
  const std::string matrix =
      file("few.mtx",
           "%%MatrixMarket matrix coordinate real symmetric\n60 60 6\n2 1 1\n3 1 1\n4 2 1\n60 2 1\n"
           "5 5 3\n7 7 0\n");
  const Json json = record(fmt::format("bench_spmm --columns 4 --matrix {}", matrix));
  EXPECT_EQ(json["options"]["stored_entries"], 6);
  EXPECT_EQ(result(json)["flop"], 2 * 4 * 10);
  EXPECT_GT(result(json)["flop_per_byte"].get<double>(), 0);
  const Outcome outcome = run(fmt::format("lobpcg --matrix {} --k 1", matrix));
  EXPECT_NE(outcome.out.find("(0.167 a row of the whole)"), std::string::npos) << outcome.out;
  // A grid of 100 x 100 points has 2 * 99 * 100 pairs of neighbours.
  for (const std::string& ranks : {std::string(), two_ranks()}) {
    const Json grid = record("bench_spmm --columns 3 --generate laplacian2d:100", 0, ranks);
    EXPECT_EQ(result(grid)["flop"], 2 * 3 * (100 * 100 + 2 * (2 * 99 * 100))) << ranks;
  }
}

TEST_F(BenchProgram, BenchesShellModelsOfEveryInteraction) {
  const Json random = record("bench_spmm --generate shell:20Ne"),
             pairing = record("bench_spmm --generate shell:20Ne --interaction pairing");
  EXPECT_EQ(random["options"]["interaction"], "random");
  EXPECT_EQ(pairing["options"]["interaction"], "pairing");
  EXPECT_TRUE(passed(pairing));
  EXPECT_EQ(random["options"]["stored_entries"],
            record("lobpcg --generate shell:20Ne --k 1 --product stored")["options"]["stored_entries"]);
  EXPECT_EQ(
      pairing["options"]["stored_entries"],
      record("lobpcg --generate shell:20Ne --k 1 --product stored --interaction pairing")["options"]
                                                                                         ["stored_entries"]);
  EXPECT_NE(random["options"]["stored_entries"], pairing["options"]["stored_entries"]);
}

TEST_F(BenchProgram, BenchesStacks) {
  for (const char* more : {"--type d --m 7 --products 500", "--type z --m 3 --n 4 --k 5 --products 40",
                           "--type s --generate water --m 5 --products 3000"}) {
    const Json json = record(fmt::format("bench_stack --peer blas --repeat 2 {}", more));
    EXPECT_TRUE(passed(json)) << more;
    const Json& result = json["runs"][0]["result"];
    EXPECT_GT(result["products"].get<double>(), 0);
    EXPECT_GT(result["flop"].get<double>(), 0);
    EXPECT_GT(result["bytes"].get<double>(), 0);
    EXPECT_GT(json["limit"]["copy_bytes_per_second"].get<double>(), 0);
    EXPECT_GT(json["limit"]["copy_fractions"]["stack"].get<double>(), 0);
    EXPECT_GT(json["peer"]["ratio"].get<double>(), 0);
  }
}

/// On a GPU: the same stacks, one product for each block of C in a call.
TEST_F(BenchProgram, BenchesStacksBesideCublas) {
  const Json info = Json::parse(run("info --json -").out);
  if (info["machine"]["gpus"].empty()) GTEST_SKIP() << "no GPU";
  for (const char* more : {"--peer cublas-batched --type d --m 7 --products 500",
                           "--peer cublas-batched --type z --m 3 --n 4 --k 5 --products 4000",
                           "--peer cublas-grouped --type s --m 13 --products 4000",
                           "--peer cublas-batched --type c --generate water --m 5 --products 3000"}) {
    const Json json = record(fmt::format("bench_stack --repeat 2 {}", more));
    EXPECT_TRUE(passed(json)) << more;
    const Json& peer = json["peer"];
    EXPECT_TRUE(peer["check"]["passed"].get<bool>()) << peer.dump();
    EXPECT_GE(peer["result"]["calls"].get<int>(), 2);
    EXPECT_GT(peer["result"]["memory_fraction"].get<double>(), 0);
    EXPECT_NEAR(peer["ratio"].get<double>(),
                peer["seconds"].get<double>() / peer["own_seconds"].get<double>(), 1e-6);
  }
}

/// On a GPU: what is found is kept, and all products are right with it.
TEST_F(BenchProgram, TunesKernelsAndUsesThem) {
  if (Json::parse(run("info --json -").out)["machine"]["gpus"].empty()) GTEST_SKIP() << "no GPU";
  const std::string with_cache = "XDG_CACHE_HOME=" + path("cache");
  const Outcome outcome = run("tune --stack 5x5x5,13x7x9 --plans 12 --json -", with_cache);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["stacks"].size(), 2u);
  for (const Json& stack : json["stacks"]) {
    EXPECT_EQ(stack["plans"].size(), 12u);
    EXPECT_EQ(stack["plans"][0]["speedup"], 1);
    for (const Json& plan : stack["plans"]) EXPECT_FALSE(plan.contains("flaw")) << plan.dump();
  }
  EXPECT_TRUE(fs::exists(json["file"].get<std::string>()));
  EXPECT_NE(run("info", with_cache).out.find("tuned"), std::string::npos);
  const Outcome product = run("bench_stack --m 5 --products 4000", with_cache);
  EXPECT_EQ(product.code, 0) << product.err << product.out;
  EXPECT_EQ(product.err.find("not used"), std::string::npos) << product.err;
}

/// One line for each pair of block size and occupation, computed in the same way as by `multiply`.
TEST_F(BenchProgram, SweepsProducts) {
  const Json json =
      record("bench_products --n 120 --blocks 5,13 --occupation 0.2,0.6 --peer dense --repeat 2 --check all");
  ASSERT_EQ(json["cases"].size(), 4u);
  EXPECT_EQ(json["options"]["blocks"], Json::array({5, 13}));
  EXPECT_EQ(json["options"]["occupation"], Json::array({0.2, 0.6}));
  for (const Json& one : json["cases"]) {
    const Json& run = one["runs"][1];
    EXPECT_TRUE(run["check"]["passed"].get<bool>()) << one["options"];
    EXPECT_FALSE(one["options"].contains("blocks"));
    EXPECT_FALSE(one.contains("date")) << "the whole has one";
    EXPECT_GT(one["peer"]["ratio"].get<double>(), 0);
    EXPECT_FALSE(one["peer"]["version"].get<std::string>().empty());
    EXPECT_GT(one["limit"]["gflops"].get<double>(), 0);
    const Json alone =
        record(fmt::format("multiply --generate random --n 120 --blocks {} --occupation {}",
                           one["options"]["block"].get<int>(), one["options"]["occupation"].get<double>()));
    EXPECT_EQ(run["result"]["products"], result(alone)["products"]);
    EXPECT_NEAR(run["result"]["checksum"].get<double>(), result(alone)["checksum"].get<double>(),
                1e-12 * result(alone)["checksum"].get<double>());
  }
  const Outcome outcome = run("bench_products --n 60 --blocks 5,13 --occupation 0.5");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("GFLOP/s"), std::string::npos) << outcome.out;
}

/// A line for each order and number of matrices.
TEST_F(BenchProgram, BenchesBatches) {
  for (const std::string vectors : {"yes", "no"})
    for (const char* type : {vectors == "yes" ? "s" : "d", vectors == "yes" ? "z" : "c"}) {
      const Json json =
          record(fmt::format("bench_batch --gpus 0 --n 1,7,33 --count 3,20 --type {} --vectors {} --peer "
                             "lapack --repeat 2 --check all",
                             type, vectors));
      ASSERT_EQ(json["cases"].size(), 6u);
      EXPECT_EQ(json["options"]["count"], Json::array({3, 20}));
      std::size_t k = 0;
      for (const int n : {1, 7, 33})
        for (const int count : {3, 20}) {
          const Json& one = json["cases"][k++];
          EXPECT_EQ(one["options"]["n"], n);
          EXPECT_EQ(one["options"]["count"], count);
          EXPECT_FALSE(one.contains("date")) << "the whole has one";
          for (const Json& run : one["runs"]) {
            EXPECT_TRUE(run["check"]["passed"].get<bool>()) << run["check"];
            EXPECT_EQ(run["check"]["residual"].is_number(), vectors == "yes");
            EXPECT_TRUE(run["check"]["values"].is_number());
            EXPECT_EQ(run["result"]["checked_matrices"],
                      (Json{{"number", count}, {"first", 0}, {"step", 1}}));
            EXPECT_GT(run["gflops"]["total"].get<double>(), 0);
            // The clock of a small batch is noisy, and the rates are far below the limit.
            EXPECT_LT(run["gflops"]["total"].get<double>(), 1.5 * one["limit"]["gflops"].get<double>());
          }
          const Json& peer = one["peer"];
          EXPECT_EQ(peer["runs"].size(), 2u);
          EXPECT_TRUE(peer["check"]["passed"].get<bool>()) << peer;
          EXPECT_TRUE(peer["name"].get<std::string>().ends_with("evd")) << peer;
          EXPECT_NE(peer["version"].get<std::string>().find_first_of("0123456789"), std::string::npos);
        }
    }
  const Outcome outcome = run("bench_batch --gpus 0 --n 4 --count 30 --chunk 7 --generate overlap --seed 5");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("matrices/s"), std::string::npos) << outcome.out;
}

/// On a GPU: cuSOLVER's batched routines pass the checks, with all data on the GPU and from the host. Without one
/// the peer is refused with the reason.
TEST_F(BenchProgram, BenchesBatchesBesideCusolver) {
  if (Json::parse(run("info --json -").out)["machine"]["gpus"].empty()) {
    expect_refused("bench_batch --n 4 --count 3 --peer cusolver",
                   "--peer: 'cusolver' is not possible; expected another peer (");
    return;
  }
  for (const char* type : {"s", "d", "c", "z"})
    for (const char* more : {"--keep-on gpu", "--keep-on host", "--keep-on gpu --vectors no"}) {
      const Json json = record(fmt::format(
          "bench_batch --n 5,32,100 --count 40 --type {} {} --peer cusolver --repeat 2", type, more));
      for (const Json& one : json["cases"]) {
        const Json& peer = one["peer"];
        EXPECT_TRUE(one["runs"].back()["check"]["passed"].get<bool>()) << type << more << one["runs"].back();
        EXPECT_TRUE(peer["check"]["passed"].get<bool>()) << type << more << peer;
        EXPECT_GE(peer["candidates"].size() + (peer["result"].contains("left_out") ? 1 : 0), 1u) << peer;
        EXPECT_NE(peer["name"].get<std::string>().find("Batched"), std::string::npos) << peer;
        EXPECT_FALSE(peer["version"].get<std::string>().empty());
      }
    }
}

/// Cases for each system, method and filter, with the results of `density`; the peers are beside all of them.
TEST_F(BenchProgram, BenchesDensities) {
  const std::string systems = "bench_density --generate water --blocks 4,1,1 --molecules 4,7 ";
  const Json json =
      record(systems + "--methods trs4,dense --filter 1e-5,1e-7 --peer lapack --repeat 2 --check all");
  ASSERT_EQ(json["cases"].size(), 8u);
  EXPECT_EQ(json["options"]["methods"], Json::array({"trs4", "dense"}));
  std::size_t k = 0;
  for (const int molecules : {4, 7})
    for (const std::string method : {"trs4", "dense"})
      for (const double filter : {1e-5, 1e-7}) {
        const Json& one = json["cases"][k++];
        EXPECT_EQ(one["options"]["system"], "water");
        EXPECT_EQ(one["options"]["molecules"], molecules);
        EXPECT_EQ(one["options"]["n"], 6 * molecules);
        EXPECT_EQ(one["options"]["method"], method);
        EXPECT_EQ(one["options"]["filter"], filter);
        ASSERT_EQ(one["runs"].size(), 2u);
        EXPECT_TRUE(one["runs"][0]["check"]["passed"].get<bool>());
        const Json& found = one["runs"][1]["result"];
        EXPECT_EQ(found["method"], method);
        EXPECT_GT(one["peer"]["ratio"].get<double>(), 0);
        // LAPACK's eigenvalues.
        const double theirs = one["peer"]["result"]["energy"];
        EXPECT_NEAR(found["energy"].get<double>(), theirs,
                    (method == "dense" ? 1e-11 : 0.1 * filter) * std::abs(theirs));
        EXPECT_NEAR(one["peer"]["result"]["energy_difference_per_molecule"].get<double>(),
                    (found["energy"].get<double>() - theirs) / molecules, 1e-12);
        EXPECT_EQ(found["products"].get<double>() > 0, method == "trs4");
        EXPECT_EQ(one["tflops"].is_number(), method == "trs4");
        const double first = one["runs"][0]["seconds"]["total"], second = one["runs"][1]["seconds"]["total"];
        EXPECT_NEAR(one["seconds"]["median"].get<double>(), (first + second) / 2, 1e-12);
        EXPECT_NEAR(one["seconds"]["per_molecule"].get<double>(), (first + second) / 2 / molecules, 1e-12);
        EXPECT_NEAR(one["seconds"]["spread"].get<double>(), 2 * std::abs(first - second) / (first + second),
                    1e-9);
      }
  const Json alone =
      record("density --generate water --blocks 4,1,1 --molecules 7 --method trs4 --filter 1e-7");
  EXPECT_EQ(json["cases"][5]["runs"][1]["result"]["products"], result(alone)["products"]);
  EXPECT_NEAR(json["cases"][5]["runs"][1]["result"]["energy"].get<double>(),
              result(alone)["energy"].get<double>(), 1e-9);
  const Outcome outcome = run(systems + "--known-gap yes --peer dense");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* text : {"\nwater, n = 24, 4 molecules, 32 electrons, ", "\nauto: sp2 ", " passed\n"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text << outcome.out;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_EQ(run(systems + "--temperature 0.02 --methods fermi,dense").code, 0);
}

/// What fails is told, and is exit code 1.
TEST_F(BenchProgram, BenchesDensitiesOfFiles) {
  const std::string h =
      file("h.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1\n2 2 2\n3 3 2\n4 4 5\n");
  const Json good = record(fmt::format("bench_density {} --blocks 2 --electrons 6", h));
  EXPECT_NEAR(good["cases"][0]["runs"][0]["result"]["energy"].get<double>(), 10, 1e-6);
  EXPECT_FALSE(good["cases"][0]["seconds"].contains("per_molecule"));
  const Json bad = record(fmt::format("bench_density {} --blocks 2 --electrons 4 --methods dense", h), 1);
  EXPECT_EQ(bad["cases"][0]["runs"][0]["result"]["status"], "no gap");
  EXPECT_TRUE(bad["cases"][0]["runs"][0]["result"]["energy"].is_null());
}

}  // namespace
