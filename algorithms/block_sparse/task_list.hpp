// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/data.hpp>

namespace tessera::detail {

/// The list that a task on rank `owner` reads: the entries are looked at there alone.
template <class Entry>
Data make_task_list(Runtime& runtime, const std::vector<Entry>& entries, int owner) {
  Data list = Data::bytes(runtime, std::max<std::size_t>(entries.size(), 1) * sizeof(Entry), owner);
  if (list.local()) {
    const HostAccess access(list, HostAccess::Mode::write);
    std::copy(entries.begin(), entries.end(), access.array<Entry>().begin());
  }
  return list;
}

}  // namespace tessera::detail
