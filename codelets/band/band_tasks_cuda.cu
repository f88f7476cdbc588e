// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/band_arguments.hpp>
#include <tessera/codelets/band/chase_sweeps_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace band_codelets;

template <class T>
void band_gather_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                      const GatherArguments& a) {
  T* const segment = buffers.array<T>(0).data();
  DeviceFailure failure(task, StatusCode::not_finite);
  kernels::launch_begin_gather<T>(context.stream, segment);
  for (int i = 1; i < buffers.count(); ++i) {
    const auto piece = buffers.matrix<const T>(i);
    const Index at = (i - 1) * a.piece_columns, count = std::min(a.piece_columns, a.columns - at);
    kernels::launch_gather_piece<T>(context.stream, a.n, a.bandwidth, a.first_column + at, count, piece.data,
                                    piece.ld, segment, at);
  }
  kernels::launch_end_gather<T>(context.stream, segment, failure.index());
  failure.report();
}

template <class T>
void chase_sweeps_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const SweepsArguments& a) {
  // Buffers: scratch, segment, reflectors if kept.
  kernels::launch_chase_sweeps<T>(context.stream, a.shape, buffers.array<T>(1).data(),
                                  a.keep ? buffers.array<T>(2).data() : nullptr,
                                  buffers.array<char>(0).data());
}

template <class T>
void tridiagonal_piece_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                            const PieceArguments& a) {
  RealOf<T>* const piece = buffers.array<RealOf<T>>(1).data();
  kernels::launch_segment_to_tridiagonal<T>(context.stream, a.n, a.bandwidth, a.first_column, a.columns,
                                            buffers.array<const T>(0).data(), piece, piece + a.columns);
}

// What chase_sweeps leaves in the bulge's room of the segment is zero on a CPU only, which relies on it.
#define TESSERA_REGISTER(T)                                                                \
  register_cuda<GatherArguments, band_gather_cuda<T>>("band_gather", type_letter<T>),      \
      register_cuda<SweepsArguments, chase_sweeps_cuda<T>>("chase_sweeps", type_letter<T>, \
                                                           {.instead_of_cpu = true}),      \
      register_cuda<PieceArguments, tridiagonal_piece_cuda<T>>("tridiagonal_piece", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
