// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_memory.hpp>
#include <tessera/algorithms/block_sparse/dense_products.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/product_operands.hpp>
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

namespace tessera {
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

/// Where the stacks of this rank were computed, for each panel of C and inner panel.
using RanOn = std::vector<ProductWorker>;

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

/// Sums of the products by shape, over all ranks.
std::vector<ProductCount> count_shapes(Runtime& runtime, const BlockPattern& c,
                                       const SymbolicProduct& symbolic, const RanOn& ran_on) {
  std::map<std::tuple<Index, Index, Index>, ProductCount> shapes;
  const auto add = [&](const ProductCount& count) {
    ProductCount& sum = shapes[{count.m, count.n, count.k}];
    sum = {count.m,
           count.n,
           count.k,
           sum.products + count.products,
           sum.cpu_products + count.cpu_products,
           sum.gpu_products + count.gpu_products};
  };
  for (Index p = 0; p < c.panels(); ++p) {
    if (!c.panel_local(p)) continue;
    for (Index inner = 0; inner < symbolic.inner_panels(); ++inner) {
      const ProductWorker worker = ran_on[static_cast<std::size_t>(p * symbolic.inner_panels() + inner)];
      for (const StackClass& shape : symbolic.counts(p).classes[static_cast<std::size_t>(inner)])
        add({shape.m, shape.n, shape.k, shape.products, worker == ProductWorker::cpu ? shape.products : 0,
             worker == ProductWorker::gpu ? shape.products : 0});
    }
  }
  std::vector<ProductCount> mine;
  for (const auto& [key, count] : shapes) mine.push_back(count);
  shapes.clear();
  for (const auto& piece : runtime.all_gather(std::as_bytes(std::span<const ProductCount>(mine))))
    for (std::size_t at = 0; at < piece.size(); at += sizeof(ProductCount)) {
      ProductCount count;
      std::memcpy(&count, piece.data() + at, sizeof count);
      add(count);
    }
  std::vector<ProductCount> result;
  for (const auto& [key, count] : shapes) result.push_back(count);
  std::stable_sort(result.begin(), result.end(),
                   [](const ProductCount& x, const ProductCount& y) { return x.products > y.products; });
  return result;
}

void count_panel_products(const SymbolicProduct& symbolic, const BlockPattern& c, MultiplyResult& result) {
  for (Index p = 0; p < c.panels(); ++p)
    for (Index inner = 0; inner < symbolic.inner_panels(); ++inner) {
      result.panel_products += symbolic.products(p, inner) > 0;
      result.dense_panel_products += symbolic.dense(p, inner);
    }
}

double codelet_seconds(const SequenceStatistics& statistics, std::string_view name) {
  for (const CodeletStatistics& codelet : statistics.codelets)
    if (codelet.name == name) return codelet.seconds;
  return 0;
}

/// The numeric phase: C's values.
template <class T>
void compute(const ProductOperands<T>& operands, const SymbolicProduct& symbolic, T beta,
             BlockSparseMatrix<T>& c, const MultiplyLimits& limits, bool fetch, MultiplyResult& result) {
  Runtime& runtime = c.runtime();
  require_room(operands, symbolic);
  const bool in_place =
      symbolic.pattern() == c.pattern_pointer() && beta == T(1) && &operands.a() != &c && &operands.b() != &c;
  require_memory(runtime, "multiply",
                 product_memory(operands.a().pattern(), operands.b().pattern(), *symbolic.pattern(),
                                !in_place, sizeof(T)));
  RanOn ran_on(static_cast<std::size_t>(c.pattern().panels() * symbolic.inner_panels()), ProductWorker::none);
  BlockSparseMatrix<T> next;
  Sequence sequence(runtime);
  sequence.begin_stage("scale");
  const bool clear = beta == T(0) && whole(limits, c.rows(), c.cols());
  if (clear)
    next = BlockSparseMatrix<T>(symbolic.pattern());
  else if (!in_place)
    next = scaled_result(sequence, beta, c, symbolic.pattern(), limits);
  prepare_kernels<T>(symbolic);
  sequence.begin_stage("products");
  submit_products(sequence, operands, symbolic, in_place ? c : next, clear ? Store::overwrite : Store::add,
                  fetch, ran_on);
  // Other ranks' copies of operands that live on.
  for (const BlockSparseMatrix<T>* operand : {&operands.a(), &operands.b()})
    for (Index p = 0; p < operand->pattern().panels(); ++p)
      if (operand->panel(p).valid()) operand->panel(p).flush_remote_copies();
  finish(sequence);
  report_stack_kernels(runtime);
  result.statistics = sequence.statistics();
  result.shapes = count_shapes(runtime, c.pattern(), symbolic, ran_on);
  if (!in_place) c = std::move(next);
}

/// All phases.
template <class T>
MultiplyResult product(Op op_a, Op op_b, T alpha, const BlockSparseMatrix<T>& a,
                       const BlockSparseMatrix<T>& b, T beta, BlockSparseMatrix<T>& c,
                       const MultiplyOptions& options) {
  MultiplyResult result;
  const double start = now();
  Sequence images(c.runtime());
  const ProductOperands<T> operands(images, op_a, op_b, alpha, a, b, c, options.limits);
  prefetch(operands);
  result.image_seconds = now() - start;
  ProductFilter by_norms;
  const double symbolic_start = now();
  if (options.filter_eps > 0) by_norms = make_filter(op_a, a, operands, options.filter_eps);
  const SymbolicProduct symbolic({&operands.a().pattern(), &operands.b().pattern(), c.pattern_pointer(),
                                  options.retain_sparsity, options.filter_eps > 0 ? &by_norms : nullptr,
                                  dense_rule(options, operands, c.pattern())});
  result.symbolic_seconds = now() - symbolic_start;
  const double numeric_start = now();
  const bool drop = options.filter_eps > 0 && !options.retain_sparsity;
  compute(operands, symbolic, beta, c, options.limits, options.result_on_host && !drop, result);
  finish(images);
  result.filtered_products = symbolic.filtered_products();
  count_panel_products(symbolic, c.pattern(), result);
  for (const ProductCount& shape : result.shapes) {
    result.products += shape.products;
    result.flop += flop_factor<T> * 2.0 * static_cast<double>(shape.m * shape.n * shape.k) *
                   static_cast<double>(shape.products);
  }
  if (drop) result.filtered_blocks = filter(c, options.filter_eps);
  if (options.result_on_host) fetch(c);
  const double listing =
      codelet_seconds(result.statistics, "list_products") / std::max(1, c.runtime().workers());
  result.numeric_seconds = now() - numeric_start - listing;
  result.symbolic_seconds += listing;
  result.seconds = now() - start;
  return result;
}

}  // namespace

template <class T>
MultiplyResult multiply(Op op_a, Op op_b, T alpha, const BlockSparseMatrix<T>& a,
                        const BlockSparseMatrix<T>& b, T beta, BlockSparseMatrix<T>& c,
                        const MultiplyOptions& options) {
  const auto check = [&] { require_valid(op_a, op_b, alpha, a, b, beta, c, options); };
  const std::uint64_t hash =
      argument_hash(hash_of(op_a, op_b, alpha, beta, options), shape_hash(a), shape_hash(b), shape_hash(c));
  return collectively(runtime_of("C", c), "multiply", hash, check,
                      [&] { return product(op_a, op_b, alpha, a, b, beta, c, options); });
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template MultiplyResult multiply<T>(Op, Op, T, const BlockSparseMatrix<T>&, const BlockSparseMatrix<T>&, \
                                      T, BlockSparseMatrix<T>&, const MultiplyOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
