// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/panel_qr_arguments.hpp>
#include <tessera/codelets/reading.hpp>

namespace tessera {
namespace {

using namespace panel_qr_codelets;

using kernels::PanelFactor;

template <class T>
PanelFactor<T> factor_of(TaskBuffers buffers, int i, Index b) {
  return PanelFactor<T>(buffers.array<char>(i).data(), b);
}

/// Sum of the leading buffers into `sum`.
template <class T>
void add_grams(TaskBuffers buffers, int count, MatrixView<T> sum) {
  for (int k = 0; k < count; ++k) {
    const auto g = buffers.matrix<const T>(k);
    for (Index j = 0; j < sum.cols; ++j)
      for (Index i = 0; i <= j; ++i) sum(i, j) = (k == 0 ? T(0) : sum(i, j)) + g(i, j);
  }
}

template <class T>
void gram(MatrixView<const T> p, MatrixView<T> g) {
  blas::herk<T>(Uplo::upper, Op::adjoint, p.cols, p.rows, 1, p.data, p.ld, 0, g.data, g.ld);
}

template <class T>
void panel_gram_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  gram<T>(a.panel.of(buffers.matrix<const T>(0)), buffers.matrix<T>(1));
}
template <class T>
Codelet panel_gram_codelet = make_codelet<PanelArguments, panel_gram_task<T>>("panel_gram", type_letter<T>);

template <class T>
void panel_cholesky_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const int count = buffers.count() - 1;
  const auto factor = factor_of<T>(buffers, count, a.b);
  add_grams<T>(buffers, count, factor.work());
  const auto sum = factor.work();
  *factor.fallback = !kernels::gram_cholesky<T>({sum.data, sum.rows, sum.cols, sum.ld}, factor.r1());
}
template <class T>
Codelet panel_cholesky_codelet = make_codelet<PanelArguments, panel_cholesky_task<T>>("panel_cholesky",
                                                                                      type_letter<T>);

template <class T>
void panel_orthogonalize_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const auto p = a.panel.of(buffers.matrix<const T>(0));
  const auto factor = factor_of<T>(buffers, 1, p.cols);
  if (*factor.fallback) return;
  const auto q = a.v.of(buffers.matrix<T>(2));
  blas::lacpy(Uplo::general, p.rows, p.cols, p.data, p.ld, q.data, q.ld);
  blas::trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, q.rows, q.cols, T(1), factor.r1().data,
             factor.b, q.data, q.ld);
  gram<T>({q.data, q.rows, q.cols, q.ld}, buffers.matrix<T>(3));
}
template <class T>
Codelet panel_orthogonalize_codelet =
    make_codelet<PanelArguments, panel_orthogonalize_task<T>>("panel_orthogonalize", type_letter<T>);

template <class T>
void panel_check_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const int count = buffers.count() - 1;
  const auto factor = factor_of<T>(buffers, count, a.b);
  if (*factor.fallback) return;
  const auto sum = factor.work();
  add_grams<T>(buffers, count, sum);
  const MatrixView<const T> g{sum.data, sum.rows, sum.cols, sum.ld};
  // Within this distance the second Cholesky QR is orthogonal to working precision; written so that NaN
  // fails.
  const bool close = kernels::distance_from_identity<T>(g) <= RealOf<T>(0.1);
  if (!close || !kernels::gram_cholesky<T>(g, factor.r2())) {
    *factor.fallback = 1;
    return;
  }
  const Index b = a.b;
  blas::lacpy(Uplo::general, b, b, factor.r1().data, b, factor.r().data, b);
  blas::trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, b, b, T(1), factor.r2().data, b,
             factor.r().data, b);
}
template <class T>
Codelet panel_check_codelet = make_codelet<PanelArguments, panel_check_task<T>>("panel_check",
                                                                                type_letter<T>);

template <class T>
void tsqr_leaf_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const auto p = a.panel.of(buffers.matrix<const T>(0));
  if (!*factor_of<T>(buffers, 1, p.cols).fallback) return;
  const auto q = a.v.of(buffers.matrix<T>(2));
  T* work = buffers.array<T>(4).data();
  blas::lacpy(Uplo::general, p.rows, p.cols, p.data, p.ld, q.data, q.ld);
  kernels::thin_qr<T>(q, buffers.matrix<T>(3), work, work + p.cols);
}
template <class T>
Codelet tsqr_leaf_codelet = make_codelet<PanelArguments, tsqr_leaf_task<T>>("tsqr_leaf", type_letter<T>);

