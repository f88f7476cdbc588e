// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The kernel of chase_stepper.cuh, and how many of its thread blocks fit on the GPU together.
#include <tessera/codelets/band/kernels/chase_stepper.cuh>

namespace tessera::detail::kernels {
namespace {

/// Warps of a thread block, and thread blocks that share a multiprocessor's registers.
template <class S, int B>
inline constexpr int step_warps = B == 64 ? (sizeof(S) == 16 ? 16 : 8) : 4;
template <class S, int B, Keep keep_b>
inline constexpr int step_blocks = keep_b == Keep::shared ? (B == 32           ? 8
                                                             : sizeof(S) == 16 ? 2
                                                                               : 4)
                                   : B == 32              ? 4
                                   : sizeof(S) == 16      ? 1
                                   : sizeof(S) == 8       ? 2
                                                          : 3;

template <class S, int B, Keep keep_b>
__global__ void __launch_bounds__(32 * step_warps<S, B>, (step_blocks<S, B, keep_b>))
    step_kernel(const __grid_constant__ ChaseArguments<S> arguments) {
  extern __shared__ __align__(16) unsigned char step_memory[];
  Stepper<S, B, step_warps<S, B>, keep_b>(arguments, step_memory).run();
}

/// Wide blocks of complex<double> are slower with half of them in shared memory than by sweeps.
template <class S>
constexpr bool supported_in_shared_memory(Index bandwidth) noexcept {
  return bandwidth <= (sizeof(S) == 16 ? 32 : 64);
}

/// Calls f with the kernel for a bandwidth, its threads and its shared memory.
template <class S, int B, Keep keep_b, class F>
void with_kernel(F&& f) {
  constexpr int warps = step_warps<S, B>;
  const auto kernel = &step_kernel<S, B, keep_b>;
  const std::size_t bytes = step_shared_bytes<S, B, warps, keep_b>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  f(kernel, 32 * warps, bytes);
}
template <class S, class F>
void with_kernel(Index bandwidth, Keep keep_b, F&& f) {
  const bool narrow = bandwidth <= 32;
  if (keep_b == Keep::registers)
    narrow ? with_kernel<S, 32, Keep::registers>(f) : with_kernel<S, 64, Keep::registers>(f);
  else if (narrow)
    with_kernel<S, 32, Keep::shared>(f);
  else if constexpr (supported_in_shared_memory<S>(64))
    with_kernel<S, 64, Keep::shared>(f);
}

}  // namespace

template <class S>
Index steps_together(Index bandwidth, Keep keep_b) noexcept {
  if (bandwidth > 64) return 0;
  if (keep_b == Keep::shared && !supported_in_shared_memory<S>(bandwidth)) return 0;
  int device = 0, processors = 0, blocks = 0, cooperative = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
  with_kernel<S>(bandwidth, keep_b, [&](auto kernel, int threads, std::size_t bytes) {
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes);
  });
  return cooperative ? Index(processors) * blocks - 1 : 0;
}

template <class S>
bool launch_chase_by_steps(cudaStream_t stream, const ChaseArguments<S>& arguments, Keep keep_b) noexcept {
  const Index hops = hop_count(arguments.n, arguments.b, arguments.first + arguments.begin);
  const auto mail = static_cast<std::size_t>(2 * hops * (arguments.b + 1) * mail_words<S>) * sizeof(unsigned);
  cudaMemsetAsync(arguments.workspace, 0, mail, stream);
  cudaError_t error = cudaErrorCooperativeLaunchTooLarge;  // where there is no such kernel
  with_kernel<S>(arguments.b, keep_b, [&](auto kernel, int threads, std::size_t bytes) {
    void* parameters[] = {const_cast<ChaseArguments<S>*>(&arguments)};
    error = cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                        dim3(static_cast<unsigned>(hops + 1)),
                                        dim3(static_cast<unsigned>(threads)), parameters, bytes, stream);
  });
  if (error == cudaErrorCooperativeLaunchTooLarge) cudaGetLastError();  // it is not for the caller to see
  return error != cudaErrorCooperativeLaunchTooLarge;
}

#define TESSERA_INSTANTIATE(S)                            \
  template Index steps_together<S>(Index, Keep) noexcept; \
  template bool launch_chase_by_steps<S>(cudaStream_t, const ChaseArguments<S>&, Keep) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(Complex<float>)
TESSERA_INSTANTIATE(Complex<double>)

}  // namespace tessera::detail::kernels
