// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <tessera/block_vectors.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

/// What y := A x asks of its vectors. @throws InvalidArgument
template <class T>
void check_operands(const RowSegments& segments, const BlockVectors<T>& x, const BlockVectors<T>& y,
                    Index columns) {
  constexpr Index max_columns = 32;
  const auto check = [&](const char* name, const BlockVectors<T>& vectors) {
    bool fits = vectors.rows() == segments.rows() && vectors.count() == segments.count();
    for (Index s = 0; fits && s < segments.count(); ++s)
      fits = vectors.segments().begin(s) == segments.begin(s) &&
             vectors.segments().owner(s) == segments.owner(s);
    if (!fits)
      throw InvalidArgument(
          name, fmt::format("{} rows in {} segments", vectors.rows(), vectors.count()),
          fmt::format("{} rows in {} segments as the operator has them", segments.rows(), segments.count()));
  };
  check("x", x);
  check("y", y);
  if (columns < 1 || columns > std::min({x.width(), y.width(), max_columns}))
    throw InvalidArgument("columns", fmt::format("{}", columns),
                          fmt::format("1 to {}", std::min({x.width(), y.width(), max_columns})));
  if (x.segment(0).handle() == y.segment(0).handle()) throw InvalidArgument("y", "x", "other vectors than x");
}

}  // namespace tessera::detail
