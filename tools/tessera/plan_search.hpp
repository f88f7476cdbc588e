// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/codelets/block_sparse/product/kernels/tuned_plans.hpp>

#include "report.hpp"

/// The search of `tessera tune --stack` for the best plan of a kernel; no CUDA here.
namespace tessera::program {
using namespace detail;

/// Seconds for a stack of 300,000 products and one of DBCSR's size.
struct PlanSeconds {
  double large = unknown, small = unknown;
};

/// Who times and checks the plans of one shape, which are known by their numbers. All functions throw Error.
class PlanJudge {
 public:
  PlanJudge() = default;
  virtual ~PlanJudge() = default;
  PlanJudge(const PlanJudge&) = delete;
  PlanJudge& operator=(const PlanJudge&) = delete;
  virtual PlanSeconds time(std::size_t plan) = 0;
  /// The results on both stacks are those of the generic kernel.
  virtual void require_right(std::size_t plan) = 0;
};

struct PlanTrial {
  StackPlan plan{};
  PlanSeconds seconds{};
  std::string flaw{};  ///< why it cannot win, whatever its times are
};

struct PlanSearch {
  std::vector<PlanTrial> trials;  ///< the formula's plan first
  std::size_t best = 0;
  /// The formula's time over this one's, the geometric mean of both stacks.
  double speedup(const PlanTrial& trial) const;
};

/// What a plan must gain to take the formula's place: less is within what measurements scatter.
inline constexpr double least_speedup = 1.02;

/// Times all plans, of which the first is the formula's, and the best ones again, in turns with the formula's.
/// The fastest by at least `least_speedup` that is right wins, else the formula. A plan that fails cannot win.
/// @throws Error if the formula's fails
PlanSearch find_best_plan(const std::vector<StackPlan>& plans, PlanJudge& judge);

}  // namespace tessera::program
