// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "batch_problem.hpp"
#include "batch_settings.hpp"
#include "session.hpp"

/// The runs of a batch, which `tessera batch` and `bench_batch` share.
namespace tessera::program {

/// Refuses several processes, each of which would solve the same batch.
/// @throws InvalidArgument
void require_one_process(const Runtime& runtime);

/// Refuses a GPU's memory without a GPU, and a peer that cannot run here. Before any matrix is
/// read or made.
/// @throws InvalidArgument
template <class T>
void require_batch_possible(Session& session, const BatchSettings& settings);

/// Host memory in bytes that the matrices, the runs and the checks take.
template <class T>
double batch_memory(const BatchSettings& settings, Index n, Index count);

/// Solves the batch, warm-up runs first, with the peer in turn, and adds the runs and the peer to the report.
/// Matrices that fail are failures of the check of their run, which has `result.failures`; the others are checked.
/// @param keep  whether the results of the last run are returned; else those that were not checked are missing
template <class T>
BatchResults<T> run_batch_rounds(Session& session, const BatchSettings& settings,
                                 const BatchMatrices<T>& matrices, Report& report, bool keep);

}  // namespace tessera::program
