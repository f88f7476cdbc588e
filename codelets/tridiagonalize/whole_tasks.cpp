// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/tridiagonalize/whole_arguments.hpp>
#include <tessera/codelets/tridiagonalize/whole_cuda.hpp>
#include <tessera/codelets/tridiagonalize/whole_tasks.hpp>

namespace tessera {
namespace {

using namespace whole_codelets;

/// LAPACK's block of columns at most, and the room that unmtr takes for its triangular factor.
constexpr Index block = 64, factor = block * (block + 1);
/// Up to this order unmtr may work without blocks, and then writes ones into the matrix for a while: tasks
/// that share the matrix need copies.
constexpr Index copied_order = 2 * block;

template <class T>
void tridiagonalize_whole_task(const TaskContext&, TaskBuffers buffers, const WholeArguments& arguments) {
  const auto a = buffers.matrix<T>(0);
  const auto work = buffers.array<T>(4);
  blas::hetrd<T>(Uplo::lower, arguments.n, a.data, a.ld, buffers.array<RealOf<T>>(2).data(),
                 buffers.array<RealOf<T>>(3).data(), buffers.array<T>(1).data(), work.data(),
                 static_cast<Index>(work.size()));
}
template <class T>
Codelet tridiagonalize_whole_codelet =
    make_codelet<WholeArguments, tridiagonalize_whole_task<T>>("tridiagonalize_whole", type_letter<T>);

template <class T>
void apply_tridiagonalize_whole_task(const TaskContext&, TaskBuffers buffers,
                                     const WholeArguments& arguments) {
  auto a = buffers.matrix<const T>(0);
  const auto z = buffers.matrix<T>(2);
  auto work = buffers.array<T>(3);
  if (arguments.n <= 1 || z.cols == 0) return;
  if (arguments.n <= copied_order) {
    T* const copy = work.data();
    blas::lacpy(Uplo::lower, arguments.n, arguments.n, a.data, a.ld, copy, arguments.n);
    a = {copy, arguments.n, arguments.n, arguments.n};
    work = work.subspan(static_cast<std::size_t>(arguments.n * arguments.n));
  }
  blas::unmtr<T>(Uplo::lower, arguments.n, z.cols, a.data, a.ld, buffers.array<const T>(1).data(), z.data,
                 z.ld, work.data(), static_cast<Index>(work.size()));
}
template <class T>
Codelet apply_tridiagonalize_whole_codelet = make_codelet<WholeArguments, apply_tridiagonalize_whole_task<T>>(
    "apply_tridiagonalize_whole", type_letter<T>);

}  // namespace

template <class T>
void insert_tridiagonalize_whole(Sequence& sequence, int priority, const Data& a, Index n, const Data& tau,
                                 const Data& d, const Data& e, const Data& workspace) {
  const double order = static_cast<double>(n);
  sequence.insert(tridiagonalize_whole_codelet<T>, WholeArguments{n},
                  {.priority = priority, .flops = flop_factor<T> * 4 / 3 * order * order * order},
                  {read_write(a), write(tau), write(d), write(e), scratch(workspace)});
}

template <class T>
std::size_t tridiagonalize_whole_workspace_bytes([[maybe_unused]] const Runtime& runtime, Index n) {
  const auto bytes = sizeof(T) * static_cast<std::size_t>(block * n);
#if TESSERA_WITH_CUDA
  if (runtime.gpus() > 0) return std::max(bytes, device::hetrd_bytes<T>(n));
#endif
  return bytes;
}

template <class T>
void insert_apply_tridiagonalize_whole(Sequence& sequence, int priority, const Data& a, Index n,
                                       const Data& tau, const Data& z, Index columns, const Data& workspace) {
  const double flops = flop_factor<T> * 2 * double(n) * double(n) * double(columns);
  sequence.insert(apply_tridiagonalize_whole_codelet<T>, WholeArguments{n},
                  {.priority = priority, .flops = flops},
                  {read(a), read(tau), read_write(z), scratch(workspace)});
}

template <class T>
std::size_t apply_tridiagonalize_whole_workspace_bytes([[maybe_unused]] const Runtime& runtime, Index n,
                                                       Index columns) {
  const Index copy = n <= copied_order ? n * n : 0;
  const auto bytes = sizeof(T) * static_cast<std::size_t>(copy + block * columns + factor);
#if TESSERA_WITH_CUDA
  if (runtime.gpus() > 0) return std::max(bytes, device::unmtr_bytes<T>(n, columns));
#endif
  return bytes;
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void insert_tridiagonalize_whole<T>(Sequence&, int, const Data&, Index, const Data&, const Data&, \
                                               const Data&, const Data&);                                    \
  template std::size_t tridiagonalize_whole_workspace_bytes<T>(const Runtime&, Index);                       \
  template void insert_apply_tridiagonalize_whole<T>(Sequence&, int, const Data&, Index, const Data&,        \
                                                     const Data&, Index, const Data&);                       \
  template std::size_t apply_tridiagonalize_whole_workspace_bytes<T>(const Runtime&, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