template <class T>
void tsqr_combine_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const int leaves = buffers.count() - 3;
  const auto factor = factor_of<T>(buffers, leaves, a.b);
  if (!*factor.fallback) return;
  const auto stack = buffers.matrix<T>(leaves + 1);
  Index row = 0;
  for (int k = 0; k < leaves; ++k) {
    const auto l = buffers.matrix<const T>(k);
    const Index rows = k == 0 ? a.first_rows : k == leaves - 1 ? a.last_rows : a.b;
    blas::lacpy(Uplo::general, rows, Index(a.b), l.data, l.ld, stack.data + row, stack.ld);
    row += rows;
  }
  T* work = buffers.array<T>(leaves + 2).data();
  kernels::thin_qr<T>(stack, factor.r(), work, work + a.b);
}
template <class T>
Codelet tsqr_combine_codelet = make_codelet<PanelArguments, tsqr_combine_task<T>>("tsqr_combine",
                                                                                  type_letter<T>);

template <class T>
void panel_finish_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const auto q = a.v.of(buffers.matrix<T>(2));
  const auto factor = factor_of<T>(buffers, 0, q.cols);
  if (!*factor.fallback) {
    blas::trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, q.rows, q.cols, T(1), factor.r2().data,
               factor.b, q.data, q.ld);
    return;
  }
  const auto stack = buffers.matrix<const T>(1);
  T* product = buffers.array<T>(3).data();
  const Index inner = std::min(q.rows, q.cols);
  blas::gemm(Op::none, Op::none, q.rows, q.cols, inner, T(1), q.data, q.ld, stack.data + a.stack_row,
             stack.ld, T(0), product, q.rows);
  blas::lacpy(Uplo::general, q.rows, q.cols, product, q.rows, q.data, q.ld);
}
template <class T>
Codelet panel_finish_codelet = make_codelet<PanelArguments, panel_finish_task<T>>("panel_finish",
                                                                                  type_letter<T>);

template <class T>
void panel_reconstruct_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const auto q = a.v.of(buffers.matrix<const T>(0));
  const Index b = a.b;
  const auto factor = factor_of<T>(buffers, 1, b);
  const auto q1 = factor.work();
  blas::lacpy(Uplo::general, b, b, q.data, q.ld, q1.data, b);
  const auto r = factor.r();
  kernels::reconstruct_householder<T>(q1, {r.data, b, b, b}, factor.v1(), factor.x(), buffers.matrix<T>(2),
                                      factor.band());
}
template <class T>
Codelet panel_reconstruct_codelet =
    make_codelet<PanelArguments, panel_reconstruct_task<T>>("panel_reconstruct", type_letter<T>);

template <class T>
void panel_householder_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const auto p = a.panel.of(buffers.matrix<const T>(0));
  const auto v = a.v.of(buffers.matrix<T>(1));
  const auto factor = factor_of<T>(buffers, 2, a.b);
  *factor.fallback = 1;
  T* work = buffers.array<T>(4).data();
  blas::lacpy(Uplo::general, p.rows, p.cols, p.data, p.ld, v.data, v.ld);
  kernels::householder_panel<T>(v, buffers.matrix<T>(3), factor.band(), work, work + a.b);
}
template <class T>
Codelet panel_householder_codelet =
    make_codelet<PanelArguments, panel_householder_task<T>>("panel_householder", type_letter<T>);

