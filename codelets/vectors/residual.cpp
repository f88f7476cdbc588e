// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/residual.hpp>

namespace tessera::detail {

template <class T>
void run(const HostContext&, const Residual<T>& task) {
  const auto ax = *task.ax, x = *task.x, bx = task.bx ? *task.bx : x;
  const MatrixView<T> r = *task.r;
  double* const norms = task.norms.view().data();
  std::fill_n(norms, residual_norms, 0.0);
  double *const norms_r = norms, *const norms_x = norms + max_block_columns;
  double *const norms_ax = norms + 2 * max_block_columns, *const norms_bx = norms + 3 * max_block_columns;
  double row[max_block_columns];
  for (Index i = 0; i < ax.cols; ++i) {
    const T *const ax_row = ax.data + i * ax.ld, *const bx_row = bx.data + i * bx.ld,
                   *const x_row = x.data + i * x.ld;
    T* const r_row = r.data + i * r.ld;
    for (std::int32_t j = 0; j < task.columns; ++j) {
      const double product = ax_row[j], mass = bx_row[j], element = x_row[j];
      row[j] = product - task.theta[static_cast<std::size_t>(j)] * mass;
      norms_r[j] += row[j] * row[j];
      norms_x[j] += element * element;
      norms_ax[j] += product * product;
      norms_bx[j] += mass * mass;
    }
    for (std::int32_t j = task.first; j < task.columns; ++j) r_row[j - task.first] = static_cast<T>(row[j]);
    std::fill(r_row + (task.columns - task.first), r_row + r.rows, T(0));
  }
}

#define TESSERA_DEFINE(T)          \
  TESSERA_DEFINE_TASK(Residual<T>) \
  template void run<T>(const HostContext&, const Residual<T>&);
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera::detail
