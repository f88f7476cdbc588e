// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_memory.hpp>
#include <tessera/algorithms/block_sparse/dense_products.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/product_operands.hpp>
#include <tessera/algorithms/block_sparse/product_report.hpp>
#include <tessera/algorithms/block_sparse/symbolic.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/product/kernels/multiply_rows.hpp>
#include <tessera/codelets/block_sparse/product/multiply_panels.hpp>
#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/codelets/common/store.hpp>
#include <tessera/runtime/agreement.hpp>
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

template <class T>
bool finite(T x) {
  return std::isfinite(real_part(x)) && std::isfinite(imag_part(x));
}

/// What has to be equal on all ranks.
template <class T>
std::uint64_t hash_of(Op op_a, Op op_b, T alpha, T beta, const MultiplyOptions& options) {
  const MultiplyLimits& limits = options.limits;
  return argument_hash(op_a, op_b, alpha, beta, options.filter_eps, options.retain_sparsity,
                       options.result_on_host, options.dense, limits.first_row, limits.end_row,
                       limits.first_col, limits.end_col, limits.first_inner, limits.end_inner);
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
  if (!finite(alpha)) throw InvalidArgument("alpha", text_of(alpha), "a finite number");
  if (!finite(beta)) throw InvalidArgument("beta", text_of(beta), "a finite number");
  if (c.symmetry() == Symmetry::hermitian && imag_part(beta) != 0)
    throw InvalidArgument("beta", text_of(beta), "a real number, for a Hermitian C");
}

/// The Frobenius norms of all blocks, on every rank. Waits.
template <class T>
std::vector<std::vector<double>> block_norms(const BlockSparseMatrix<T>& a) {
  auto norms = block_norms_squared(a);
  for (auto& panel : norms)
    for (double& norm : panel) norm = std::sqrt(norm);
  return norms;
}

template <class T>
ProductFilter make_filter(Op op_a, const BlockSparseMatrix<T>& original, const ProductOperands<T>& operands,
                          double eps) {
  ProductFilter filter{block_norms(operands.a()), block_norms(operands.b()), {}};
  for (const Index blocks : blocks_in_rows(op_a, original))
    filter.row_limit.push_back(eps / static_cast<double>(std::max<Index>(blocks, 1)));
  return filter;
}

bool whole(const MultiplyLimits& limits, Index rows, Index cols) {
  return limits.first_row == 0 && limits.first_col == 0 && limits.end_row >= rows && limits.end_col >= cols;
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

/// The shapes of what an inner panel contributes to a panel of C; none on ranks that do not own that.
std::span<const StackClass> shapes_of(const SymbolicProduct& symbolic, const BlockPattern& c, Index panel,
                                      Index inner) {
  if (!c.panel_local(panel)) return {};
  return symbolic.counts(panel).classes[static_cast<std::size_t>(inner)];
}

/// What one inner panel contributes to a panel of C. `classes`: the shapes of its products.
struct InnerOperands {
  Index number;
  Index products;
  std::span<const StackClass> classes;
  const Data *a, *b;
};

/// The products of one panel of C where CPUs compute them; `together`: inner panels in one task.
template <class T>
void submit_panels(Sequence& sequence, int priority, std::span<const InnerOperands> contributions,
                   std::size_t together, const ProductPanel* panel, ProductWorker* ran_on,
                   const WriteOrAdd<Array<T>>& c) {
  std::vector<const Data*> factors;
  for (std::size_t first = 0; first < contributions.size(); first += together) {
    MultiplyPanels<T> task{.c = c, .factors = {}, .panel = panel, .ran_on = ran_on};
    factors.clear();
    auto number = task.inner.begin();
    for (const InnerOperands& inner :
         contributions.subspan(first, std::min(together, contributions.size() - first))) {
      factors.insert(factors.end(), {inner.a, inner.b});
      *number++ = static_cast<std::int32_t>(inner.number);
      task.products += inner.products;
      task.counted_flops += stack_flops(inner.classes, is_complex<T>);
    }
    task.factors = factors;
    sequence.insert(task, {.priority = priority});
  }
}

/// The same with GPUs: each inner panel's products are listed, then computed. Lists come before what needs
/// them.
template <class T>
void submit_stacks(Sequence& sequence, int priority, std::span<const InnerOperands> contributions,
                   const ProductPanel* panel, bool local, ProductWorker* ran_on, const Data& elsewhere,
                   const WriteOrAdd<Array<T>>& c) {
  Runtime& runtime = sequence.runtime();
  for (const InnerOperands& inner : contributions) {
    Data stack;
    if (local) {
      stack = Data::bytes(runtime, stack_bytes(stack_runs(inner.classes), stack_products(inner.classes)),
                          Data::every_rank);
      sequence.insert(
          ListProducts{.stack = stack, .panel = panel, .inner_panel = inner.number, .classes = inner.classes},
          {.priority = priority + 1, .execute_on = runtime.rank()});
    }
    sequence.insert(MultiplyStack<T>{.stack = local ? stack : elsewhere,
                                     .a = inner.a,
                                     .b = inner.b,
                                     .c = c,
                                     .classes = inner.classes,
                                     .ran_on = ran_on + inner.number},
                    {.priority = priority});
  }
}

/// C's panels as their tasks are submitted. On CPUs those with the most products first: who is done early
/// takes what is left of the small ones. Those of about as many follow each other as they are stored, as all
/// do with GPUs, where neighbours find what they share.
std::vector<Index> submission_order(const SymbolicProduct& symbolic, const BlockPattern& c) {
  std::vector<Index> order(static_cast<std::size_t>(c.panels())), products(order.size(), 0);
  std::iota(order.begin(), order.end(), Index{0});
  if (c.runtime().gpus() > 0) return order;
  for (const Index p : order)
    for (Index inner = 0; inner < symbolic.inner_panels(); ++inner)
      products[static_cast<std::size_t>(p)] += symbolic.products(p, inner);
  const Index most = order.empty() ? 0 : *std::max_element(products.begin(), products.end());
  const auto size_class = [&](Index p) {
    return ceil_div(8 * products[static_cast<std::size_t>(p)], std::max<Index>(most, 1));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](Index p, Index q) { return size_class(p) > size_class(q); });
  return order;
}

/// The tasks of the numeric phase, panel by panel of C, which stays in the caches of its worker, or on its
/// GPU, meanwhile; `store`: overwrite where C has no values yet; `fetch`: a finished panel goes to the host.
/// Priorities: what is submitted first.
template <class T>
void submit_products(Sequence& sequence, const ProductOperands<T>& operands, const SymbolicProduct& symbolic,
                     const BlockSparseMatrix<T>& c, Store store, bool fetch, RanOn& ran_on) {
  Runtime& runtime = sequence.runtime();
  const BlockPattern &pa = operands.a().pattern(), &pb = operands.b().pattern(), &pc = c.pattern();
  const Index inner_panels = symbolic.inner_panels();
  const std::size_t together =
      kernels::small_enough_for_rows<T>(symbolic.row_sizes(), symbolic.col_sizes(), symbolic.inner_sizes())
          ? max_inner_panels
          : 1;
  DenseProducts<T> dense(sequence, operands, symbolic);
  // Stands for the stacks of other ranks, which are theirs alone.
  const Data elsewhere = Data::bytes(runtime, sizeof(StackEntry), Data::every_rank);
  std::vector<InnerOperands> contributions;
  int priority = 2 * static_cast<int>(pc.panels()) + 2;
  for (const Index p : submission_order(symbolic, pc)) {
    priority -= 2;
    if (!c.panel(p).valid()) continue;
    const Index row = pc.row_panel(p), col = pc.col_panel(p);
    contributions.clear();
    for (Index step = 0; step < inner_panels; ++step) {
      // Other panels of C begin with other inner panels: not everybody wants the same ones at a time.
      const Index inner = (row + col + step) % inner_panels;
      if (symbolic.products(p, inner) == 0 || symbolic.dense(p, inner)) continue;
      contributions.push_back({inner, symbolic.products(p, inner), shapes_of(symbolic, pc, p, inner),
                               &operands.a().panel(pa.panel(row, inner)),
                               &operands.b().panel(pb.panel(inner, col))});
    }
    ProductWorker* const workers = ran_on.data() + p * inner_panels;
    const bool any_dense = dense.any(p);
    using Values = WriteOrAdd<Array<T>>;
    const Values values = store == Store::overwrite ? Values(c.panel(p)) : Values(add_to(c.panel(p)));
    if (contributions.empty() && store == Store::overwrite && !any_dense)
      sequence.insert(FillValues<T>{.values = c.panel(p), .value = T(0)}, {.priority = priority});
    else if (runtime.gpus() == 0)
      submit_panels<T>(sequence, priority, contributions, together, &symbolic.panel(p), workers, values);
    else
      submit_stacks<T>(sequence, priority, contributions, &symbolic.panel(p), pc.panel_local(p), workers,
                       elsewhere, values);
    if (any_dense) dense.submit(priority, p, row + col, workers, values);
    if (fetch) c.panel(p).fetch_to_host();
  }
}

