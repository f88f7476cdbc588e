// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tessera {

/// What becomes of the numbers that a kernel finds in the memory of its result.
enum class Store : std::uint8_t { overwrite, add };

/// What the body of a task tells its kernel of a WriteOrAdd operand.
template <class Operand>
Store store_of(const Operand& result) noexcept {
  return result.first() ? Store::overwrite : Store::add;
}

}  // namespace tessera
