// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Pointers as one parameter of a kernel.
namespace tessera::detail::device {

inline constexpr int max_pointers = 64;

template <class S>
struct Pointers {
  S* pointer[max_pointers];
  int count = 0;
  void add(S* next) noexcept { pointer[count++] = next; }
};

}  // namespace tessera::detail::device
