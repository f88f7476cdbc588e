// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/density/hermitian_steps.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace {

/// Matrix number `index` of a batch.
template <class V>
V one_of(const V& batch, Index index, Index count) noexcept {
  const Index cols = batch.cols / count;
  return batch.block(0, index * cols, batch.rows, cols);
}

/// The sums of a part of a column.
template <class T>
void add_column(const T* before, const T* x, Index rows, double weight, HermitianSums& sums) noexcept {
  double square = 0, dot = 0;
  for (Index i = 0; i < rows; ++i) {
    const double re = real_part(x[i]), im = imag_part(x[i]);
    square += re * re + im * im;
    dot += real_part(before[i]) * re + imag_part(before[i]) * im;
  }
  sums.square += weight * square;
  sums.dot += weight * dot;
}
/// The same of column j of a Hermitian matrix below the diagonal, with its mirror image, over the first `own` columns.
template <class T>
void add_below(const T* before, const T* x, Index j, Index rows, Index own, HermitianSums& sums) noexcept {
  const Index both = std::clamp<Index>(own - j - 1, 0, rows);  // rows whose mirror image is in an own column
  if (j < own) add_column(before, x, both, 2, sums);
  if (j < own) add_column(before + both, x + both, rows - both, 1, sums);
}

/// x := c0 I + c1 x + c2 y for one matrix; if it is not to be read, x holds nothing before; without y: c0 I + c1 x.
template <bool reads_x, class S, class T>
HermitianSums step(double c0, double c1, double c2, MatrixView<const S> y, MatrixView<T> x, bool diagonal,
                   Index own) {
  HermitianSums sums;
  std::vector<T> before(static_cast<std::size_t>(x.rows));
  for (Index j = 0; j < x.cols; ++j) {
    const Index first = diagonal ? j : 0;
    T* const column = x.data + j * x.ld;
    for (Index i = first; i < x.rows; ++i) {
      T& old = before[static_cast<std::size_t>(i)];
      old = reads_x ? column[i] : T(0);
      using Wide = std::conditional_t<sizeof(S) >= sizeof(T), S, T>;
      using Real = RealOf<Wide>;
      const bool inside = !y.data || (i < y.rows && j < y.cols);
      const Wide added = y.data && inside ? Real(c2) * Wide(y(i, j)) : Wide(0);
      column[i] = inside ? T(added + Real(c1) * Wide(old)) : T(0);
    }
    if (diagonal) {
      column[j] = T(real_part(column[j]) + RealOf<T>(!y.data || j < y.cols ? c0 : 0));
      if (j < own) sums.trace += real_part(column[j]);
      if (j < own) add_column(before.data() + j, column + j, 1, 1, sums);
      add_below(before.data() + j + 1, column + j + 1, j, x.rows - j - 1, own, sums);
      for (Index i = j + 1; i < x.rows; ++i) x(j, i) = conjugate(column[i]);
    } else {
      add_column(before.data(), column, x.rows, 2, sums);
    }
  }
  return sums;
}

}  // namespace

template <class T>
void run(const HostContext& on, const HermitianProduct<T>& task) {
  constexpr Index width = 128;
  for (Index m = 0; m < task.count; ++m) {
    const auto a = task.count > 1 ? one_of(*task.a, m, task.count) : *task.a;
    const auto b = task.count > 1 ? one_of(*task.b, m, task.count) : *task.b;
    const auto c = one_of(*task.c, m, task.count);
    if (task.whole) {
      la::gemm<T>(on, task.op_a, task.op_b, 1, a, b, T(task.c.beta()), c);
      continue;
    }
    if (task.squares()) {
      la::herk<T>(on, Uplo::lower, task.op_a, 1, a, task.c.beta(), c);
      continue;
    }
    for (Index j = 0; j < task.n; j += width) {
      const Index rows = task.n - j, cols = std::min(width, rows);
      const auto rows_of_a =
          task.op_a == Op::none ? a.block(j, 0, rows, task.k) : a.block(0, j, task.k, rows);
      const auto cols_of_b =
          task.op_b == Op::none ? b.block(0, j, task.k, cols) : b.block(j, 0, cols, task.k);
      la::gemm<T>(on, task.op_a, task.op_b, 1, rows_of_a, cols_of_b, task.c.beta(),
                  c.block(j, j, rows, cols));
    }
  }
}

template <class T>
void run(const HostContext&, const PolynomialStep<T>& task) {
  for (Index m = 0; m < task.count; ++m) {
    const auto x = one_of(*task.x, m, task.count);
    const auto y = task.y ? one_of(*task.y, m, task.count) : MatrixView<const T>{};
    const auto index = static_cast<std::size_t>(m);
    (*task.sums)[index] = step<true, T, T>(task.c0, task.c1, task.c2, y, x, task.diagonal,
                                           task.own ? (*task.own)[index] : x.cols);
  }
}

template <class S, class T>
void run(const HostContext&, const ShiftedCopy<S, T>& task) {
  for (Index m = 0; m < task.count; ++m) {
    const auto x = one_of(*task.x, m, task.count);
    (*task.sums)[static_cast<std::size_t>(m)] =
        step<false, S, T>(task.c0, 0, task.c2, one_of(*task.y, m, task.count), x, task.diagonal, x.cols);
  }
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_TASK(HermitianProduct<T>) \
  TESSERA_DEFINE_TASK(PolynomialStep<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
#undef TESSERA_DEFINE
#define TESSERA_DEFINE_COPY(S, T) TESSERA_DEFINE_TASK(ShiftedCopy<S, T>)
TESSERA_FOR_HERMITIAN_COPIES(TESSERA_DEFINE_COPY)

}  // namespace tessera::detail
