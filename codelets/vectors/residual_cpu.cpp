// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/residual.hpp>

namespace tessera::kernels {

template <class T>
void residual(std::int64_t rows, const ResidualArguments& a, const T* ax, std::int64_t ldax, const T* bx,
              std::int64_t ldbx, const T* x, std::int64_t ldx, T* r, std::int64_t ldr, std::int64_t r_width,
              double* norms) noexcept {
  std::fill_n(norms, residual_norms, 0.0);
  double *const norms_r = norms, *const norms_x = norms + most_block_columns;
  double *const norms_ax = norms + 2 * most_block_columns, *const norms_bx = norms + 3 * most_block_columns;
  double row[most_block_columns];
  for (std::int64_t i = 0; i < rows; ++i, ax += ldax, bx += ldbx, x += ldx, r += ldr) {
    for (std::int32_t j = 0; j < a.columns; ++j) {
      const double product = ax[j], mass = bx[j], element = x[j];
      row[j] = product - a.theta[j] * mass;
      norms_r[j] += row[j] * row[j];
      norms_x[j] += element * element;
      norms_ax[j] += product * product;
      norms_bx[j] += mass * mass;
    }
    for (std::int32_t j = a.first; j < a.columns; ++j) r[j - a.first] = static_cast<T>(row[j]);
    std::fill(r + (a.columns - a.first), r + r_width, T(0));
  }
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template void residual<T>(std::int64_t, const ResidualArguments&, const T*, std::int64_t, const T*, \
                            std::int64_t, const T*, std::int64_t, T*, std::int64_t, std::int64_t,     \
                            double*) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::kernels
