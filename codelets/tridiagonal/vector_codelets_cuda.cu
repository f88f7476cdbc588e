// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <tessera/codelets/cublas.hpp>
#include <tessera/codelets/tridiagonal/merge_cuda.hpp>
#include <tessera/codelets/tridiagonal/merge_vectors_cuda.hpp>
#include <tessera/codelets/tridiagonal/vector_arguments.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace vector_codelets;
using tridiagonal::PanelOutline;

void outline_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                  const MergeColumns& arguments) {
  kernels::launch_outline(context.stream, arguments.m, buffers.array<const char>(0).data(), arguments.begin,
                          arguments.end, reinterpret_cast<PanelOutline*>(buffers.array<char>(1).data()));
}

template <class R>
void secular_vectors_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                          const MergeColumns& arguments) {
  const PanelOutline& outline = outline_of(buffers, 0);
  const auto s = buffers.matrix<R>(2);
  kernels::launch_secular_vectors(context.stream, arguments.m, buffers.array<const char>(1).data(),
                                  outline.header.poles, outline.roots.first, outline.roots.count, s.data,
                                  s.ld);
}

template <class R>
void pack_rows_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                    const PackArguments& arguments) {
  const auto packed = buffers.matrix<R>(1);
  std::array<const R*, most_tiles> tiles;
  Index ld = 0;
  for (int i = 2; i < buffers.count(); ++i) {
    const auto tile = buffers.matrix<const R>(i);
    tiles[static_cast<std::size_t>(i - 2)] = tile.data;
    ld = tile.ld;
  }
  kernels::launch_pack_rows(context.stream, arguments.m, buffers.array<const char>(0).data(), arguments.child,
                            arguments.rows, tiles.data(), buffers.count() - 2, arguments.tile_columns, ld,
                            packed.data, packed.ld);
}

template <class R>
void update_rows_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                      const MergeColumns& arguments) {
  const auto& [header, roots] = outline_of(buffers, 0);
  const auto packed = buffers.matrix<const R>(2), s = buffers.matrix<const R>(3);
  const auto out = buffers.matrix<R>(4);
  const Index inner = header.pole_slots(arguments.child);
  if (roots.count > 0 && inner > 0)
    cublas::gemm<R>(context.cublas, Op::none, Op::none, arguments.rows, roots.count, inner, R(1), packed.data,
                    packed.ld, s.data + header.first_pole_slot(arguments.child), s.ld, R(0), out.data,
                    out.ld);
  if (roots.count < arguments.end - arguments.begin || inner == 0)
    kernels::launch_spread_columns(context.stream, arguments.m, buffers.array<const char>(1).data(),
                                   arguments.child, arguments.rows, packed.data, packed.ld, arguments.begin,
                                   arguments.end, roots.first, inner > 0 ? roots.count : 0, out.data, out.ld);
}

template <class T>
void fill_slab_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                    const SlabArguments& arguments) {
  const auto slab = buffers.matrix<T>(0);
  const auto [from, to, count] = arguments.columns;
  for (Index row = 0, b = 1; row < slab.rows; row += arguments.block_rows, ++b) {
    const auto tile = buffers.matrix<const RealOf<T>>(static_cast<int>(b));
    kernels::launch_widen(context.stream, tile.rows, count, tile.data + from * tile.ld, tile.ld,
                          slab.data + row + to * slab.ld, slab.ld);
  }
}

// The sizes of these tasks are chosen for GPUs: see vector_tasks.hpp.
constexpr CudaOptions gpus_only{.instead_of_cpu = true};
constexpr CudaOptions after_outline{.host_buffers = 1, .instead_of_cpu = true};
#define TESSERA_REGISTER_REAL(R)                                                                           \
  register_cuda<MergeColumns, secular_vectors_cuda<R>>("tridiagonal_secular_vectors", type_letter<R>,      \
                                                       after_outline),                                     \
      register_cuda<PackArguments, pack_rows_cuda<R>>("tridiagonal_pack_rows", type_letter<R>, gpus_only), \
      register_cuda<MergeColumns, update_rows_cuda<R>>("tridiagonal_update_rows", type_letter<R>,          \
                                                       after_outline),
#define TESSERA_REGISTER(T) \
  register_cuda<SlabArguments, fill_slab_cuda<T>>("tridiagonal_fill_slab", type_letter<T>, gpus_only),
const bool registered[] = {register_cuda<MergeColumns, outline_cuda>("tridiagonal_outline", 0, gpus_only),
                           TESSERA_FOR_REALS(TESSERA_REGISTER_REAL) TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
