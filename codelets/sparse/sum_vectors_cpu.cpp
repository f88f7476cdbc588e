// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/sparse/sum_vectors.hpp>

namespace tessera::kernels {

template <class T>
void sum_vectors(std::int64_t rows, int columns, int width, Store store, int inputs, const T* const* z,
                 const std::int64_t* ldz, T* y, std::int64_t ldy) noexcept {
  for (std::int64_t i = 0; i < rows; ++i) {
    T* const row = y + i * ldy;
    if (store == Store::overwrite) std::fill_n(row, width, T(0));
    for (int k = 0; k < inputs; ++k) {
      const T* const from = z[k] + i * ldz[k];
      for (int j = 0; j < columns; ++j) row[j] += from[j];
    }
  }
}

template void sum_vectors<float>(std::int64_t, int, int, Store, int, const float* const*, const std::int64_t*,
                                 float*, std::int64_t) noexcept;
template void sum_vectors<double>(std::int64_t, int, int, Store, int, const double* const*,
                                  const std::int64_t*, double*, std::int64_t) noexcept;

}  // namespace tessera::kernels
