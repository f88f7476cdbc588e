// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The chase of a range of sweeps on a GPU: by sweeps, by steps with half of a step in shared memory, or in registers.
#include <tessera/codelets/band/kernels/chase_launch.cuh>

namespace tessera::detail::kernels {
namespace {

/// The first sweep from p.begin on whose steps all fit on the GPU together; p.end if there is none.
template <class S>
Index first_that_fits(const ChaseArguments<S>& p, Keep keep_b) {
  const Index together = steps_together<S>(p.b, keep_b);
  Index j = p.begin;
  while (j < p.end && hop_count(p.n, p.b, p.first + j) > together) ++j;
  return j;
}

}  // namespace

template <class T>
void launch_chase_sweeps(cudaStream_t stream, const DeviceReflectors& shape, T* segment, T* kept,
                         void* workspace, ChaseKernel kernel) noexcept {
  using S = device::DeviceScalar<T>;
  if (shape.sweeps <= 0) return;
  ChaseArguments<S> p{};
  p.n = shape.n;
  p.b = static_cast<int>(shape.bandwidth);
  p.ld = BandLayout<T>::leading_dimension(shape.bandwidth);
  p.first = shape.first_sweep;
  p.end = shape.sweeps;
  p.group = shape.group;
  p.band = device::device_cast(segment) + BandLayout<T>::front();
  p.workspace = static_cast<std::byte*>(workspace);
  if (kept != nullptr) {
    // Zeros where a reflector does not exist.
    cudaMemsetAsync(kept, 0, static_cast<std::size_t>(shape.size()) * sizeof(T), stream);
    p.vectors = device::device_cast(kept);
    p.taus = p.vectors + shape.tau_offset(0, 0);
  }
  const Index end = p.end;
  /// The sweeps from p.begin to `last` by one kernel. Less of the GPU may be this process' than it has told; then by
  /// sweeps: one needs a thread block alone.
  const auto chase = [&](Index last, auto&& launch) {
    p.end = last;
    if (p.begin < p.end && !launch()) launch_chase_by_sweeps(stream, p);
    p.begin = last;
    p.end = end;
  };
  const auto by_sweeps = [] { return false; };
  const auto by_steps = [&](Keep keep_b) {
    return [&, keep_b] { return launch_chase_by_steps(stream, p, keep_b); };
  };
  if (kernel == ChaseKernel::by_sweeps) return chase(end, by_sweeps);
  const Index in_registers = kernel == ChaseKernel::chosen ? first_that_fits(p, Keep::registers) : end;
  chase(std::min(first_that_fits(p, Keep::shared), in_registers), by_sweeps);
  chase(in_registers, by_steps(Keep::shared));
  chase(end, by_steps(Keep::registers));
}

#define TESSERA_INSTANTIATE(T)                                                               \
  template void launch_chase_sweeps<T>(cudaStream_t, const DeviceReflectors&, T*, T*, void*, \
                                       ChaseKernel) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
