// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Barriers in shared memory (mbarrier; Hopper), by their 32-bit addresses. A phase of a barrier completes
/// when as many threads have arrived as it was made for; phases have the parities 0, 1, 0, ...
namespace tessera::device {

__device__ inline void barrier_init(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
/// After the initialisations, before other threads and copies use the barriers.
__device__ inline void barriers_ready() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ inline void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nwait:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra wait;\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace tessera::device
