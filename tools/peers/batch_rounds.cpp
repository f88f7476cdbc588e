// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batch_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include <fmt/format.h>

#include <tessera/error.hpp>

#include "batch_array.hpp"
#include "batch_peer.hpp"
#include "nominal_flops.hpp"

namespace tessera::program {
using namespace detail;

namespace {

bool batch_on_gpu(const BatchSettings& settings) {
  return settings.keep_on == "gpu";
}

template <class T>
class BatchRounds {
 public:
  using R = RealOf<T>;
  BatchRounds(Session& session, const BatchSettings& settings, const BatchMatrices<T>& matrices,
              Report& report, bool keep)
      : session_(session),
        runtime_(session.runtime()),
        settings_(settings),
        matrices_(matrices),
        report_(report),
        keep_(keep),
        n_(matrices.n),
        count_(matrices.count),
        a_(matrices.a.size(), place(), gpu()),
        vectors_(settings.vectors ? matrices.a.size() : 0, place(), gpu()),
        values_(static_cast<std::size_t>(n_ * count_), place(), gpu()) {}

  BatchResults<T> operator()() {
    a_.set(matrices_.a);
    if (!matrices_.a.empty()) peer_ = make_batch_peer<T>(runtime_, settings_.peer);
    if (peer_) require_finite();
    const CommonOptions& common = settings_.common;
    for (int run = -common.warmup; run < common.repeat; ++run) one_run(run);
    return std::move(results_);
  }

 private:
  ArrayPlace place() const {
    if (batch_on_gpu(settings_)) return ArrayPlace::gpu;
    return runtime_.gpus() > 0 ? ArrayPlace::locked_host : ArrayPlace::host;
  }
  int gpu() const { return runtime_.gpus() > 0 ? runtime_.first_gpu() : 0; }

  /// Other libraries do not say which matrix has a NaN.
  void require_finite() const {
    const auto bad =
        std::ranges::find_if_not(matrices_.norms, [](double norm) { return std::isfinite(norm); });
    if (bad != matrices_.norms.end())
      throw InvalidArgument(
          "--peer", settings_.peer,
          fmt::format("none, as matrix number {} (from 0) is not finite", bad - matrices_.norms.begin()));
  }

  void one_run(int index) {
    const bool timed = index >= 0, last = index == settings_.common.repeat - 1;
    const bool checked = timed && settings_.common.wants_check(index);
    EigenBatchProblem<T> problem{.a = {a_.data(), n_, count_}, .values_to = values_.data()};
    if (settings_.vectors) problem.vectors_to = {vectors_.data(), n_};
    session_.progress().stage(fmt::format("solving {} of order {}", count_, n_));
    session_.begin_run();
    auto completion =
        submit_eigensolve_batch(runtime_, problem, {.vectors = settings_.vectors, .chunk = settings_.chunk});
    const Status status = completion.wait();
    RunRecord run = session_.end_run(completion.statistics());
    const std::vector<BatchFailure> failures = completion.result().failures;
    if (!status && failures.empty()) throw Error(status.message());
    set_flops(run);
    run.result = {{"matrices_per_second", number_or_null(static_cast<double>(count_) / run.total_seconds)}};
    add_failures(run, failures);
    BatchPeerSolution<T> theirs;
    if (peer_) theirs = run_peer(timed, checked);
    if (checked || (last && keep_))
      results_ = {values_.get(), settings_.vectors ? vectors_.get() : std::vector<T>(), failures};
    if (checked) check(run, theirs);
    if (!run.check && !failures.empty()) run.check.emplace();
    if (!failures.empty())
      run.check->failure = fmt::format("{} of {} matrices have failed", failures.size(), count_);
    if (timed) report_.runs.push_back(std::move(run));
  }

  static void add_failures(RunRecord& run, const std::vector<BatchFailure>& failures) {
    run.result["failures"] = Json::array();
    for (const BatchFailure& failure : failures)
      run.result["failures"].push_back({{"matrix", failure.matrix},
                                        {"status", words_of({failure.code, {}, 0, {}})},
                                        {"index", failure.index}});
  }

