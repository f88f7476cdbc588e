// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <vector>

#include <tessera/lobpcg.hpp>

#include "report.hpp"

/// What `tessera lobpcg` tells of the iterations of a solve.
namespace tessera::program {

/// Prints one row of the table of iterations. @param heading  the table's heading comes before it
void print_step(std::FILE* to, const LobpcgStep& step, std::size_t wanted, bool heading);

/// The history in the record.
Json history_json(const std::vector<LobpcgStep>& history);

/// Replaces the stages' times by the times of each kind of work on this rank, from the solver's
/// last step. The task counts of the stages are kept.
void set_stages(RunRecord& run, const std::vector<LobpcgStep>& history);

}  // namespace tessera::program
