// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "random_stack.hpp"

#include <algorithm>

#include <tessera/codelets/common/splitmix.hpp>

namespace tessera::program {

RandomStack random_stack(Index m, Index n, Index k, Index products, std::uint64_t seed) {
  const Index runs = std::max<Index>(1, products / 16);
  auto draw = [&, number = std::uint64_t{0}](Index below) mutable {
    return static_cast<Index>(splitmix(seed, number++) % static_cast<std::uint64_t>(below));
  };
  const auto narrow = [](Index x) { return static_cast<std::int32_t>(x); };
  RandomStack stack;
  stack.shape = {narrow(m), narrow(n), narrow(k), 0, narrow(runs), 0, narrow(products)};
  for (Index r = 0, first = 0; r < runs; ++r) {
    Index end = products * (r + 1) / runs;
    if (r + 1 < runs) end += draw(12) - 6;
    stack.runs.push_back({narrow(r * m * n), narrow(first), narrow(end - first)});
    first = end;
  }
  for (Index p = 0; p < products; ++p)
    stack.entries.push_back(
        {narrow(draw(random_stack_blocks) * m * k), narrow(draw(random_stack_blocks) * k * n)});
  return stack;
}

}  // namespace tessera::program
