// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/error.hpp>

#include "bench_mains.hpp"
#include "cublas_stack_peer.hpp"
#include "machine_limits.hpp"
#include "program_main.hpp"
#include "scalar_types.hpp"
#include "session.hpp"
#include "stack_kernel_timer.hpp"
#include "stack_options.hpp"
#include "stack_peer.hpp"
#include "stack_problem.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Order of the dense product that determines the limit of a GPU.
constexpr Index gpu_limit_order = 8192;

/// The options, with defaults that depend on other options. If the stacks come from a water-like
/// product, --products is the total for all workers; for artificial stacks, it is the number for
/// each worker.
StackBenchOptions resolved(StackBenchOptions options) {
  if (options.n < 0) options.n = options.m;
  if (options.k < 0) options.k = options.m;
  if (options.products < 0) options.products = options.generate == "water" ? 400000 : 16005;
  return options;
}

/// Whether the codelet runs the stacks on GPUs.
template <class T>
bool on_gpus(const Runtime& runtime) {
  const std::string name = fmt::format("multiply_stack_{}", type_letter<T>);
  return runtime.gpus() > 0 &&
         std::any_of(Codelet::all().begin(), Codelet::all().end(),
                     [&](const Codelet* codelet) { return codelet->name() == name && codelet->has_cuda(); });
}

template <class T>
LimitRecord measure_limit(Session& session, bool gpu) {
  Runtime& runtime = session.runtime();
  if (gpu) {
    const GpuLimits limit = measure_gpu_limits<T>(gpu_limit_order);
    return {"gemm", limit.gflops * runtime.gpus(), limit.copy_rate * runtime.gpus()};
  }
  const int workers = cpu_threads(runtime);
  const Index order = std::clamp<Index>(500 * workers, 1000, 4000);
  return {"gemm", measure_gemm_limit<T>(runtime, order, 1), measure_copy(runtime)};
}

template <class T>
class StackRunner {
 public:
  StackRunner(Session& session, const StackBenchOptions& options)
      : session_(session),
        runtime_(session.runtime()),
        options_(resolved(options)),
        gpu_(on_gpus<T>(runtime_)),
        report_(session.new_report("bench_stack")),
        peer_(is_cublas_stack_peer(options.peer) ? nullptr : make_stack_peer<T>(runtime_, options.peer)),
        cublas_(is_cublas_stack_peer(options.peer)
                    ? std::make_unique<CublasStackPeer<T>>(runtime_, options.peer)
                    : nullptr) {}

  int operator()() {
    if (runtime_.size() > 1)
      throw InvalidArgument("processes", fmt::to_string(runtime_.size()),
                            "one process (each would compute the same stacks)");
    const CommonOptions& common = options_.common;
    if (peer_) require_available(*peer_, options_.peer);
    if (cublas_) require_available(*cublas_, options_.peer);
    if (peer_) time_peer(-1, 1);  // a library that declines is said at once
    session_.progress().stage("making the stacks");
    const int workers = std::max(1, gpu_ ? runtime_.gpus() : runtime_.info().cpu_workers);
    problem_ = options_.generate == "water" ? water_stacks<T>(runtime_, options_)
                                            : artificial_stacks<T>(runtime_, options_, workers);
    describe();
    prepare_kernels();
    session_.progress().stage("the machine's limit");
    report_.limit = measure_limit<T>(session_, gpu_);
    for (int run = -common.warmup; run < common.repeat; ++run) one_round(run);
    return session_.finish(report_);
  }

 private:
  void describe() {
    StackBenchOptions used = options_;
    used.common = session_.used_options();
    report_.options = option_table(used).json();
    report_.lines.emplace_back(
        "stacks", fmt::format("{} of {} x {} x {}, type {}, {} products in each round, {}",
                              problem_.items.size(), options_.m, options_.n, options_.k, type_letter<T>,
                              problem_.products() / problem_.iterations,
                              problem_.iterations == 1 ? std::string("one round")
                                                       : fmt::format("{} rounds", problem_.iterations)));
  }

  void prepare_kernels() {
    if (!gpu_) return;
    session_.progress().stage("compiling kernels");
    std::vector<StackClass> classes;
    for (const StackItem& item : problem_.items)
      classes.insert(classes.end(), item.classes.begin(), item.classes.end());
    prepare_stack_kernels<T>(runtime_, classes);
    // Artificial stacks are copies of each other, one for each GPU.
    timed_items_ = options_.generate == "water" ? problem_.items.size() : 1;
    timer_ = std::make_unique<StackKernelTimer<T>>(problem_, timed_items_);
    if (cublas_) cublas_->load(problem_, timed_items_, problem_.iterations);
  }

  /// Seconds of a GPU that reads A and B of each product once, at the rate of a copy.
  double memory_seconds() const {
    return timer_->operand_bytes() / (report_.limit->copy_rate / runtime_.gpus());
  }

  /// The kernels without StarPU: their rates, and how near they are to the limit by memory.
  Json time_kernels(const StackKernelTimes& times, bool print) {
    const double limit = memory_seconds();
    const auto rate = [&](double seconds) { return timer_->flops() / seconds * 1e-9; };
    const auto line = [&](const char* label, double seconds) {
      report_.results.emplace_back(
          label, fmt::format("{} a round on one GPU, {:.0f} Gflop/s, {:.2f} of the limit by memory",
                             format_seconds(seconds), rate(seconds), limit / seconds));
    };
    if (print) {
      line("kernels", times.own);
      line("generic", times.generic);
    }
    return {{"seconds", times.own},
            {"gflops", rate(times.own)},
            {"generic_seconds", times.generic},
            {"generic_gflops", rate(times.generic)},
            {"operand_bytes", timer_->operand_bytes()},
            {"memory_seconds", limit},
            {"memory_fraction", limit / times.own}};
  }

  void submit(Sequence& sequence) {
    for (Index iteration = 0; iteration < problem_.iterations; ++iteration)
      for (const StackItem& item : problem_.items) {
        const Data* const factors[] = {&problem_.a[item.a], &problem_.b[item.b]};
        sequence.insert(MultiplyStack<T>{.stack = item.data,
                                         .c = add_to(problem_.c[item.c]),
                                         .factors = {factors},
                                         .classes = item.classes,
                                         .ran_on = &ran_on_});
      }
  }

  void one_round(int index) {
    problem_.clear();
    session_.progress().stage("multiplying stacks");
    session_.begin_run();
    Sequence sequence(runtime_);
    sequence.begin_stage("stack");
    submit(sequence);
    const Status status = sequence.wait();
    RunRecord run = session_.end_run(sequence.statistics());
    if (!status) throw Error(status.message());
    run.flops = problem_.flops();
    for (StageRecord& stage : run.stages) {
      stage.flops = problem_.flops();
      stage.bytes = problem_.bytes();
    }
    run.result = {{"products", problem_.products()},
                  {"flop", problem_.flops()},
                  {"bytes", problem_.bytes()},
                  {"stacks", problem_.items.size()},
                  {"rounds", problem_.iterations}};
    if (index >= 0 && options_.common.wants_check(index)) {
      session_.progress().stage("checking");
      run.check = check_stacks(problem_);
    }
    const bool last = index == options_.common.repeat - 1;
    if (timer_) {
      const StackKernelTimes times = timer_->measure(problem_.iterations);
      run.result["kernels"] = time_kernels(times, last);
      if (cublas_) time_cublas(index, times.own);
    }
    if (peer_) time_peer(index, problem_.products());
    if (last)
      report_.results.emplace_back(
          "bytes", fmt::format("{} if nothing stays in a cache: {:.2f} flop a byte",
                               format_bytes(problem_.bytes()), problem_.flops() / problem_.bytes()));
    if (index >= 0) report_.runs.push_back(std::move(run));
  }

  void time_peer(int index, Index products) {
    session_.progress().stage(options_.peer);
    peer_->prepare({options_.m, options_.n, options_.k, products});
    const double seconds = peer_->run();
    peer_->release();
    if (index >= 0) add_peer_seconds(report_, *peer_, seconds);
  }

  /// The same stacks by cuBLAS, beside our kernels alone on the same GPU.
  void time_cublas(int index, double own_round) {
    session_.progress().stage(options_.peer);
    const double seconds = cublas_->run();
    if (index < 0) return;
    add_peer_seconds(report_, *cublas_, seconds);
    PeerRecord& record = *report_.peer;
    const double rounds = static_cast<double>(problem_.iterations);
    record.own_seconds.push_back(own_round * rounds);
    const double round = median(record.seconds) / rounds, rate = timer_->flops() / round * 1e-9,
                 memory = memory_seconds() / round, gemm = rate / (report_.limit->gflops / runtime_.gpus());
    record.result = {{"calls", cublas_->calls()},
                     {"seconds", round},
                     {"gflops", rate},
                     {"own_gflops", timer_->flops() * rounds / median(record.own_seconds) * 1e-9},
                     {"memory_fraction", memory},
                     {"gemm_fraction", gemm}};
    record.note = fmt::format(
        "against our kernels alone; {} calls a round, {:.0f} Gflop/s, {:.2f} of the limit by memory",
        cublas_->calls(), rate, memory);
    if (!options_.common.wants_check(index)) return;
    CheckRecord check;
    check.residual = difference_of_results(problem_, timed_items_, timer_->results(), cublas_->results());
    record.check = check;
  }

  Session& session_;
  Runtime& runtime_;
  const StackBenchOptions options_;
  bool gpu_;
  Report report_;
  std::unique_ptr<StackPeer> peer_;
  std::unique_ptr<CublasStackPeer<T>> cublas_;
  StackProblem<T> problem_;
  std::unique_ptr<StackKernelTimer<T>> timer_;  // on GPUs
  std::size_t timed_items_ = 0;
  ProductWorker ran_on_ = ProductWorker::none;
};

}  // namespace

int run_stack_bench(StackBenchOptions& options) {
  return in_session(options.common, [&](Session& session) {
    return with_scalar_type(options.type, [&]<class T>() { return StackRunner<T>(session, options)(); });
  });
}

int stack_bench_main(int argc, char** argv) {
  return bench_main(argc, argv, run_stack_bench);
}

}  // namespace tessera::program
