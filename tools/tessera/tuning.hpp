// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/eigensolve.hpp>

#include "options.hpp"

/// Fastest solver and sizes found by `tessera tune`, in a JSON file that `tessera eigen --tuning
/// FILE` reads.
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

/// @throws InputError if the file does not exist or has another format
std::vector<TuningEntry> read_tuning(const std::string& file);

/// Adds the entries to the file. They replace entries with the same n, type, vectors and workers.
/// @throws InputError
void write_tuning(const std::string& file, const std::vector<TuningEntry>& entries);

/// Takes the solver, if it is automatic, and the sizes that are 0 from the entry with the same
/// type, vectors and workers whose order is nearest. Changes nothing if no order is within a factor
/// of two.
void apply_tuning(const std::vector<TuningEntry>& entries, char type, Index n, bool vectors, int workers,
                  EigensolveOptions& options);

}  // namespace tessera::program
