// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

/// The members of an aggregate in order of declaration: so the runtime finds the operands of a task's struct.
/// Arrays among them must be std::array, and there are no base classes.
namespace tessera::detail {

struct AnyMember {
  template <class Member>
  operator Member() const;
};

template <class Aggregate, std::size_t... index>
constexpr bool is_made_of(std::index_sequence<index...>) {
  return requires {
    Aggregate{(static_cast<void>(index), AnyMember{})...};
  };
}

inline constexpr std::size_t max_members = 20;

/// The largest number of initialisers that the aggregate takes.
template <class Aggregate, std::size_t count = max_members>
constexpr std::size_t member_count() {
  static_assert(std::is_aggregate_v<Aggregate>, "a task is an aggregate");
  if constexpr (count == 0 || is_made_of<Aggregate>(std::make_index_sequence<count>{}))
    return count;
  else
    return member_count<Aggregate, count - 1>();
}

/// Calls visit(member) for each.
template <class Aggregate, class Visit>
constexpr void for_each_member(Aggregate& aggregate, const Visit& visit) {
  constexpr std::size_t count = member_count<std::remove_const_t<Aggregate>>();
  static_assert(count < max_members,
                "a task has too many members: put parameters that belong together into a struct");
#define TESSERA_MEMBERS(number, ...)                                  \
  else if constexpr (count == number) {                               \
    auto& [__VA_ARGS__] = aggregate;                                  \
    const auto each = [&](auto&... member) { (visit(member), ...); }; \
    each(__VA_ARGS__);                                                \
  }
  if constexpr (count == 0) {
  }
  TESSERA_MEMBERS(1, a)
  TESSERA_MEMBERS(2, a, b)
  TESSERA_MEMBERS(3, a, b, c)
  TESSERA_MEMBERS(4, a, b, c, d)
  TESSERA_MEMBERS(5, a, b, c, d, e)
  TESSERA_MEMBERS(6, a, b, c, d, e, f)
  TESSERA_MEMBERS(7, a, b, c, d, e, f, g)
  TESSERA_MEMBERS(8, a, b, c, d, e, f, g, h)
  TESSERA_MEMBERS(9, a, b, c, d, e, f, g, h, i)
  TESSERA_MEMBERS(10, a, b, c, d, e, f, g, h, i, j)
  TESSERA_MEMBERS(11, a, b, c, d, e, f, g, h, i, j, k)
  TESSERA_MEMBERS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  TESSERA_MEMBERS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  TESSERA_MEMBERS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  TESSERA_MEMBERS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  TESSERA_MEMBERS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  TESSERA_MEMBERS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  TESSERA_MEMBERS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  TESSERA_MEMBERS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
#undef TESSERA_MEMBERS
}

}  // namespace tessera::detail
