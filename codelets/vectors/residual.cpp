// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/vectors/residual.hpp>

namespace tessera {
namespace {

template <class T>
void residual_task(const TaskContext&, TaskBuffers buffers, const ResidualArguments& arguments) {
  const auto ax = buffers.matrix<const T>(0), bx = buffers.matrix<const T>(1);
  const auto x = arguments.generalized ? buffers.matrix<const T>(2) : bx;
  const auto r = buffers.matrix<T>(arguments.generalized ? 3 : 2);
  kernels::residual<T>(ax.cols, arguments, ax.data, ax.ld, bx.data, bx.ld, x.data, x.ld, r.data, r.ld, r.rows,
                       buffers.array<double>(arguments.generalized ? 4 : 3).data());
}

template <class T>
Codelet residual_codelet = make_codelet<ResidualArguments, residual_task<T>>("residual", type_letter<T>);

}  // namespace

template <class T>
void insert_residual(Sequence& sequence, int priority, const ResidualArguments& arguments, Index rows,
                     const Data& x, const Data& a_x, const Data* b_x, const Data& r, const Data& norms,
                     const Data& work, int gpu) {
  ResidualArguments complete = arguments;
  complete.generalized = b_x != nullptr;
  const TaskOptions options{
      .priority = priority, .flops = 10.0 * arguments.columns * static_cast<double>(rows), .gpu = gpu};
  Access accesses[6] = {read(a_x)};
  std::size_t count = 1;
  if (b_x) accesses[count++] = read(*b_x);
  accesses[count++] = read(x);
  accesses[count++] = write(r);
  accesses[count++] = write(norms);
  if (sequence.runtime().any_gpus()) accesses[count++] = scratch(work);
  sequence.insert(residual_codelet<T>, complete, options, {accesses, count});
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void insert_residual<T>(Sequence&, int, const ResidualArguments&, Index, const Data&, \
                                   const Data&, const Data*, const Data&, const Data&, const Data&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera
