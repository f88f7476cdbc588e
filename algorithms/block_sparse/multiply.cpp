// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_memory.hpp>
#include <tessera/algorithms/block_sparse/block_sums.hpp>
#include <tessera/algorithms/block_sparse/dense_products.hpp>
#include <tessera/algorithms/block_sparse/kept_blocks.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/panel_norms.hpp>
#include <tessera/algorithms/block_sparse/product_operands.hpp>
#include <tessera/algorithms/block_sparse/product_plans.hpp>
#include <tessera/algorithms/block_sparse/product_report.hpp>
#include <tessera/algorithms/block_sparse/product_tasks.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/common/store.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/kept.hpp>
#include <tessera/runtime/remote_copies.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/require_success.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void require_limits(const char* name, Index first, Index end, Index count) {
  constexpr Index all = std::numeric_limits<Index>::max();
  if (first < 0 || end < first || (end > count && end != all) || first > count)
    throw InvalidArgument(name, fmt::format("[{}, {})", first, end),
                          fmt::format("0 <= first <= end <= {}", count));
}

/// What has to be equal on all ranks.
template <class T>
std::uint64_t hash_of(Op op_a, Op op_b, T alpha, T beta, const MultiplyOptions& options) {
  const MultiplyLimits& limits = options.limits;
  return argument_hash(op_a, op_b, alpha, beta, options.filter_eps, options.retain_sparsity,
                       options.result_on_host, options.dense, options.filter, options.reuse_plan,
                       options.trace, options.frobenius_norm, options.steps, options.sequence != nullptr,
                       limits.first_row, limits.end_row, limits.first_col, limits.end_col, limits.first_inner,
                       limits.end_inner);
}

template <class T>
void require_valid(Op op_a, Op op_b, T alpha, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                   T beta, const BlockSparseMatrix<T>& c, const MultiplyOptions& options) {
  const std::pair<const char*, const BlockSparseMatrix<T>*> operands[] = {{"A", &a}, {"B", &b}};
  for (const auto& [name, matrix] : operands) {
    require_made(name, *matrix);
    if (&matrix->runtime() != &c.runtime())
      throw InvalidArgument(name, "a matrix of another Runtime", "C's Runtime");
  }
  const BlockPattern &pa = a.pattern(), &pb = b.pattern(), &pc = c.pattern();
  const BlockDimension& inner = op_a == Op::none ? pa.cols() : pa.rows();
  require_blocks("A", op_a == Op::none ? pa.rows() : pa.cols(), "C's rows", pc.rows());
  require_blocks("B", op_b == Op::none ? pb.rows() : pb.cols(), "op(A)'s columns", inner);
  require_blocks("B", op_b == Op::none ? pb.cols() : pb.rows(), "C's columns", pc.cols());
  const MultiplyLimits& limits = options.limits;
  require_limits("limits of the rows", limits.first_row, limits.end_row, c.rows());
  require_limits("limits of the columns", limits.first_col, limits.end_col, c.cols());
  require_limits("limits of the inner dimension", limits.first_inner, limits.end_inner, inner.elements());
  if (!(options.filter_eps >= 0) || std::isinf(options.filter_eps))
    throw InvalidArgument("filter_eps", fmt::to_string(options.filter_eps), "a number of at least 0");
  if (options.sequence && &options.sequence->runtime() != &c.runtime())
    throw InvalidArgument("sequence", "one of another Runtime", "C's Runtime");
  if (options.steps < 0) throw InvalidArgument("steps", fmt::to_string(options.steps), "at least 0");
  if (!finite(alpha)) throw InvalidArgument("alpha", text_of(alpha), "a finite number");
  if (!finite(beta)) throw InvalidArgument("beta", text_of(beta), "a finite number");
  if (c.symmetry() == Symmetry::hermitian && imag_part(beta) != 0)
    throw InvalidArgument("beta", text_of(beta), "a real number, for a Hermitian C");
}

