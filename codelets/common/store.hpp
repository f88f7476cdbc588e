// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tessera::detail {

/// Whether a kernel overwrites its result or adds to it.
enum class Store : std::uint8_t { overwrite, add };

/// The same for a WriteOrAdd operand, for the kernel of a task.
template <class Operand>
Store store_of(const Operand& result) noexcept {
  return result.first() ? Store::overwrite : Store::add;
}

}  // namespace tessera::detail
