// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/eigensolve.hpp>

#include "options.hpp"

/// Solver and sizes that `tessera tune` has found fastest, in a JSON file that `tessera eigen --tuning FILE`
/// takes them from.
namespace tessera::program {

struct TuningEntry {
  Index n = 0;
  char type = 'd';
  bool vectors = true;
  int workers = 1;
  Solver solver = Solver::automatic;
  Index tile = 0, band = 0, update_width = 0;
  double seconds = 0;
};

Json to_json(const TuningEntry& entry);

/// @throws InputError if the file is not there or not such a file
std::vector<TuningEntry> read_tuning(const std::string& file);

/// Adds the entries to the file; those for the same n, type, vectors and workers are replaced. @throws
/// InputError
void write_tuning(const std::string& file, const std::vector<TuningEntry>& entries);

/// Sets the solver if it is automatic, and the sizes that are 0, from the entry of the same type, vectors and
/// workers whose order is nearest; nothing if there is none within a factor of two.
void apply_tuning(const std::vector<TuningEntry>& entries, char type, Index n, bool vectors, int workers,
                  EigensolveOptions& options);

}  // namespace tessera::program
