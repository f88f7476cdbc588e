// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fstream>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <tests/support/matrix.hpp>
#include <tests/support/variables.hpp>
#include <unistd.h>

#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/bus_measurement.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::test {
using namespace detail;
namespace {

Communicator of(MPI_Comm communicator) {
  return Communicator::from_fortran(static_cast<int>(MPI_Comm_c2f(communicator)));
}

TEST(HostsCommunicator, MayBeFreedBeforeTheRuntimeIsUsed) {
  Communicator::world();  // initialises MPI
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  Runtime runtime({.cores = 1, .bind = false}, of(mine));
  MPI_Comm_free(&mine);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(runtime.size(), size);
  double sum[] = {1};
  runtime.all_reduce_sum(sum, 1);
  EXPECT_EQ(sum[0], size);
  // Messages of tasks go between the ranks, too.
  const Data data = Data::matrix(runtime, 4, 4, sizeof(double), size - 1);
  Sequence sequence(runtime);
  sequence.insert(SetZero<double>{.a = data});
  EXPECT_TRUE(sequence.wait().ok());
  if (data.local()) {
    EXPECT_EQ(difference(download<double>(data), Matrix<double>(4, 4)), 0);
  }
}

TEST(HostsCommunicator, EachRankAloneOnItsOwn) {
  Communicator::world();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
  {
    Runtime runtime({.cores = 1, .bind = false}, of(own));
    MPI_Comm_free(&own);
    EXPECT_EQ(runtime.size(), 1);
    const double a[] = {2, 1, 1, 2};
    EXPECT_TRUE(eigensolve(runtime, {.a = {a, 2, 2}}));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Ranks of one host: the figures of the one that measures serve all.
TEST(RanksBuses, OneMeasuresForAll) {
  Communicator::world();
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long first = ::getpid();
  MPI_Bcast(&first, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("tessera_ranks_{}", first);
  const std::filesystem::path program = folder / "noted";
  if (rank == 0) {
    std::filesystem::create_directories(folder);
    std::ofstream(program) << fmt::format("#!/bin/sh\necho one >>'{}/runs'\nexec '{}'\n", folder.string(),
                                          measuring_program().string());
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Variables variables;
  variables.set("TESSERA_MEASURE_BUSES", program.c_str());
  variables.set("STARPU_BUS_CALIBRATE", "1");
  variables.set("STARPU_PERF_MODEL_DIR", (folder / "store").c_str());
  int told = 0, warned = 0;
  {
    const Runtime runtime({.cores = 1,
                           .gpus = 0,
                           .bind = false,
                           .log =
                               [&](LogLevel level, std::string_view text) {
                                 told += text.find("has measured the buses") != text.npos ? 1 : 0;
                                 warned += level == LogLevel::warning ? 1 : 0;
                               }},
                          of(MPI_COMM_WORLD));
  }
  EXPECT_EQ(told, rank == 0 ? 1 : 0);
  EXPECT_EQ(warned, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 0) return;
  std::string runs;
  std::getline(std::ifstream(folder / "runs"), runs, '\0');
  EXPECT_EQ(runs, "one\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tessera::test
