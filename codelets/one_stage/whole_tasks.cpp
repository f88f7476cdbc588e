// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/one_stage/kernels/tridiagonalize_device.hpp>
#include <tessera/codelets/one_stage/whole_tasks.hpp>

namespace tessera::detail {

namespace {

/// LAPACK's largest block of columns, and the size of the triangular factor in unmtr's work space.
constexpr Index block = 64, factor = block * (block + 1);
/// Up to this order unmtr may work without blocks and then writes ones into the matrix in the meantime: tasks
/// that share the matrix need copies.
constexpr Index copied_order = 2 * block;

template <class T>
std::span<T> elements(std::span<char> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

template <class T>
void run(const HostContext&, const TridiagonalizeWhole<T>& task) {
  const auto a = *task.a;
  const auto work = elements<T>(*task.workspace);
  blas::hetrd<T>(Uplo::lower, task.n, a.data, a.ld, task.d.view().data(), task.e.view().data(),
                 task.tau.view().data(), work.data(), static_cast<Index>(work.size()));
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
Index largest_whole_at_once([[maybe_unused]] const Runtime& runtime) {
#if TESSERA_WITH_CUDA
  if (runtime.gpus() > 0) return device::largest_tridiagonalized_at_once<T>();
#endif
  return 0;
}

template <class T>
void run(const HostContext&, const ApplyTridiagonalizeWhole<T>& task) {
  const Index n = task.n;
  auto a = *task.a;
  const auto z = *task.z;
  auto work = elements<T>(*task.workspace);
  if (n <= 1 || z.cols == 0) return;
  if (n <= copied_order) {
    T* const copy = work.data();
    blas::lacpy(Uplo::lower, n, n, a.data, a.ld, copy, n);
    a = {copy, n, n, n};
    work = work.subspan(static_cast<std::size_t>(n * n));
  }
  blas::unmtr<T>(Uplo::lower, n, z.cols, a.data, a.ld, task.tau.view().data(), z.data, z.ld, work.data(),
                 static_cast<Index>(work.size()));
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

#define TESSERA_DEFINE(T)                                                              \
  TESSERA_DEFINE_TASK(TridiagonalizeWhole<T>)                                          \
  TESSERA_DEFINE_TASK(ApplyTridiagonalizeWhole<T>)                                     \
  template std::size_t tridiagonalize_whole_workspace_bytes<T>(const Runtime&, Index); \
  template Index largest_whole_at_once<T>(const Runtime&);                             \
  template std::size_t apply_tridiagonalize_whole_workspace_bytes<T>(const Runtime&, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
