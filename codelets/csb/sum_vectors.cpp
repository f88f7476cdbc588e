// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <tessera/codelets/csb/sum_vectors.hpp>
#include <tessera/codelets/csb/sum_vectors_arguments.hpp>

namespace tessera {
namespace {

using csb_codelets::SumVectorsArguments;

template <class T>
void sum_task(const TaskContext&, TaskBuffers buffers, const SumVectorsArguments& arguments) {
  const auto y = buffers.matrix<T>(0);
  std::array<const T*, sum_vectors_inputs> z{};
  std::array<std::int64_t, sum_vectors_inputs> ldz{};
  for (int k = 0; k < arguments.inputs; ++k) {
    const auto from = buffers.matrix<const T>(1 + k);
    z[static_cast<std::size_t>(k)] = from.data;
    ldz[static_cast<std::size_t>(k)] = from.ld;
  }
  kernels::sum_vectors(y.cols, arguments.columns, static_cast<int>(y.rows), arguments.overwrite,
                       arguments.inputs, z.data(), ldz.data(), y.data, y.ld);
}

template <class T>
Codelet sum_codelet = make_codelet<SumVectorsArguments, sum_task<T>>("sum_vectors", type_letter<T>);

}  // namespace

template <class T>
void insert_sum_vectors(Sequence& sequence, int priority, Index rows, int columns, bool overwrite,
                        std::span<const Data* const> inputs, const Data& y, int gpu) {
  while (overwrite || !inputs.empty()) {
    const auto now = inputs.first(std::min<std::size_t>(inputs.size(), sum_vectors_inputs));
    std::array<Access, 1 + sum_vectors_inputs> accesses;
    accesses[0] = overwrite ? write(y) : read_write(y);
    std::transform(now.begin(), now.end(), accesses.begin() + 1,
                   [](const Data* data) { return read(*data); });
    const double flops = static_cast<double>(rows) * columns * static_cast<double>(now.size());
    sequence.insert(sum_codelet<T>, SumVectorsArguments{columns, static_cast<int>(now.size()), overwrite},
                    {.priority = priority, .flops = flops, .gpu = gpu},
                    std::span<const Access>(accesses.data(), 1 + now.size()));
    overwrite = false;
    inputs = inputs.subspan(now.size());
  }
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template void insert_sum_vectors<T>(Sequence&, int, Index, int, bool, std::span<const Data* const>, \
                                      const Data&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera
