// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <tessera/types.hpp>

namespace tessera {

/// A task of a product: the sums that it adds to, by number (one: rows = columns), and its cost, in any unit.
struct CsbTask {
  Index rows, columns;
  double cost;
};

/// The order in which workers do the tasks soonest, when those that add to the same sum wait for each other
/// in this order: that in which they begin if whoever is free takes, of the tasks whose sums nobody adds to,
/// one that adds to the sum with the most left to be added, and of those the one whose other sum has most
/// left. (A dense schedule of an open shop whose machines are the sums, for a limited number of workers.)
/// @param sums Their number. @param workers At least 1.
/// @returns the tasks' numbers
std::vector<Index> order_csb_tasks(std::span<const CsbTask> tasks, Index sums, Index workers);

}  // namespace tessera
