// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/data.hpp>
#include <tessera/runtime.hpp>

/// Messages between ranks out of the memory of GPUs into the memory of GPUs, where MPI is CUDA-aware; else
/// they go through the host's. The thread that makes the Runtime has its first GPU as CUDA's current one
/// then: MPI moves all messages on while it waits in a collective. Other threads that call the collectives
/// need a current one, too.
namespace tessera::detail {

/// Whether MPI takes pointers to the memory of GPUs, by what MPIX_Query_cuda_support says.
bool mpi_is_cuda_aware() noexcept;

/// Whether StarPU-MPI uses that: it has GPUs, and STARPU_MPI_GPUDIRECT is not 0.
bool sends_from_gpus(const Runtime& runtime) noexcept;

/// Has the next copy that this rank gets of another rank's piece received in the memory of its GPU number
/// `gpu`: StarPU-MPI receives where the piece has memory, or else in the largest memory, which is the host's.
/// Returns at once (within a Sequence that has not ended); an earlier copy is lost.
void receive_on_gpu(const Data& data, int gpu);

}  // namespace tessera::detail
