// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>

#include <sys/resource.h>
#include <tests/tools/program_test.hpp>

#include <tessera/algorithms/dense/eigensolve_memory.hpp>

#include "problem.hpp"

namespace {

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;

constexpr long mib = 1 << 20;

class MemoryProgram : public Program {
 protected:
  /// Result of the program in a shell that kills it after a time limit, so that a hang is a
  /// failure.
  struct Measured : Outcome {
    double seconds = 0;
    long resident = 0;  ///< maximum, in bytes
  };
  Measured measure(const std::string& arguments, const std::string& before = "") const {
    const std::string command = fmt::format("{} exec timeout -s KILL 60 {} >{} 2>{}", before,
                                            words(arguments), path("stdout"), path("stderr"));
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/bash", "bash", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    int status = -1;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    Measured result;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.out = contents("stdout");
    result.err = contents("stderr");
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.resident = usage.ru_maxrss * 1024;
    return result;
  }
  /// The run must end soon, without allocating much memory, with one line and exit code 2.
  void expect_too_large(const std::string& arguments, const std::string& text,
                        const std::string& before = "") const {
    const Measured outcome = measure(arguments, before);
    EXPECT_EQ(outcome.code, 2) << arguments << '\n' << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << arguments << '\n'
                                                                           << outcome.err;
    EXPECT_NE(outcome.err.find(text), std::string::npos) << arguments << '\n' << outcome.err;
    EXPECT_LT(outcome.seconds, 15) << arguments;
    EXPECT_LT(outcome.resident, 700 * mib) << arguments;
  }
};

TEST_F(MemoryProgram, SizesOfTheCommandLineThatCannotBe) {
  const std::string of_host = " of host memory on this rank, and ";
  expect_too_large("eigen --generate random --n 1000000", "tessera eigen: eigen needs ");
  expect_too_large("eigen --generate random --n 1000000", of_host);
  expect_too_large("eigen --generate random --n 1000000 --vectors no --solver one_stage", of_host);
  expect_too_large("multiply --generate random --n 1000000000 --blocks 1", "multiply needs ");
  expect_too_large("multiply --generate random --n 1000000000 --blocks 1 --occupation 1e-9", of_host);
  expect_too_large("multiply --generate water --n 1000000000", of_host);
  expect_too_large("lobpcg --generate laplacian3d:5000:5000:5000", "lobpcg needs ");
  expect_too_large("lobpcg --generate laplacian3d:1500:1500:1500", of_host);
  expect_too_large("bench_dense cholesky --n 1000000", "bench_dense cholesky needs ");
  expect_too_large("bench_spmm --generate laplacian3d:5000:5000:5000", of_host);
  expect_too_large("bench_products --n 1000000000 --blocks 1", of_host);
  expect_too_large("bench_batch --n 2000 --count 1000000000",
                   "bench_batch --n 2000 --count 1000000000 needs ");
  expect_too_large("tune --n 1000000", of_host);
  expect_too_large("lobpcg --generate laplacian2d:100:100 --k 100000", "--k");
}

/// Files of a few bytes whose headers specify enormous sizes.
TEST_F(MemoryProgram, HeadersThatCannotBe) {
  const auto matrix = [&](const char* size) {
    return file("large.mtx",
                fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} 1\n1 1 2.5\n", size));
  };
  expect_too_large("eigen --matrix " + matrix("2000000"), "eigen needs ");
  expect_too_large("multiply --matrix-a " + matrix("2000000000"), "large.mtx");
}

/// Without a check these runs would wait forever.
TEST_F(MemoryProgram, StarpusLimitsAreRefusals) {
  for (const char* limit : {"STARPU_LIMIT_CPU_MEM=1", "STARPU_LIMIT_CPU_NUMA_MEM=1"}) {
    const std::string before = fmt::format("export {};", limit);
    expect_too_large("eigen --generate random --n 200", "and 1.0 MiB may be used", before);
    expect_too_large("eigen --generate random --n 600 --solver two_stage", "MiB may be used", before);
    expect_too_large("multiply --generate random --n 400 --occupation 1", "MiB may be used", before);
    expect_too_large("lobpcg --generate laplacian2d:100:100 --k 4", "MiB may be used", before);
  }
  EXPECT_EQ(measure("eigen --generate random --n 200 --quiet", "export STARPU_LIMIT_CPU_MEM=40;").code, 0);
  EXPECT_EQ(measure("multiply --generate random --n 400 --quiet", "export STARPU_LIMIT_CPU_MEM=1;").code, 0);
  EXPECT_EQ(measure("multiply --generate random --n 400 --quiet", "export STARPU_LIMIT_CPU_MEM=40;").code, 0);
}

/// The address space limit of a process, in KiB.
TEST_F(MemoryProgram, AddressSpace) {
  expect_too_large("eigen --generate random --n 12000 --cores 1", "GiB may be used", "ulimit -v 1900000;");
  EXPECT_EQ(measure("eigen --generate random --n 300 --cores 1 --quiet", "ulimit -v 1900000;").code, 0);
  // CUDA libraries may need more than this just to be loaded, before the program can report
  // anything.
  if (measure("--version", "ulimit -v 1400000;").code != 0) GTEST_SKIP() << "not even --version";
  // The remaining address space is too small for OpenBLAS's buffers, which it would try to allocate
  // forever.
  expect_too_large("eigen --generate random --n 300 --cores 1", "address space (ulimit -v)",
                   "ulimit -v 1400000;");
}

TEST_F(MemoryProgram, ControlGroup) {
  // The control group of this process, version 1 or 2, if it may have subgroups.
  std::string group, limit;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::string where = line.substr(line.rfind(':') + 1);
    if (line.find(":memory:") != std::string::npos && fs::exists("/sys/fs/cgroup/memory" + where))
      group = "/sys/fs/cgroup/memory" + where, limit = "memory.limit_in_bytes";
    else if (line.starts_with("0::") && fs::exists("/sys/fs/cgroup" + where + "/memory.max"))
      group = "/sys/fs/cgroup" + where, limit = "memory.max";
  }
  group += fmt::format("/tessera_test_{}", ::getpid());
  std::error_code error;
  if (limit.empty() || !fs::create_directory(group, error)) GTEST_SKIP() << "no control group to be had";
  if (!(std::ofstream(group + '/' + limit) << 900 * mib << std::flush)) {
    fs::remove(group, error);
    GTEST_SKIP() << "the limit of " << group << " cannot be set";
  }
  const std::string before = fmt::format("echo $$ >{}/cgroup.procs || exit 77;", group);
  expect_too_large("eigen --generate random --n 7000", "eigen needs ", before);
  EXPECT_EQ(measure("eigen --generate random --n 300 --quiet", before).code, 0);
  EXPECT_EQ(::rmdir(group.c_str()), 0);
}

