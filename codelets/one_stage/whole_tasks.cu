// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/linalg/cusolver.hpp>
#include <tessera/codelets/one_stage/kernels/tridiagonalize_device.hpp>
#include <tessera/codelets/one_stage/whole_tasks.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

/// The work space begins with cuSOLVER's info.
constexpr std::size_t info_bytes = 256;

template <class T>
std::size_t with_info(int count) {
  return info_bytes + sizeof(T) * static_cast<std::size_t>(std::max(count, 1));
}
template <class T>
int elements(std::size_t bytes) {
  constexpr std::size_t most = 0x7FFFFFFF;
  return static_cast<int>(std::min((bytes - info_bytes) / sizeof(T), most));
}

}  // namespace

template <class T>
std::size_t hetrd_bytes(Index n) {
  int count = 0;
  cusolver::hetrd_size<T>(cusolver::query_handle(), static_cast<int>(n), &count);
  return std::max(with_info<T>(count), tridiagonalize_at_once_bytes<T>(n));
}

template <class T>
std::size_t unmtr_bytes(Index n, Index columns) {
  int count = 0;
  cusolver::unmtr_size<T>(cusolver::query_handle(), static_cast<int>(n), static_cast<int>(columns), &count);
  return with_info<T>(count);
}

template <class T>
bool launch_hetrd(cusolverDnHandle_t handle, cudaStream_t stream, MatrixView<T> a, RealOf<T>* d, RealOf<T>* e,
                  T* tau, char* work, std::size_t bytes) {
  if (a.rows == 1) {  // the real part comes first
    cudaMemcpyAsync(d, a.data, sizeof(RealOf<T>), cudaMemcpyDeviceToDevice, stream);
    cudaMemsetAsync(e, 0, sizeof(RealOf<T>), stream);
    cudaMemsetAsync(tau, 0, sizeof(T), stream);
    return true;
  }
  if (a.rows <= largest_tridiagonalized_at_once<T>() &&
      launch_tridiagonalize_at_once<T>(stream, a, d, e, tau, work))
    return true;
  return cusolver::hetrd<T>(handle, static_cast<int>(a.rows), a.data, static_cast<int>(a.ld), d, e, tau,
                            reinterpret_cast<T*>(work + info_bytes), elements<T>(bytes),
                            reinterpret_cast<int*>(work)) == CUSOLVER_STATUS_SUCCESS;
}

template <class T>
bool launch_unmtr(cusolverDnHandle_t handle, MatrixView<const T> a, const T* tau, MatrixView<T> z, char* work,
                  std::size_t bytes) {
  if (a.rows == 1 || z.cols == 0) return true;
  return cusolver::unmtr<T>(handle, static_cast<int>(a.rows), static_cast<int>(z.cols), a.data,
                            static_cast<int>(a.ld), tau, z.data, static_cast<int>(z.ld),
                            reinterpret_cast<T*>(work + info_bytes), elements<T>(bytes),
                            reinterpret_cast<int*>(work)) == CUSOLVER_STATUS_SUCCESS;
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template std::size_t hetrd_bytes<T>(Index);                                                                \
  template std::size_t unmtr_bytes<T>(Index, Index);                                                         \
  template bool launch_hetrd<T>(cusolverDnHandle_t, cudaStream_t, MatrixView<T>, RealOf<T>*, RealOf<T>*, T*, \
                                char*, std::size_t);                                                         \
  template bool launch_unmtr<T>(cusolverDnHandle_t, MatrixView<const T>, const T*, MatrixView<T>, char*,     \
                                std::size_t);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace device

template <class T>
void run(const DeviceContext& on, const TridiagonalizeWhole<T>& task) {
  const auto work = *task.workspace;
  if (!device::launch_hetrd<T>(on.cusolver, on.stream, *task.a, task.d.view().data(), task.e.view().data(),
                               task.tau.view().data(), work.data(), work.size()))
    on.fail(StatusCode::no_convergence, task.n + 1);
}

template <class T>
void run(const DeviceContext& on, const ApplyTridiagonalizeWhole<T>& task) {
  const auto work = *task.workspace;
  if (!device::launch_unmtr<T>(on.cusolver, *task.a, task.tau.view().data(), *task.z, work.data(),
                               work.size()))
    on.fail(StatusCode::no_convergence, task.n + 1);
}

#define TESSERA_DEFINE(T)                       \
  TESSERA_DEFINE_ON_GPU(TridiagonalizeWhole<T>) \
  TESSERA_DEFINE_ON_GPU(ApplyTridiagonalizeWhole<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