/// For products on CPUs. Inserts the tasks that form the norms.
template <class T>
ProductFilter make_filter(Sequence& sequence, Op op_a, const BlockSparseMatrix<T>& original,
                          const ProductOperands<T>& operands, double eps) {
  ProductFilter filter{PanelNorms<T>(sequence, operands.a(), false).take_all(),
                       PanelNorms<T>(sequence, operands.b(), false).take_all(),
                       {}};
  for (const Index blocks : blocks_in_rows(op_a, original))
    filter.row_limit.push_back(eps / static_cast<double>(std::max<Index>(blocks, 1)));
  return filter;
}

/// For products on GPUs: blocks in the rows of blocks of op(A), in the order of C's panels.
template <class T>
Data upload_row_blocks(Op op_a, const BlockSparseMatrix<T>& a, const BlockPattern& c) {
  const std::vector<Index> blocks = blocks_in_rows(op_a, a);
  std::vector<std::int32_t> in_order;
  for (Index p = 0; p < c.row_panels(); ++p)
    for (const Index row : c.rows().panel(p))
      in_order.push_back(static_cast<std::int32_t>(blocks[static_cast<std::size_t>(row)]));
  return make_task_list(c.runtime(), in_order);
}

bool whole(const MultiplyLimits& limits, Index rows, Index cols) {
  return limits.first_row == 0 && limits.first_col == 0 && limits.end_row >= rows && limits.end_col >= cols;
}

/// Nothing is left out.
template <class T>
bool everything(const MultiplyLimits& limits, const BlockSparseMatrix<T>& c, Index inner) {
  return whole(limits, c.rows(), c.cols()) && limits.first_inner == 0 && limits.end_inner >= inner;
}

/// C's panels before products are added: beta C within the window, what C had elsewhere, zero in new blocks.
template <class T>
BlockSparseMatrix<T> scaled_result(Sequence& sequence, T beta, const BlockSparseMatrix<T>& c,
                                   const BlockPatternPointer& pattern, const MultiplyLimits& limits) {
  BlockSparseMatrix<T> result(pattern);
  const bool all = whole(limits, c.rows(), c.cols());
  copy_into_existing(sequence, c, result, all ? beta : T(1));
  if (all || beta == T(1)) return result;
  const ScaledWindow window{limits.first_row, limits.end_row, limits.first_col, limits.end_col};
  for (Index p = 0; p < pattern->panels(); ++p)
    if (result.panel(p).valid())
      sequence.insert(ScaleWindow<T>{
          .blocks = pattern->blocks_of(p), .values = result.panel(p), .factor = beta, .window = window});
  return result;
}

/// Sends the operands to the GPU while the products are counted, where there is one GPU for them and they
/// take a quarter of it at most. With several it depends on the scheduler where they are needed.
template <class T>
void prefetch(const ProductOperands<T>& operands) {
  const RuntimeInfo& info = operands.a().runtime().info();
  const double bytes =
      static_cast<double>(sizeof(T)) *
      static_cast<double>(operands.a().pattern().elements() + operands.b().pattern().elements());
  if (info.cuda_workers != 1 || bytes > static_cast<double>(info.gpu_memory_bytes) / 4) return;
  for (const BlockSparseMatrix<T>* operand : {&operands.a(), &operands.b()})
    for (Index p = 0; p < operand->pattern().panels(); ++p)
      if (operand->panel(p).valid()) operand->panel(p).prefetch(0, false);
}

/// Waits until the values of a matrix are in host memory.
template <class T>
void fetch(const BlockSparseMatrix<T>& c) {
  for (const bool wait : {false, true})
    for (Index p = 0; p < c.pattern().panels(); ++p) {
      if (!c.panel(p).valid() || !c.panel(p).local()) continue;
      if (wait)
        HostAccess(c.panel(p), HostAccess::Mode::read);
      else
        c.panel(p).fetch_to_host();
    }
}

