// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/gemm.hpp>
#include <tessera/codelets/dense/gemm_arguments.hpp>

namespace tessera {
namespace {

using namespace gemm_codelets;

template <class T>
void gemm_task(const TaskContext&, TaskBuffers buffers, const GemmArguments<T>& arguments) {
  const auto a = arguments.a.of(buffers.matrix<const T>(0));
  const auto b = arguments.b.of(buffers.matrix<const T>(1));
  const auto c = arguments.c.of(buffers.matrix<T>(2));
  blas::gemm(arguments.op_a, arguments.op_b, c.rows, c.cols, arguments.depth(), arguments.alpha, a.data, a.ld,
             b.data, b.ld, arguments.beta, c.data, c.ld);
}

template <class T>
Codelet gemm_codelet = make_codelet<GemmArguments<T>, gemm_task<T>>("gemm", type_letter<T>);

}  // namespace

template <class T>
void insert_gemm(Sequence& sequence, int priority, Op op_a, Op op_b, T alpha, const Data& a, TilePart part_a,
                 const Data& b, TilePart part_b, T beta, const Data& c, TilePart part_c) {
  const GemmArguments<T> arguments{op_a, op_b, alpha, beta, part_a, part_b, part_c};
  if (part_c.rows == 0 || part_c.cols == 0) return;
  const double flops =
      2.0 * flop_factor<T> * double(part_c.rows) * double(part_c.cols) * double(arguments.depth());
  sequence.insert(gemm_codelet<T>, arguments, {.priority = priority, .flops = flops},
                  {read(a), read(b), beta == T(0) ? write(c) : read_write(c)});
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template void insert_gemm<T>(Sequence&, int, Op, Op, T, const Data&, TilePart, const Data&, TilePart, T, \
                               const Data&, TilePart);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
