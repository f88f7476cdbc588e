// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A matrix in ScaLAPACK's two-dimensional block-cyclic layout on P x Q ranks, and its lowest eigenpairs:
//
//   mpirun -n 4 block_cyclic_mpi
//
// a(i, j) = min(i, j) + 1, with the eigenvalues of the example `dense`.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <mpi.h>

#include <tessera/tessera.hpp>

using tessera::Index;

namespace {

int solve(tessera::Runtime& runtime) {
  const Index n = 300, block = 32, wanted = 60;
  // Block (i, j) belongs to rank (i mod P, j mod Q). Ranks are numbered along the rows of the grid, as BLACS
  // does with 'R'; column_major is 'C'.
  const tessera::ProcessGrid grid = tessera::ProcessGrid::squarest(runtime.size());
  const Index p = runtime.rank() / grid.cols, q = runtime.rank() % grid.cols;
  const Index rows = tessera::local_extent(n, block, p, grid.rows);  // numroc
  const Index cols = tessera::local_extent(n, block, q, grid.cols);
  const Index ld = std::max<Index>(1, rows);
  const auto a = [](Index i, Index j) { return static_cast<double>(std::min(i, j) + 1); };
  std::vector<double> local(ld * std::max<Index>(1, cols));
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i)
      local[i + j * ld] =
          a((i / block * grid.rows + p) * block + i % block, (j / block * grid.cols + q) * block + j % block);

  const tessera::TileLayout layout{n, n, block, block, grid, tessera::Uplo::lower};
  const auto r = tessera::eigensolve(runtime, {.a = {local.data(), ld, layout}},
                                     {.range = tessera::index_range(0, wanted)});
  if (!r) {  // the same on all ranks
    if (runtime.rank() == 0) std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }
  // Every rank has all values. Of the vectors each has some slabs of columns, and checks its own.
  double worst[2] = {0, 0}, columns = 0;  // error of a value, residual
  for (Index k = 0; k < wanted; ++k) {
    const double theta = (2.0 * (n - k) - 1) * std::numbers::pi / (2.0 * n + 1);
    worst[0] = std::max(worst[0], std::abs(r.values[k] - 0.25 / std::pow(std::sin(theta / 2), 2)));
  }
  for (Index s = 0; s < r.vectors.count(); ++s) {
    if (r.vectors.owner(s) != runtime.rank()) continue;
    const tessera::HostAccess access(r.vectors.slab(s), tessera::HostAccess::Mode::read);
    const auto z = access.matrix<const double>();
    columns += static_cast<double>(z.cols);
    for (Index k = 0; k < z.cols; ++k)
      for (Index i = 0; i < n; ++i) {
        double row = -r.values[r.vectors.first_col(s) + k] * z(i, k);
        for (Index j = 0; j < n; ++j) row += a(i, j) * z(j, k);
        worst[1] = std::max(worst[1], std::abs(row));
      }
  }
  MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &columns, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double norm = 0.25 / std::pow(std::sin(std::numbers::pi / (4.0 * n + 2)), 2),
               bound = 30 * n * norm * tessera::precision<double>;
  if (runtime.rank() == 0)
    std::printf("%d x %d ranks, %g columns: largest error of a value %.1e, largest residual %.1e\n",
                grid.rows, grid.cols, columns, worst[0], worst[1]);
  return columns == wanted && worst[0] < bound && worst[1] < bound ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, failure = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);  // StarPU sends from a thread of its own
  if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  {
    tessera::Runtime runtime({}, tessera::Communicator::from_fortran(MPI_Comm_c2f(MPI_COMM_WORLD)));
    failure = solve(runtime);
  }  // the Runtime ends before MPI does
  MPI_Finalize();
  return failure;
}
