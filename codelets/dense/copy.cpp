// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/dense/copy.hpp>

namespace tessera::detail {

template <class T>
void run(const HostContext& on, const MaxAbs<T>& task) {
  const auto tile = *task.tile;
  RealOf<T> largest = 0;
  for (Index j = 0; j < tile.cols; ++j) {
    const Index diagonal =
        std::clamp<Index>(task.col0 + j - task.row0, 0, tile.rows);  // first row at or below the diagonal
    const Index end_upper = std::clamp<Index>(task.col0 + j - task.row0 + 1, 0, tile.rows);
    const Index begin = task.uplo == Uplo::upper ? 0 : diagonal,
                end = task.uplo == Uplo::upper ? end_upper : tile.rows;
    RealOf<T> column = 0;
    bool finite = true;
    for (Index i = begin; i < end; ++i) {
      const RealOf<T> re = std::abs(real_part(tile(i, j))), im = std::abs(imag_part(tile(i, j)));
      finite &= std::isfinite(re) && std::isfinite(im);
      column = std::max({column, re, im});
    }
    if (!finite) {
      // The caller's column of the entry in the triangle that is read.
      on.fail(StatusCode::not_finite, task.col0 + j + 1);
      break;
    }
    largest = std::max(largest, column);
  }
  (*task.out)[0] = largest;
}

template <class T>
void run(const HostContext& on, const CheckDiagonal<T>& task) {
  const auto l = *task.l;
  for (Index i = 0; i < l.cols; ++i)
    if (!(real_part(l(i, i)) > 0)) return on.fail(StatusCode::not_positive_definite, task.first_row + i + 1);
}

template <class R>
void run(const HostContext&, const ChooseScale<R>& task) {
  R largest = 0;
  for (int k = 0; k < task.values.size(); ++k) largest = std::max(largest, task.values[k][0]);
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  // The division rounds towards zero, so that a largest entry of 1 keeps its scale.
  if (task.power_of_four) exponent = exponent / 2 * 2;
  // Twice the exponent range of a subnormal would overflow: the factor stays finite and nonzero.
  exponent = std::clamp(exponent, std::numeric_limits<R>::min_exponent + 1,
                        std::numeric_limits<R>::max_exponent - 1);
  (*task.scale)[0] = std::ldexp(R(1), -exponent);
}

void run(const HostContext&, const CopyBytes& task) {
  const auto source = *task.source;
  std::copy(source.begin(), source.end(), task.destination.view().begin());
}

template <class T>
void run(const HostContext&, const CopyTile<T>& task) {
  const auto source = task.from.of(*task.source);
  const RealOf<T> scale = (*task.scale)[0];
  const auto destination = task.to.of(*task.destination);
  for (Index j = 0; j < destination.cols; ++j) {
    if (task.op == Op::none)
      for (Index i = 0; i < destination.rows; ++i) destination(i, j) = scale * source(i, j);
    else
      for (Index i = 0; i < destination.rows; ++i) destination(i, j) = scale * conjugate(source(j, i));
    const Index diagonal = task.col0 + j - task.row0;
    if (diagonal >= 0 && diagonal < destination.rows)
      destination(diagonal, j) = real_part(destination(diagonal, j));
  }
}

template <class T>
void run(const HostContext&, const CopyCyclic<T>& task) {
  const auto source = *task.source;
  const auto destination = task.to.of(*task.destination);
  const Index block = std::min(task.rows.block, destination.rows + task.rows.lead);
  for (Index j = 0; j < destination.cols; ++j) {
    const Index column = task.cols(j);
    for (Index i = 0; i < destination.rows;) {
      const Index run = std::min(block - (task.rows.lead + i) % block, destination.rows - i);
      std::copy_n(&source(task.rows(i), column), run, &destination(i, j));
      i += run;
    }
  }
}

template <class R>
void run(const HostContext&, const ExportValues<R>& task) {
  const auto values = *task.values;
  const R scale = (*task.scale)[0];
  const auto out = *task.out;
  for (Index k = 0; k < task.count; ++k)
    out[static_cast<std::size_t>(k)] = values[static_cast<std::size_t>(task.first + k)] / scale;
}

template <class R>
void run(const HostContext&, const DivideScales<R>& task) {
  (*task.quotient)[0] = (*task.a)[0] / (*task.b)[0];
}

template <class T>
void run(const HostContext&, const ScaleByRoot<T>& task) {
  const RealOf<T> root = std::sqrt((*task.scale)[0]);
  if (root == 1) return;
  const auto x = *task.x;
  for (Index j = 0; j < x.cols; ++j)
    for (Index i = 0; i < x.rows; ++i) x(i, j) *= root;
}

template <class T>
void run(const HostContext&, const NormaliseColumns<T>& task) {
  const auto x = *task.x;
  for (Index j = 0; j < x.cols; ++j) {
    double squares = 0;
    for (Index i = 0; i < x.rows; ++i) squares += double(real_part(x(i, j) * conjugate(x(i, j))));
    if (squares == 0) continue;
    const auto factor = static_cast<RealOf<T>>(1 / std::sqrt(squares));
    for (Index i = 0; i < x.rows; ++i) x(i, j) *= factor;
  }
}

TESSERA_DEFINE_TASK(CopyBytes)
#define TESSERA_DEFINE(T)               \
  TESSERA_DEFINE_TASK(MaxAbs<T>)        \
  TESSERA_DEFINE_TASK(CheckDiagonal<T>) \
  TESSERA_DEFINE_TASK(CopyTile<T>)      \
  TESSERA_DEFINE_TASK(CopyCyclic<T>)    \
  TESSERA_DEFINE_TASK(ScaleByRoot<T>)   \
  TESSERA_DEFINE_TASK(NormaliseColumns<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
#define TESSERA_DEFINE_REAL(R)         \
  TESSERA_DEFINE_TASK(ChooseScale<R>)  \
  TESSERA_DEFINE_TASK(ExportValues<R>) \
  TESSERA_DEFINE_TASK(DivideScales<R>)
TESSERA_FOR_REALS(TESSERA_DEFINE_REAL)

}  // namespace tessera::detail
