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

/// The stages of the dense eigensolver one by one, for `bench_dense`.
namespace tessera::program {
using namespace detail;

/// The sizes of all stages: those of the options, and as the solver takes them where they are 0.
template <class T>
EigensolveOptions stage_sizes(Runtime& runtime, const DenseBenchOptions& options);

/// One stage on one matrix. A round is prepare(), submit() into a sequence that is waited for and timed,
/// check().
template <class T>
class StageBench {
 public:
  virtual ~StageBench() = default;
  /// Everything that the stage needs, from the matrix on; not timed.
  virtual void prepare() = 0;
  /// Inserts the stage's tasks.
  virtual void submit(Sequence& sequence) = 0;
  /// Scaled errors of what the stage has made.
  virtual CheckRecord check() = 0;
  /// What another library is to do for the same job, if there is a routine for it: on the same data, which
  /// may be made anew.
  virtual RoutineProblem<T> peer_problem() { return {}; }
};

/// @param stage a name of bench_stages()
template <class T>
std::unique_ptr<StageBench<T>> make_stage_bench(Session& session, const DenseBenchOptions& options);

}  // namespace tessera::program