/// A product under way: its members live as long as its tasks.
template <class T>
class ProductWork final : public Work {
 public:
  /// All phases are submitted. With `waits`, C is there until finish() has returned; else it gets the blocks
  /// and the values to come at once.
  ProductWork(const ProductProblem<T>& problem, const MultiplyOptions& options, bool waits,
              std::shared_ptr<MultiplyResult> result)
      : runtime_(problem.c.runtime()),
        options_(options),
        drop_(options.filter_eps > 0 && !options.retain_sparsity),
        result_(std::move(result)),
        c_(waits || drop_ ? &problem.c : nullptr),
        dot_with_(problem.dot_with),
        patterns_{problem.a.matrix().pattern_pointer(), problem.b.matrix().pattern_pointer(),
                  problem.c.pattern_pointer()},
        images_(runtime_),
        operands_(images_, problem.a.op(), problem.b.op(), problem.alpha, problem.a.matrix(),
                  problem.b.matrix(), problem.c, options.limits, options.reuse_plan),
        norms_(images_, operands_) {
    prefetch(operands_);
    result_->image_seconds = now() - start_;
    count_images();
    find_blocks(problem);
    numeric_start_ = now();
    compute(problem.beta, problem.c);
  }

  bool ready() const override { return finished_ || (sequence_->ready() && images_.ready()); }
  Status finish() override {
    if (!finished_) finished_ = guarded(runtime_, [&] { return finish_guarded(); });
    return *finished_;
  }
  SequenceStatistics statistics() const override { return result_->statistics; }

 private:
  void count_images() {
    const ImageCounts& counts = operands_.counts();
    result_->images = counts.images;
    result_->images_reused = counts.reused;
    result_->image_bytes = counts.bytes;
    result_->plan_bytes = counts.list_bytes;
  }

  /// The symbolic phase: waits, unless an earlier product has left a plan for these patterns.
  void find_blocks(const ProductProblem<T>& problem) {
    const double start = now();
    const bool filtered = options_.filter_eps > 0;
    ProductPatterns patterns{operands_.a().pattern_pointer(), operands_.b().pattern_pointer(),
                             problem.c.pattern_pointer(), options_.retain_sparsity};
    patterns.dense_despite_filter = options_.filter == ProductFilterRule::at_least;
    const DenseRule rule = dense_rule(options_, operands_, problem.c.pattern());
    if (filtered && uses_stacks(runtime_)) {
      find_with_filter(problem, patterns, rule);
    } else if (filtered) {
      filter_ = make_filter(images_, problem.a.op(), problem.a.matrix(), operands_, options_.filter_eps);
      patterns.filter = numeric_.filter = &filter_;
      patterns.dense = rule;
      plan_ = std::make_shared<ProductPlan>(patterns);
    } else {
      patterns.dense = rule;
      take_plan(patterns);
    }
    result_->symbolic_seconds = now() - start;
  }

  void take_plan(const ProductPatterns& patterns) {
    ProductPlans::Found found = ProductPlans::of(runtime_).find(patterns, options_.reuse_plan);
    plan_ = std::move(found.plan);
    result_->plan_reused = found.reused;
  }

  /// With GPUs the plan is that of the product without a filter, which the tasks that list products apply. If
  /// panels would be dense, but may not leave out what the filter does, the lists tell whether it leaves
  /// anything out; they are waited for.
  void find_with_filter(const ProductProblem<T>& problem, ProductPatterns patterns, const DenseRule& rule) {
    numeric_.eps = options_.filter_eps;
    // Element limits cut A, whose rows count whole.
    if (!everything(options_.limits, problem.c, operands_.a().cols()))
      numeric_.row_blocks = upload_row_blocks(problem.a.op(), problem.a.matrix(), problem.c.pattern());
    if (patterns.dense_despite_filter) {
      patterns.dense = rule;
      return take_plan(patterns);
    }
    // The making of a plan waits for a task of its own: the GPU forms the norms meanwhile.
    norms_.a().make_all();
    norms_.b().make_all();
    take_plan(patterns);
    if (!plan_->any_dense(rule)) return;
    records_.emplace(*plan_);
    Sequence sequence(runtime_);
    list_products(sequence, operands_, norms_, *plan_, numeric_, *records_);
    tessera::detail::finish(sequence);
    if (listed_as_filtered(*plan_, *records_) > 0) return;
    patterns.dense = rule;
    take_plan(patterns);
    records_.reset();
    numeric_.eps = 0;
  }

