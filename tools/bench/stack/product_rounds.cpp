// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "product_rounds.hpp"

#include <span>

namespace tessera::program {

std::vector<ProductRound> product_rounds(const StackItem& item) {
  std::vector<ProductRound> rounds;
  for (const StackClass& shape : item.classes) {
    const std::size_t before = rounds.size();
    const auto runs = std::span(item.runs).subspan(static_cast<std::size_t>(shape.first_run),
                                                   static_cast<std::size_t>(shape.runs));
    for (const StackRun& run : runs)
      for (std::int32_t p = 0; p < run.count; ++p) {
        const std::size_t number = before + static_cast<std::size_t>(p);
        if (number == rounds.size()) rounds.push_back({shape.m, shape.n, shape.k, {}, {}, {}});
        const StackEntry entry = item.entries[static_cast<std::size_t>(run.first + p)];
        rounds[number].a.push_back(static_cast<std::int32_t>(entry.a));
        rounds[number].b.push_back(static_cast<std::int32_t>(entry.b));
        rounds[number].c.push_back(run.c);
      }
  }
  return rounds;
}

}  // namespace tessera::program
