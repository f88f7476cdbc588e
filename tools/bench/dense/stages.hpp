// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <tessera/runtime/sequence.hpp>

#include "options.hpp"
#include "report.hpp"
#include "session.hpp"

/// The stages of the dense eigensolver one by one, for `tessera bench`.
namespace tessera::program {

/// One stage on one matrix. A round is prepare(), submit() into a sequence that is waited for and timed,
/// check().
class StageBench {
 public:
  virtual ~StageBench() = default;
  /// Everything that the stage needs, from the matrix on; not timed.
  virtual void prepare() = 0;
  /// Inserts the stage's tasks.
  virtual void submit(Sequence& sequence) = 0;
  /// Scaled errors of what the stage has made.
  virtual CheckRecord check() = 0;
  /// The routine of the library that --peer names for the same job on the same data, its name in `name`; its
  /// seconds, or NaN if there is none.
  virtual double peer(std::string& name) = 0;
};

/// @param stage a name of bench_stages()
template <class T>
std::unique_ptr<StageBench> make_stage_bench(Session& session, const BenchProgramOptions& options);

/// GFLOP/s of tiled matrix products through the runtime on all workers, best of `repeat`: the machine's
/// limit.
template <class T>
double measure_gemm_limit(Session& session, Index n, int repeat);

}  // namespace tessera::program
