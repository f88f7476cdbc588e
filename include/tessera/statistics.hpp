// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/types.hpp>

/// @file
/// What a finished computation has cost.
namespace tessera {

/// One stage of a Sequence, on this rank.
struct StageStatistics {
  std::string name;  ///< as Sequence::begin_stage was told
  /// From the end of the stage before (or the first task) to the end of this one: they add up to the whole.
  double seconds = 0;
  double busy_seconds = 0;  ///< summed over the workers
  double flops = 0;         ///< as counted by the tasks
  Index tasks = 0;          ///< that ran on this rank
  Index device_tasks = 0;   ///< of these, tasks that ran on GPUs
  /// Of the worker that was busy longest. Stages overlap, so that a stage may take longer than `seconds`, but
  /// never less than this.
  double longest_busy_seconds = 0;
};

/// All tasks of one kind in a Sequence, on this rank.
struct CodeletStatistics {
  std::string name;    ///< of the task, with the letter of its scalar type
  Index tasks = 0;     ///< that ran on this rank
  double seconds = 0;  ///< of workers
  double flops = 0;    ///< as counted by the tasks
};

/// A whole Sequence, on this rank.
struct SequenceStatistics {
  double submit_seconds = 0;  ///< from construction to the last insertion
  double total_seconds = 0;   ///< from construction to the end of the last task
  double busy_share = 0;      ///< busy seconds / (workers x total)
  Index tasks = 0;            ///< that ran on this rank
  /// Every stage begun, the same on all ranks, also without tasks on this one.
  std::vector<StageStatistics> stages;
  std::vector<CodeletStatistics> codelets;  ///< those that ran
};

}  // namespace tessera
