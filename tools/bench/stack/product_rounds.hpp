// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "stack_problem.hpp"

/// A stack for libraries that add one product to each C in a call.
namespace tessera::program {

/// Products m x n x k, of which no two have the same block of C; where their blocks begin.
struct ProductRound {
  std::int32_t m = 0, n = 0, k = 0;
  std::vector<std::int32_t> a, b, c;
};

/// All products of a stack: round r of a shape has the product number r of each run that is so long, so that
/// the products of a block of C are added in their order.
std::vector<ProductRound> product_rounds(const StackItem& item);

}  // namespace tessera::program
