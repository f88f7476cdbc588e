// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/vectors/buffer_list.hpp>

namespace tessera {
namespace {

template <class T>
void gram_task(const TaskContext&, TaskBuffers buffers, const GramArguments& a) {
  VectorBlock<const T> left[3], right[2];
  for (int k = 0; k < a.left_count; ++k) left[k] = block_of<const T, const T>(buffers, a.left[k]);
  for (int k = 0; k < a.right_count; ++k) right[k] = block_of<const T, const T>(buffers, a.right[k]);
  kernels::gram<T>(buffers.matrix<const T>(0).cols, {left, static_cast<std::size_t>(a.left_count)},
                   {right, static_cast<std::size_t>(a.right_count)}, buffers.array<double>(a.result).data());
}

template <class T>
Codelet gram_codelet = make_codelet<GramArguments, gram_task<T>>("gram", type_letter<T>);

}  // namespace

template <class T>
void insert_gram(Sequence& sequence, int priority, Index rows, std::span<const VectorColumns> left,
                 std::span<const VectorColumns> right, const Data& g, const Data& work, int gpu) {
  GramArguments arguments;
  BufferList list;
  const double l = list.add(left, arguments.left, arguments.left_count);
  const double r = list.add(right, arguments.right, arguments.right_count);
  arguments.flops = 2 * l * r * static_cast<double>(rows);
  arguments.result = list.count;
  Access accesses[7];
  int count = 0;
  for (; count < list.count; ++count) accesses[count] = read(*list.data[count]);
  accesses[count++] = write(g);
  if (sequence.runtime().any_gpus()) accesses[count++] = scratch(work);
  sequence.insert(gram_codelet<T>, arguments, {.priority = priority, .flops = arguments.flops, .gpu = gpu},
                  {accesses, static_cast<std::size_t>(count)});
}

#define TESSERA_INSTANTIATE(T)                                                        \
  template void insert_gram<T>(Sequence&, int, Index, std::span<const VectorColumns>, \
                               std::span<const VectorColumns>, const Data&, const Data&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera
