// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/blas3_arguments.hpp>
#include <tessera/codelets/dense/blas3_cuda.hpp>
#include <tessera/codelets/tile_part.hpp>

namespace tessera {
namespace {

using namespace blas3_codelets;

template <class T>
double flops_of(double count) {
  return count * flop_factor<T>;
}

template <class T>
void herk_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const auto a = buffers.matrix<const T>(0);
  const auto c = buffers.matrix<T>(1);
  blas::herk<T>(Uplo::lower, Op::none, c.rows, a.cols, -1, a.data, a.ld, 1, c.data, c.ld);
}
template <class T>
Codelet herk_codelet = make_codelet<NoArguments, herk_task<T>>("herk", type_letter<T>);

template <class T>
void her2k_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const auto a = buffers.matrix<const T>(0), b = buffers.matrix<const T>(1);
  const auto c = buffers.matrix<T>(2);
  blas::her2k<T>(Uplo::lower, Op::none, c.rows, a.cols, T(-1), a.data, a.ld, b.data, b.ld, 1, c.data, c.ld);
}
template <class T>
Codelet her2k_codelet = make_codelet<NoArguments, her2k_task<T>>("her2k", type_letter<T>);

template <class T>
void gemm_pair_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const auto c = buffers.matrix<T>(4);
  for (int pair = 0; pair < 2; ++pair) {
    const auto a = buffers.matrix<const T>(2 * pair), b = buffers.matrix<const T>(2 * pair + 1);
    blas::gemm<T>(Op::none, Op::adjoint, c.rows, c.cols, a.cols, T(-1), a.data, a.ld, b.data, b.ld, T(1),
                  c.data, c.ld);
  }
}
template <class T>
Codelet gemm_pair_codelet = make_codelet<NoArguments, gemm_pair_task<T>>("gemm_pair", type_letter<T>);

template <class T>
void hemm_right_task(const TaskContext&, TaskBuffers buffers, const HemmArguments<T>& arguments) {
  const auto a = buffers.matrix<const T>(0), b = buffers.matrix<const T>(1);
  const auto c = buffers.matrix<T>(2);
  blas::hemm<T>(Side::right, Uplo::lower, c.rows, c.cols, arguments.alpha, a.data, a.ld, b.data, b.ld, T(1),
                c.data, c.ld);
}
template <class T>
Codelet hemm_right_codelet = make_codelet<HemmArguments<T>, hemm_right_task<T>>("hemm_right", type_letter<T>);

template <class T>
void trsm_task(const TaskContext&, TaskBuffers buffers, const TrsmArguments& arguments) {
  const auto l = buffers.matrix<const T>(0);
  const auto b = buffers.matrix<T>(1);
  blas::trsm<T>(arguments.side, Uplo::lower, arguments.op, Diag::non_unit, b.rows, b.cols, T(1), l.data, l.ld,
                b.data, b.ld);
}
template <class T>
Codelet trsm_codelet = make_codelet<TrsmArguments, trsm_task<T>>("trsm", type_letter<T>);

template <class T>
void potrf_task(const TaskContext& task, TaskBuffers buffers, const PotrfArguments& arguments) {
  const auto a = buffers.matrix<T>(0);
  const int info = blas::potrf<T>(Uplo::lower, a.rows, a.data, a.ld);
  if (info != 0) task.fail(StatusCode::not_positive_definite, arguments.first_row + info);
}
template <class T>
Codelet potrf_codelet = make_codelet<PotrfArguments, potrf_task<T>>("potrf", type_letter<T>);

template <class T>
void hegst_task(const TaskContext&, TaskBuffers buffers, const NoArguments&) {
  const auto a = buffers.matrix<T>(0);
  const auto l = buffers.matrix<const T>(1);
  blas::hegst<T>(1, Uplo::lower, a.rows, a.data, a.ld, l.data, l.ld);
}
template <class T>
Codelet hegst_codelet = make_codelet<NoArguments, hegst_task<T>>("hegst", type_letter<T>);

}  // namespace

