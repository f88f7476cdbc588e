// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <vector>

#include <tessera/codelets/density/submatrix_steps.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace {

/// Submatrix number `index` of a batch.
template <class V>
V submatrix(const V& batch, Index index, Index count) noexcept {
  const Index cols = batch.cols / count;
  return batch.block(0, index * cols, batch.rows, cols);
}

template <class T>
double squared_norm(const std::vector<T>& x) noexcept {
  double sum = 0;
  for (const T& value : x) sum += static_cast<double>(std::norm(value));
  return sum;
}

/// The coefficients of one matrix.
template <class T>
void lanczos(MatrixView<const T> a, Index steps, double* diagonal, double* beside) {
  const Index n = a.rows;
  std::vector<T> v(static_cast<std::size_t>(n)), before(v.size(), T(0)), w(v.size());
  for (Index i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = T(RealOf<T>(submatrix_start(i)));
  double norm = std::sqrt(squared_norm(v)), last = 0;
  for (Index step = 0; step < steps; ++step) {
    const auto scale = RealOf<T>(norm > 0 ? 1 / norm : 0);
    for (T& value : v) value *= scale;
    blas::gemm<T>(Op::none, Op::none, n, 1, n, T(1), a.data, a.ld, v.data(), n, T(0), w.data(), n);
    double dot = 0;
    for (std::size_t i = 0; i < v.size(); ++i) dot += static_cast<double>(real_part(conjugate(v[i]) * w[i]));
    for (std::size_t i = 0; i < v.size(); ++i) w[i] -= RealOf<T>(dot) * v[i] + RealOf<T>(last) * before[i];
    before.swap(v);
    v.swap(w);
    norm = last = std::sqrt(squared_norm(v));
    diagonal[step] = dot;
    beside[step] = last;
  }
}

/// A copy of a matrix in another precision.
template <class F, class T>
std::vector<T> converted(MatrixView<const F> a) {
  std::vector<T> copy;
  copy.reserve(static_cast<std::size_t>(a.rows * a.cols));
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) copy.push_back(T(a(i, j)));
  return copy;
}

}  // namespace

template <class S, class T>
void run(const HostContext&, const GatherSubmatrices<S, T>& task) {
  const auto begins = *task.begins;
  const auto blocks = *task.blocks;
  const auto values = *task.values;
  const auto places = *task.places;
  blas::set_zero<T>(*task.x);
  for (Index m = 0; m < task.count; ++m) {
    const SubmatrixMember& member = (*task.members)[static_cast<std::size_t>(m)];
    const MatrixView<T> x = submatrix(*task.x, m, task.count);
    const auto mine = places.subspan(static_cast<std::size_t>(member.first_place),
                                     static_cast<std::size_t>(member.end_place - member.first_place));
    for (const SubmatrixPlace& column : mine) {
      auto row = mine.begin();
      for (Index k = begins[static_cast<std::size_t>(column.block)],
                 end = begins[static_cast<std::size_t>(column.block) + 1];
           k < end; ++k) {
        const ColumnBlock& block = blocks[static_cast<std::size_t>(k)];
        row = std::lower_bound(
            row, mine.end(), block.row,
            [](const SubmatrixPlace& place, std::int32_t number) { return place.block < number; });
        if (row == mine.end()) break;
        if (row->block != block.row) continue;
        const S* from = values.data() + block.element;
        for (Index j = 0; j < column.size; ++j)
          for (Index i = 0; i < block.rows; ++i) x(row->first + i, column.first + j) = T(*from++);
      }
    }
    for (Index i = member.order; i < x.rows; ++i) x(i, i) = T(RealOf<T>(task.padding));
  }
}

template <class T>
void run(const HostContext&, const SubmatrixLanczos<T>& task) {
  for (Index m = 0; m < task.count; ++m) {
    double* const of_matrix = task.tridiagonal.view().data() + 2 * task.steps * m;
    lanczos<T>(submatrix(*task.x, m, task.count), task.steps, of_matrix, of_matrix + task.steps);
  }
}

template <class F, class T>
void run(const HostContext& on, const DensityColumns<F, T>& task) {
  const Index n = task.n, width = task.width;
  std::vector<T> a(static_cast<std::size_t>(n * width)), b(a.size());
  for (Index m = 0; m < task.count; ++m) {
    const std::vector<T> x = converted<F, T>(submatrix(*task.x, m, task.count));
    const std::vector<T> z = task.z ? converted<F, T>(submatrix(*task.z, m, task.count)) : std::vector<T>();
    const MatrixView<T> p = submatrix(*task.p, m, task.count), u{a.data(), n, width, n},
                        v{b.data(), n, width, n};
    const auto times = [&](const std::vector<T>& factor, MatrixView<const T> from, MatrixView<T> to) {
      la::gemm<T>(on, Op::none, Op::none, 1, {factor.data(), n, n, n}, from, 0, to);
    };
    if (!task.z) {  // p = (3 X X - 2 X X X) E
      times(x, {x.data(), n, width, n}, u);
      times(x, u, v);
      for (Index j = 0; j < width; ++j)
        for (Index i = 0; i < n; ++i) p(i, j) = RealOf<T>(3) * u(i, j) - RealOf<T>(2) * v(i, j);
      continue;
    }
    const auto times_s = [&](MatrixView<const T> from, MatrixView<T> to) {
      la::gemm<T>(on, Op::none, Op::none, 1, submatrix(*task.s, m, task.count), from, 0, to);
    };
    const auto times_q = [&](MatrixView<T> from, MatrixView<T> between, MatrixView<T> to) {
      times(z, from, between);
      times(x, between, from);
      times(z, from, to);
    };
    times(x, {z.data(), n, width, n}, u);
    times(z, u, v);
    times_s(v, u);
    times_q(u, v, p);
    times_s(p, u);
    times_q(u, v, v);
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < n; ++i) p(i, j) = RealOf<T>(3) * p(i, j) - RealOf<T>(2) * v(i, j);
  }
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(SubmatrixLanczos<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
#undef TESSERA_DEFINE
#define TESSERA_DEFINE_ITERATES(F, T) \
  TESSERA_DEFINE_TASK(DensityColumns<F, T>) TESSERA_DEFINE_TASK(GatherSubmatrices<T, F>)
TESSERA_FOR_ITERATES(TESSERA_DEFINE_ITERATES)

}  // namespace tessera::detail
