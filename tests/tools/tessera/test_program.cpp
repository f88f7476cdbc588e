// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <tests/tools/program_test.hpp>

#if TESSERA_WITH_CUDA
#include <tessera/codelets/block_sparse/product/kernels/stack_program.hpp>
#include <tessera/codelets/block_sparse/product/kernels/tuned_plans.hpp>
#endif
#include <tessera/matgen.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>

namespace {

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;

TEST_F(Program, HelpAndVersion) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  for (const char* command :
       {"eigen", "batch", "multiply", "density", "lobpcg", "info", "calibrate", "trace", "tune"})
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(run("eigen --help").code, 0);
  EXPECT_NE(run("--version").out.find("tessera "), std::string::npos);
}

TEST_F(Program, BadUsage) {
  expect_refused("", "a command is missing; expected one of eigen");
  expect_refused("multiplicate", "unknown command 'multiplicate'");
  expect_refused("eigen", "--matrix");
  expect_refused("eigen --generate random", "--n");
  expect_refused("eigen --generate nonsense --n 5", "nonsense");
  expect_refused("eigen --generate random --n 20 --frobnicate", "--frobnicate");
  expect_refused("eigen --generate random --n 20 --range index:7:3", "index:7:3");
  expect_refused("eigen --generate random --n 20 --range index:7:30", "30");
  expect_refused("eigen --generate random --n 20 --tile 7 --update-width 5", "tile = 7");
  expect_refused("eigen --generate random --n 20 --band 50", "band = 50");
  expect_refused("eigen --generate random --n 20 --grid 2x2", "2x2");
  expect_refused("eigen --generate random --n 20 --scheduler nonsense", "nonsense");
  for (const std::string& command :
       {std::string("eigen --generate random --n 20"), std::string("multiply --generate random --n 20"),
        std::string("density --generate water --molecules 2"),
        std::string("lobpcg --generate laplacian1d:60"), std::string("bench_dense gemm"),
        std::string("bench_stack"), std::string("bench_spmm --generate laplacian1d:60"),
        std::string("bench_products --n 60"), std::string("bench_density --generate water --molecules 2"),
        std::string("bench_batch --count 3"), std::string("batch --generate random --n 3 --count 2"),
        "tune --output " + path("tuning.json"), "calibrate --output " + path("models")})
    expect_refused(fmt::format("{} --seed -1", command),
                   "--seed: '-1' is out of range; expected an integer from 0");
  expect_refused("eigen --generate random --n 20000000", "memory");
  expect_refused("eigen --generate random --n 20 --json " + path("no/such/file.json"), "file.json");
  expect_refused("eigen --generate random --n 20 --output " + path("no/such/file"), "file");
  expect_refused("eigen --generate random --n 20 --tuning " + path("absent.json"), "absent.json");
  expect_refused("bench gemm", "unknown command 'bench'");
  expect_refused("trace " + path("absent"), "absent");
}

TEST_F(Program, WordsAndFilesThatNothingMeans) {
  const std::string random = "eigen --generate random --n 20 ";
  expect_refused("eigen --generate '' --n 5", "--generate: ''");
  expect_refused(random + "--json ''", "--json: ''");
  expect_refused(random + "--output=", "--output: ''");
  expect_refused(random + "--output \"$(printf 'a\\377')\"",
                 "--output: 'a?' is not possible; expected UTF-8 text");
  expect_refused("multiply --generate random --n 50 --blocks 2.5",
                 "--blocks: '2.5' is not an integer in decimal digits; expected an integer");
  expect_refused("multiply --generate random --n 50 --occupation nan", "--occupation: 'nan'");
  expect_refused("lobpcg --generate laplacian2d:10000000000:10000000000", "the number of points");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* use : {"eigen --matrix ", "multiply --matrix-a ", "lobpcg --matrix ",
                          "density --electrons 2 --hamiltonian ", "eigen --generate random --n 5 --tuning "})
    expect_refused(std::string(use) + path("pipe"), path("pipe") + ": is a pipe or a device");
  // Four megabytes of empty blocks, alone and with one nonempty block.
  std::string zeros(4 << 20, ' ');
  for (std::size_t k = 0; k < zeros.size(); k += 2) zeros[k] = '0';
  const std::string general = "%%MatrixMarket matrix coordinate real general\n";
  const std::string empty = file("empty.mtx", general + "0 0 0\n"),
                    one = file("one.mtx", general + "5 5 1\n2 1 3\n");
  for (const auto& [matrix, sizes] : {std::pair(empty, zeros + "\n"), {one, zeros + "5\n"}}) {
    const Outcome outcome = run(fmt::format("multiply --cores 1 --quiet --matrix-a {} --block-sizes {}",
                                            matrix, file("zeros.txt", sizes)),
                                "timeout 60");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  expect_refused(fmt::format("multiply --matrix-a {} --block-sizes {}", empty, path("pipe")), "is a pipe");
}

