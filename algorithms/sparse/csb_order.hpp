// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::detail {

/// A task of a product: the sums that it adds to, by number (one: rows = columns), and its cost, in any unit.
struct CsbTask {
  Index rows, columns;
  double cost;
};

/// The order of the tasks with which workers end earliest, where tasks that add to the same sum wait for each
/// other in this order. A free worker takes a task whose sums no other worker adds to: one that adds to the
/// sum with the most work left, and among these the one whose other sum has the most work left. The order is
/// that in which the tasks then begin. (A dense schedule of an open shop whose machines are the sums, for a
/// limited number of workers.)
/// @param sums Their number. @param workers At least 1.
/// @returns the tasks' numbers
std::vector<Index> order_csb_tasks(std::span<const CsbTask> tasks, Index sums, Index workers);

}  // namespace tessera::detail
