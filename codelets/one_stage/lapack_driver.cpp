// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/one_stage/lapack_driver.hpp>
#include <tessera/runtime/blas_threads.hpp>

namespace tessera::detail {

namespace {

/// Work array sizes of heevd and hegvd, with room for blocked reductions.
template <class T>
struct DriverSizes {
  Index work, rwork, iwork;
  DriverSizes(Index n, bool vectors) {
    constexpr Index block = 64;
    if constexpr (is_complex<T>) {
      work = (vectors ? n * n : 0) + (block + 2) * n + 1;
      rwork = vectors ? 1 + 5 * n + 2 * n * n : n;
    } else {
      work = (vectors ? 1 + 6 * n + 2 * n * n : 0) + (block + 2) * n + 1;
      rwork = 0;
    }
    iwork = vectors ? 3 + 5 * n : 1;
  }
};

template <class T>
struct Workspace {
  T *a, *b, *work;
  RealOf<T>* rwork;
  int* iwork;
  std::size_t bytes;
  Workspace(char* memory, Index n, bool generalized, bool vectors) {
    const DriverSizes<T> sizes(n, vectors);
    std::size_t at = 0;
    const auto take = [&](Index count, std::size_t element) {
      char* const place = memory + at;
      at += aligned_part(static_cast<std::size_t>(count) * element);
      return place;
    };
    a = reinterpret_cast<T*>(take(n * n, sizeof(T)));
    b = reinterpret_cast<T*>(take(generalized ? n * n : 0, sizeof(T)));
    work = reinterpret_cast<T*>(take(sizes.work, sizeof(T)));
    rwork = reinterpret_cast<RealOf<T>*>(take(sizes.rwork, sizeof(RealOf<T>)));
    iwork = reinterpret_cast<int*>(take(sizes.iwork, sizeof(int)));
    bytes = at;
  }
};

/// The lower tiles as one array.
template <class T>
void assemble_lower(const ReadAll<Matrix<T>>& tiles, Index n, Index tile, T* array) noexcept {
  const Index count = ceil_div(n, tile);
  int next = 0;
  for (Index j = 0; j < count; ++j)
    for (Index i = j; i < count; ++i) {
      const auto source = tiles[next++];
      blas::lacpy(i == j ? Uplo::lower : Uplo::general, source.rows, source.cols, source.data, source.ld,
                  array + i * tile + j * tile * n, n);
    }
}

template <class T>
std::vector<const Data*> lower_tiles(const TiledMatrix<T>& matrix) {
  std::vector<const Data*> tiles;
  for (Index j = 0; j < matrix.col_tiles(); ++j)
    for (Index i = j; i < matrix.row_tiles(); ++i) tiles.push_back(&matrix.tile(i, j));
  return tiles;
}

}  // namespace

template <class T>
void run(const HostContext& on, const LapackEigensolve<T>& task) {
  const Index n = task.n;
  const bool generalized = task.generalized(), vectors = task.vectors();
  const Workspace<T> space(task.workspace.view().data(), n, generalized, vectors);
  assemble_lower(task.a, n, task.tile_a, space.a);
  if (generalized) assemble_lower(task.b, n, task.tile_b, space.b);
  RealOf<T>* const values = task.values.view().data();
  const DriverSizes<T> sizes(n, vectors);
  const char job = vectors ? 'V' : 'N';
  set_blas_threads(task.threads);
  const int info = generalized
                       ? blas::hegvd(1, job, Uplo::lower, n, space.a, n, space.b, n, values, space.work,
                                     sizes.work, space.rwork, sizes.rwork, space.iwork, sizes.iwork)
                       : blas::heevd(job, Uplo::lower, n, space.a, n, values, space.work, sizes.work,
                                     space.rwork, sizes.rwork, space.iwork, sizes.iwork);
  set_blas_threads(1);
  if (info > n) return on.fail(StatusCode::not_positive_definite, info - n);
  if (info != 0) return on.fail(StatusCode::no_convergence, info);
  Index column = task.lo;
  for (int j = 0; j < task.z.size(); ++j) {
    const auto slab = task.z[j];
    blas::lacpy(Uplo::general, n, slab.cols, space.a + column * n, n, slab.data, slab.ld);
    column += slab.cols;
  }
}

template <class T>
void insert_lapack_eigensolve(Sequence& sequence, int priority, const TiledMatrix<T>& a,
                              const TiledMatrix<T>* b, Index lo, int threads, const Data& values,
                              const ColumnSlabs<T>* z, const Data& workspace) {
  const auto tiles_a = lower_tiles(a), tiles_b = b ? lower_tiles(*b) : std::vector<const Data*>();
  std::vector<const Data*> slabs;
  for (Index j = 0; z && j < z->count(); ++j) slabs.push_back(&z->slab(j));
  sequence.insert(LapackEigensolve<T>{.values = values,
                                      .workspace = workspace,
                                      .a = tiles_a,
                                      .b = tiles_b,
                                      .z = slabs,
                                      .n = a.rows(),
                                      .tile_a = a.layout().tile_rows,
                                      .tile_b = b ? b->layout().tile_rows : 1,
                                      .lo = lo,
                                      .hi = z ? lo + z->cols() : a.rows(),
                                      .threads = threads},
                  {.priority = priority, .execute_on = 0});
}

template <class T>
std::size_t lapack_eigensolve_workspace_bytes([[maybe_unused]] const Runtime& runtime, Index n,
                                              bool generalized, bool vectors, [[maybe_unused]] Index lo,
                                              [[maybe_unused]] Index hi) {
  const std::size_t bytes = Workspace<T>(nullptr, n, generalized, vectors).bytes;
#if TESSERA_WITH_CUDA
  if (runtime.gpus() > 0)
    return std::max(bytes, device::eigen_driver_bytes<T>({n, generalized, vectors, lo, hi}));
#endif
  return bytes;
}

#define TESSERA_DEFINE(T)                                                                                 \
  TESSERA_DEFINE_TASK(LapackEigensolve<T>)                                                                \
  template void insert_lapack_eigensolve<T>(Sequence&, int, const TiledMatrix<T>&, const TiledMatrix<T>*, \
                                            Index, int, const Data&, const ColumnSlabs<T>*, const Data&); \
  template std::size_t lapack_eigensolve_workspace_bytes<T>(const Runtime&, Index, bool, bool, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