  /// The numeric phase: C's values.
  void compute(T beta, BlockSparseMatrix<T>& c) {
    require_room(operands_, *plan_);
    const BlockPatternPointer& pattern = plan_->grown() ? plan_->pattern() : c.pattern_pointer();
    const bool in_place = !plan_->grown() && beta == T(1) && !operands_.read(c);
    require_memory(runtime_, "multiply",
                   product_memory(operands_.a().pattern(), operands_.b().pattern(), *pattern, !in_place,
                                  product_steps(*pattern, plan_->inner_panels(), options_.steps), sizeof(T)));
    numeric_.steps = options_.steps;
    if (!records_) records_.emplace(*plan_);
    sequence_ = std::make_unique<Sequence>(runtime_);
    sequence_->begin_stage("scale");
    numeric_.store =
        beta == T(0) && whole(options_.limits, c.rows(), c.cols()) ? Store::overwrite : Store::add;
    numeric_.fetch = options_.result_on_host && !drop_;
    if (numeric_.store == Store::overwrite)
      next_ = BlockSparseMatrix<T>(pattern);
    else if (!in_place)
      next_ = scaled_result(*sequence_, beta, c, pattern, options_.limits);
    prepare_kernels<T>(*plan_);
    sequence_->begin_stage("products");
    remote_peak_.emplace(runtime_);
    submit_products(*sequence_, operands_, norms_, *plan_, in_place ? c : next_, numeric_, *records_);
    sum(in_place ? c : next_);
    if (!c_ && next_.valid()) c = std::move(next_);
  }

  /// What follows the products of C's blocks while they are where they were computed: their norms, for the
  /// filter, and sums.
  void sum(const BlockSparseMatrix<T>& c) {
    WantedSums<T> wanted{.squares = options_.frobenius_norm, .trace = options_.trace, .other = dot_with_};
    if (drop_) wanted.eps = options_.filter_eps;
    if (wanted.any()) sums_.emplace(*sequence_, c, wanted);
    if (drop_) kept_.emplace(*sequence_, c, options_.filter_eps, sums_ ? &sums_->norms() : nullptr);
  }

  Status finish_guarded() {
    const Status products = sequence_->wait(), images = images_.wait(), pattern = plan_->finish_pattern();
    for (const Status* status : {&images, &pattern, &products})
      if (!*status) {
        result_->statistics = sequence_->statistics();
        return *status;
      }
    const auto lock = lock_kept(runtime_);  // plans
    std::optional<Sequence> own;
    if (c_) {
      if (next_.valid()) *c_ = std::move(next_);
      // First: the copies are made while the rest is read.
      if (drop_)
        result_->filtered_blocks =
            kept_->take(options_.sequence ? *options_.sequence : own.emplace(runtime_), *c_).not_zero;
    }
    report();
    if (own) tessera::detail::finish(*own);
    if (c_ && options_.result_on_host) fetch(*c_);
    const double listing =
        codelet_seconds(result_->statistics, "list_products") / std::max(1, runtime_.gpus());
    result_->numeric_seconds = now() - numeric_start_ - listing;
    result_->symbolic_seconds += listing;
    result_->seconds = now() - start_;
    return {};
  }

  /// What the tasks have found out beside C.
  void report() {
    result_->statistics = sequence_->statistics();
    report_stack_kernels(runtime_);
    if (numeric_.eps == 0 && plan_->keeps_lists) keep_lists(*plan_, *records_);
    if (uses_stacks(runtime_)) result_->plan_bytes += plan_->list_bytes();
    result_->remote_bytes_peak = static_cast<double>(remote_peak_->bytes());
    count_products(*plan_, *records_, flop_factor<T>, *result_);
    if (!sums_) return;
    const BlockTotals sums = sums_->total();
    result_->frobenius_norm = std::sqrt(sums.squares);
    result_->trace = sums.trace;
    result_->dot = sums.dot;
  }

