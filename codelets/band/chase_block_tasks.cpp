// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/band_arguments.hpp>
#include <tessera/codelets/band/band_tasks.hpp>
#include <tessera/codelets/band/chase_blocks.hpp>

namespace tessera {
namespace {

using namespace band_codelets;

template <class T>
void form_task(const TaskContext&, TaskBuffers buffers, const ChaseBlockArguments& a) {
  kernels::form_chase_t<T>(a.piece, buffers.array<const T>(0).data(), buffers.array<double>(1).data());
}
template <class T>
Codelet form_codelet = make_codelet<ChaseBlockArguments, form_task<T>>("form_chase_t", type_letter<T>);

template <class T>
void apply_task(const TaskContext&, TaskBuffers buffers, const ChaseBlockArguments& a) {
  // Buffers: scratch (of GPUs), slab, blocks.
  const auto slab = buffers.matrix<T>(1);
  kernels::apply_chase<T>(a.piece, buffers.array<const double>(2).data(), slab.data, slab.cols, slab.ld);
}
template <class T>
Codelet apply_codelet = make_codelet<ChaseBlockArguments, apply_task<T>>("apply_chase", type_letter<T>);

template <class T>
void one_by_one_task(const TaskContext&, TaskBuffers buffers, const ChaseBlockArguments& a) {
  const auto slab = buffers.matrix<T>(0);
  kernels::apply_one_by_one<T>(a.piece, buffers.array<const T>(1).data(), slab.data, slab.cols, slab.ld);
}
template <class T>
Codelet one_by_one_codelet = make_codelet<ChaseBlockArguments, one_by_one_task<T>>("apply_one_by_one",
                                                                                   type_letter<T>);

/// Of applying a piece's reflectors: sweep s covers n - 1 - s rows once.
template <class T>
double apply_flops(const kernels::DeviceReflectors& piece, Index columns) noexcept {
  const auto sweeps = static_cast<double>(piece.sweeps);
  const double lengths = sweeps * (static_cast<double>(piece.n - 1 - piece.first_sweep) - (sweeps - 1) / 2);
  return flop_factor<T> * 4 * lengths * static_cast<double>(columns);
}

}  // namespace

template <class T>
void insert_form_chase_t(Sequence& sequence, int priority, int rank, const kernels::DeviceReflectors& piece,
                         const Data& reflectors, const Data& blocks) {
  const Access accesses[] = {read(reflectors), write(blocks)};
  const double g = static_cast<double>(kernels::chase_blocks<T>(piece).group_sweeps());
  const double count =
      static_cast<double>(kernels::hop_sum(piece.n, piece.bandwidth, piece.first_sweep, 1, piece.sweeps));
  sequence.insert(form_codelet<T>, ChaseBlockArguments{piece},
                  {.priority = priority,
                   .flops = flop_factor<T> * 2 * g * (static_cast<double>(piece.bandwidth) + g) * count,
                   .execute_on = rank},
                  std::span<const Access>(accesses));
}

template <class T>
void insert_apply_chase(Sequence& sequence, int priority, const kernels::DeviceReflectors& piece,
                        const Data& blocks, const Data& slab, Index columns, const Data& workspace) {
  const Access accesses[] = {scratch(workspace), read_write(slab), read(blocks)};
  sequence.insert(apply_codelet<T>, ChaseBlockArguments{piece},
                  {.priority = priority, .flops = apply_flops<T>(piece, columns)},
                  std::span<const Access>(accesses));
}

template <class T>
void insert_apply_one_by_one(Sequence& sequence, int priority, const kernels::DeviceReflectors& piece,
                             const Data& reflectors, const Data& slab, Index columns) {
  sequence.insert(one_by_one_codelet<T>, ChaseBlockArguments{piece},
                  {.priority = priority, .flops = apply_flops<T>(piece, columns)},
                  {read_write(slab), read(reflectors)});
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template void insert_form_chase_t<T>(Sequence&, int, int, const kernels::DeviceReflectors&, const Data&, \
                                       const Data&);                                                       \
  template void insert_apply_chase<T>(Sequence&, int, const kernels::DeviceReflectors&, const Data&,       \
                                      const Data&, Index, const Data&);                                    \
  template void insert_apply_one_by_one<T>(Sequence&, int, const kernels::DeviceReflectors&, const Data&,  \
                                           const Data&, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
