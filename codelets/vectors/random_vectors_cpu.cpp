// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/random_vectors.hpp>
#include <tessera/runtime/types.hpp>

namespace tessera::kernels {

template <class T>
void random_vectors(std::int64_t rows, std::int64_t width, const RandomVectorsArguments& a, T* v,
                    std::int64_t ld) noexcept {
  for (std::int64_t i = 0; i < rows; ++i, v += ld) {
    if (a.clear) std::fill(v, v + width, T(0));
    for (std::int32_t j = a.first; j < a.first + a.columns; ++j)
      v[j] = random_vector_element(a.seed, a.first_row + i, j);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void random_vectors<T>(std::int64_t, std::int64_t, const RandomVectorsArguments&, T*, \
                                  std::int64_t) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::kernels