TEST_F(Program, TheRecordIsTextWhateverTheEnvironmentIs) {
  const Outcome outcome =
      run("eigen --generate random --n 5 --json -", "STARPU_NOTE=\"$(printf 'a\\377b')\"");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["machine"]["environment"]["STARPU_NOTE"],
            "a\xef\xbf\xbd"
            "b");
}

TEST_F(Program, BadMatrices) {
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  const auto expect = [&](const std::string& text, const std::string& what) {
    expect_refused("eigen --matrix " + file("bad.mtx", text), what);
  };
  expect_refused("eigen --matrix " + path("absent.mtx"), "absent.mtx: there is no such file");
  expect("", "not a Matrix Market file");
  expect(symmetric + "3 3 2\n1 1 1\n", "truncated");
  expect("%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 1\n", "square");
  expect("%%MatrixMarket matrix coordinate real general\n3 3 1\n2 1 1\n", "not symmetric: entry (2, 1) is 1");
  expect(symmetric + "3 3 1\n4000000000 1 1\n", ":3: the row index 4000000000 is outside 1..3");
  expect(symmetric + "4000000000 4000000000 1\n1 1 1\n", "memory");
  expect(symmetric + "3 3 1\n1 1 nan\n", ":3: the value 'nan' is not finite");
  expect(symmetric + "3 3 1\n1 1 inf\n", "not finite");
  const std::string complex =
      file("complex.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 0 1\n");
  expect_refused("eigen --type d --matrix " + complex, "complex");
  EXPECT_EQ(run("eigen --quiet --matrix " + complex).code, 0) << "the type follows the file";

  const std::string three = file("three.mtx", symmetric + "3 3 3\n1 1 1\n2 2 2\n3 3 3\n");
  expect_refused("eigen --matrix " + three + " --overlap " + complex, "order 2");
  // The leading minors of the overlap are 1 and -3.
  const std::string indefinite = file("indefinite.mtx", symmetric + "3 3 4\n1 1 1\n2 1 2\n2 2 1\n3 3 1\n");
  for (const char* solver : {"two_stage", "one_stage", "vendor"}) {
    const std::string arguments =
        fmt::format("eigen --matrix {} --overlap {} --solver {}", three, indefinite, solver);
    expect_refused(arguments, "positive definite");
    expect_refused(arguments, "order 2");
  }
}

TEST_F(Program, SolvesTheWaterPair) {
  const char* data = std::getenv("TESSERA_TEST_DATA");
  if (!data) GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  for (const char* solver : {"auto", "two_stage", "one_stage", "vendor"}) {
    const Outcome outcome =
        run(fmt::format("eigen --matrix {0}/water32_dzvp_H.mtx.gz --overlap {0}/water32_dzvp_S.mtx.gz "
                        "--electrons 256 --peer lapack --solver {1} --json {2}",
                        data, solver, path("record.json")));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("HOMO          -0.0797670777"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("LUMO          0.1392856730"), std::string::npos) << outcome.out;
    const Json record = Json::parse(contents("record.json"));
    EXPECT_EQ(record["command"], "eigen");
    EXPECT_EQ(record["runs"].size(), 1u);
    const Json& run = record["runs"][0];
    EXPECT_EQ(run["result"]["count"], 736);
    EXPECT_NEAR(run["result"]["first"].get<double>(), -0.8476932801, 2e-10);
    EXPECT_NEAR(run["result"]["last"].get<double>(), 5.8333544791, 2e-10);
    EXPECT_NEAR(run["result"]["gap"].get<double>(), 0.2190527507, 2e-10);
    EXPECT_TRUE(run["check"]["passed"].get<bool>());
    EXPECT_LT(run["check"]["residual"].get<double>(), 1);
    EXPECT_LT(run["check"]["values"].get<double>(), 1);
    EXPECT_LT(run["check"]["values_difference"].get<double>(), 1e-9) << "hartree, from dsygvd";
    EXPECT_GT(run["seconds"]["total"].get<double>(), 0);
    EXPECT_GT(run["tasks"].get<int>(), 0);
    EXPECT_GT(record["peer"]["ratio"].get<double>(), 0);
    EXPECT_TRUE(record["peer"]["check"]["passed"].get<bool>());
  }
}

