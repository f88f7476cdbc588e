// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/block_sparse/dense_choice.hpp>
#include <tessera/codelets/block_sparse/dense_panels_arguments.hpp>

namespace tessera {
namespace {

using namespace dense_panels_codelets;

template <class T>
void expand_task(const TaskContext&, TaskBuffers buffers, const ExpandArguments&) {
  kernels::expand_panel<T>(buffers.array<const DenseBlock>(0), buffers.array<const T>(1).data(),
                           buffers.matrix<T>(2));
}

template <class T>
void multiply_task(const TaskContext&, TaskBuffers buffers, const MultiplyArguments& arguments) {
  const auto a = buffers.matrix<const T>(0), b = buffers.matrix<const T>(1);
  const auto c = buffers.matrix<T>(2);
  blas::gemm<T>(Op::none, Op::none, c.rows, c.cols, a.cols, T(1), a.data, a.ld, b.data, b.ld,
                T(arguments.add ? 1 : 0), c.data, c.ld);
  *arguments.ran_on = ProductWorker::cpu;
}

template <class T>
void extract_task(const TaskContext&, TaskBuffers buffers, const ExtractArguments& arguments) {
  kernels::extract_blocks<T>(buffers.array<const DenseBlock>(0), buffers.matrix<const T>(1), arguments.add,
                             buffers.array<T>(2).data());
}

template <class T>
Codelet expand_codelet = make_codelet<ExpandArguments, expand_task<T>>("expand_panel", type_letter<T>);
template <class T>
Codelet multiply_codelet = make_codelet<MultiplyArguments, multiply_task<T>>("multiply_dense",
                                                                             type_letter<T>);
template <class T>
Codelet extract_codelet = make_codelet<ExtractArguments, extract_task<T>>("extract_blocks", type_letter<T>);

}  // namespace

template <class T>
void insert_expand_panel(Sequence& sequence, int priority, int rank, const Data& blocks, const Data& values,
                         const Data& dense) {
  sequence.insert(expand_codelet<T>, ExpandArguments{}, {.priority = priority, .execute_on = rank},
                  {read(blocks), read(values), write(dense)});
}

template <class T>
void insert_multiply_dense(Sequence& sequence, int priority, std::span<const StackClass> classes, Index m,
                           Index n, Index k, bool add, ProductWorker* ran_on, const Data& a, const Data& b,
                           const Data& c) {
  sequence.insert(multiply_codelet<T>,
                  MultiplyArguments{add, ran_on, dense_seconds<T>(WorkerKind::cpu, m, n, k),
                                    dense_seconds<T>(WorkerKind::gpu, m, n, k)},
                  {.priority = priority, .flops = stack_flops(classes, is_complex<T>)},
                  {read(a), read(b), add ? read_write(c) : write(c)});
}

template <class T>
void insert_extract_blocks(Sequence& sequence, int priority, bool add, const Data& blocks, const Data& dense,
                           const Data& values) {
  sequence.insert(extract_codelet<T>, ExtractArguments{add}, {.priority = priority},
                  {read(blocks), read(dense), add ? read_write(values) : write(values)});
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template void insert_expand_panel<T>(Sequence&, int, int, const Data&, const Data&, const Data&);        \
  template void insert_multiply_dense<T>(Sequence&, int, std::span<const StackClass>, Index, Index, Index, \
                                         bool, ProductWorker*, const Data&, const Data&, const Data&);     \
  template void insert_extract_blocks<T>(Sequence&, int, bool, const Data&, const Data&, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
