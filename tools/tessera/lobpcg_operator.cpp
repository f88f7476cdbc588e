// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lobpcg_operator.hpp"

#include <algorithm>

#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/shell_model.hpp>

#include "usage_error.hpp"

namespace tessera::program {
using namespace detail;

bool is_product_free(const LobpcgProgramOptions& options, const SparseProblem& problem, int ranks) {
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
  // Over ranks a stored matrix needs parts of x alone on each, a product all of it.
  return !possible && (options.product == "free" || ranks == 1);
}

template <class V, class T>
ProgramOperator<V, T>::ProgramOperator(Runtime& runtime, const SparseGenerator& shell_model)
    : runtime_(runtime) {
  ShellModelProduct product;
  agree(runtime, 0, [&] { product = shell_model_product(shell_model); });
  free_ = std::make_unique<TwoSpeciesOperator<T>>(TwoSpeciesOperator<T>::build(runtime, product.structure));
  rows_ = std::move(product.rows);
}

template <class V, class T>
BlockVectors<T> ProgramOperator<V, T>::by_rows(BlockVectors<T> vectors, Index count) const {
  if (stored_ || count == 0) return vectors;
  const std::size_t elements = rows_.size() * static_cast<std::size_t>(count);
  std::vector<T> given(elements), sorted(elements);
  vectors.get(given.data(), count, count);
  constexpr std::size_t part = 16384;
  parallel_for(host_threads(runtime_), static_cast<Index>((rows_.size() + part - 1) / part),
               [&](Index p, int) {
                 const std::size_t begin = static_cast<std::size_t>(p) * part,
                                   end = std::min(begin + part, rows_.size());
                 for (std::size_t i = begin; i < end; ++i)
                   std::copy_n(given.data() + i * static_cast<std::size_t>(count), count,
                               sorted.data() + rows_[i] * count);
               });
  BlockVectors<T> result(runtime_, vectors.shared_segments(), count);
  vectors.release();
  result.set(sorted.data(), count, count);
  return result;
}

template class ProgramOperator<double, double>;
template class ProgramOperator<float, double>;
template class ProgramOperator<float, float>;

}  // namespace tessera::program
