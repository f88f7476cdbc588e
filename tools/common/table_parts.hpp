// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common_options.hpp"
#include "option_table.hpp"
#include "shell_model_arguments.hpp"

/// Options that several commands and benchmarks share, as rows of their tables.
namespace tessera::program {

OptionEntry& add_type(OptionTable& table, char& type);
/// float or double
OptionEntry& add_precision(OptionTable& table, std::string name, char& precision, std::string help);
/// --generate of dense Hermitian matrices
OptionEntry& add_dense_generator(OptionTable& table, std::string& generate);
/// --generate of sparse symmetric matrices
OptionEntry& add_sparse_generator(OptionTable& table, std::string& generate);
void add_shell_model(OptionTable& table, ShellModelArguments& arguments, const std::string& generate);
/// Tile and band sizes of the dense two-stage solver.
void add_sizes(OptionTable& table, Index& tile, Index& band, Index& update_width, Index& column_groups,
               bool& split_products);
void add_grid(OptionTable& table, GridOption& grid);

/// Workers: cores, GPUs, scheduler.
void add_machine(OptionTable& table, CommonOptions& options);
/// Random seed and numbers of runs.
void add_runs(OptionTable& table, CommonOptions& options);
/// If a peer runs on a GPU, both sides get a warm-up run, unless the user gives --warmup. For
/// tables with --warmup.
void warm_up_with_gpu_peer(OptionTable& table, const std::string& peer, CommonOptions& common);
void add_check(OptionTable& table, CommonOptions& options);
void add_record(OptionTable& table, CommonOptions& options);
void add_trace(OptionTable& table, CommonOptions& options);
/// All of the common options above.
void add_common(OptionTable& table, CommonOptions& options);

/// Checks the name of a kind of matrix, without its arguments, which the library checks. @throws
/// UsageError
void require_known_kind(const std::string& kind, const std::vector<std::string>& names);

}  // namespace tessera::program
