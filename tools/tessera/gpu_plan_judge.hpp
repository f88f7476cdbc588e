// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "plan_search.hpp"

namespace tessera::program {

/// What tuned plans are kept under: the model of the first GPU, and the version of the kernel.
/// @throws RuntimeError without a GPU
struct TuningTarget {
  std::string gpu, kernel;
};
TuningTarget tuning_target();

/// Compiles the kernels of all plans on `threads` threads, and times and checks them on the first GPU. Every
/// plan has to pass the trial that kernels pass in the library before it is timed. @throws RuntimeError
/// without a GPU, or the memory for the stacks
std::unique_ptr<PlanJudge> make_gpu_plan_judge(const device::StackShape& shape,
                                               const std::vector<StackPlan>& plans, int threads,
                                               std::uint64_t seed);

}  // namespace tessera::program
