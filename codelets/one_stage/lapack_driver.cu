// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include <tessera/codelets/linalg/cusolver.hpp>
#include <tessera/codelets/one_stage/lapack_driver.hpp>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/host_memory.hpp>

namespace tessera::detail {

namespace device {
namespace {

cusolver::Range range_of(const EigenDriver& driver) {
  return driver.partial() ? cusolver::Range::numbers(driver.lo, driver.hi) : cusolver::Range();
}

__global__ void report_info_kernel(const int* info, int n, bool refused, long long* no_convergence,
                                   long long* not_positive_definite) {
  if (refused)
    *no_convergence = n + 1;
  else if (*info > n)
    *not_positive_definite = *info - n;
  else if (*info != 0)
    *no_convergence = abs(*info);
}

/// Values that cuSOLVER has left in another order than the ascending one (equal ones but for rounding), and their
/// vectors, change places. One block; vectors may be null.
template <class T>
__global__ void sort_pairs_kernel(RealOf<T>* values, int count, T* vectors, int rows) {
  bool descends = false;
  for (int k = 1 + static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x))
    descends = descends || values[k] < values[k - 1];
  if (!__syncthreads_or(descends)) return;
  for (int k = 1; k < count; ++k)
    for (int j = k; j > 0; --j) {
      const RealOf<T> low = values[j - 1], high = values[j];
      if (!(high < low)) break;  // NaN stays where it is
      __syncthreads();
      if (threadIdx.x == 0) values[j - 1] = high, values[j] = low;
      if (vectors)
        for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x)) {
          T* const left = vectors + static_cast<std::int64_t>(j - 1) * rows + i;
          const T kept = left[0];
          left[0] = left[rows];
          left[rows] = kept;
        }
      __syncthreads();
    }
}

/// The memory that cuSOLVER needs on the host until the stream has finished. It is kept for the next call,
/// because new pages from the system take as long as a whole small problem.
struct HostSpace {
  explicit HostSpace(std::size_t bytes) : memory(kept().allocate(bytes)) {}
  HostSpace(const HostSpace&) = delete;
  HostSpace& operator=(const HostSpace&) = delete;
  ~HostSpace() { kept().free(memory); }

  void* const memory;
  std::int64_t found = 0;

 private:
  /// Never destroyed: a stream may end after the program's own objects.
  static HostMemory& kept() {
    static auto* const only = new HostMemory;
    return *only;
  }
};

}  // namespace

template <class T>
EigenDriverSpace<T>::EigenDriverSpace(cusolverDnHandle_t handle, const EigenDriver& driver, char* memory) {
  const auto n = static_cast<std::size_t>(driver.n);
  work_bytes = host_bytes = 0;
  if (driver.generalized) {
    int count = 0;
    cusolver::hegvd_size<T>(handle, driver.vectors, static_cast<int>(driver.n), &count);
    work_bytes = sizeof(T) * static_cast<std::size_t>(count);
  } else {
    cusolver::heevd_bytes<T>(handle, driver.vectors, range_of(driver), driver.n, &work_bytes, &host_bytes);
  }
  std::size_t at = 0;
  const auto take = [&](std::size_t size) {
    char* const place = memory + at;
    at += aligned_part(size);
    return place;
  };
  a = reinterpret_cast<T*>(take(sizeof(T) * n * n));
  b = reinterpret_cast<T*>(take(driver.generalized ? sizeof(T) * n * n : 0));
  values = reinterpret_cast<RealOf<T>*>(take(sizeof(RealOf<T>) * n));
  work = take(work_bytes);
  info = reinterpret_cast<int*>(take(sizeof(int)));
  bytes = at;
}

template <class T>
std::size_t eigen_driver_bytes(const EigenDriver& driver) {
  return EigenDriverSpace<T>(cusolver::query_handle(), driver, nullptr).bytes;
}

