// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/find_products.hpp>

namespace tessera::detail {

/// Pairs of tasks that make a pattern by choosing blocks (find_kept.hpp, find_united.hpp) work like
/// find_products and write_product_pattern: one counts, row by row; the host, which learns the sizes, makes
/// room; the other writes. The numbers that the former has for a panel: those that TotalsLayout has in common;
/// then one of its own.
struct ChosenLayout {
  static constexpr std::int32_t identity = TotalsLayout::identity, counted = TotalsLayout::common,
                                size = TotalsLayout::common + 1;
};

/// What such a task takes, about, for the bytes of its operands.
inline double choice_seconds(WorkerKind kind, double bytes) noexcept {
  return kind == WorkerKind::gpu ? 1e-5 + bytes / 1e12 : 5e-6 + bytes / 1e9;
}

}  // namespace tessera::detail
