// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <tessera/runtime.hpp>

/// Lists that one rank makes and another one needs, each with a key that tells which it is.
namespace tessera::detail {

template <class Key, class Entry>
struct KeyedList {
  Key key;
  std::vector<Entry> entries;
};

/// Sends each list to the rank `rank_of(key)`: the lists that are for this rank. Collective; in one process the
/// lists themselves.
template <class Key, class Entry, class RankOf>
std::vector<KeyedList<Key, Entry>> send_lists(const Runtime& runtime,
                                              std::vector<KeyedList<Key, Entry>> lists,
                                              const RankOf& rank_of) {
  static_assert(std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Entry>);
  if (runtime.size() == 1) return lists;
  std::vector<std::vector<std::byte>> pieces(static_cast<std::size_t>(runtime.size()));
  for (const auto& [key, entries] : lists) {
    auto& piece = pieces[static_cast<std::size_t>(rank_of(key))];
    const auto append = [&](std::span<const std::byte> bytes) {
      piece.insert(piece.end(), bytes.begin(), bytes.end());
    };
    const std::size_t count = entries.size();
    append(std::as_bytes(std::span(&key, 1)));
    append(std::as_bytes(std::span(&count, 1)));
    append(std::as_bytes(std::span(entries)));
  }
  lists.clear();
  for (const auto& piece : runtime.all_to_all(std::move(pieces)))
    for (const std::byte *at = piece.data(), *const end = at + piece.size(); at != end;) {
      auto& [key, entries] = lists.emplace_back();
      std::size_t count;
      std::memcpy(static_cast<void*>(&key), at, sizeof key);
      std::memcpy(&count, at + sizeof key, sizeof count);
      at += sizeof key + sizeof count;
      entries.resize(count);
      if (count > 0) std::memcpy(static_cast<void*>(entries.data()), at, count * sizeof(Entry));
      at += count * sizeof(Entry);
    }
  return lists;
}

/// The values of all ranks, ascending, each once. Collective.
template <class Value>
std::vector<Value> values_of_all(const Runtime& runtime, std::vector<Value> values) {
  static_assert(std::is_trivially_copyable_v<Value>);
  if (runtime.size() > 1) {
    const auto pieces = runtime.all_gather(std::as_bytes(std::span<const Value>(values)));
    values.clear();
    for (const auto& piece : pieces)
      for (std::size_t at = 0; at < piece.size(); at += sizeof(Value))
        std::memcpy(static_cast<void*>(&values.emplace_back()), piece.data() + at, sizeof(Value));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace tessera::detail