TEST_F(MemoryProgram, RanksDecideTogether) {
  const char* mpiexec = std::getenv("MPIEXEC");
  if (!mpiexec || !*mpiexec) GTEST_SKIP() << "MPIEXEC is not set";
  for (const char* arguments : {"eigen --generate random --n 500 --quiet --cores 1",
                                "multiply --generate random --n 600 --quiet --cores 1",
                                "lobpcg --generate laplacian2d:200:200 --k 4 --quiet --cores 1"}) {
    const std::string command = fmt::format(
        "STARPU_MPI_NOBIND=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
        "OMPI_MCA_mpi_yield_when_idle=1 timeout -s KILL 60 {0} --oversubscribe --bind-to none -n 1 '{1}' {2} "
        ": -x STARPU_LIMIT_CPU_MEM=1 -n 1 "
        "'{1}' {2} >{3} 2>{4}",
        mpiexec, program_, arguments, path("stdout"), path("stderr"));
    const int status = std::system(command.c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 2) << arguments << contents("stderr");
    const std::string said = contents("stderr");
    EXPECT_NE(said.find(" MiB may be used\n"), std::string::npos) << arguments << '\n' << said;
    const std::string words = arguments, prefix = "tessera " + words.substr(0, words.find(' ')) + ": ";
    const std::size_t first = said.find(prefix);
    EXPECT_NE(first, std::string::npos) << said;
    EXPECT_EQ(said.find(prefix, first + 1), std::string::npos) << said;
  }
}

