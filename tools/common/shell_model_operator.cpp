// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shell_model_operator.hpp"

#include <algorithm>

#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/shell_model.hpp>

namespace tessera::program {
using namespace detail;

namespace {

/// Calls visit(k) for k = 0, ..., count - 1 on threads.
template <class Visit>
void for_all(const Runtime& runtime, std::size_t count, const Visit& visit) {
  constexpr std::size_t part = 16384;
  parallel_for(host_threads(runtime), static_cast<Index>((count + part - 1) / part), [&](Index p, int) {
    const std::size_t begin = static_cast<std::size_t>(p) * part;
    for (std::size_t k = begin; k < std::min(begin + part, count); ++k) visit(k);
  });
}

}  // namespace

template <class T>
struct ShellModelOperator<T>::Parts {
  Runtime& runtime;
  ShellModelProduct product;
};

template <class T>
ShellModelOperator<T>::ShellModelOperator(Runtime& runtime, const SparseGenerator& shell_model)
    : ShellModelOperator([&] {
        Parts parts{runtime, {}};
        agree(runtime, 0, [&] { parts.product = shell_model_product(shell_model); });
        return parts;
      }()) {}

template <class T>
ShellModelOperator<T>::ShellModelOperator(Parts parts)
    : runtime_(parts.runtime),
      operator_(TwoSpeciesOperator<T>::build(parts.runtime, parts.product.structure)),
      rows_(std::move(parts.product.rows)) {}

template <class T>
std::vector<T> ShellModelOperator<T>::by_rows(const std::vector<T>& given, Index columns) const {
  std::vector<T> result(given.size());
  for_all(runtime_, rows_.size(), [&](std::size_t k) {
    std::copy_n(given.data() + k * static_cast<std::size_t>(columns), columns,
                result.data() + rows_[k] * columns);
  });
  return result;
}

template <class T>
std::vector<T> ShellModelOperator<T>::by_states(const std::vector<T>& given, Index columns) const {
  std::vector<T> result(given.size());
  for_all(runtime_, rows_.size(), [&](std::size_t k) {
    std::copy_n(given.data() + rows_[k] * columns, columns,
                result.data() + k * static_cast<std::size_t>(columns));
  });
  return result;
}

template class ShellModelOperator<float>;
template class ShellModelOperator<double>;

}  // namespace tessera::program
