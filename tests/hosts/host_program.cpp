// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// host_program MPI [TRACE]: solves a small problem on all ranks, with MPI initialised by this program as MPI
// says (none, plain, funneled, serialized, multiple), and a trace in the folder TRACE. Exit code 0: all is well;
// 3: the Runtime was refused, and standard error says why.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <tessera/tessera.hpp>
#ifdef HOST_WITH_MPI
#include <mpi.h>
#endif

namespace {

/// The eigenvalues of the matrix of second differences are known. Its blocks are dealt to the ranks.
bool solve(tessera::Runtime& runtime) {
  constexpr tessera::Index n = 60, block = 16;
  const tessera::ProcessGrid grid = tessera::ProcessGrid::squarest(runtime.size());
  const tessera::Index p = runtime.rank() / grid.cols, q = runtime.rank() % grid.cols;
  const tessera::Index rows = tessera::local_extent(n, block, p, grid.rows);
  const tessera::Index cols = tessera::local_extent(n, block, q, grid.cols), ld = rows > 0 ? rows : 1;
  std::vector<double> a(static_cast<std::size_t>(ld * cols));
  for (tessera::Index j = 0; j < cols; ++j)
    for (tessera::Index i = 0; i < rows; ++i) {
      const tessera::Index row = (i / block * grid.rows + p) * block + i % block;
      const tessera::Index col = (j / block * grid.cols + q) * block + j % block;
      a[static_cast<std::size_t>(i + j * ld)] = row == col ? 2 : std::abs(row - col) == 1 ? -1 : 0;
    }
  const tessera::TileLayout layout{n, n, block, block, grid, tessera::Uplo::lower};
  const auto r = tessera::eigensolve(runtime, {.a = {a.data(), ld, layout}});
  if (!r) return false;
  for (tessera::Index k = 0; k < n; ++k)
    if (std::abs(r.values[static_cast<std::size_t>(k)] - 2 +
                 2 * std::cos(static_cast<double>(k + 1) * std::acos(-1.0) / (n + 1))) > 1e-12)
      return false;
  return true;
}

tessera::Communicator begin_mpi([[maybe_unused]] const std::string& how) {
#ifdef HOST_WITH_MPI
  int level = 0;
  if (how == "plain") MPI_Init(nullptr, nullptr);
  if (how == "funneled") MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  if (how == "serialized") MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  if (how == "multiple") MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  if (how != "none")
    return tessera::Communicator::from_fortran(static_cast<int>(MPI_Comm_c2f(MPI_COMM_WORLD)));
#endif
  return {};
}

int run(const tessera::Communicator& communicator, const std::string& trace) {
  try {
    for (int round = 0; round < 2; ++round) {
      tessera::Runtime runtime({.cores = 1, .trace_directory = trace, .bind = false}, communicator);
      if (!solve(runtime)) return 4;
    }
  } catch (const tessera::RuntimeError& refused) {
    std::fprintf(stderr, "%s\n", refused.what());
    return 3;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string how = count > 1 ? arguments[1] : "none";
  const int result = run(begin_mpi(how), count > 2 ? arguments[2] : "");
#ifdef HOST_WITH_MPI
  if (how != "none") MPI_Finalize();
#endif
  return result;
}
