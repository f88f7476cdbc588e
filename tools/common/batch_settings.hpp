// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "option_table.hpp"

/// The options that `tessera batch` and `bench_batch` share, as rows of their tables.
namespace tessera::program {

struct BatchSettings {
  CommonOptions common;
  std::string generate;
  char type = 'd';
  bool vectors = true;
  Index chunk = 0;               ///< matrices of a task; 0: the library's choice
  std::string keep_on = "host";  ///< location of the matrices before and of the results after: host, gpu
  std::string peer = "none";
};

void add_batch_solver(OptionTable& table, BatchSettings& settings);
/// --keep-on
void add_batch_place(OptionTable& table, BatchSettings& settings);
void add_batch_peer(OptionTable& table, BatchSettings& settings);

}  // namespace tessera::program
