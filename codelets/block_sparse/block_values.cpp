// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/block_values_arguments.hpp>

namespace tessera {
namespace {

using namespace block_values_codelets;

template <class T>
void fill_task(const TaskContext&, TaskBuffers buffers, const FillArguments<T>& arguments) {
  const auto values = buffers.array<T>(0);
  std::fill(values.begin(), values.end(), arguments.value);
}

template <class T>
Codelet fill_codelet = make_codelet<FillArguments<T>, fill_task<T>>("fill_values", type_letter<T>);

/// to := factor from (+ to) on `count` contiguous elements that lie `step` apart in `from`.
template <bool conjugated, bool add, class T>
void move_column(T factor, Index count, const T* from, Index step, T* to) {
  const auto move = [&](Index i, const T& element) {
    const T moved = factor * (conjugated ? conjugate(element) : element);
    to[i] = add ? to[i] + moved : moved;
  };
  if (step == 1)
    for (Index i = 0; i < count; ++i) move(i, from[i]);
  else
    for (Index i = 0; i < count; ++i) move(i, from[i * step]);
}

/// move_column for what the arguments ask.
template <class T>
auto column_mover(bool conjugated, bool add) {
  if constexpr (is_complex<T>)
    if (conjugated) return add ? &move_column<true, true, T> : &move_column<true, false, T>;
  return add ? &move_column<false, true, T> : &move_column<false, false, T>;
}

template <class T>
void move_task(const TaskContext&, TaskBuffers buffers, const MoveArguments<T>& arguments) {
  const auto moves = buffers.array<const BlockMove>(0);
  const T* const source = buffers.array<const T>(1).data();
  T* const destination = buffers.array<T>(2).data();
  const bool transposed = arguments.op != Op::none;
  const auto move_column =
      column_mover<T>(arguments.conjugated != (arguments.op == Op::adjoint), arguments.add);
  for (const BlockMove& move : moves) {
    const Index row_step = transposed ? move.source_ld : 1, col_step = transposed ? 1 : move.source_ld;
    for (Index j = 0; j < move.cols; ++j)
      move_column(arguments.factor, move.rows, source + move.source + j * col_step, row_step,
                  destination + move.destination + j * move.destination_ld);
  }
}

template <class T>
Codelet move_codelet = make_codelet<MoveArguments<T>, move_task<T>>("move_blocks", type_letter<T>);

template <class T>
void copy_task(const TaskContext&, TaskBuffers buffers, const CopyArguments<T>& arguments) {
  const auto source = buffers.array<const T>(0);
  column_mover<T>(arguments.conjugated, arguments.add)(arguments.factor, static_cast<Index>(source.size()),
                                                       source.data(), 1, buffers.array<T>(1).data());
}

template <class T>
Codelet copy_codelet = make_codelet<CopyArguments<T>, copy_task<T>>("copy_values", type_letter<T>);

template <class T>
void norms_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const auto blocks = buffers.array<const PanelBlock>(0);
  const auto values = buffers.array<const T>(1);
  const auto norms = buffers.array<double>(2);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const T* const block = values.data() + blocks[b].offset;
    const Index count = Index(blocks[b].rows) * blocks[b].cols;
    double sum = 0;
    for (Index i = 0; i < count; ++i) {
      const double re = real_part(block[i]), im = imag_part(block[i]);
      sum += re * re + im * im;
    }
    norms[b] = sum;
  }
}

template <class T>
Codelet norms_codelet = make_codelet<NoArguments, norms_task<T>>("block_norms", type_letter<T>);

}  // namespace

template <class T>
void insert_fill_values(Sequence& sequence, int priority, T value, const Data& values) {
  sequence.insert(fill_codelet<T>, FillArguments<T>{value}, {.priority = priority}, {write(values)});
}

template <class T>
void insert_move_blocks(Sequence& sequence, int priority, Op op, bool conjugated, T factor, bool add,
                        const Data& moves, const Data& source, const Data& destination) {
  sequence.insert(move_codelet<T>, MoveArguments<T>{op, conjugated, add, factor}, {.priority = priority},
                  {read(moves), read(source), read_write(destination)});
}

template <class T>
void insert_copy_values(Sequence& sequence, int priority, bool conjugated, T factor, bool add,
                        const Data& source, const Data& destination) {
  sequence.insert(copy_codelet<T>, CopyArguments<T>{conjugated, add, factor}, {.priority = priority},
                  {read(source), add ? read_write(destination) : write(destination)});
}

template <class T>
void insert_block_norms(Sequence& sequence, int priority, const Data& blocks, const Data& values,
                        const Data& norms) {
  sequence.insert(norms_codelet<T>, NoArguments{}, {.priority = priority},
                  {read(blocks), read(values), write(norms)});
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template void insert_fill_values<T>(Sequence&, int, T, const Data&);                             \
  template void insert_move_blocks<T>(Sequence&, int, Op, bool, T, bool, const Data&, const Data&, \
                                      const Data&);                                                \
  template void insert_copy_values<T>(Sequence&, int, bool, T, bool, const Data&, const Data&);    \
  template void insert_block_norms<T>(Sequence&, int, const Data&, const Data&, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
