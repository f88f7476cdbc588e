// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <tessera/eigensolve.hpp>
#include <tessera/runtime/sequence.hpp>

#include "dense_options.hpp"
#include "report.hpp"
#include "routine_peer.hpp"
#include "session.hpp"

/// The single stages of the dense eigensolver, for `bench_dense`.
namespace tessera::program {
using namespace detail;

/// The sizes for all stages: the options, or the solver's choice where they are 0.
template <class T>
EigensolveOptions stage_sizes(Runtime& runtime, const DenseBenchOptions& options);

/// One stage on one matrix. A round consists of prepare(), submit() into a sequence whose
/// completion is timed, and check().
template <class T>
class StageBench {
 public:
  virtual ~StageBench() = default;
  /// Creates the matrix and everything else that the stage needs; not timed.
  virtual void prepare() = 0;
  /// Inserts the stage's tasks.
  virtual void submit(Sequence& sequence) = 0;
  /// Scaled errors of the stage's result.
  virtual CheckRecord check() = 0;
  /// The same problem for another library, if it has a routine for it. The data is the same, but
  /// may be created again.
  virtual RoutineProblem<T> peer_problem() { return {}; }
};

/// @param stage  a name in bench_stages()
template <class T>
std::unique_ptr<StageBench<T>> make_stage_bench(Session& session, const DenseBenchOptions& options);

}  // namespace tessera::program