TEST_F(Program, EveryTypeRangeAndSolverPassesItsChecks) {
  // Every solver and range with and without vectors, the types in turn.
  const char* const types[] = {"s", "d", "c", "z"};
  int number = 0;
  for (const char* solver : {"two_stage", "one_stage", "vendor"})
    for (const char* range : {"all", "index:10:40", "value:-2:3"})
      for (const bool vectors : {true, false}) {
        const std::string arguments = fmt::format(
            "eigen --generate random --n 150 --type {} --solver {} --range {} --vectors {} --peer lapack "
            "--json -",
            types[number++ % 4], solver, range, vectors ? "yes" : "no");
        const Outcome outcome = run(arguments);
        ASSERT_EQ(outcome.code, 0) << arguments << '\n' << outcome.err;
        const Json record = Json::parse(outcome.out);
        const Json& check = record["runs"][0]["check"];
        EXPECT_TRUE(check["passed"].get<bool>()) << arguments;
        EXPECT_LT(check["values"].get<double>(), 1) << arguments;
        EXPECT_EQ(check["residual"].is_null(), !vectors) << arguments;
        if (std::string(range) == "index:10:40") {
          EXPECT_EQ(record["runs"][0]["result"]["count"], 30);
        }
      }
}

TEST_F(Program, EdgeSizes) {
  for (const int n : {0, 1, 2, 3})
    for (const char* type : {"d", "z"}) {
      const Outcome outcome = run(fmt::format("eigen --generate random --n {} --type {} --json -", n, type));
      ASSERT_EQ(outcome.code, 0) << n << outcome.err;
      EXPECT_EQ(Json::parse(outcome.out)["runs"][0]["result"]["count"], n);
    }
  const Outcome outcome = run("eigen --generate random --n 30 --range index:5:5 --json -");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["runs"][0]["result"]["count"], 0);
}

TEST_F(Program, GeneratedMatricesAgreeWithTheirEigenvalues) {
  for (const char* kind : {"frank", "toeplitz", "clustered", "zero", "identity", "laplacian2d", "rank-one"}) {
    const Outcome outcome = run(fmt::format("eigen --generate {} --n 100 --json -", kind));
    ASSERT_EQ(outcome.code, 0) << kind << outcome.err;
    const Json check = Json::parse(outcome.out)["runs"][0]["check"];
    EXPECT_EQ(check["values_against"], "the exact eigenvalues");
    EXPECT_LT(check["values"].get<double>(), 10) << kind;
  }
}

/// Residual of the written eigenpairs, with the matrix generated again.
template <class T>
void expect_eigenpairs(const std::vector<RealOf<T>>& values, const std::vector<T>& vectors, Index n) {
  const auto generator = MatrixGenerator<T>::make("random", n, 5);
  ASSERT_EQ(vectors.size(), values.size() * static_cast<std::size_t>(n));
  for (std::size_t k = 0; k < values.size(); ++k)
    for (Index i = 0; i < n; ++i) {
      T sum = -values[k] * vectors[i + k * n];
      for (Index j = 0; j < n; ++j) sum += generator.element(i, j) * vectors[j + k * n];
      EXPECT_LT(std::abs(sum), 1e-12) << i << ' ' << k;
    }
}

