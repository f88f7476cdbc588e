// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cusolvermg_peer.hpp"

#include <tessera/error.hpp>

#if TESSERA_HAVE_CUSOLVERMG
#include <algorithm>
#include <deque>
#include <memory>

// CUDA 13 marks the library as deprecated, but names no replacement for several GPUs of one
// process.
#define DISABLE_CUSOLVERMG_DEPRECATED
#include <cusolverMg.h>

#include "gpu_device.hpp"
#include "process.hpp"
#endif

namespace tessera::program {

#if TESSERA_HAVE_CUSOLVERMG

namespace {

/// Columns of a block: as in NVIDIA's examples, and the most that the library supports. Wide blocks make larger
/// products, narrow ones keep the GPUs busy to the end.
constexpr Index narrow_block = 256, wide_block = 1024;

struct DestroyHandle {
  void operator()(cusolverMgContext* handle) const noexcept { cusolverMgDestroy(handle); }
};
struct DestroyGrid {
  void operator()(void* grid) const noexcept { cusolverMgDestroyGrid(grid); }
};
struct DestroyDescriptor {
  void operator()(void* descriptor) const noexcept { cusolverMgDestroyMatrixDesc(descriptor); }
};

/// Several GPUs with a cuSOLVERMg handle. While the object exists, any of them can be this thread's
/// current GPU.
class GpuRow {
 public:
  explicit GpuRow(const std::vector<int>& numbers) : numbers_(numbers) {
    require(cudaGetDevice(&former_), "asking for the current GPU");
    cusolverMgHandle_t handle = nullptr;
    require(cusolverMgCreate(&handle), "making a cuSOLVERMg handle");
    handle_.reset(handle);
    require(cusolverMgDeviceSelect(handle, size(), numbers_.data()), "choosing cuSOLVERMg's GPUs");
    enable_peer_access();
    void* grid = nullptr;
    require(cusolverMgCreateDeviceGrid(&grid, 1, size(), numbers_.data(), CUDALIBMG_GRID_MAPPING_COL_MAJOR),
            "making cuSOLVERMg's grid");
    grid_.reset(grid);
  }
  ~GpuRow() { cudaSetDevice(former_); }
  GpuRow(const GpuRow&) = delete;
  GpuRow& operator=(const GpuRow&) = delete;

  int size() const noexcept { return static_cast<int>(numbers_.size()); }
  cusolverMgHandle_t handle() const noexcept { return handle_.get(); }
  void* grid() const noexcept { return grid_.get(); }

  /// Allocates `count` elements on each GPU.
  template <class T>
  std::deque<DeviceMemory<T>> allocate(std::size_t count) const {
    std::deque<DeviceMemory<T>> memory;
    for (const int gpu : numbers_) {
      require(cudaSetDevice(gpu), "choosing the GPU");
      memory.emplace_back(count);
    }
    return memory;
  }

  void synchronize() const {
    for (const int gpu : numbers_) {
      require(cudaSetDevice(gpu), "choosing the GPU");
      require(cudaDeviceSynchronize(), "work on the GPUs");
    }
    require(cudaSetDevice(numbers_.front()), "choosing the GPU");
  }

 private:
  /// Peer access is not disabled again, because StarPU enables it for its own copies too, if the
  /// machine supports it.
  void enable_peer_access() const {
    for (const int gpu : numbers_)
      for (const int other : numbers_) {
        int possible = 0;
        if (gpu == other) continue;
        require(cudaDeviceCanAccessPeer(&possible, gpu, other), "asking for peer access");
        if (possible == 0) continue;
        require(cudaSetDevice(gpu), "choosing the GPU");
        const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled)
          cudaGetLastError();  // clear the error, or the next launch reports it
        else
          require(error, "enabling peer access");
      }
  }

  std::vector<int> numbers_;
  int former_ = 0;
  std::unique_ptr<cusolverMgContext, DestroyHandle> handle_;
  std::unique_ptr<void, DestroyGrid> grid_;
};

template <class T>
std::vector<void*> addresses(const std::deque<DeviceMemory<T>>& memory) {
  std::vector<void*> result;
  for (const auto& part : memory) result.push_back(part.data());
  return result;
}

/// An n x n matrix in a 1D block-cyclic distribution of columns: block k is on GPU k mod size().
/// The blocks of a GPU are contiguous, with leading dimension n.
template <class T>
class DealtMatrix {
 public:
  DealtMatrix(const GpuRow& gpus, Index n, Index width)
      : n_(n),
        gpus_(gpus.size()),
        width_(width),
        memory_(
            gpus.allocate<T>(static_cast<std::size_t>(n * width_ * ceil_div(ceil_div(n, width_), gpus_)))),
        parts_(addresses(memory_)) {
    void* descriptor = nullptr;
    require(cusolverMgCreateMatrixDesc(&descriptor, n, n, n, width_, cusolver::data_type<T>, gpus.grid()),
            "describing cuSOLVERMg's matrix");
    descriptor_.reset(descriptor);
  }
  void** parts() noexcept { return parts_.data(); }
  void* descriptor() const noexcept { return descriptor_.get(); }

  void from_host(const T* a) const {
    for_blocks([&](T* block, Index offset, std::size_t bytes) {
      require(cudaMemcpy(block, a + offset, bytes, cudaMemcpyHostToDevice), "copying to the GPU");
    });
  }
  void to_host(T* a) const {
    for_blocks([&](const T* block, Index offset, std::size_t bytes) {
      require(cudaMemcpy(a + offset, block, bytes, cudaMemcpyDeviceToHost), "copying from the GPU");
    });
  }

 private:
  /// Calls copy(block on its GPU, its first element in the full matrix, bytes) for each block.
  template <class Copy>
  void for_blocks(const Copy& copy) const {
    for (Index first = 0; first < n_; first += width_) {
      const Index k = first / width_, columns = std::min(width_, n_ - first);
      copy(memory_[static_cast<std::size_t>(k % gpus_)].data() + k / gpus_ * width_ * n_, first * n_,
           sizeof(T) * static_cast<std::size_t>(columns * n_));
    }
  }

  Index n_;
  int gpus_;
  Index width_;
  std::deque<DeviceMemory<T>> memory_;
  std::vector<void*> parts_;
  std::unique_ptr<void, DestroyDescriptor> descriptor_;
};

/// Columns of a block, of which each GPU has at least one.
Index block_width(const GpuRow& gpus, Index n, Index width) {
  return std::min(width, ceil_div(n, gpus.size()));
}

/// Computes all eigenpairs of a once. If `fetch` is set, copies the vectors to the host.
template <class T>
void solve(const GpuRow& gpus, const std::string& name, const std::vector<T>& a, Index n, Index width,
           bool vectors, bool fetch, PeerSolution<T>& solution) {
  std::vector<RealOf<T>>& values = solution.values;
  const int order = static_cast<int>(n);
  const cusolverEigMode_t mode = cusolver::mode(vectors);
  const cudaDataType type = cusolver::data_type<T>, real = cusolver::data_type<RealOf<T>>;
  values.resize(static_cast<std::size_t>(n));
  DealtMatrix<T> matrix(gpus, n, width);
  matrix.from_host(a.data());
  std::int64_t work_size = 0;
  require(cusolverMgSyevd_bufferSize(gpus.handle(), mode, CUBLAS_FILL_MODE_LOWER, order, matrix.parts(), 1, 1,
                                     matrix.descriptor(), values.data(), real, type, &work_size),
          name);
  const auto work = gpus.allocate<T>(static_cast<std::size_t>(work_size));
  std::vector<void*> work_parts = addresses(work);
  gpus.synchronize();
  int info = 0;
  const double start = now();
  require(
      cusolverMgSyevd(gpus.handle(), mode, CUBLAS_FILL_MODE_LOWER, order, matrix.parts(), 1, 1,
                      matrix.descriptor(), values.data(), real, type, work_parts.data(), work_size, &info),
      name);
  gpus.synchronize();
  solution.seconds = now() - start;
  if (info != 0) throw RuntimeError(fmt::format("{} failed with info = {}", name, info));
  if (!vectors || !fetch) return;
  solution.vectors.resize(a.size());
  matrix.to_host(solution.vectors.data());
}

/// Removes all eigenpairs outside the range.
template <class T>
void keep(const RangeOption& range, Index n, PeerSolution<T>& solution) {
  auto& values = solution.values;
  Index low = range.index_low, high = std::min(range.index_high, n);
  if (range.kind == RangeOption::Kind::value) {
    low = std::upper_bound(values.begin(), values.end(), range.value_low) - values.begin();
    high = std::upper_bound(values.begin(), values.end(), range.value_high) - values.begin();
  } else
    solution.first = low;
  values = std::vector(values.begin() + low, values.begin() + high);
  if (solution.vectors.empty()) return;
  std::copy(solution.vectors.begin() + n * low, solution.vectors.begin() + n * high,
            solution.vectors.begin());
  solution.vectors.resize(static_cast<std::size_t>(n * (high - low)));
}

}  // namespace

bool has_cusolvermg() {
  return true;
}

template <class T>
PeerSolution<T> solve_with_cusolvermg(const std::vector<T>& a, Index n, const std::vector<int>& gpus,
                                      const RangeOption& range, bool vectors, bool fetch) {
  const bool all = range.kind == RangeOption::Kind::all;
  PeerSolution<T> solution;
  solution.name = fmt::format("cusolverMgSyevd ({}){}", type_letter<T>, all ? "" : ", all pairs");
  if (n == 0 || (range.kind == RangeOption::Kind::index && std::min(range.index_high, n) <= range.index_low))
    return solution;
  const GpuRow row(gpus);
  {
    // The order gives each GPU one block.
    const Index small_order = narrow_block * row.size();
    PeerSolution<T> ignored;
    solve(row, solution.name, warm_up_matrix<T>(small_order), small_order, narrow_block, vectors, false,
          ignored);
  }
  const auto solve_with = [&](Index width) {
    PeerSolution<T> found;
    found.name = fmt::format("{}, blocks of {} columns", solution.name, width);
    solve(row, found.name, a, n, width, vectors, fetch, found);
    return found;
  };
  const Index wide = block_width(row, n, wide_block), narrow = block_width(row, n, narrow_block);
  solution = solve_with(wide);
  if (narrow != wide) keep_faster(solution, solve_with(narrow));
  if (!all) keep(range, n, solution);
  return solution;
}

#else

bool has_cusolvermg() {
  return false;
}

template <class T>
PeerSolution<T> solve_with_cusolvermg(const std::vector<T>&, Index, const std::vector<int>&,
                                      const RangeOption&, bool, bool) {
  throw RuntimeError("this program was built without cuSOLVERMg, so it cannot be the peer");
}

#endif

#define TESSERA_INSTANTIATE(T)                                                                             \
  template PeerSolution<T> solve_with_cusolvermg<T>(const std::vector<T>&, Index, const std::vector<int>&, \
                                                    const RangeOption&, bool, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
