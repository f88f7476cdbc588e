// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <tessera/data.hpp>
#include <tessera/runtime.hpp>

namespace tessera::detail {

/// The list that a task on rank `owner` reads, or each rank for itself (Data::every_rank); the entries are looked
/// at there alone. Never empty: without entries it has one that is zero.
template <class Entry>
Data make_task_list(Runtime& runtime, std::span<const Entry> entries, int owner = Data::every_rank) {
  Data list = Data::bytes(runtime, std::max<std::size_t>(entries.size(), 1) * sizeof(Entry), owner);
  if (list.local()) {
    const HostAccess access(list, HostAccess::Mode::write);
    const auto array = access.array<Entry>();
    array[0] = Entry{};
    std::copy(entries.begin(), entries.end(), array.begin());
  }
  return list;
}
template <class Entry>
Data make_task_list(Runtime& runtime, const std::vector<Entry>& entries, int owner = Data::every_rank) {
  return make_task_list(runtime, std::span<const Entry>(entries), owner);
}

/// Stands, among the operands of a task, for a list that another rank has for itself; in one process nothing.
inline Data stand_in(Runtime& runtime, std::size_t entry_bytes) {
  return runtime.size() > 1 ? Data::bytes(runtime, entry_bytes, Data::every_rank) : Data();
}

}  // namespace tessera::detail
