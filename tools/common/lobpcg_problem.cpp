// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "lobpcg_problem.hpp"

#include <algorithm>
#include <atomic>
#include <tuple>

#include <fmt/format.h>

#include <tessera/saved_rows.hpp>

#include "saved_problem.hpp"
#include "usage_error.hpp"

namespace tessera::program {

void validate(const SparseSource& source) {
  if (source.generate.empty() == source.matrix.empty())
    throw UsageError("--matrix", source.matrix, "stands beside --generate",
                     "either --matrix FILE or --generate KIND[:ARG]");
  if (source.shell_model_arguments.orbits.empty()) return;
  const std::string interaction = source.used_interaction();
  const bool named = interaction == "random" || interaction == "pairing" ||
                     interaction == "pairing-quadrupole" || interaction == "minnesota";
  if (named && !source.generate.starts_with("shell:file:"))
    throw UsageError("--orbits", source.shell_model_arguments.orbits, "is not possible",
                     fmt::format("--interaction FILE or --generate shell:file:... (the {} interaction of "
                                 "{} has its own orbits)",
                                 interaction, source.generate));
}

namespace {

std::shared_ptr<const SymmetricRows> rows_of_file(const std::string& path) {
  if (path.ends_with(".h5")) return std::make_shared<SavedRows>(SavedRows::open(path));
  return std::make_shared<CoordinateRows>(CoordinateRows::from_matrix_market(path));
}

}  // namespace

SparseProblem load_rows(Session& session, const SparseSource& source) {
  SparseProblem made;
  session.together([&] {
    if (source.matrix.empty())
      static_cast<SparseGenerator&>(made) =
          naming_options([&] { return make_sparse_generator(source.generate, generator_options(source)); });
    else
      made.a = rows_of_file(source.matrix);
    if (source.of_shell_model()) {
      made.shell_model = made;
      made.kind = source.generate;
      made.interaction = source.used_interaction();
    }
    if (source.saved()) restore_shell_model(source.matrix, made);
    if (made.a->order() < 1) throw InputError(source.matrix, 0, "is of order 0");
    if (source.overlap.empty()) return;
    if (made.b)
      throw InvalidArgument("--overlap", source.overlap,
                            fmt::format("a matrix that has no B yet ({} has)", source.generate));
    made.b = rows_of_file(source.overlap);
    if (made.b->order() != made.a->order())
      throw InputError(
          source.overlap, 0,
          fmt::format("is of order {}, the matrix of order {}", made.b->order(), made.a->order()));
    made.spectrum = {};
  });
  return made;
}

template <class T>
std::vector<T> dense_matrix(const SymmetricRows& rows) {
  const auto n = static_cast<std::size_t>(rows.order());
  std::vector<T> a(n * n, T(0));
  using S = detail::WideOf<T>;
  for_stored<S>(rows, 1, [&](Index row, Index column, S value, int) {
    const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(column);
    a[i + j * n] = static_cast<T>(value);
    a[j + i * n] = conjugate(a[i + j * n]);
  });
  return a;
}

template <class V>
FullRows<V> full_rows(const SymmetricRows& rows, int threads) {
  FullRows<V> full;
  const auto n = static_cast<std::size_t>(rows.order());
  full.begins.assign(n + 1, 0);
  const auto increment = [](Index& count) {
    return std::atomic_ref(count).fetch_add(1, std::memory_order_relaxed);
  };
  using S = detail::WideOf<V>;
  for_stored<S>(rows, threads, [&](Index row, Index column, S, int) {
    increment(full.begins[static_cast<std::size_t>(row) + 1]);
    if (row != column) increment(full.begins[static_cast<std::size_t>(column) + 1]);
  });
  for (std::size_t i = 0; i < n; ++i) full.begins[i + 1] += full.begins[i];
  full.columns.resize(static_cast<std::size_t>(full.begins[n]));
  full.values.resize(full.columns.size());
  std::vector<Index> next(full.begins.begin(), full.begins.end() - 1);
  const auto put = [&](Index row, Index column, S value) {
    const auto at = static_cast<std::size_t>(increment(next[static_cast<std::size_t>(row)]));
    full.columns[at] = static_cast<std::int32_t>(column);
    full.values[at] = static_cast<V>(value);
  };
  for_stored<S>(rows, threads, [&](Index row, Index column, S value, int) {
    put(row, column, value);
    if (row != column) put(column, row, conjugate(value));
  });
  // The entries of a row were inserted in arbitrary order.
  std::vector<std::vector<std::pair<std::int32_t, V>>> space(static_cast<std::size_t>(threads));
  parallel_for(threads, rows.order(), [&](Index row, int thread) {
    const auto begin = static_cast<std::size_t>(full.begins[static_cast<std::size_t>(row)]),
               end = static_cast<std::size_t>(full.begins[static_cast<std::size_t>(row) + 1]);
    auto& sorted = space[static_cast<std::size_t>(thread)];
    sorted.clear();
    for (std::size_t e = begin; e < end; ++e) sorted.emplace_back(full.columns[e], full.values[e]);
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t e = begin; e < end; ++e) std::tie(full.columns[e], full.values[e]) = sorted[e - begin];
  });
  return full;
}

#define TESSERA_INSTANTIATE(T)                                   \
  template std::vector<T> dense_matrix<T>(const SymmetricRows&); \
  template FullRows<T> full_rows<T>(const SymmetricRows&, int);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::program