template <class T>
void panel_vectors_task(const TaskContext&, TaskBuffers buffers, const PanelArguments& a) {
  const auto v = a.v.of(buffers.matrix<T>(2));
  const auto p = a.panel.of(buffers.matrix<T>(3));
  const auto w = buffers.matrix<T>(4).block(a.panel.row, 0, v.rows, v.cols);
  const auto t = buffers.matrix<const T>(1);
  const Index b = v.cols;
  if (!a.formed) {
    const auto factor = factor_of<T>(buffers, 0, b);
    const Index head = a.top ? b : 0;
    blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, v.rows - head, b, T(1), factor.x().data, b,
               v.data + head, v.ld);
    if (a.top) blas::lacpy(Uplo::general, b, b, factor.v1().data, b, v.data, v.ld);
  }
  blas::lacpy(Uplo::general, v.rows, b, v.data, v.ld, p.data, p.ld);
  blas::lacpy(Uplo::general, v.rows, b, v.data, v.ld, w.data, w.ld);
  blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, w.rows, b, T(1), t.data, t.ld, w.data, w.ld);
}
template <class T>
Codelet panel_vectors_codelet = make_codelet<PanelArguments, panel_vectors_task<T>>("panel_vectors",
                                                                                    type_letter<T>);

template <class T>
double panel_flops(Index rows, Index b, double passes) {
  return passes * double(rows) * double(b) * double(b) * flop_factor<T>;
}

}  // namespace

template <class T>
void insert_panel_gram(Sequence& sequence, int priority, const Data& p, TilePart panel, const Data& gram,
                       const Data& workspace) {
  PanelArguments arguments{.panel = panel, .v = {}};
  sequence.insert(panel_gram_codelet<T>, arguments,
                  {.priority = priority, .flops = panel_flops<T>(panel.rows, panel.cols, 1)},
                  {read(p), write(gram), scratch(workspace)});
}

template <class T>
void insert_panel_cholesky(Sequence& sequence, int priority, std::span<const Data* const> grams,
                           const Data& factor, Index b) {
  PanelArguments arguments{.panel = {}, .v = {}, .b = std::int32_t(b)};
  auto accesses = reading(grams);
  accesses.push_back(write(factor));
  sequence.insert(panel_cholesky_codelet<T>, arguments,
                  {.priority = priority, .flops = panel_flops<T>(b, b, 1. / 3)}, accesses);
}

template <class T>
void insert_panel_orthogonalize(Sequence& sequence, int priority, const Data& p, TilePart panel,
                                const Data& factor, const Data& vz, TilePart v, bool fresh, const Data& gram,
                                const Data& workspace) {
  PanelArguments arguments{.panel = panel, .v = v};
  sequence.insert(
      panel_orthogonalize_codelet<T>, arguments,
      {.priority = priority, .flops = panel_flops<T>(panel.rows, panel.cols, 2)},
      {read(p), read(factor), fresh ? write(vz) : read_write(vz), write(gram), scratch(workspace)});
}

template <class T>
void insert_panel_check(Sequence& sequence, int priority, std::span<const Data* const> grams,
                        const Data& factor, Index b) {
  PanelArguments arguments{.panel = {}, .v = {}, .b = std::int32_t(b)};
  auto accesses = reading(grams);
  accesses.push_back(read_write(factor));
  sequence.insert(panel_check_codelet<T>, arguments,
                  {.priority = priority, .flops = panel_flops<T>(b, b, 4. / 3)}, accesses);
}

template <class T>
void insert_tsqr_leaf(Sequence& sequence, int priority, const Data& p, TilePart panel, const Data& factor,
                      const Data& vz, TilePart v, const Data& l, const Data& workspace) {
  PanelArguments arguments{.panel = panel, .v = v};
  sequence.insert(tsqr_leaf_codelet<T>, arguments, {.priority = priority},
                  {read(p), read(factor), read_write(vz), write(l), scratch(workspace)});
}

template <class T>
void insert_tsqr_combine(Sequence& sequence, int priority, std::span<const Data* const> leaves,
                         const Data& factor, const Data& stack, Index first_leaf_rows, Index last_leaf_rows,
                         Index b, const Data& workspace) {
  PanelArguments arguments{.panel = {},
                           .v = {},
                           .b = std::int32_t(b),
                           .first_rows = std::int32_t(first_leaf_rows),
                           .last_rows = std::int32_t(last_leaf_rows)};
  auto accesses = reading(leaves);
  accesses.push_back(read_write(factor));
  accesses.push_back(write(stack));
  accesses.push_back(scratch(workspace));
  sequence.insert(tsqr_combine_codelet<T>, arguments, {.priority = priority}, accesses);
}

