// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "option_table.hpp"
#include "options.hpp"

/// Options that several commands have, as rows of their tables.
namespace tessera::program {

OptionEntry& add_type(OptionTable& table, char& type);
void add_shell_model(OptionTable& table, std::string& interaction, std::string& orbits,
                     const std::string& generate);
void add_grid(OptionTable& table, GridOption& grid);

/// Workers: cores, GPUs, scheduler.
void add_machine(OptionTable& table, CommonOptions& options);
/// Seed and numbers of runs.
void add_runs(OptionTable& table, CommonOptions& options);
void add_check(OptionTable& table, CommonOptions& options);
void add_record(OptionTable& table, CommonOptions& options);
void add_trace(OptionTable& table, CommonOptions& options);
/// All of these.
void add_common(OptionTable& table, CommonOptions& options);

/// The name of a kind of matrix, before its arguments, which the library looks at. @throws UsageError
void require_known_kind(const std::string& kind, const std::vector<std::string>& names);

}  // namespace tessera::program
