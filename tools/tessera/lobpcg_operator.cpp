// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lobpcg_operator.hpp"

#include <tessera/codelets/sparse/csb_layout.hpp>
#include <tessera/runtime/host_memory.hpp>

#include "usage_error.hpp"

namespace tessera::program {

namespace {

/// Whether the stored matrix takes less than half of a GPU's or the host's memory, by some of its rows.
bool fits(const Runtime& runtime, const SymmetricRows& rows, char storage) {
  constexpr Index samples = 100;
  const Index n = rows.order(), count = std::min(n, samples);
  std::vector<SparseEntry> entries;
  for (Index k = 0; k < count; ++k) {
    const Index row = count == n ? k : (2 * k + 1) * n / (2 * count);
    rows.entries(row, row + 1, 0, row + 1, entries);
  }
  const double bytes = static_cast<double>(entries.size()) / static_cast<double>(count) *
                       static_cast<double>(n) * (storage == 'f' ? 8 : 12);
  const auto gpu = static_cast<double>(runtime.info().gpu_memory_bytes);
  return bytes < 0.5 * (runtime.any_gpus() ? gpu : static_cast<double>(available_host_memory()));
}

}  // namespace

bool is_product_free(const LobpcgProgramOptions& options, const SparseProblem& problem,
                     const Runtime& runtime) {
  if (options.product == "stored") return false;
  const char* possible = nullptr;
  if (!problem.of_shell_model() || options.generate.empty())
    possible = "stored, for another matrix than --generate shell:...";
  else if (problem.b)
    possible = "stored, with B";
  else if (!options.save_matrix.empty())
    possible = "stored, with --save-matrix";
  else if (options.nd > 0)
    possible = "stored, with --nd";
  else if (options.storage != options.vectors_type)
    possible = "stored, with matrix and vectors of different types";
  else if (options.preconditioner == "fom" || options.steps > 0)
    possible = "stored, with --preconditioner fom";
  if (options.product == "free" && possible)
    throw UsageError("--product", "free", "is not possible", possible);
  if (possible || options.product == "free") return !possible;
  // Over ranks a stored matrix needs parts of x alone on each, a product all of it.
  if (runtime.size() > 1) return false;
  // Without a core there are few nucleons in many states: products of a stored matrix are faster, if it fits.
  return !options.generate.starts_with("shell:nocore:") || !fits(runtime, *problem.a, options.storage);
}

template <class V, class T>
std::unique_ptr<ProgramOperator<V, T>> ProgramOperator<V, T>::without_matrix(
    Runtime& runtime, const SparseGenerator& shell_model) {
  std::unique_ptr<ProgramOperator> made(new ProgramOperator(runtime));
  made->free_ = std::make_unique<ShellModelOperator<RealOf<T>>>(runtime, shell_model);
  return made;
}

template <class V, class T>
BlockVectors<T> ProgramOperator<V, T>::by_rows(BlockVectors<T> vectors, Index count) const {
  if (stored_ || count == 0) return vectors;
  if constexpr (!is_complex<T>) {
    std::vector<T> values(static_cast<std::size_t>(vectors.rows() * count));
    vectors.get(values.data(), count, count);
    BlockVectors<T> result(runtime_, vectors.shared_segments(), count);
    vectors.release();
    values = free_->by_rows(values, count);
    result.set(values.data(), count, count);
    return result;
  }
  return vectors;
}

#define TESSERA_INSTANTIATE(V, T) template class ProgramOperator<V, T>;
TESSERA_FOR_STORED(TESSERA_INSTANTIATE)

}  // namespace tessera::program
