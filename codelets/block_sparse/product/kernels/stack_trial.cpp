// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <complex>
#include <vector>

#include <cuda_runtime.h>

#include <tessera/codelets/block_sparse/product/kernels/multiply_stack_cuda.hpp>
#include <tessera/codelets/block_sparse/product/kernels/stack_failure.hpp>
#include <tessera/codelets/block_sparse/product/kernels/stack_trial.hpp>
#include <tessera/codelets/common/splitmix.hpp>

namespace tessera::device {
namespace {

void require(cudaError_t error) {
  require_success(error, "the trial");
}

class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An array on the device, copied on a stream.
template <class E>
class Array {
 public:
  Array(const Stream& stream, const std::vector<E>& values) : stream_(stream), size_(values.size()) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), sizeof(E) * size_));
    require(cudaMemcpyAsync(data_, values.data(), sizeof(E) * size_, cudaMemcpyHostToDevice, stream.get()));
    require(cudaStreamSynchronize(stream.get()));  // `values` may be gone soon
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  E* data() const noexcept { return data_; }
  std::vector<E> get() const {
    std::vector<E> values(size_);
    require(cudaMemcpyAsync(values.data(), data_, sizeof(E) * size_, cudaMemcpyDeviceToHost, stream_.get()));
    require(cudaStreamSynchronize(stream_.get()));
    return values;
  }

 private:
  const Stream& stream_;
  std::size_t size_;
  E* data_ = nullptr;
};

/// Integers of -3 to 3.
template <class T>
std::vector<T> small_integers(std::int32_t count, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::uint64_t number = 0;
  const auto draw = [&] {
    return static_cast<RealOf<T>>(static_cast<int>(splitmix(seed, number++) % 7) - 3);
  };
  for (T& value : values) {
    const RealOf<T> real = draw();
    if constexpr (is_complex<T>)
      value = T(real, draw());
    else
      value = real;
  }
  return values;
}

template <class T>
void compare(const StackKernel& kernel, const StackShape& shape) {
  constexpr std::int32_t blocks = 3, counts[] = {1, 2, 5, 1, 3, 4, 1};
  const std::int32_t m = shape.m, n = shape.n, k = shape.k;
  std::vector<StackRun> runs;
  std::vector<StackEntry> entries;
  // In C the blocks lie in another order, with a gap of one number.
  const auto count_of_runs = static_cast<std::int32_t>(std::size(counts));
  for (std::int32_t r = 0; r < count_of_runs; ++r) {
    runs.push_back(
        {1 + (r * 3 % count_of_runs) * (m * n + 1), static_cast<std::int32_t>(entries.size()), counts[r]});
    for (std::int32_t e = 0; e < counts[r]; ++e)
      entries.push_back({1 + (r + e) % blocks * m * k, 1 + (r + 2 * e) % blocks * k * n});
  }
  const StackClass all{m, n, k, 0, count_of_runs, 0, static_cast<std::int32_t>(entries.size())};
  const Stream stream;
  const auto c = small_integers<T>(1 + count_of_runs * (m * n + 1), 3);
  const Array<T> a(stream, small_integers<T>(1 + blocks * m * k, 1)),
      b(stream, small_integers<T>(1 + blocks * k * n, 2)), own(stream, c), generic(stream, c);
  const Array<StackRun> device_runs(stream, runs);
  const Array<StackEntry> device_entries(stream, entries);
  launch_stack_kernel<T>(stream.get(), kernel, all, device_entries.data(), device_runs.data(), a.data(),
                         b.data(), own.data());
  require(cudaGetLastError());
  launch_generic_stack<T>(stream.get(), all, device_entries.data(), device_runs.data(), a.data(), b.data(),
                          generic.data());
  require(cudaGetLastError());
  if (own.get() != generic.get()) throw RuntimeError("the compiled kernel computes something else");
}

}  // namespace

void require_same_as_generic(const StackKernel& kernel, const StackShape& shape) {
  switch (shape.type) {
    case 's':
      return compare<float>(kernel, shape);
    case 'd':
      return compare<double>(kernel, shape);
    case 'c':
      return compare<std::complex<float>>(kernel, shape);
    default:
      return compare<std::complex<double>>(kernel, shape);
  }
}

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