  void check(RunRecord& run, const BatchPeerSolution<T>& theirs) {
    session_.progress().stage("checking");
    const BatchSample sample = batch_sample(n_, count_, flop_factor<T>);
    run.check = check_batch(runtime_, matrices_, results_, sample);
    run.result["checked_matrices"] = {{"number", sample.number}, {"first", 0}, {"step", sample.step}};
    if (!peer_) return;
    compare_batch_values(*run.check, matrices_, results_.values, theirs.values, theirs.name);
    report_.peer->check =
        check_batch(runtime_, matrices_, BatchResults<T>{theirs.values, theirs.vectors, {}}, sample);
    report_.peer->result["checked"] = theirs.name;
  }

  BatchPeerSolution<T> run_peer(bool timed, bool checked) {
    session_.progress().stage(settings_.peer);
    peer_->prepare({.a = matrices_.a.data(),
                    .n = n_,
                    .count = count_,
                    .vectors = settings_.vectors,
                    .on_gpu = batch_on_gpu(settings_),
                    .fetch = checked});
    const double seconds = peer_->run();
    BatchPeerSolution<T> solution = peer_->result();
    peer_->release();
    if (!timed) return solution;
    add_peer_seconds(report_, *peer_, seconds);
    if (!solution.left_out.empty()) report_.peer->result["left_out"] = solution.left_out;
    return solution;
  }

  /// Nominal operations of all matrices, or what the tasks have counted where that is less.
  void set_flops(RunRecord& run) const {
    run.flops = 0;
    for (StageRecord& stage : run.stages) {
      const double nominal = static_cast<double>(count_) *
                             nominal_flops(stage.name, n_, settings_.vectors ? n_ : 0, 0, flop_factor<T>);
      stage.flops = stage.flops > 0 ? std::min(nominal, stage.flops) : nominal;
      run.flops += stage.flops;
    }
  }

  Session& session_;
  Runtime& runtime_;
  const BatchSettings& settings_;
  const BatchMatrices<T>& matrices_;
  Report& report_;
  const bool keep_;
  const Index n_, count_;
  /// The arrays that the library reads and writes.
  BatchArray<T> a_, vectors_;
  BatchArray<R> values_;
  std::unique_ptr<BatchPeer<T>> peer_;
  BatchResults<T> results_;
};

}  // namespace

void require_one_process(const Runtime& runtime) {
  if (runtime.size() > 1)
    throw InvalidArgument("processes", fmt::to_string(runtime.size()),
                          "one process (each would solve the same batches)");
}

template <class T>
void require_batch_possible(Session& session, const BatchSettings& settings) {
  Runtime& runtime = session.runtime();
  require_one_process(runtime);
  if (batch_on_gpu(settings) && runtime.gpus() == 0)
    throw InvalidArgument("--keep-on", settings.keep_on, "host, where no GPU is used");
  if (const auto peer = make_batch_peer<T>(runtime, settings.peer)) require_available(*peer, settings.peer);
}

template <class T>
double batch_memory(const BatchSettings& settings, Index n, Index count) {
  // The matrices as they were read or made; the library's arrays if they are not on the GPU; then its vectors and
  // the peer's for the check, and the matrices and the vectors of the peer while it runs.
  const double order = static_cast<double>(n),
               matrices = order * order * static_cast<double>(count) * sizeof(T);
  const double ours = batch_on_gpu(settings) ? 0
                      : settings.vectors     ? 2
                                             : 1,
               checked = settings.vectors ? 1 : 0;
  const double peers = settings.peer == "none" ? 0 : settings.vectors ? 4 : 2;
  // Of each matrix its norm and its trace, and whether it has failed.
  const double notes = (2 * sizeof(double) + 1) * static_cast<double>(count);
  return matrices * (1 + ours + checked + peers) + notes;
}

template <class T>
BatchResults<T> run_batch_rounds(Session& session, const BatchSettings& settings,
                                 const BatchMatrices<T>& matrices, Report& report, bool keep) {
  return BatchRounds<T>(session, settings, matrices, report, keep)();
}

#define TESSERA_INSTANTIATE(T)                                                                          \
  template void require_batch_possible<T>(Session&, const BatchSettings&);                              \
  template double batch_memory<T>(const BatchSettings&, Index, Index);                                  \
  template BatchResults<T> run_batch_rounds<T>(Session&, const BatchSettings&, const BatchMatrices<T>&, \
                                               Report&, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
