// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>

#include <tessera/data.hpp>

namespace tessera::detail {

/// A piece of every rank with these values; never empty: without values it has one that is zero.
template <class E>
Data replicated(Runtime& runtime, std::span<const E> values) {
  Data data = Data::bytes(runtime, std::max<std::size_t>(values.size(), 1) * sizeof(E), Data::every_rank);
  const HostAccess access(data, HostAccess::Mode::write);
  const auto array = access.array<E>();
  array[0] = E{};
  std::copy(values.begin(), values.end(), array.begin());
  return data;
}

}  // namespace tessera::detail
