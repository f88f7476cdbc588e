// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/sparse/sum_vectors.hpp>

namespace tessera::detail {

template <class T>
void kernels::sum_vectors(std::int64_t rows, int columns, int width, Store store, int inputs,
                          const T* const* z, const std::int64_t* ldz, T* y, std::int64_t ldy) noexcept {
  for (std::int64_t i = 0; i < rows; ++i) {
    T* const row = y + i * ldy;
    if (store == Store::overwrite) std::fill_n(row, width, T(0));
    for (int k = 0; k < inputs; ++k) {
      const T* const from = z[k] + i * ldz[k];
      for (int j = 0; j < columns; ++j) row[j] += from[j];
    }
  }
}

template <class T>
void run(const HostContext&, const SumVectors<T>& task) {
  using R = RealOf<T>;
  const auto y = real_view(*task.y);
  std::array<const R*, sum_vectors_inputs> z{};
  std::array<std::int64_t, sum_vectors_inputs> ldz{};
  const int inputs = task.inputs();
  for (std::size_t k = 0; k < static_cast<std::size_t>(inputs); ++k) {
    const auto from = real_view(*task.z[k]);
    z[k] = from.data;
    ldz[k] = from.ld;
  }
  kernels::sum_vectors(y.cols, reals_of<T> * task.columns, static_cast<int>(y.rows), store_of(task.y), inputs,
                       z.data(), ldz.data(), y.data, y.ld);
}

template <class T>
void insert_sum_vectors(Sequence& sequence, SumVectors<T> task, std::span<const Data* const> inputs,
                        const TaskOptions& options) {
  do {
    const auto now = inputs.first(std::min(inputs.size(), task.z.size()));
    task.z = {};
    std::copy(now.begin(), now.end(), task.z.begin());
    sequence.insert(task, options);
    inputs = inputs.subspan(now.size());
  } while (!inputs.empty());
}

#define TESSERA_DEFINE_REAL(T)                                                               \
  template void kernels::sum_vectors<T>(std::int64_t, int, int, Store, int, const T* const*, \
                                        const std::int64_t*, T*, std::int64_t) noexcept;
TESSERA_FOR_REALS(TESSERA_DEFINE_REAL)

#define TESSERA_DEFINE(T)                                                                     \
  TESSERA_DEFINE_TASK(SumVectors<T>)                                                          \
  template void insert_sum_vectors<T>(Sequence&, SumVectors<T>, std::span<const Data* const>, \
                                      const TaskOptions&);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