/// Kernels for the shapes of this rank's stacks, where GPUs compute them.
template <class T>
void prepare_kernels(const SymbolicProduct& symbolic) {
  const BlockPattern& c = *symbolic.pattern();
  if (c.runtime().gpus() == 0) return;
  std::vector<StackClass> all;
  for (Index p = 0; p < c.panels(); ++p)
    if (c.panel_local(p))
      for (Index inner = 0; inner < symbolic.inner_panels(); ++inner) {
        if (symbolic.dense(p, inner)) continue;
        const auto& classes = symbolic.counts(p).classes[static_cast<std::size_t>(inner)];
        all.insert(all.end(), classes.begin(), classes.end());
      }
  prepare_stack_kernels<T>(c.runtime(), all);
}

/// Every task that multiplies must fit a GPU: known to the owner of the panel of C alone, said to all.
template <class T>
void require_room(const ProductOperands<T>& operands, const SymbolicProduct& symbolic) {
  const BlockPattern &pa = operands.a().pattern(), &pb = operands.b().pattern(), &pc = *symbolic.pattern();
  Runtime& runtime = pc.runtime();
  if (runtime.gpus() == 0) return;
  std::size_t most = 0;
  for (Index p = 0; p < pc.panels(); ++p)
    for (Index inner = 0; inner < symbolic.inner_panels() && pc.panel_local(p); ++inner) {
      // Those that are dense are so because they fit.
      if (symbolic.products(p, inner) == 0 || symbolic.dense(p, inner)) continue;
      const auto& classes = symbolic.counts(p).classes[static_cast<std::size_t>(inner)];
      const Index elements = pa.index(pa.panel(pc.row_panel(p), inner)).elements() +
                             pb.index(pb.panel(inner, pc.col_panel(p))).elements() + pc.index(p).elements();
      most = std::max(most, static_cast<std::size_t>(elements) * sizeof(T) +
                                stack_bytes(stack_runs(classes), stack_products(classes)));
    }
  agree(runtime, 0, [&] { require_gpu_memory(runtime, "multiply_stack", most); });
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
        patterns_{problem.a.matrix().pattern_pointer(), problem.b.matrix().pattern_pointer(),
                  problem.c.pattern_pointer()},
        images_(runtime_),
        operands_(images_, problem.a.op(), problem.b.op(), problem.alpha, problem.a.matrix(),
                  problem.b.matrix(), problem.c, options.limits) {
    prefetch(operands_);
    result_->image_seconds = now() - start_;
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
  /// The symbolic phase. Waits.
  void find_blocks(const ProductProblem<T>& problem) {
    const double start = now();
    if (options_.filter_eps > 0)
      filter_ = make_filter(problem.a.op(), problem.a.matrix(), operands_, options_.filter_eps);
    symbolic_.emplace(ProductPatterns{&operands_.a().pattern(), &operands_.b().pattern(),
                                      problem.c.pattern_pointer(), options_.retain_sparsity,
                                      options_.filter_eps > 0 ? &filter_ : nullptr,
                                      dense_rule(options_, operands_, problem.c.pattern())});
    result_->symbolic_seconds = now() - start;
  }

  /// The numeric phase: C's values.
  void compute(T beta, BlockSparseMatrix<T>& c) {
    require_room(operands_, *symbolic_);
    const bool in_place = symbolic_->pattern() == c.pattern_pointer() && beta == T(1) &&
                          &operands_.a() != &c && &operands_.b() != &c;
    require_memory(runtime_, "multiply",
                   product_memory(operands_.a().pattern(), operands_.b().pattern(), *symbolic_->pattern(),
                                  !in_place, sizeof(T)));
    ran_on_.assign(static_cast<std::size_t>(c.pattern().panels() * symbolic_->inner_panels()),
                   ProductWorker::none);
    sequence_ = std::make_unique<Sequence>(runtime_);
    sequence_->begin_stage("scale");
    const Store store =
        beta == T(0) && whole(options_.limits, c.rows(), c.cols()) ? Store::overwrite : Store::add;
    if (store == Store::overwrite)
      next_ = BlockSparseMatrix<T>(symbolic_->pattern());
    else if (!in_place)
      next_ = scaled_result(*sequence_, beta, c, symbolic_->pattern(), options_.limits);
    prepare_kernels<T>(*symbolic_);
    sequence_->begin_stage("products");
    submit_products(*sequence_, operands_, *symbolic_, in_place ? c : next_, store,
                    options_.result_on_host && !drop_, ran_on_);
    // Other ranks' copies of operands that live on.
    for (const BlockSparseMatrix<T>* operand : {&operands_.a(), &operands_.b()})
      for (Index p = 0; p < operand->pattern().panels(); ++p)
        if (operand->panel(p).valid()) operand->panel(p).flush_remote_copies();
    if (!c_ && next_.valid()) c = std::move(next_);
  }

  Status finish_guarded() {
    const Status products = sequence_->wait(), images = images_.wait();
    result_->statistics = sequence_->statistics();
    if (!images) return images;
    if (!products) return products;
    report_stack_kernels(runtime_);
    const BlockPattern& pattern = *symbolic_->pattern();
    report_products(runtime_, pattern, *symbolic_, ran_on_, flop_factor<T> * 2.0, *result_);
    result_->filtered_products = symbolic_->filtered_products();
    count_panel_products(*symbolic_, pattern, *result_);
    if (c_) {
      if (next_.valid()) *c_ = std::move(next_);
      if (drop_) result_->filtered_blocks = filter(*c_, options_.filter_eps);
      if (options_.result_on_host) fetch(*c_);
    }
    const double listing =
        codelet_seconds(result_->statistics, "list_products") / std::max(1, runtime_.workers());
    result_->numeric_seconds = now() - numeric_start_ - listing;
    result_->symbolic_seconds += listing;
    result_->seconds = now() - start_;
    return {};
  }

  const double start_ = now();
  double numeric_start_ = 0;
  Runtime& runtime_;
  const MultiplyOptions options_;
  const bool drop_;  ///< blocks of C that are small at the end
  const std::shared_ptr<MultiplyResult> result_;
  BlockSparseMatrix<T>* const c_;  ///< to be completed by finish()
  std::optional<Status> finished_;
  // What the tasks use. Destroyed in reverse order: the sequences wait.
  const std::array<BlockPatternPointer, 3> patterns_;
  BlockSparseMatrix<T> next_;  ///< C with its new blocks
  Sequence images_;
  const ProductOperands<T> operands_;
  ProductFilter filter_;
  std::optional<SymbolicProduct> symbolic_;
  RanOn ran_on_;
  std::unique_ptr<Sequence> sequence_;
};

/// @param name of the call
template <class T>
Completion<MultiplyResult> submit(std::string_view name, Runtime& runtime, const ProductProblem<T>& problem,
                                  const MultiplyOptions& options, bool waits) {
  const auto& [alpha, a, b, beta, c] = problem;
  const auto check = [&] {
    require_made("C", c);
    if (&runtime != &c.runtime()) throw InvalidArgument("C", "a matrix of another Runtime", "the call's");
    require_valid(a.op(), b.op(), alpha, a.matrix(), b.matrix(), beta, c, options);
  };
  const std::uint64_t hash = argument_hash(hash_of(a.op(), b.op(), alpha, beta, options),
                                           shape_hash(a.matrix()), shape_hash(b.matrix()), shape_hash(c));
  return collectively(runtime, name, hash, check, [&] {
    auto result = std::make_shared<MultiplyResult>();
    auto work = std::make_unique<ProductWork<T>>(problem, options, waits, result);
    // Which blocks are small is known at the end alone.
    if (options.filter_eps > 0 && !options.retain_sparsity) work->finish();
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
