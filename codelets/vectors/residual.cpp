// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/residual.hpp>

namespace tessera::detail {

template <class T>
void run(const HostContext&, const Residual<T>& task) {
  using R = RealOf<T>;
  constexpr int reals = reals_of<T>;
  const auto ax = real_view(*task.ax), x = real_view(*task.x), bx = task.bx ? real_view(*task.bx) : x;
  const auto r = real_view(*task.r);
  const std::int32_t columns = reals * task.columns, first = reals * task.first;
  double squares[4][max_real_columns] = {}, row[max_real_columns], theta[max_real_columns];
  for (std::int32_t j = 0; j < columns; ++j) theta[j] = task.theta[static_cast<std::size_t>(j / reals)];
  for (Index i = 0; i < ax.cols; ++i) {
    const R *const ax_row = ax.data + i * ax.ld, *const bx_row = bx.data + i * bx.ld,
                   *const x_row = x.data + i * x.ld;
    R* const r_row = r.data + i * r.ld;
    for (std::int32_t j = 0; j < columns; ++j) {
      const double product = ax_row[j], mass = bx_row[j], element = x_row[j];
      row[j] = product - theta[j] * mass;
      squares[0][j] += row[j] * row[j];
      squares[1][j] += element * element;
      squares[2][j] += product * product;
      squares[3][j] += mass * mass;
    }
    for (std::int32_t j = first; j < columns; ++j) r_row[j - first] = static_cast<R>(row[j]);
    std::fill(r_row + (columns - first), r_row + r.rows, R(0));
  }
  double* const norms = task.norms.view().data();
  std::fill_n(norms, residual_norms, 0.0);
  for (std::int32_t k = 0; k < 4; ++k)
    for (std::int32_t j = 0; j < columns; ++j) norms[k * max_block_columns + j / reals] += squares[k][j];
}

#define TESSERA_DEFINE(T)          \
  TESSERA_DEFINE_TASK(Residual<T>) \
  template void run<T>(const HostContext&, const Residual<T>&);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
