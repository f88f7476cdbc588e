// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/band_arguments.hpp>
#include <tessera/codelets/band/band_tasks.hpp>
#include <tessera/codelets/reading.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {
namespace {

using namespace band_codelets;

template <class T>
void form_wy_task(const TaskContext&, TaskBuffers buffers, const FormArguments<T>& a) {
  kernels::Reflectors<T> pieces[max_form_pieces];
  for (Index i = 0; i < a.piece_count; ++i) {
    pieces[i] = a.pieces[i];
    pieces[i].data = buffers.array<T>(static_cast<int>(i) + 2).data();
  }
  kernels::form_wy<T>(a.n, a.bandwidth, pieces, a.piece_count,
                      {buffers.array<T>(1).data(), a.first_sweep, a.sweeps}, a.first_hop, a.last_hop,
                      buffers.array<RealOf<T>>(0).data());
}
template <class T>
Codelet form_wy_codelet = make_codelet<FormArguments<T>, form_wy_task<T>>("form_wy", type_letter<T>);

template <class T>
void apply_wy_task(const TaskContext&, TaskBuffers buffers, const ApplyArguments& a) {
  // Buffers: scratch, slab, blocks of the groups.
  constexpr int most = 16;
  kernels::WyGroup<T> groups[most];
  const int count = buffers.count() - 2;
  for (int i = 0; i < count; ++i)
    groups[i] = {buffers.array<T>(i + 2).data(), a.first_sweep + i * a.sweeps,
                 i + 1 < count ? a.sweeps : a.last_sweeps};
  const auto slab = buffers.matrix<T>(1);
  kernels::apply_wy<T>(a.n, a.bandwidth, groups, count, 0,
                       kernels::hop_count(a.n, a.bandwidth, a.first_sweep), slab.data, slab.cols, slab.ld,
                       buffers.array<RealOf<T>>(0).data());
}
template <class T>
Codelet apply_wy_codelet = make_codelet<ApplyArguments, apply_wy_task<T>>("apply_wy", type_letter<T>);

}  // namespace

template <class T>
void insert_form_wy(Sequence& sequence, int priority, int rank, Index n, Index bandwidth, Index first_sweep,
                    Index sweeps, Index first_hop, Index last_hop,
                    std::span<const kernels::Reflectors<T>> pieces, std::span<const Data* const> kept,
                    const Data& blocks, const Data& workspace) {
  if (Index(pieces.size()) > max_form_pieces)
    throw RuntimeError("too many pieces of reflectors in one WY group");
  FormArguments<T> arguments{n,         bandwidth, first_sweep,          sweeps,
                             first_hop, last_hop,  Index(pieces.size()), {}};
  std::copy(pieces.begin(), pieces.end(), arguments.pieces);
  const double hops = static_cast<double>(last_hop - first_hop);
  const double g = static_cast<double>(sweeps);
  sequence.insert(form_wy_codelet<T>, arguments,
                  {.priority = priority,
                   .flops = flop_factor<T> * 3 * g * g * (static_cast<double>(bandwidth) + g) * hops,
                   .execute_on = rank},
                  reading(kept, {scratch(workspace), first_hop == 0 ? write(blocks) : read_write(blocks)}));
}

template <class T>
void insert_apply_wy(Sequence& sequence, int priority, Index n, Index bandwidth, Index first_sweep,
                     Index sweeps, Index last_sweeps, std::span<const Data* const> blocks, const Data& slab,
                     Index columns, const Data& workspace) {
  const Index count = (Index(blocks.size()) - 1) * sweeps + last_sweeps;
  // A sweep's reflectors cover its rows once.
  double lengths = 0;
  for (Index s = first_sweep; s < first_sweep + count; ++s) lengths += static_cast<double>(n - 1 - s);
  sequence.insert(
      apply_wy_codelet<T>, ApplyArguments{n, bandwidth, first_sweep, sweeps, last_sweeps},
      {.priority = priority, .flops = flop_factor<T> * 4 * lengths * static_cast<double>(columns)},
      reading(blocks, {scratch(workspace), read_write(slab)}));
}

#define TESSERA_INSTANTIATE(T)                                                                           \
  template void insert_form_wy<T>(Sequence&, int, int, Index, Index, Index, Index, Index, Index,         \
                                  std::span<const kernels::Reflectors<T>>, std::span<const Data* const>, \
                                  const Data&, const Data&);                                             \
  template void insert_apply_wy<T>(Sequence&, int, Index, Index, Index, Index, Index,                    \
                                   std::span<const Data* const>, const Data&, Index, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
