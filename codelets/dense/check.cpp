// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/dense/check.inl>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

template <class T>
void row_sums(const HostContext&, MatrixView<const T> p, bool identity, Index first, double* sums) noexcept {
  for (Index d = 0; d < p.rows; ++d) {
    double sum = 0;
    for (Index c = 0; c < p.cols; ++c) sum += std::abs(p(d, c) - T(identity && first + c == d ? 1 : 0));
    sums[d] = first > 0 ? sums[d] + sum : sum;
  }
}

template <class T>
void run(const HostContext&, const AbsoluteColumnSums<T>& task) {
  const auto r = *task.r;
  const auto sums = *task.sums;
  for (Index c = 0; c < r.cols; ++c) {
    double sum = 0;
    if (task.y) {
      const auto y = *task.y;
      const RealOf<T> lambda = (*task.values)[static_cast<std::size_t>(task.first + c)];
      for (Index i = 0; i < r.rows; ++i) sum += std::abs(r(i, c) - lambda * y(i, c));
    } else {
      for (Index i = 0; i < r.rows; ++i) sum += std::abs(r(i, c));
    }
    sums[static_cast<std::size_t>(c)] = sum;
  }
}

template <class T>
void run(const HostContext&, const AbsoluteTileSums<T>& task) {
  const auto a = *task.a;
  const auto sums = *task.sums;
  std::fill(sums.begin(), sums.end(), 0.0);
  const std::size_t rows_at = task.diagonal ? 0 : static_cast<std::size_t>(a.cols);
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = task.diagonal ? j : 0; i < a.rows; ++i) {
      const double value = std::abs(a(i, j));
      sums[static_cast<std::size_t>(j)] += value;
      if (!task.diagonal || i != j) sums[rows_at + static_cast<std::size_t>(i)] += value;
    }
}

#define TESSERA_DEFINE(T)                    \
  TESSERA_DEFINE_TASK(HermitianTimesSlab<T>) \
  TESSERA_DEFINE_TASK(AbsoluteColumnSums<T>) \
  TESSERA_DEFINE_TASK(AbsoluteInnerSums<T>)  \
  TESSERA_DEFINE_TASK(AbsoluteTileSums<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
