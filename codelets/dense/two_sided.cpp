// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/mirror_lower.hpp>
#include <tessera/codelets/dense/panel_kernels.hpp>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/codelets/dense/two_sided_arguments.hpp>
#include <tessera/codelets/reading.hpp>

namespace tessera {
namespace {

using namespace two_sided_codelets;

template <class T>
void mirror_lower_task(const TaskContext&, TaskBuffers buffers, const MirrorArguments&) {
  kernels::mirror_lower(buffers.matrix<T>(0));
}
template <class T>
Codelet mirror_lower_codelet = make_codelet<MirrorArguments, mirror_lower_task<T>>("mirror_lower",
                                                                                   type_letter<T>);

template <class T>
void two_sided_product_task(const TaskContext&, TaskBuffers buffers, const ProductArguments& arguments) {
  const TilePart& part = arguments.part;
  const auto a = part.of(buffers.matrix<const T>(0));
  const auto whole_w_i = buffers.matrix<const T>(1);
  const Index b = whole_w_i.cols;
  const T beta_i(arguments.fresh_i ? 0 : 1), beta_j(arguments.fresh_j ? 0 : 1);
  if (arguments.diagonal) {
    const auto w = whole_w_i.block(part.row, 0, part.rows, b);
    const auto y = buffers.matrix<T>(2).block(part.row, 0, part.rows, b);
    blas::hemm(Side::left, Uplo::lower, y.rows, b, T(1), a.data, a.ld, w.data, w.ld, beta_i, y.data, y.ld);
    return;
  }
  const auto w_i = whole_w_i.block(part.row, 0, part.rows, b),
             w_j = buffers.matrix<const T>(2).block(part.col, 0, part.cols, b);
  const auto y_i = buffers.matrix<T>(3).block(part.row, 0, part.rows, b),
             y_j = buffers.matrix<T>(4).block(part.col, 0, part.cols, b);
  blas::gemm(Op::none, Op::none, y_i.rows, b, part.cols, T(1), a.data, a.ld, w_j.data, w_j.ld, beta_i,
             y_i.data, y_i.ld);
  blas::gemm(Op::adjoint, Op::none, y_j.rows, b, part.rows, T(1), a.data, a.ld, w_i.data, w_i.ld, beta_j,
             y_j.data, y_j.ld);
}
template <class T>
Codelet two_sided_product_codelet =
    make_codelet<ProductArguments, two_sided_product_task<T>>("two_sided_product", type_letter<T>);

template <class T>
void inner_products_task(const TaskContext&, TaskBuffers buffers, const InnerArguments& a) {
  const int parts = buffers.count() - 4;
  const auto vz = buffers.matrix<const T>(0).block(a.row, 0, a.rows, 2 * a.kb);
  const auto w = buffers.matrix<const T>(1).block(a.row, 0, a.rows, a.b);
  const auto y = buffers.matrix<T>(2).block(a.row, 0, a.rows, a.b);
  const auto d = buffers.matrix<T>(3);
  if (a.y_fresh) blas::laset(Uplo::general, y.rows, y.cols, T(0), T(0), y.data, y.ld);
  for (int k = 0; k < parts; ++k) {
    const auto part = buffers.matrix<const T>(4 + k).block(a.row, 0, a.rows, a.b);
    for (Index j = 0; j < y.cols; ++j) blas::axpy(y.rows, T(1), &part(0, j), 1, &y(0, j), 1);
  }
  if (a.done > 0) {
    blas::gemm(Op::adjoint, Op::none, a.done, a.b, a.rows, T(1), vz.data, vz.ld, w.data, w.ld, T(0), d.data,
               d.ld);
    blas::gemm(Op::adjoint, Op::none, a.done, a.b, a.rows, T(1), &vz(0, a.kb), vz.ld, w.data, w.ld, T(0),
               d.data + a.kb, d.ld);
  }
  blas::gemm(Op::adjoint, Op::none, a.b, a.b, a.rows, T(1), w.data, w.ld, y.data, y.ld, T(0),
             d.data + 2 * a.kb, d.ld);
}
template <class T>
Codelet inner_products_codelet = make_codelet<InnerArguments, inner_products_task<T>>("inner_products",
                                                                                      type_letter<T>);

template <class T>
void inner_sum_task(const TaskContext&, TaskBuffers buffers, const InnerArguments& a) {
  const int pieces = buffers.count() - 1;
  const auto d = buffers.matrix<T>(pieces);
  const Index ranges[3][2] = {{0, a.done}, {a.kb, a.kb + a.done}, {2 * a.kb, 2 * a.kb + a.b}};
  for (int k = 0; k < pieces; ++k) {
    const auto piece = buffers.matrix<const T>(k);
    for (Index j = 0; j < a.b; ++j)
      for (const auto& range : ranges)
        for (Index i = range[0]; i < range[1]; ++i) d(i, j) = (k == 0 ? T(0) : d(i, j)) + piece(i, j);
  }
  // W^H (A W) = W^H Y - (W^H Vacc)(Zacc^H W) - (W^H Zacc)(Vacc^H W), halved.
  T* v_w = d.data;
  T* z_w = d.data + a.kb;
  T* w_y = d.data + a.kb + a.done;
  for (Index j = 0; j < a.b; ++j)
    for (Index i = 0; i < a.b; ++i) w_y[i + j * d.ld] = T(0.5) * d(2 * a.kb + i, j);
  if (a.done > 0) {
    blas::gemm(Op::adjoint, Op::none, a.b, a.b, a.done, T(-0.5), v_w, d.ld, z_w, d.ld, T(1), w_y, d.ld);
    blas::gemm(Op::adjoint, Op::none, a.b, a.b, a.done, T(-0.5), z_w, d.ld, v_w, d.ld, T(1), w_y, d.ld);
  }
}
template <class T>
Codelet inner_sum_codelet = make_codelet<InnerArguments, inner_sum_task<T>>("inner_sum", type_letter<T>);

template <class T>
void form_z_task(const TaskContext&, TaskBuffers buffers, const InnerArguments& a) {
  const auto d = buffers.matrix<const T>(0);
  const auto y = buffers.matrix<const T>(1).block(a.row, 0, a.rows, a.b);
  const auto vz = buffers.matrix<T>(2).block(a.row, 0, a.rows, 2 * a.kb);
  T* z = &vz(0, a.kb + a.done);
  blas::lacpy(Uplo::general, y.rows, y.cols, y.data, y.ld, z, vz.ld);
  // [Vacc V] [Zacc^H W; 1/2 W^H A W] and Zacc (Vacc^H W).
  blas::gemm(Op::none, Op::none, a.rows, a.b, a.done + a.b, T(-1), vz.data, vz.ld, d.data + a.kb, d.ld, T(1),
             z, vz.ld);
  if (a.done > 0)
    blas::gemm(Op::none, Op::none, a.rows, a.b, a.done, T(-1), &vz(0, a.kb), vz.ld, d.data, d.ld, T(1), z,
               vz.ld);
}
template <class T>
Codelet form_z_codelet = make_codelet<InnerArguments, form_z_task<T>>("form_z", type_letter<T>);

template <class T>
void panel_update_task(const TaskContext&, TaskBuffers buffers, const UpdateArguments& a) {
  const auto vz = buffers.matrix<const T>(0).block(a.part.row, 0, a.part.rows, 2 * a.kb);
  const auto top = buffers.matrix<const T>(a.same ? 0 : 1).block(a.top_row, 0, a.part.cols, 2 * a.kb);
  const auto p = a.part.of(buffers.matrix<T>(a.same ? 1 : 2));
  blas::gemm(Op::none, Op::adjoint, p.rows, p.cols, a.done, T(-1), vz.data, vz.ld, &top(0, a.kb), top.ld,
             T(1), p.data, p.ld);
  blas::gemm(Op::none, Op::adjoint, p.rows, p.cols, a.done, T(-1), &vz(0, a.kb), vz.ld, top.data, top.ld,
             T(1), p.data, p.ld);
}
template <class T>
Codelet panel_update_codelet = make_codelet<UpdateArguments, panel_update_task<T>>("panel_update",
                                                                                   type_letter<T>);

template <class T>
void rank_2k_update_task(const TaskContext&, TaskBuffers buffers, const UpdateArguments& a) {
  const auto vz_i = buffers.matrix<const T>(0).block(a.part.row, 0, a.part.rows, 2 * a.kb);
  const auto c = a.part.of(buffers.matrix<T>(a.same ? 1 : 2));
  if (a.same) {
    blas::her2k<T>(Uplo::lower, Op::none, c.rows, a.done, T(-1), vz_i.data, vz_i.ld, &vz_i(0, a.kb), vz_i.ld,
                   1, c.data, c.ld);
    if (a.both_triangles) kernels::mirror_lower(c);
    return;
  }
  const auto vz_j = buffers.matrix<const T>(1).block(a.part.col, 0, a.part.cols, 2 * a.kb);
  blas::gemm(Op::none, Op::adjoint, c.rows, c.cols, a.done, T(-1), vz_i.data, vz_i.ld, &vz_j(0, a.kb),
             vz_j.ld, T(1), c.data, c.ld);
  blas::gemm(Op::none, Op::adjoint, c.rows, c.cols, a.done, T(-1), &vz_i(0, a.kb), vz_i.ld, vz_j.data,
             vz_j.ld, T(1), c.data, c.ld);
}
template <class T>
Codelet rank_2k_update_codelet = make_codelet<UpdateArguments, rank_2k_update_task<T>>("rank_2k_update",
                                                                                       type_letter<T>);

template <class T>
void set_zero_task(const TaskContext&, TaskBuffers buffers, const ZeroArguments&) {
  const auto a = buffers.matrix<T>(0);
  for (Index j = 0; j < a.cols; ++j) std::fill_n(&a(0, j), a.rows, T(0));
}
template <class T>
Codelet set_zero_codelet = make_codelet<ZeroArguments, set_zero_task<T>>("set_zero", type_letter<T>);

template <class T>
void copy_to_band_task(const TaskContext&, TaskBuffers buffers, const BandArguments& a) {
  const auto segment = buffers.matrix<T>(1);
  MatrixView<const T> source;
  if (a.from_factor) {
    const auto band =
        kernels::PanelFactor<T>(const_cast<char*>(buffers.array<const char>(0).data()), a.b).band();
    source = {band.data, band.rows, band.cols, band.ld};
  } else {
    source = buffers.matrix<const T>(0);
  }
  source = a.part.of(source);
  for (Index j = 0; j < source.cols; ++j)
    for (Index i = 0; i < source.rows; ++i) {
      const Index offset = (a.row0 + i) - (a.col0 + j);
      if (offset >= 0 && offset <= a.b) segment(offset, a.col0 + j - a.first_col) = source(i, j);
    }
}
template <class T>
Codelet copy_to_band_codelet = make_codelet<BandArguments, copy_to_band_task<T>>("copy_to_band",
                                                                                 type_letter<T>);

template <class T>
double update_flops(double rows, double cols, double depth) {
  return 4 * rows * cols * depth * flop_factor<T>;
}
/// Some of the tasks on a diagonal tile may be a GPU's, which read both of its triangles: on whatever rank,
/// since all ranks insert the same tasks.
template <class T>
bool keeps_both_triangles(const Runtime& runtime) {
  return mirror_lower_codelet<T>.has_cuda() && runtime.any_gpus();
}
InnerArguments inner_arguments(Index row, Index rows, Index done, Index kb, Index b, bool y_fresh) {
  return {std::int32_t(row), std::int32_t(rows), std::int32_t(done),
          std::int32_t(kb),  std::int32_t(b),    y_fresh};
}

}  // namespace

template <class T>
void insert_mirror_lower(Sequence& sequence, int priority, const Data& a, bool always) {
  if (always || keeps_both_triangles<T>(sequence.runtime()))
    sequence.insert(mirror_lower_codelet<T>, MirrorArguments{}, {.priority = priority}, {read_write(a)});
}

template <class T>
void insert_two_sided_product(Sequence& sequence, int priority, const Data& a, TilePart part, Index b,
                              const Data& w_i, const Data& y_i, bool fresh_i, const Data* w_j,
                              const Data* y_j, bool fresh_j) {
  const ProductArguments arguments{part, w_j == nullptr, fresh_i, fresh_j};
  const auto result = [](const Data& y, bool fresh) { return fresh ? write(y) : read_write(y); };
  // The tile stays where it is; the partial sums are that rank's own.
  const TaskOptions options{.priority = priority,
                            .flops = update_flops<T>(part.rows, part.cols, w_j ? b : b / 2.0),
                            .execute_on = a.owner()};
  if (!w_j)
    sequence.insert(two_sided_product_codelet<T>, arguments, options,
                    {read(a), read(w_i), result(y_i, fresh_i)});
  else
    sequence.insert(two_sided_product_codelet<T>, arguments, options,
                    {read(a), read(w_i), read(*w_j), result(y_i, fresh_i), result(*y_j, fresh_j)});
}

template <class T>
void insert_inner_products(Sequence& sequence, int priority, const Data& vz, const Data& w, const Data& y,
                           bool y_fresh, std::span<const Data* const> parts, const Data& d, Index row,
                           Index rows, Index done, Index kb, Index b) {
  sequence.insert(
      inner_products_codelet<T>, inner_arguments(row, rows, done, kb, b, y_fresh),
      {.priority = priority, .flops = update_flops<T>(rows, b, done) + update_flops<T>(rows, b, b) / 2},
      reading(parts, {read(vz), read(w), y_fresh ? write(y) : read_write(y), write(d)}));
}

template <class T>
void insert_inner_sum(Sequence& sequence, int priority, std::span<const Data* const> pieces, const Data& d,
                      Index done, Index kb, Index b) {
  auto accesses = reading(pieces);
  accesses.push_back(write(d));
  sequence.insert(inner_sum_codelet<T>, inner_arguments(0, 0, done, kb, b, false),
                  {.priority = priority, .flops = update_flops<T>(b, b, done)}, accesses);
}

template <class T>
void insert_form_z(Sequence& sequence, int priority, const Data& d, const Data& y, const Data& vz, Index row,
                   Index rows, Index done, Index kb, Index b) {
  sequence.insert(
      form_z_codelet<T>, inner_arguments(row, rows, done, kb, b, false),
      {.priority = priority, .flops = update_flops<T>(rows, b, done) + update_flops<T>(rows, b, b) / 2},
      {read(d), read(y), read_write(vz)});
}

template <class T>
void insert_panel_update(Sequence& sequence, int priority, const Data& vz, const Data* vz_top, Index top_row,
                         Index done, Index kb, const Data& p, TilePart panel) {
  const UpdateArguments arguments{panel, std::int32_t(top_row), std::int32_t(done), std::int32_t(kb),
                                  vz_top == nullptr};
  const TaskOptions options{.priority = priority, .flops = update_flops<T>(panel.rows, panel.cols, done)};
  if (vz_top)
    sequence.insert(panel_update_codelet<T>, arguments, options, {read(vz), read(*vz_top), read_write(p)});
  else
    sequence.insert(panel_update_codelet<T>, arguments, options, {read(vz), read_write(p)});
}

template <class T>
void insert_rank_2k_update(Sequence& sequence, int priority, const Data& vz_i, const Data* vz_j, Index done,
                           Index kb, const Data& a, TilePart part, const Data& workspace) {
  const UpdateArguments arguments{part,
                                  0,
                                  std::int32_t(done),
                                  std::int32_t(kb),
                                  vz_j == nullptr,
                                  vz_j == nullptr && keeps_both_triangles<T>(sequence.runtime())};
  const double flops = update_flops<T>(part.rows, part.cols, done);
  if (vz_j)
    sequence.insert(rank_2k_update_codelet<T>, arguments, {.priority = priority, .flops = flops},
                    {read(vz_i), read(*vz_j), read_write(a), scratch(workspace)});
  else
    sequence.insert(rank_2k_update_codelet<T>, arguments, {.priority = priority, .flops = flops / 2},
                    {read(vz_i), read_write(a), scratch(workspace)});
}

template <class T>
std::size_t update_workspace_bytes(Index rows, Index kb) noexcept {
  return sizeof(T) * 2 * static_cast<std::size_t>(kb) * static_cast<std::size_t>(rows);
}

template <class T>
void insert_set_zero(Sequence& sequence, int priority, const Data& a) {
  sequence.insert(set_zero_codelet<T>, ZeroArguments{}, {.priority = priority}, {write(a)});
}

template <class T>
void insert_copy_to_band(Sequence& sequence, int priority, const Data& source, TilePart part,
                         bool from_factor, Index b, Index row0, Index col0, const Data& segment,
                         Index first_col) {
  const BandArguments arguments{part, row0, col0, first_col, std::int32_t(b), from_factor};
  sequence.insert(copy_to_band_codelet<T>, arguments, {.priority = priority},
                  {read(source), read_write(segment)});
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void insert_two_sided_product<T>(Sequence&, int, const Data&, TilePart, Index, const Data&,       \
                                            const Data&, bool, const Data*, const Data*, bool);              \
  template void insert_inner_products<T>(Sequence&, int, const Data&, const Data&, const Data&, bool,        \
                                         std::span<const Data* const>, const Data&, Index, Index, Index,     \
                                         Index, Index);                                                      \
  template void insert_inner_sum<T>(Sequence&, int, std::span<const Data* const>, const Data&, Index, Index, \
                                    Index);                                                                  \
  template void insert_form_z<T>(Sequence&, int, const Data&, const Data&, const Data&, Index, Index, Index, \
                                 Index, Index);                                                              \
  template void insert_panel_update<T>(Sequence&, int, const Data&, const Data*, Index, Index, Index,        \
                                       const Data&, TilePart);                                               \
  template void insert_rank_2k_update<T>(Sequence&, int, const Data&, const Data*, Index, Index,             \
                                         const Data&, TilePart, const Data&);                                \
  template std::size_t update_workspace_bytes<T>(Index, Index) noexcept;                                     \
  template void insert_mirror_lower<T>(Sequence&, int, const Data&, bool);                                   \
  template void insert_set_zero<T>(Sequence&, int, const Data&);                                             \
  template void insert_copy_to_band<T>(Sequence&, int, const Data&, TilePart, bool, Index, Index, Index,     \
                                       const Data&, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
