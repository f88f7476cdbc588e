// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "spmm_plots.hpp"

namespace tessera::program {

/// For each baseline in records of bench_spmm (--json) a map, matrices by vectors: its median time over ours. Of
/// several records for one place the last one counts.
/// @throws InputError for files that are no records of bench_spmm with a baseline
std::vector<HeatMap> speedups_of(const std::vector<std::string>& files);

}  // namespace tessera::program
