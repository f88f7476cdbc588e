// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/vectors/buffer_list.hpp>
#include <tessera/codelets/vectors/combine.hpp>

namespace tessera {
namespace {

template <class T>
void combine_task(const TaskContext&, TaskBuffers buffers, const CombineArguments& a) {
  VectorBlock<const T> inputs[4];
  VectorBlock<T> outputs[2];
  for (int k = 0; k < a.input_count; ++k) inputs[k] = block_of<const T, const T>(buffers, a.input[k]);
  const std::int64_t rows = buffers.matrix<const T>(a.output[0].buffer).cols;
  for (int k = 0; k < a.output_count; ++k) {
    outputs[k] = block_of<T, T>(buffers, a.output[k]);
    if (!(a.clear >> a.output[k].buffer & 1)) continue;
    const MatrixView<T> whole = buffers.matrix<T>(a.output[k].buffer);
    kernels::clear_other_columns<T>(rows, {whole.data, whole.ld, static_cast<std::int32_t>(whole.rows)},
                                    a.output[k].first, a.output[k].columns);
  }
  kernels::combine<T>(rows, {inputs, static_cast<std::size_t>(a.input_count)},
                      {outputs, static_cast<std::size_t>(a.output_count)},
                      buffers.array<const double>(buffers.count() - 1).data());
}

template <class T>
Codelet combine_codelet = make_codelet<CombineArguments, combine_task<T>>("combine", type_letter<T>);

}  // namespace

template <class T>
void insert_combine(Sequence& sequence, int priority, Index rows, std::span<const VectorColumns> inputs,
                    std::span<const VectorColumns> outputs, bool whole, const Data& c, int gpu) {
  CombineArguments arguments;
  BufferList list;
  const double in = list.add(inputs, arguments.input, arguments.input_count);
  const int input_buffers = list.count;
  const double out = list.add(outputs, arguments.output, arguments.output_count);
  if (arguments.output_count == 0) return;
  arguments.flops = 2 * in * out * static_cast<double>(rows);
  Access accesses[7];
  for (int k = 0; k < list.count; ++k) accesses[k] = read(*list.data[k]);
  for (int k = 0; k < arguments.output_count; ++k) {
    const int buffer = arguments.output[k].buffer;
    const bool fresh = whole && buffer >= input_buffers;
    if (fresh) arguments.clear |= 1u << buffer;
    accesses[buffer].mode = fresh ? AccessMode::write : AccessMode::read_write;
  }
  accesses[list.count] = read(c);
  sequence.insert(combine_codelet<T>, arguments, {.priority = priority, .flops = arguments.flops, .gpu = gpu},
                  {accesses, static_cast<std::size_t>(list.count) + 1});
}

#define TESSERA_INSTANTIATE(T)                                                           \
  template void insert_combine<T>(Sequence&, int, Index, std::span<const VectorColumns>, \
                                  std::span<const VectorColumns>, bool, const Data&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera
