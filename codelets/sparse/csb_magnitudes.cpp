// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/sparse/csb_magnitudes.hpp>

namespace tessera {
namespace {

/// The sums, which begin as zeros where the task writes; null for those that it goes without.
double* sums_of(const WriteOrAdd<Matrix<double>>& operand) {
  const auto sums = *operand;
  if (operand.first())
    for (Index i = 0; i < sums.cols; ++i) std::fill_n(&sums(0, i), sums.rows, 0.0);
  return sums.data;
}

}  // namespace

template <class V>
void run(const HostContext&, const CsbMagnitudes<V>& task) {
  const CsbPieceShape& shape = task.shape;
  double *const rows = sums_of(task.rows), *const columns = sums_of(task.columns);
  kernels::add_csb_magnitudes(
      csb_view<V>(task.piece.view().data(), shape.block_count, shape.entry_count, shape.on_diagonal), rows,
      shape.on_diagonal ? rows : columns);
}

#define TESSERA_DEFINE(V) TESSERA_DEFINE_TASK(CsbMagnitudes<V>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera
