// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/matrix_functions.hpp>

#include "report.hpp"

/// The steps of the iterations that lead to a density matrix: table, record, stages.
namespace tessera::program {

/// Names of the stages, in the order of their first steps.
std::vector<std::string> stages_in_order(const std::vector<IterationStep>& steps);

/// The heading of the table, and one row. @param gpus  with a column of the GPUs' memory
std::string step_heading(bool gpus);
std::string step_row(const IterationStep& step, bool gpus);

/// The rows as objects; null for what is not known.
Json steps_json(const std::vector<IterationStep>& steps);

/// A stage for each iteration, and one, `rest`, for the time between them.
std::vector<StageRecord> stages_of_steps(const IterationReport& report, const std::string& rest);

}  // namespace tessera::program
