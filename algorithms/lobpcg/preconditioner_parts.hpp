// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/block_vectors.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

/// What several preconditioners have in common.
namespace tessera::detail {

/// Least and largest; zeros of nothing.
inline std::pair<double, double> least_and_largest(std::span<const double> values) {
  if (values.empty()) return {0, 0};
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  return {*least, *largest};
}
/// The largest less the least.
inline double spread(std::span<const double> values) {
  const auto [least, largest] = least_and_largest(values);
  return largest - least;
}

/// Checks that r and w have these segments and this number of columns. @throws InvalidArgument
template <class T>
void require_blocks(const RowSegments& segments, const BlockVectors<T>& r, const BlockVectors<T>& w,
                    Index columns) {
  for (const BlockVectors<T>* v : {&r, &w})
    if (v->count() != segments.count() || v->rows() != segments.rows())
      throw InvalidArgument("vectors", fmt::format("{} rows in {} segments", v->rows(), v->count()),
                            fmt::format("{} rows in {} segments", segments.rows(), segments.count()));
  if (columns < 1 || columns > std::min(r.width(), w.width()))
    throw InvalidArgument("columns", fmt::format("{}", columns),
                          fmt::format("1 to {}", std::min(r.width(), w.width())));
}

/// Of what the options of all preconditioners have in common.
template <class Options>
std::uint64_t hash_of_options(const Options& options) {
  return argument_hash(options.end, options.shift.has_value(), options.shift.value_or(0), options.b_norm);
}

/// A piece of data with these elements, at its owner.
template <class E>
Data owned_array(Runtime& runtime, const std::vector<E>& elements, int owner) {
  Data data = Data::bytes(runtime, elements.size() * sizeof(E), owner);
  if (data.local()) {
    const HostAccess access(data, HostAccess::Mode::write);
    std::copy(elements.begin(), elements.end(), access.array<E>().begin());
  }
  return data;
}

}  // namespace tessera::detail
