// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_HAVE_SCALAPACK

#include "block_cyclic.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

#include "scalapack_routines.hpp"

extern "C" int Csys2blacs_handle(MPI_Comm communicator);

namespace tessera::program {
using namespace detail;

namespace {

/// The run's ranks. A run that was started without a launcher has no MPI before.
MPI_Comm ranks_of(const Runtime& runtime) {
  const MPI_Comm world = MPI_Comm_f2c(Communicator::world().fortran_handle());
  return runtime.size() == 1 ? MPI_COMM_SELF : world;
}

ProcessGrid row_of_all(const Runtime& runtime) {
  return {1, runtime.size()};
}

/// Columns [first, first + count) of `from` to the first ones of `to`, whose grids are parts of `all`. In
/// pieces, because the routine counts the bytes of its messages with int.
template <class T>
void redistribute(const BlacsGrid& all, const CyclicMatrix<T>& from, Index first, Index count,
                  CyclicMatrix<T>& to) {
  constexpr Index most = Index(1) << 25;
  const Index n = to.rows(), width = std::max<Index>(most / std::max<Index>(n, 1), 1);
  const int rows = static_cast<int>(n), one = 1, context = all.context();
  for (Index begin = 0; n > 0 && begin < count; begin += width) {
    const int columns = static_cast<int>(std::min(width, count - begin)),
              source = static_cast<int>(first + begin + 1), destination = static_cast<int>(begin + 1);
    scalapack::Routines<T>::redistribute(&rows, &columns, from.data(), &one, &source, from.descriptor(),
                                         to.data(), &one, &destination, to.descriptor(), &context);
  }
}

/// What this rank has of the lower triangle, into a matrix whose blocks are the tiles.
template <class T>
void copy_local_tiles(const TiledMatrix<T>& tiles, CyclicMatrix<T>& to) {
  const TileLayout& layout = tiles.layout();
  for (Index tj = 0; tj < tiles.col_tiles(); ++tj)
    for (Index ti = tj; ti < tiles.row_tiles(); ++ti) {
      if (!tiles.tile(ti, tj).local()) continue;
      const HostAccess access(tiles.tile(ti, tj), HostAccess::Mode::read);
      const MatrixView<T> view = access.template matrix<T>();
      const Index row = ti / layout.grid.rows * layout.tile_rows,
                  col = tj / layout.grid.cols * layout.tile_cols;
      for (Index j = 0; j < view.cols; ++j) {
        const Index above = ti == tj ? j : 0;
        std::copy(&view(above, j), &view(0, j) + view.rows, &to(row + above, col + j));
      }
    }
}

}  // namespace

BlacsGrid::BlacsGrid(const Runtime& runtime, const ProcessGrid& grid) : shape_(grid) {
  const MPI_Comm all = ranks_of(runtime);
  std::vector<int> ranks(static_cast<std::size_t>(grid.rows * grid.cols));
  for (int q = 0; q < grid.cols; ++q)
    for (int p = 0; p < grid.rows; ++p) ranks[static_cast<std::size_t>(p + q * grid.rows)] = grid.rank(p, q);
  // BLACS has one handle of a communicator, which grids would take from each other when they go.
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(all, &own);
  parent_ = MPI_Comm_c2f(own);
  handle_ = Csys2blacs_handle(own);
  context_ = handle_;
  scalapack::Cblacs_gridmap(&context_, ranks.data(), grid.rows, grid.rows, grid.cols);
  const bool belongs = std::ranges::find(ranks, runtime.rank()) != ranks.end();
  if (!belongs) context_ = -1;
  int rows = 0, cols = 0;
  if (belongs) scalapack::Cblacs_gridinfo(context_, &rows, &cols, &row_, &col_);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_split(all, belongs ? 0 : MPI_UNDEFINED, runtime.rank(), &communicator);
  communicator_ = MPI_Comm_c2f(communicator);
}

BlacsGrid::~BlacsGrid() {
  MPI_Comm communicator = MPI_Comm_f2c(communicator_);
  if (communicator != MPI_COMM_NULL) MPI_Comm_free(&communicator);
  if (context_ >= 0) scalapack::Cblacs_gridexit(context_);
  scalapack::Cfree_blacs_system_handle(handle_);
  MPI_Comm parent = MPI_Comm_f2c(parent_);
  MPI_Comm_free(&parent);
}

CyclicShape CyclicShape::make(Index n, int ranks, Index largest) {
  CyclicShape shape;
  if (n < 2 * ranks) return shape;
  shape.grid = ProcessGrid::squarest(ranks);
  const auto each = static_cast<std::uint64_t>(n / std::max(shape.grid.rows, shape.grid.cols));
  shape.block = std::min(largest, static_cast<Index>(std::bit_floor(each)));
  return shape;
}

template <class T>
CyclicMatrix<T>::CyclicMatrix(const BlacsGrid& grid, Index rows, Index cols, Index block_rows,
                              Index block_cols)
    : grid_rows_(grid.shape().rows), grid_cols_(grid.shape().cols) {
  if (grid.inside()) {
    row_ = grid.row(), col_ = grid.col();
    local_rows_ = local_extent(rows, block_rows, row_, grid_rows_);
    local_cols_ = local_extent(cols, block_cols, col_, grid_cols_);
  }
  const Index ld = std::max<Index>(local_rows_, 1),
              most = std::numeric_limits<int>::max() / 2 - 32 * (rows + cols);
  if (ld * std::max<Index>(local_cols_, 1) > most)
    throw Error(fmt::format("{} x {} elements on a rank are too many for ScaLAPACK's int: take more ranks",
                            local_rows_, local_cols_));
  constexpr int dense = 1;
  descriptor_ = {dense,
                 grid.context(),
                 static_cast<int>(rows),
                 static_cast<int>(cols),
                 static_cast<int>(block_rows),
                 static_cast<int>(block_cols),
                 0,
                 0,
                 static_cast<int>(ld)};
  data_.resize(static_cast<std::size_t>(ld * std::max<Index>(local_cols_, 1)));
}

template <class T>
void copy_lower(const Runtime& runtime, const TiledMatrix<T>& tiles, CyclicMatrix<T>& to) {
  if (runtime.size() == 1) return copy_local_tiles(tiles, to);
  const TileLayout& layout = tiles.layout();
  const BlacsGrid all(runtime, row_of_all(runtime)), grid(runtime, layout.grid);
  CyclicMatrix<T> from;
  agree(runtime, 0, [&] {
    from = CyclicMatrix<T>(grid, layout.rows, layout.cols, layout.tile_rows, layout.tile_cols);
    copy_local_tiles(tiles, from);
  });
  redistribute(all, from, 0, layout.cols, to);
}

template <class T>
void mirror_lower(const Runtime& runtime, const BlacsGrid& grid, CyclicMatrix<T>& a) {
  CyclicMatrix<T> adjoint;
  agree(runtime, 0,
        [&] { adjoint = CyclicMatrix<T>(grid, a.rows(), a.cols(), a.block_rows(), a.block_cols()); });
  if (!grid.inside()) return;
  const int n = static_cast<int>(a.rows()), one = 1;
  const T unit(1), zero(0);
  scalapack::Routines<T>::adjoint(&n, &n, &unit, a.data(), &one, &one, a.descriptor(), &zero, adjoint.data(),
                                  &one, &one, adjoint.descriptor());
  for (Index j = 0; j < a.local_cols(); ++j)
    for (Index i = 0; i < a.local_rows() && a.global_row(i) < a.global_col(j); ++i) a(i, j) = adjoint(i, j);
}

template <class T>
ColumnSlabs<T> to_slabs(Runtime& runtime, const CyclicMatrix<T>& a, Index first, Index count, Index width) {
  const Index n = a.rows();
  width = std::max<Index>(std::min(width, count), 1);
  const BlacsGrid all(runtime, row_of_all(runtime));
  CyclicMatrix<T> columns;
  agree(runtime, 0, [&] { columns = CyclicMatrix<T>(all, n, count, std::max<Index>(n, 1), width); });
  redistribute(all, a, first, count, columns);
  ColumnSlabs<T> slabs(runtime, n, count, width);
  agree(runtime, 0, [&] {
    Index next = 0;
    for (Index s = 0; s < slabs.count(); ++s) {
      if (!slabs.slab(s).local()) continue;
      const HostAccess access(slabs.slab(s), HostAccess::Mode::write);
      const MatrixView<T> view = access.template matrix<T>();
      for (Index j = 0; j < view.cols; ++j, ++next) std::copy_n(&columns(0, next), n, &view(0, j));
    }
  });
  return slabs;
}

#define TESSERA_INSTANTIATE(T)                                                          \
  template class CyclicMatrix<T>;                                                       \
  template void copy_lower<T>(const Runtime&, const TiledMatrix<T>&, CyclicMatrix<T>&); \
  template void mirror_lower<T>(const Runtime&, const BlacsGrid&, CyclicMatrix<T>&);    \
  template ColumnSlabs<T> to_slabs<T>(Runtime&, const CyclicMatrix<T>&, Index, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program

#endif
