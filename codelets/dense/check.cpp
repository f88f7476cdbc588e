// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/check.hpp>
#include <tessera/codelets/dense/check_arguments.hpp>

namespace tessera {
namespace {

using namespace check_codelets;

template <class T>
void hermitian_times_slab_task(const TaskContext&, TaskBuffers buffers, const ProductArguments& arguments) {
  const auto a = buffers.matrix<const T>(0), x = buffers.matrix<const T>(1);
  const auto y = buffers.matrix<T>(2);
  if (arguments.fresh)
    for (Index j = 0; j < y.cols; ++j) std::fill_n(&y(0, j), y.rows, T(0));
  const Index i = arguments.row0, j = arguments.col0;
  if (i == j) {
    blas::hemm(Side::left, Uplo::lower, a.rows, y.cols, T(1), a.data, a.ld, &x(i, 0), x.ld, T(1), &y(i, 0),
               y.ld);
    return;
  }
  blas::gemm(Op::none, Op::none, a.rows, y.cols, a.cols, T(1), a.data, a.ld, &x(j, 0), x.ld, T(1), &y(i, 0),
             y.ld);
  blas::gemm(Op::adjoint, Op::none, a.cols, y.cols, a.rows, T(1), a.data, a.ld, &x(i, 0), x.ld, T(1),
             &y(j, 0), y.ld);
}
template <class T>
Codelet hermitian_times_slab_codelet =
    make_codelet<ProductArguments, hermitian_times_slab_task<T>>("hermitian_times_slab", type_letter<T>);

template <class T>
void column_sums_task(const TaskContext&, TaskBuffers buffers, const ColumnArguments& arguments) {
  const bool difference = buffers.count() == 4;
  const auto r = buffers.matrix<const T>(0);
  const auto sums = buffers.array<double>(difference ? 3 : 1);
  for (Index c = 0; c < r.cols; ++c) {
    double sum = 0;
    if (difference) {
      const auto y = buffers.matrix<const T>(1);
      const RealOf<T> lambda =
          buffers.array<const RealOf<T>>(2)[static_cast<std::size_t>(arguments.first + c)];
      for (Index i = 0; i < r.rows; ++i) sum += std::abs(r(i, c) - lambda * y(i, c));
    } else {
      for (Index i = 0; i < r.rows; ++i) sum += std::abs(r(i, c));
    }
    sums[static_cast<std::size_t>(c)] = sum;
  }
}
template <class T>
Codelet column_sums_codelet = make_codelet<ColumnArguments, column_sums_task<T>>("column_sums",
                                                                                 type_letter<T>);

template <class T>
void inner_sums_task(const TaskContext&, TaskBuffers buffers, const InnerArguments& arguments) {
  const int shift = arguments.one_piece ? 0 : 1;
  const auto x = buffers.matrix<const T>(0), y = buffers.matrix<const T>(shift);
  const auto sums = buffers.array<double>(shift + 1);
  const auto workspace = buffers.array<T>(shift + 2);
  T* const product = workspace.data();
  const Index step = columns_at_once(workspace.size(), x.cols);
  std::fill(sums.begin(), sums.end(), 0.0);
  for (Index first = 0; first < y.cols; first += step) {
    const Index count = std::min(step, y.cols - first);
    blas::gemm(Op::adjoint, Op::none, x.cols, count, x.rows, T(1), x.data, x.ld, y.data + first * y.ld, y.ld,
               T(0), product, x.cols);
    for (Index d = 0; d < x.cols; ++d) {
      double sum = 0;
      for (Index c = 0; c < count; ++c)
        sum += std::abs(product[d + c * x.cols] - T(arguments.same && first + c == d ? 1 : 0));
      sums[static_cast<std::size_t>(d)] += sum;
    }
  }
}
template <class T>
Codelet inner_sums_codelet = make_codelet<InnerArguments, inner_sums_task<T>>("inner_sums", type_letter<T>);

template <class T>
void tile_sums_task(const TaskContext&, TaskBuffers buffers, const TileArguments& arguments) {
  const auto a = buffers.matrix<const T>(0);
  const auto sums = buffers.array<double>(1);
  std::fill(sums.begin(), sums.end(), 0.0);
  const std::size_t rows_at = arguments.diagonal ? 0 : static_cast<std::size_t>(a.cols);
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = arguments.diagonal ? j : 0; i < a.rows; ++i) {
      const double value = std::abs(a(i, j));
      sums[static_cast<std::size_t>(j)] += value;
      if (!arguments.diagonal || i != j) sums[rows_at + static_cast<std::size_t>(i)] += value;
    }
}
template <class T>
Codelet tile_sums_codelet = make_codelet<TileArguments, tile_sums_task<T>>("tile_sums", type_letter<T>);

}  // namespace

template <class T>
void insert_hermitian_times_slab(Sequence& sequence, const Data& a, Index row0, Index col0, const Data& x,
                                 const Data& y, bool fresh) {
  sequence.insert(hermitian_times_slab_codelet<T>, ProductArguments{row0, col0, fresh}, {},
                  {read(a), read(x), fresh ? write(y) : read_write(y)});
}

template <class T>
void insert_column_sums(Sequence& sequence, const Data& r, const Data* y, const Data* values, Index first,
                        const Data& sums) {
  if (y)
    sequence.insert(column_sums_codelet<T>, ColumnArguments{first}, {},
                    {read(r), read(*y), read(*values), write(sums)});
  else
    sequence.insert(column_sums_codelet<T>, ColumnArguments{first}, {}, {read(r), write(sums)});
}

template <class T>
void insert_inner_sums(Sequence& sequence, const Data* x, const Data& y, bool same, const Data& sums,
                       const Data& workspace) {
  if (x)
    sequence.insert(inner_sums_codelet<T>, InnerArguments{false, same}, {},
                    {read(*x), read(y), write(sums), scratch(workspace)});
  else
    sequence.insert(inner_sums_codelet<T>, InnerArguments{true, same}, {},
                    {read(y), write(sums), scratch(workspace)});
}

template <class T>
void insert_tile_sums(Sequence& sequence, const Data& a, bool diagonal, const Data& sums) {
  sequence.insert(tile_sums_codelet<T>, TileArguments{diagonal}, {}, {read(a), write(sums)});
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void insert_hermitian_times_slab<T>(Sequence&, const Data&, Index, Index, const Data&,            \
                                               const Data&, bool);                                           \
  template void insert_column_sums<T>(Sequence&, const Data&, const Data*, const Data*, Index, const Data&); \
  template void insert_inner_sums<T>(Sequence&, const Data*, const Data&, bool, const Data&, const Data&);   \
  template void insert_tile_sums<T>(Sequence&, const Data&, bool, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