template <class T>
void insert_panel_finish(Sequence& sequence, int priority, const Data& factor, const Data& stack,
                         Index stack_row, const Data& vz, TilePart v, const Data& workspace) {
  PanelArguments arguments{.panel = {}, .v = v, .stack_row = std::int32_t(stack_row)};
  sequence.insert(panel_finish_codelet<T>, arguments,
                  {.priority = priority, .flops = panel_flops<T>(v.rows, v.cols, 1)},
                  {read(factor), read(stack), read_write(vz), scratch(workspace)});
}

template <class T>
void insert_panel_reconstruct(Sequence& sequence, int priority, const Data& vz, TilePart v,
                              const Data& factor, const Data& t, Index b) {
  PanelArguments arguments{.panel = {}, .v = v, .b = std::int32_t(b)};
  sequence.insert(panel_reconstruct_codelet<T>, arguments,
                  {.priority = priority, .flops = panel_flops<T>(b, b, 2)},
                  {read(vz), read_write(factor), write(t)});
}

template <class T>
void insert_panel_householder(Sequence& sequence, int priority, const Data& p, TilePart panel, const Data& vz,
                              TilePart v, bool fresh, const Data& factor, const Data& t, Index b,
                              const Data& workspace) {
  PanelArguments arguments{.panel = panel, .v = v, .b = std::int32_t(b)};
  sequence.insert(panel_householder_codelet<T>, arguments,
                  {.priority = priority, .flops = panel_flops<T>(panel.rows, b, 3)},
                  {read(p), fresh ? write(vz) : read_write(vz), write(factor), write(t), scratch(workspace)});
}

template <class T>
void insert_panel_vectors(Sequence& sequence, int priority, const Data& factor, const Data& t, const Data& vz,
                          TilePart v, bool top, bool formed, const Data& p, TilePart panel, const Data& w) {
  PanelArguments arguments{.panel = panel, .v = v, .top = top, .formed = formed};
  sequence.insert(panel_vectors_codelet<T>, arguments,
                  {.priority = priority, .flops = panel_flops<T>(v.rows, v.cols, formed ? 1 : 2)},
                  {read(factor), read(t), read_write(vz), read_write(p), write(w)});
}

template <class T>
std::size_t panel_workspace_bytes(Index rows, Index b) {
  const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(std::max(65 * b, rows * b));
#if TESSERA_WITH_CUDA
  return std::max(bytes, gpu_workspace_bytes<T>(rows, b));
#else
  return bytes;
#endif
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void insert_panel_gram<T>(Sequence&, int, const Data&, TilePart, const Data&, const Data&);       \
  template void insert_panel_cholesky<T>(Sequence&, int, std::span<const Data* const>, const Data&, Index);  \
  template void insert_panel_orthogonalize<T>(Sequence&, int, const Data&, TilePart, const Data&,            \
                                              const Data&, TilePart, bool, const Data&, const Data&);        \
  template void insert_panel_check<T>(Sequence&, int, std::span<const Data* const>, const Data&, Index);     \
  template void insert_tsqr_leaf<T>(Sequence&, int, const Data&, TilePart, const Data&, const Data&,         \
                                    TilePart, const Data&, const Data&);                                     \
  template void insert_tsqr_combine<T>(Sequence&, int, std::span<const Data* const>, const Data&,            \
                                       const Data&, Index, Index, Index, const Data&);                       \
  template void insert_panel_finish<T>(Sequence&, int, const Data&, const Data&, Index, const Data&,         \
                                       TilePart, const Data&);                                               \
  template void insert_panel_reconstruct<T>(Sequence&, int, const Data&, TilePart, const Data&, const Data&, \
                                            Index);                                                          \
  template void insert_panel_householder<T>(Sequence&, int, const Data&, TilePart, const Data&, TilePart,    \
                                            bool, const Data&, const Data&, Index, const Data&);             \
  template void insert_panel_vectors<T>(Sequence&, int, const Data&, const Data&, const Data&, TilePart,     \
                                        bool, bool, const Data&, TilePart, const Data&);                     \
  template std::size_t panel_workspace_bytes<T>(Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