template <class T>
void launch_eigen_driver(cusolverDnHandle_t handle, cudaStream_t stream, const EigenDriver& driver,
                         const EigenDriverSpace<T>& space, RealOf<T>* values, long long* no_convergence,
                         long long* not_positive_definite) {
  const auto n = static_cast<std::size_t>(driver.n);
  const int order = static_cast<int>(driver.n);
  cudaMemsetAsync(space.info, 0, sizeof(int), stream);
  cusolverStatus_t status;
  if (driver.generalized) {
    status = cusolver::hegvd<T>(handle, driver.vectors, order, space.a, order, space.b, order, space.values,
                                reinterpret_cast<T*>(space.work),
                                static_cast<int>(space.work_bytes / sizeof(T)), space.info);
  } else {
    auto* const host = new HostSpace(space.host_bytes);
    status = cusolver::heevd<T>(handle, driver.vectors, range_of(driver), driver.n, space.a, driver.n,
                                space.values, space.work, space.work_bytes, host->memory, space.host_bytes,
                                &host->found, space.info);
    cudaLaunchHostFunc(
        stream, [](void* argument) { delete static_cast<HostSpace*>(argument); }, host);
  }
  report_info_kernel<<<1, 1, 0, stream>>>(space.info, order, status != CUSOLVER_STATUS_SUCCESS,
                                          no_convergence, not_positive_definite);
  const auto wanted = static_cast<std::size_t>(driver.partial() ? driver.hi - driver.lo : driver.n);
  const auto first = static_cast<std::size_t>(driver.partial() ? driver.lo : 0);
  sort_pairs_kernel<T><<<1, 256, 0, stream>>>(space.values, static_cast<int>(wanted),
                                              driver.vectors ? space.a : nullptr, order);
  if (driver.partial()) cudaMemsetAsync(values, 0xFF, sizeof(RealOf<T>) * n, stream);  // NaN
  cudaMemcpyAsync(values + first, space.values, sizeof(RealOf<T>) * wanted, cudaMemcpyDeviceToDevice, stream);
}

#define TESSERA_INSTANTIATE(T)                                                               \
  template struct EigenDriverSpace<T>;                                                       \
  template std::size_t eigen_driver_bytes<T>(const EigenDriver&);                            \
  template void launch_eigen_driver<T>(cusolverDnHandle_t, cudaStream_t, const EigenDriver&, \
                                       const EigenDriverSpace<T>&, RealOf<T>*, long long*, long long*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace device

namespace {

template <class T>
void copy_block(cudaStream_t stream, const MatrixView<const T>& source, T* target, Index ld) {
  if (source.rows == 0 || source.cols == 0) return;
  const auto bytes = [](Index count) { return sizeof(T) * static_cast<std::size_t>(count); };
  cudaMemcpy2DAsync(target, bytes(ld), source.data, bytes(source.ld), bytes(source.rows),
                    static_cast<std::size_t>(source.cols), cudaMemcpyDeviceToDevice, stream);
}

/// The lower tiles as one array.
template <class T>
void assemble_lower(cudaStream_t stream, const ReadAll<Matrix<T>>& tiles, Index n, Index tile, T* array) {
  const Index count = ceil_div(n, tile);
  int next = 0;
  for (Index j = 0; j < count; ++j)
    for (Index i = j; i < count; ++i) copy_block(stream, tiles[next++], array + i * tile + j * tile * n, n);
}

}  // namespace

template <class T>
void run(const DeviceContext& on, const LapackEigensolve<T>& task) {
  const device::EigenDriver driver{task.n, task.generalized(), task.vectors(), task.lo, task.hi};
  const device::EigenDriverSpace<T> space(on.cusolver, driver, task.workspace.view().data());
  assemble_lower(on.stream, task.a, task.n, task.tile_a, space.a);
  if (driver.generalized) assemble_lower(on.stream, task.b, task.n, task.tile_b, space.b);
  DeviceFailure no_convergence(on, StatusCode::no_convergence);
  DeviceFailure not_positive_definite(on, StatusCode::not_positive_definite);
  device::launch_eigen_driver<T>(on.cusolver, on.stream, driver, space, task.values.view().data(),
                                 no_convergence.index(), not_positive_definite.index());
  no_convergence.report();
  not_positive_definite.report();
  Index column = driver.partial() ? 0 : task.lo;
  for (int j = 0; j < task.z.size(); ++j) {
    const auto slab = task.z[j];
    copy_block<T>(on.stream, {space.a + column * task.n, task.n, slab.cols, task.n}, slab.data, slab.ld);
    column += slab.cols;
  }
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(LapackEigensolve<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
