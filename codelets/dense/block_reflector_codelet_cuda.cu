// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/dense/block_reflector_arguments.hpp>
#include <tessera/codelets/dense/block_reflector_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace block_reflector_codelets;

template <class T>
std::vector<MatrixView<const T>> matrices(const TaskBuffers& buffers, int first, int count) {
  std::vector<MatrixView<const T>> views;
  for (int i = first; i < first + count; ++i) views.push_back(buffers.matrix<const T>(i));
  return views;
}

template <class T>
void gather_reflectors_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                            const ReflectorArguments& a) {
  const auto v = buffers.matrix<T>(a.pieces);
  auto pieces = matrices<T>(buffers, 0, a.pieces);
  for (auto& piece : pieces) {
    const Index skipped = &piece == &pieces.front() ? a.first_row : 0;
    piece = piece.block(skipped, a.first_col, piece.rows - skipped, v.cols);
  }
  launch_gather_reflectors<T>(context.stream, pieces, a.b, v);
}

template <class T>
void merge_t_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                  const ReflectorArguments& a) {
  const int last = buffers.count() - 1;
  launch_merge_t<T>(context.cublas, matrices<T>(buffers, 0, a.pieces),
                    matrices<T>(buffers, a.pieces, last - a.pieces), a.b, buffers.matrix<T>(last));
}

template <class T>
void apply_block_reflector_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                                const ReflectorArguments& a) {
  const auto slab = buffers.matrix<T>(a.pieces + 1);
  launch_apply_block_reflector<T>(context.cublas, matrices<T>(buffers, 0, a.pieces),
                                  buffers.matrix<const T>(a.pieces), buffers.array<T>(a.pieces + 2).data(),
                                  slab.block(a.first_row, 0, a.rows, slab.cols));
}

template <class T>
void solve_adjoint_row_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                            const SolveArguments& a) {
  const int last = buffers.count() - 1;
  launch_solve_adjoint_row<T>(context.cublas, matrices<T>(buffers, 0, last), a.tile, buffers.matrix<T>(last));
}

#define TESSERA_REGISTER(T)                                                                          \
  register_cuda<ReflectorArguments, gather_reflectors_cuda<T>>("gather_reflectors", type_letter<T>), \
      register_cuda<ReflectorArguments, merge_t_cuda<T>>("merge_t", type_letter<T>),                 \
      register_cuda<ReflectorArguments, apply_block_reflector_cuda<T>>("apply_block_reflector",      \
                                                                       type_letter<T>),              \
      register_cuda<SolveArguments, solve_adjoint_row_cuda<T>>("solve_adjoint_row", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