/// The computed memory requirement of a run must equal the memory used, up to a half.
struct EigenCase {
  char type;
  Index n;
  const char* solver;
  bool vectors;
  Index lo, hi;
  bool generalized;
};

class NeededMemory : public MemoryProgram, public ::testing::WithParamInterface<EigenCase> {
 protected:
  template <class T>
  static double needed(const EigenCase& c) {
    const Runtime runtime({.cores = 2, .gpus = 0, .bind = false});
    EigensolveOptions options;
    options.solver = solver_from_string(c.solver);
    options.vectors = c.vectors;
    if (c.hi > 0) options.range = index_range(c.lo, c.hi);
    const Index tile = program::input_tile(runtime, c.n, 0);
    return eigensolve_memory<T>(runtime, c.n, resolve_options<T>(runtime, c.n, options), c.generalized) +
           (c.generalized ? 2 : 1) * lower_tiles_memory(runtime, c.n, tile, sizeof(T));
  }
};

TEST_P(NeededMemory, IsWhatIsUsed) {
  const EigenCase& c = GetParam();
  std::string arguments = fmt::format(
      "eigen --generate random --n {} --type {} --solver {} --vectors {} --cores 2 --check none "
      "--quiet --json -",
      c.n, c.type, c.solver, c.vectors ? "yes" : "no");
  if (c.hi > 0) arguments += fmt::format(" --range index:{}:{}", c.lo, c.hi);
  if (c.generalized) arguments += " --overlap generated";
  const Measured outcome = measure(arguments);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const double element = c.type == 's'   ? 4
                         : c.type == 'z' ? 16
                                         : 8,
               matrix = element * static_cast<double>(c.n) * static_cast<double>(c.n);
  const double used = Json::parse(outcome.out)["runs"][0]["memory"]["peak_matrices"].get<double>() * matrix;
  const double computed = c.type == 's'   ? needed<float>(c)
                          : c.type == 'z' ? needed<std::complex<double>>(c)
                                          : needed<double>(c);
  RecordProperty("computed_over_used", fmt::format("{:.3f}", computed / used));
  fmt::print("{} {} {}{}{}{}: {:.2f} n^2 used, {:.2f} computed: {:.2f}\n", c.n, c.type, c.solver,
             c.vectors ? " vectors" : "", c.hi > 0 ? " range" : "", c.generalized ? " generalized" : "",
             used / matrix, computed / matrix, computed / used);
  EXPECT_GT(computed, 0.9 * used) << arguments;
  EXPECT_LT(computed, 1.5 * used) << arguments;
}

INSTANTIATE_TEST_SUITE_P(Eigen, NeededMemory,
                         ::testing::Values(EigenCase{'d', 1500, "two_stage", true, 0, 0, false},
                                           EigenCase{'d', 2500, "two_stage", true, 0, 0, false},
                                           EigenCase{'d', 1500, "two_stage", true, 0, 300, false},
                                           EigenCase{'d', 1500, "two_stage", true, 0, 0, true},
                                           EigenCase{'d', 1500, "two_stage", false, 0, 0, false},
                                           EigenCase{'z', 1100, "two_stage", true, 0, 0, false},
                                           EigenCase{'s', 2200, "two_stage", true, 0, 0, false},
                                           EigenCase{'d', 1500, "one_stage", true, 0, 0, false},
                                           EigenCase{'d', 1500, "one_stage", false, 0, 0, true},
                                           EigenCase{'d', 1500, "vendor", true, 0, 0, false},
                                           EigenCase{'d', 1500, "vendor", true, 0, 300, true},
                                           EigenCase{'z', 1100, "vendor", false, 0, 0, false}));

}  // namespace
