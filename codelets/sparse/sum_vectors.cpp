// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/sparse/sum_vectors.hpp>

namespace tessera {

template <class T>
void run(const HostContext&, const SumVectors<T>& task) {
  const auto y = *task.y;
  std::array<const T*, sum_vectors_inputs> z{};
  std::array<std::int64_t, sum_vectors_inputs> ldz{};
  const int inputs = task.inputs();
  for (std::size_t k = 0; k < static_cast<std::size_t>(inputs); ++k) {
    const auto from = *task.z[k];
    z[k] = from.data;
    ldz[k] = from.ld;
  }
  kernels::sum_vectors(y.cols, task.columns, static_cast<int>(y.rows), store_of(task.y), inputs, z.data(),
                       ldz.data(), y.data, y.ld);
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

#define TESSERA_DEFINE(T)                                                                     \
  TESSERA_DEFINE_TASK(SumVectors<T>)                                                          \
  template void insert_sum_vectors<T>(Sequence&, SumVectors<T>, std::span<const Data* const>, \
                                      const TaskOptions&);
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera
