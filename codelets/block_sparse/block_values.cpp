// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/block_values.hpp>

namespace tessera {
namespace {

template <class T>
struct FillArguments {
  T value;
};

template <class T>
void fill_task(const TaskContext&, TaskBuffers buffers, const FillArguments<T>& arguments) {
  const auto values = buffers.array<T>(0);
  std::fill(values.begin(), values.end(), arguments.value);
}

template <class T>
Codelet fill_codelet = make_codelet<FillArguments<T>, fill_task<T>>("fill_values", type_letter<T>);

template <class T>
struct MoveArguments {
  Op op;
  bool conjugated, add;
  T factor;
};

template <class T>
void move_task(const TaskContext&, TaskBuffers buffers, const MoveArguments<T>& arguments) {
  const auto moves = buffers.array<const BlockMove>(0);
  const T* const source = buffers.array<const T>(1).data();
  T* const destination = buffers.array<T>(2).data();
  const bool transposed = arguments.op != Op::none,
             conjugated = arguments.conjugated || arguments.op == Op::adjoint;
  for (const BlockMove& move : moves) {
    const T* const from = source + move.source;
    T* const to = destination + move.destination;
    const Index row_step = transposed ? move.source_ld : 1, col_step = transposed ? 1 : move.source_ld;
    for (Index j = 0; j < move.cols; ++j)
      for (Index i = 0; i < move.rows; ++i) {
        const T value = from[i * row_step + j * col_step];
        const T moved = arguments.factor * (conjugated ? conjugate(value) : value);
        T& target = to[i + j * move.destination_ld];
        target = arguments.add ? target + moved : moved;
      }
  }
}

template <class T>
Codelet move_codelet = make_codelet<MoveArguments<T>, move_task<T>>("move_blocks", type_letter<T>);

struct NoArguments {};

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
void insert_block_norms(Sequence& sequence, int priority, const Data& blocks, const Data& values,
                        const Data& norms) {
  sequence.insert(norms_codelet<T>, NoArguments{}, {.priority = priority},
                  {read(blocks), read(values), write(norms)});
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template void insert_fill_values<T>(Sequence&, int, T, const Data&);                             \
  template void insert_move_blocks<T>(Sequence&, int, Op, bool, T, bool, const Data&, const Data&, \
                                      const Data&);                                                \
  template void insert_block_norms<T>(Sequence&, int, const Data&, const Data&, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