TEST_F(Program, WritesMatrixMarketAndHdf5) {
  const Index n = 60;
  const std::string common =
      fmt::format("eigen --generate random --n {} --seed 5 --range index:0:7 --quiet ", n);
  ASSERT_EQ(run(common + "--output " + path("real")).code, 0);
  MatrixMarketReader values(path("real_values.mtx")), vectors(path("real_vectors.mtx"));
  expect_eigenpairs<double>(read_dense<double>(values), read_dense<double>(vectors), n);
  ASSERT_EQ(run(common + "--type z --output " + path("complex.h5")).code, 0);
  Hdf5File file = Hdf5File::open(path("complex.h5"));
  Index rows = 0, columns = 0;
  const auto w = file.read<double>("values", rows, columns);
  const auto z = file.read<std::complex<double>>("vectors", rows, columns);
  EXPECT_EQ(rows, n);
  EXPECT_EQ(columns, 7);
  expect_eigenpairs<std::complex<double>>(w, z, n);
  ASSERT_EQ(run(common + "--vectors no --output " + path("only")).code, 0);
  EXPECT_TRUE(fs::exists(path("only_values.mtx")));
  EXPECT_FALSE(fs::exists(path("only_vectors.mtx")));
}

TEST_F(Program, QuietPrintsNothingAndRepeatsAreCounted) {
  const Outcome quiet = run("eigen --generate random --n 50 --quiet");
  EXPECT_EQ(quiet.code, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
  const Outcome outcome = run("eigen --generate random --n 50 --repeat 3 --warmup 1 --check all --json -");
  const Json record = Json::parse(outcome.out);
  ASSERT_EQ(record["runs"].size(), 3u);
  for (const Json& one : record["runs"]) EXPECT_TRUE(one.contains("check"));
  for (const Json& one : record["runs"]) {
    const Json& bytes = one["workers"]["bytes_moved"];
    ASSERT_TRUE(bytes.is_number()) << bytes;
    EXPECT_GE(bytes.get<double>(), 0);
    if (record["machine"]["cuda_workers"] == 0) {
      EXPECT_EQ(bytes, 0) << "no GPUs";
    }
  }
  const Json unchecked = Json::parse(run("eigen --generate random --n 50 --check none --json -").out);
  EXPECT_FALSE(unchecked["runs"][0].contains("check"));
}

TEST_F(Program, MoreGpusThanThereAreIsAnError) {
  const Outcome outcome = run("eigen --generate random --n 20 --gpus 63");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(Program, InfoListsCodelets) {
  const Json info = Json::parse(run("info --codelets --json -").out);
  EXPECT_GT(info["machine"]["cpu_workers"].get<int>(), 0);
  bool gemm = false;
  for (const Json& codelet : info["codelets"])
    gemm = gemm || (codelet["name"] == "gemm" && codelet["types"] == "sdcz");
  EXPECT_TRUE(gemm);
  EXPECT_NE(run("info").out.find("starpu"), std::string::npos);
}

/// Tasks without a GPU body. The list makes a new such task a deliberate choice.
TEST_F(Program, TasksOfCpusAloneAreTheseOnly) {
  const std::set<std::string> of_cpus{
      // The second stage of two-stage vectors on CPUs; GPUs apply the blocks of the chase instead.
      "apply_wy", "chase_tile", "form_wy", "tridiagonal_assemble",
      // One-stage tridiagonalization by columns; GPUs use tridiagonalize_whole.
      "tridiagonalize_column", "tridiagonalize_extract", "tridiagonalize_factor", "tridiagonalize_pack",
      "tridiagonalize_place", "tridiagonalize_product", "tridiagonalize_rest", "tridiagonalize_start",
      "tridiagonalize_store", "tridiagonalize_update",
      // The merges of divide and conquer in parts; GPUs use tridiagonal_merge.
      "tridiagonal_deflate", "tridiagonal_gather_roots", "tridiagonal_gather_weights", "tridiagonal_order",
      "tridiagonal_secular_roots", "tridiagonal_secular_rows", "tridiagonal_secular_weights",
      // Products straight from the indices; GPUs use find_products, list_products and multiply_stack.
      "count_products", "multiply_panels",
      // Sparse rows, for comparison, and norm bounds.
      "csb_magnitudes", "multiply_csr", "multiply_csr_mixed",
      // Generators, and functions of the user for the host.
      "random_blocks", "coupled_units", "call_preconditioner", "user_function"};
  const Json info = Json::parse(run("info --codelets --json -").out);
  std::set<std::string> found;
  bool any_gpu = false;
  for (const Json& codelet : info["codelets"]) {
    any_gpu = any_gpu || codelet["cuda"].get<bool>();
    EXPECT_TRUE(codelet["cpu"].get<bool>()) << codelet["name"];
    if (!codelet["cuda"].get<bool>()) found.insert(codelet["name"].get<std::string>());
  }
  if (!any_gpu) GTEST_SKIP() << "built without CUDA";
  EXPECT_EQ(found, of_cpus);
}

TEST_F(Program, TracesAreSummarised) {
  const Outcome outcome = run("eigen --generate random --n 200 --solver two_stage --trace " + path("trace"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("idle"), std::string::npos) << outcome.out;
  EXPECT_TRUE(fs::exists(path("trace/summary.txt")));
  const Outcome again = run(fmt::format("trace {} --json - --svg {} --chrome {}", path("trace"),
                                        path("gantt.svg"), path("chrome.json")));
  ASSERT_EQ(again.code, 0) << again.err;
  const Json summary = Json::parse(again.out);
  EXPECT_GT(summary["codelets"].size(), 5u);
  EXPECT_GT(summary["gflops"].get<double>(), 0);
  EXPECT_NE(contents("gantt.svg").find("</svg>"), std::string::npos);
  EXPECT_GT(Json::parse(contents("chrome.json"))["traceEvents"].size(), 50u);
}

TEST_F(Program, TunesAndUsesIt) {
  const Outcome outcome = run("tune --n 200 --output " + path("tuning.json"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json tuning = Json::parse(contents("tuning.json"));
  ASSERT_EQ(tuning["tuning"].size(), 1u);
  const Json record =
      Json::parse(run("eigen --generate random --n 210 --json - --tuning " + path("tuning.json")).out);
  EXPECT_EQ(record["options"]["solver"], tuning["tuning"][0]["solver"]);
}

TEST_F(Program, KernelsAreTunedOnGpusOnly) {
  expect_refused("tune --gpus 0 --stack 5x5x5,23x23x23",
                 "--stack: '5x5x5,23x23x23' is not possible; expected a run with a GPU");
}

#if TESSERA_WITH_CUDA
TEST_F(Program, InfoListsTunedKernels) {
  const fs::path cache = directory_ / "cache/tessera";
  fs::create_directories(cache);
  for (const fs::path& folder : {cache, cache.parent_path()}) fs::permissions(folder, fs::perms::owner_all);
  const device::TunedPlanStore store(cache / "stack_plans", cache);
  const device::StackShape cube{'d', 23, 23, 23}, flat{'z', 5, 13, 7};
  store.replace("Some GPU", device::stack_source_version(device::stack_kernel_files()), {},
                {{cube, device::plans_near_formula(cube, 5).at(4), 1.1},
                 {flat, device::plans_near_formula(flat, 5).at(4), 1.2}});
  store.replace("Other GPU", "of before", {}, {{cube, device::plans_near_formula(cube, 5).at(4), 1.1}});
  const std::string with_cache = "XDG_CACHE_HOME=" + path("cache");
  const Outcome outcome = run("info --gpus 0", with_cache);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Some GPU: d 23x23x23, z 5x13x7\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("is of another version of the kernel"), std::string::npos) << outcome.out;
  const Json json = Json::parse(run("info --gpus 0 --json -", with_cache).out);
  EXPECT_EQ(json["tuned_stacks"]["Some GPU"], "d 23x23x23, z 5x13x7");
}
#endif

TEST_F(Program, CalibratesAndTheModelsAreFound) {
  const std::string set = path("sets/here");
  const Outcome outcome = run("calibrate --family dense --sizes 60,150 --types dz --json - --output " + set,
                              "STARPU_HOME=" + path("s"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json document = Json::parse(outcome.out);
  EXPECT_GT(document["codelets"].size(), 10u);
  EXPECT_GT(document["models"].get<int>(), 10);
  EXPECT_EQ(document["solves"], 2 * 2 * 4 * 4);  // sizes, types, runs, solvers
  EXPECT_EQ(document["skipped_solves"], 0);
  EXPECT_TRUE(fs::exists(set + "/codelets/45/gemm_d"));
  EXPECT_TRUE(fs::exists(set + "/bus/config"));
  const Json machine = Json::parse(contents("sets/here/machine.json"));
  EXPECT_EQ(machine["cpu"], document["machine"]["cpu"]);
  EXPECT_EQ(machine["model_version"], 45);
  EXPECT_NE(machine["command"].get<std::string>().find("--sizes 60,150"), std::string::npos);

  const std::string elsewhere = fmt::format(
      "env -u STARPU_HOME -u XDG_CACHE_HOME HOME={} TESSERA_PERFMODELS={}", path("home"), path("sets"));
  const Outcome info = run("info --scheduler dmdas --json -", elsewhere);
  ASSERT_EQ(info.code, 0) << info.err;
  EXPECT_EQ(Json::parse(info.out)["machine"]["performance_models"], set);
  EXPECT_NE(run("info --scheduler dmdas", elsewhere).out.find(set + ", shipped"), std::string::npos);
  EXPECT_EQ(Json::parse(run("info --scheduler lws --json -", elsewhere).out)["machine"]["performance_models"],
            "none");
  const Outcome solved = run("eigen --generate random --n 150 --scheduler dmdas --json -", elsewhere);
  EXPECT_EQ(solved.code, 0) << solved.err;
  EXPECT_EQ(Json::parse(solved.out)["machine"]["performance_models"], set);
}

TEST_F(Program, CalibratesWithinATimeLimit) {
  const Outcome outcome = run("calibrate --sizes 100 --types d --seconds 0 --json - --output " + path("set"),
                              "STARPU_HOME=" + path("s"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["solves"], 0);
  EXPECT_GT(Json::parse(outcome.out)["not_run"].size(), 10u);
}

TEST_F(Program, BadCalibrations) {
  expect_refused("calibrate --sizes 0", "--sizes");
  expect_refused("calibrate --sizes 100,x", "--sizes");
  expect_refused("calibrate --types dq", "sdcz");
  expect_refused("calibrate --family sparse", "dense");
  expect_refused("calibrate --seconds -1", "--seconds");
  file("precious", "not a set");
  expect_refused("calibrate --output " + directory_.string(), "neither empty nor a set");
  EXPECT_EQ(contents("precious"), "not a set");
  expect_refused("calibrate --output " + path("precious"), "not a directory");
}

TEST_F(Program, GpusThatAreNotThere) {
  for (const char* command : {"info", "eigen --generate random --n 20", "bench_dense gemm --n 20",
                              "calibrate --sizes 20", "tune --n 20"})
    expect_refused(std::string(command) + " --gpus 64", "64 GPUs asked for");
  expect_refused("info --gpus two", "--gpus");
  expect_refused("info --gpus -1", "--gpus");
}

TEST_F(Program, SeveralProcessesGiveTheSame) {
  const char* mpiexec = std::getenv("MPIEXEC");
  if (!mpiexec || !*mpiexec) GTEST_SKIP() << "no mpiexec";
  const std::string start = fmt::format(
      "STARPU_MPI_NOBIND=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_mpi_yield_when_idle=1 "
      "'{}' --oversubscribe --bind-to none -n 3",
      mpiexec);
  const std::string arguments =
      "eigen --generate random --n 150 --cores 1 --solver two_stage --tile 32 --json - ";
  const Outcome one = run(arguments);
  const Outcome three = run(arguments + "--grid 1x3 --output " + path("three"), start);
  ASSERT_EQ(three.code, 0) << three.err;
  const Json a = Json::parse(one.out), b = Json::parse(three.out);
  EXPECT_EQ(b["machine"]["ranks"], 3);
  EXPECT_EQ(b["options"]["grid"], "1x3");
  EXPECT_TRUE(b["runs"][0]["check"]["passed"].get<bool>());
  EXPECT_NEAR(a["runs"][0]["result"]["first"].get<double>(), b["runs"][0]["result"]["first"].get<double>(),
              1e-12);
  EXPECT_NEAR(a["runs"][0]["result"]["last"].get<double>(), b["runs"][0]["result"]["last"].get<double>(),
              1e-12);
  MatrixMarketReader vectors(path("three_vectors.mtx"));
  EXPECT_EQ(vectors.header().columns, 150);

  // A file with an error that only one process sees: all processes must stop, and one line must
  // give the reason.
  const std::string text = "%%MatrixMarket matrix coordinate real general\n150 150 2\n1 1 1\n150 1 5\n";
  const Outcome bad = run("eigen --cores 1 --matrix " + file("bad.mtx", text), start);
  EXPECT_EQ(bad.code, 2);
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = bad.err.find("tessera eigen: ", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, 1u) << bad.err;
  EXPECT_NE(bad.err.find("entry (150, 1) is 5"), std::string::npos) << bad.err;
}

}  // namespace
