// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/tile_part.hpp>
#include <tessera/codelets/tridiagonalize/lapack_driver.hpp>
#include <tessera/codelets/tridiagonalize/lapack_driver_arguments.hpp>
#include <tessera/codelets/tridiagonalize/lapack_driver_cuda.hpp>
#include <tessera/runtime/blas_threads.hpp>

namespace tessera {
namespace {

using namespace lapack_driver_codelets;

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
      at += aligned(static_cast<std::size_t>(count) * element);
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

/// The lower tiles, column by column from buffer `first`, as one array; returns the next buffer.
template <class T>
int assemble_lower(TaskBuffers buffers, int first, Index n, Index tile, T* array) noexcept {
  const Index count = ceil_div(n, tile);
  for (Index j = 0; j < count; ++j)
    for (Index i = j; i < count; ++i) {
      const auto source = buffers.matrix<const T>(first++);
      blas::lacpy(i == j ? Uplo::lower : Uplo::general, source.rows, source.cols, source.data, source.ld,
                  array + i * tile + j * tile * n, n);
    }
  return first;
}

template <class T>
void lapack_eigensolve_task(const TaskContext& task, TaskBuffers buffers, const DriverArguments& a) {
  const Index n = a.n;
  const bool vectors = a.slabs > 0;
  const Workspace<T> space(buffers.array<char>(1).data(), n, a.generalized, vectors);
  int buffer = assemble_lower(buffers, 2, n, a.tile_a, space.a);
  if (a.generalized) buffer = assemble_lower(buffers, buffer, n, a.tile_b, space.b);
  RealOf<T>* const values = buffers.array<RealOf<T>>(0).data();
  const DriverSizes<T> sizes(n, vectors);
  const char job = vectors ? 'V' : 'N';
  set_blas_threads(a.threads);
  const int info = a.generalized
                       ? blas::hegvd(1, job, Uplo::lower, n, space.a, n, space.b, n, values, space.work,
                                     sizes.work, space.rwork, sizes.rwork, space.iwork, sizes.iwork)
                       : blas::heevd(job, Uplo::lower, n, space.a, n, values, space.work, sizes.work,
                                     space.rwork, sizes.rwork, space.iwork, sizes.iwork);
  set_blas_threads(1);
  if (info > n) return task.fail(StatusCode::not_positive_definite, info - n);
  if (info != 0) return task.fail(StatusCode::no_convergence, info);
  Index column = a.lo;
  for (; buffer < buffers.count(); ++buffer) {
    const auto slab = buffers.matrix<T>(buffer);
    blas::lacpy(Uplo::general, n, slab.cols, space.a + column * n, n, slab.data, slab.ld);
    column += slab.cols;
  }
}
template <class T>
Codelet lapack_eigensolve_codelet =
    make_codelet<DriverArguments, lapack_eigensolve_task<T>>("lapack_eigensolve", type_letter<T>);

}  // namespace

template <class T>
void insert_lapack_eigensolve(Sequence& sequence, int priority, const TiledMatrix<T>& a,
                              const TiledMatrix<T>* b, Index lo, int threads, const Data& values,
                              const ColumnSlabs<T>* z, const Data& workspace) {
  std::vector<Access> accesses{write(values), scratch(workspace)};
  for (const TiledMatrix<T>* matrix : {&a, b}) {
    if (!matrix) continue;
    for (Index j = 0; j < matrix->col_tiles(); ++j)
      for (Index i = j; i < matrix->row_tiles(); ++i) accesses.push_back(read(matrix->tile(i, j)));
  }
  for (Index j = 0; z && j < z->count(); ++j) accesses.push_back(write(z->slab(j)));
  const Index n = a.rows();
  const DriverArguments arguments{n,
                                  a.layout().tile_rows,
                                  b ? b->layout().tile_rows : 1,
                                  lo,
                                  z ? lo + z->cols() : n,
                                  static_cast<std::int32_t>(z ? z->count() : 0),
                                  threads,
                                  b != nullptr};
  const double flops = (z ? 9.0 : 4.0 / 3.0) * double(n) * n * n * flop_factor<T>;
  sequence.insert(lapack_eigensolve_codelet<T>, arguments,
                  {.priority = priority, .flops = flops, .execute_on = 0}, std::span<const Access>(accesses));
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

#define TESSERA_INSTANTIATE(T)                                                                            \
  template void insert_lapack_eigensolve<T>(Sequence&, int, const TiledMatrix<T>&, const TiledMatrix<T>*, \
                                            Index, int, const Data&, const ColumnSlabs<T>*, const Data&); \
  template std::size_t lapack_eigensolve_workspace_bytes<T>(const Runtime&, Index, bool, bool, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