template <class T>
void insert_herk_subtract(Sequence& sequence, int priority, const Data& a, const Data& c, Index n, Index k) {
  sequence.insert(herk_codelet<T>, NoArguments{},
                  {.priority = priority, .flops = flops_of<T>(double(n) * n * k)}, {read(a), read_write(c)});
}

template <class T>
void insert_her2k_subtract(Sequence& sequence, int priority, const Data& a, const Data& b, const Data& c,
                           Index n, Index k) {
  sequence.insert(her2k_codelet<T>, NoArguments{},
                  {.priority = priority, .flops = flops_of<T>(2.0 * double(n) * n * k)},
                  {read(a), read(b), read_write(c)});
}

template <class T>
void insert_gemm_pair_subtract(Sequence& sequence, int priority, const Data& a1, const Data& b1,
                               const Data& a2, const Data& b2, const Data& c, Index m, Index n, Index k) {
  sequence.insert(gemm_pair_codelet<T>, NoArguments{},
                  {.priority = priority, .flops = flops_of<T>(4.0 * double(m) * n * k)},
                  {read(a1), read(b1), read(a2), read(b2), read_write(c)});
}

template <class T>
void insert_hemm_right(Sequence& sequence, int priority, T alpha, const Data& a, const Data& b, const Data& c,
                       Index m, Index n) {
  sequence.insert(hemm_right_codelet<T>, HemmArguments<T>{alpha},
                  {.priority = priority, .flops = flops_of<T>(2.0 * double(m) * n * n)},
                  {read(a), read(b), read_write(c)});
}

template <class T>
void insert_trsm(Sequence& sequence, int priority, Side side, Op op, const Data& l, const Data& b, Index m,
                 Index n) {
  const double order = side == Side::left ? double(m) : double(n);
  sequence.insert(trsm_codelet<T>, TrsmArguments{side, op},
                  {.priority = priority, .flops = flops_of<T>(double(m) * n * order)},
                  {read(l), read_write(b)});
}

template <class T>
void insert_potrf(Sequence& sequence, int priority, const Data& a, Index n, Index first_row) {
  const TaskOptions options{.priority = priority, .flops = flops_of<T>(double(n) * n * n / 3)};
#if TESSERA_WITH_CUDA
  if (sequence.runtime().any_gpus()) {
    const Data work = Data::scratch(sequence.runtime(), potrf_bytes<T>(n));
    sequence.insert(potrf_codelet<T>, PotrfArguments{first_row}, options, {read_write(a), scratch(work)});
    return;
  }
#endif
  sequence.insert(potrf_codelet<T>, PotrfArguments{first_row}, options, {read_write(a)});
}

template <class T>
void insert_hegst(Sequence& sequence, int priority, const Data& a, const Data& l, Index n) {
  sequence.insert(hegst_codelet<T>, NoArguments{},
                  {.priority = priority, .flops = flops_of<T>(double(n) * n * n)}, {read_write(a), read(l)});
}

#define TESSERA_INSTANTIATE(T)                                                                         \
  template void insert_herk_subtract<T>(Sequence&, int, const Data&, const Data&, Index, Index);       \
  template void insert_her2k_subtract<T>(Sequence&, int, const Data&, const Data&, const Data&, Index, \
                                         Index);                                                       \
  template void insert_gemm_pair_subtract<T>(Sequence&, int, const Data&, const Data&, const Data&,    \
                                             const Data&, const Data&, Index, Index, Index);           \
  template void insert_hemm_right<T>(Sequence&, int, T, const Data&, const Data&, const Data&, Index,  \
                                     Index);                                                           \
  template void insert_trsm<T>(Sequence&, int, Side, Op, const Data&, const Data&, Index, Index);      \
  template void insert_potrf<T>(Sequence&, int, const Data&, Index, Index);                            \
  template void insert_hegst<T>(Sequence&, int, const Data&, const Data&, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