  const double start_ = now();
  double numeric_start_ = 0;
  Runtime& runtime_;
  const MultiplyOptions options_;
  const bool drop_;  ///< blocks of C that are small at the end
  const std::shared_ptr<MultiplyResult> result_;
  BlockSparseMatrix<T>* const c_;               ///< to be completed by finish()
  const BlockSparseMatrix<T>* const dot_with_;  ///< or null; used while the tasks are submitted
  std::optional<Status> finished_;
  // What the tasks use. Destroyed in reverse order: the sequences wait.
  const std::array<BlockPatternPointer, 3> patterns_;
  BlockSparseMatrix<T> next_;  ///< C with its new blocks
  Sequence images_;
  const ProductOperands<T> operands_;
  OperandNorms<T> norms_;
  ProductFilter filter_;
  std::shared_ptr<ProductPlan> plan_;
  NumericOptions numeric_;
  std::optional<ProductRecords> records_;
  std::optional<RemotePeak> remote_peak_;
  std::optional<KeptBlocks<T>> kept_;
  std::optional<BlockSums<T>> sums_;
  std::unique_ptr<Sequence> sequence_;
};

/// @param name of the call
template <class T>
Completion<MultiplyResult> submit(std::string_view name, Runtime& runtime, const ProductProblem<T>& problem,
                                  const MultiplyOptions& options, bool waits) {
  const auto& [alpha, a, b, beta, c, dot_with] = problem;
  const auto check = [&] {
    require_made("C", c);
    if (&runtime != &c.runtime()) throw InvalidArgument("C", "a matrix of another Runtime", "the call's");
    require_valid(a.op(), b.op(), alpha, a.matrix(), b.matrix(), beta, c, options);
    if (!dot_with) return;
    require_made("D", *dot_with);
    if (&dot_with->runtime() != &runtime) throw InvalidArgument("D", "a matrix of another Runtime", "C's");
    require_sizes("D", dot_with->layout(), c.layout());
  };
  const std::uint64_t hash =
      argument_hash(hash_of(a.op(), b.op(), alpha, beta, options), shape_hash(a.matrix()),
                    shape_hash(b.matrix()), shape_hash(c), dot_with ? shape_hash(*dot_with) : 0);
  return collectively(runtime, name, hash, check, [&] {
    auto result = std::make_shared<MultiplyResult>();
    // Plans are found, made and used by one thread at a time; values are computed for many.
    auto lock = lock_kept(runtime);
    auto work = std::make_unique<ProductWork<T>>(problem, options, waits, result);
    lock.unlock();
    Completion<MultiplyResult> completion(std::move(work), std::move(result));
    if (waits) completion.wait();
    return completion;
  });
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
Completion<MultiplyResult> submit_multiply(Runtime& runtime, const ProductProblem<T>& problem,
                                           const MultiplyOptions& options) {
  return submit("submit_multiply", runtime, problem, options, false);
}

template <class T>
MultiplyResult multiply(Runtime& runtime, const ProductProblem<T>& problem, const MultiplyOptions& options) {
  return submit("multiply", runtime, problem, options, true).result();
}

template <class T>
MultiplyResult multiply(const ProductProblem<T>& problem, const MultiplyOptions& options) {
  return multiply<T>(runtime_of("C", problem.c), problem, options);
}

#define TESSERA_INSTANTIATE(T)                                                                     \
  template Completion<MultiplyResult> submit_multiply<T>(Runtime&, const ProductProblem<T>&,       \
                                                         const MultiplyOptions&);                  \
  template MultiplyResult multiply<T>(Runtime&, const ProductProblem<T>&, const MultiplyOptions&); \
  template MultiplyResult multiply<T>(const ProductProblem<T>&, const MultiplyOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
