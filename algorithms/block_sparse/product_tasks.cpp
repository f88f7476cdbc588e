// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <tessera/algorithms/block_sparse/dense_products.hpp>
#include <tessera/algorithms/block_sparse/product_tasks.hpp>
#include <tessera/codelets/block_sparse/product/kernels/multiply_rows.hpp>
#include <tessera/codelets/block_sparse/product/multiply_panels.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/codelets/common/store.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// The shapes of what an inner panel contributes to a panel of C; none on ranks that do not own that.
std::span<const StackClass> shapes_of(const ProductPlan& plan, const BlockPattern& c, Index panel,
                                      Index inner) {
  if (!c.panel_local(panel)) return {};
  return plan.counts(panel).classes[static_cast<std::size_t>(inner)];
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

/// What the inner panels contribute to a panel of C, where CPUs compute it.
template <class T>
std::vector<InnerOperands> contributions_to(Index p, const ProductOperands<T>& operands,
                                            const ProductPlan& plan) {
  const BlockPattern &pa = operands.a().pattern(), &pb = operands.b().pattern(), &pc = *plan.pattern();
  const Index row = pc.row_panel(p), col = pc.col_panel(p), inner_panels = plan.inner_panels();
  std::vector<InnerOperands> contributions;
  for (Index step = 0; step < inner_panels; ++step) {
    // Other panels of C begin with other inner panels: not everybody wants the same ones at a time.
    const Index inner = (row + col + step) % inner_panels;
    if (plan.products(p, inner) == 0 || plan.dense(p, inner)) continue;
    contributions.push_back({inner, plan.products(p, inner), shapes_of(plan, pc, p, inner),
                             &operands.a().panel(pa.panel(row, inner)),
                             &operands.b().panel(pb.panel(inner, col))});
  }
  return contributions;
}

/// With a filter and GPUs: the norms of the blocks of A and B, panel by panel, made when first asked for.
template <class T>
class Norms {
 public:
  Norms(Sequence& sequence, const BlockSparseMatrix<T>& matrix)
      : sequence_(sequence), matrix_(matrix), panels_(static_cast<std::size_t>(matrix.pattern().panels())) {}
  const Data& of(Index p, int priority) {
    Data& norms = panels_[static_cast<std::size_t>(p)];
    if (norms.valid()) return norms;
    const BlockPattern& pattern = matrix_.pattern();
    norms =
        Data::bytes(sequence_.runtime(), static_cast<std::size_t>(pattern.panel_blocks(p)) * sizeof(double),
                    pattern.panel_owner(p));
    sequence_.insert(BlockNorms<T>{.pattern = pattern.packed(),
                                   .values = matrix_.panel(p),
                                   .norms = norms,
                                   .row_panel = static_cast<std::int32_t>(pattern.row_panel(p)),
                                   .col_panel = static_cast<std::int32_t>(pattern.col_panel(p))},
                     {.priority = priority});
    return norms;
  }

 private:
  Sequence& sequence_;
  const BlockSparseMatrix<T>& matrix_;
  std::vector<Data> panels_;
};

/// The products where GPUs compute them: the lists of a set's products, unless the plan has them, then the
/// products.
template <class T>
class StackTasks {
 public:
  StackTasks(Sequence& sequence, const ProductOperands<T>& operands, ProductPlan& plan,
             const NumericOptions& options)
      : sequence_(sequence),
        operands_(operands),
        plan_(plan),
        options_(options),
        norms_a_(sequence, operands.a()),
        norms_b_(sequence, operands.b()),
        elsewhere_(Data::bytes(sequence.runtime(), sizeof(StackEntry), Data::every_rank)) {}

  void submit(int priority, Index p, bool local, std::vector<StackRecord>& records,
              const WriteOrAdd<Array<T>>& c) {
    const BlockPattern &pa = operands_.a().pattern(), &pb = operands_.b().pattern(), &pc = *plan_.pattern();
    list(priority, p, local, records, c.data()->gpu());
    std::size_t number = 0;
    for (StackSet& set : plan_.sets(p)) {
      StackRecord& record = records[number++];
      std::vector<const Data*> factors;
      for (std::int32_t i = 0; i < set.listed.count; ++i)
        factors.insert(factors.end(), {&operands_.a().panel(pa.panel(pc.row_panel(p), set.listed.inner[i])),
                                       &operands_.b().panel(pb.panel(set.listed.inner[i], pc.col_panel(p)))});
      sequence_.insert(MultiplyStack<T>{.stack = !local                 ? elsewhere_
                                                 : record.stack.valid() ? record.stack
                                                                        : set.stack,
                                        .c = c,
                                        .factors = factors,
                                        .classes = set.classes,
                                        .complete = set.complete,
                                        .ran_on = &record.ran_on},
                       {.priority = priority});
      record.stack.release();
    }
  }

  /// The lists of a panel's sets that there are not yet.
  void list(int priority, Index p, bool local, std::vector<StackRecord>& records, int gpu) {
    const BlockPattern &pa = operands_.a().pattern(), &pb = operands_.b().pattern(), &pc = *plan_.pattern();
    std::size_t number = 0;
    for (StackSet& set : plan_.sets(p)) {
      StackRecord& record = records[number++];
      std::vector<const Data*> norms;
      for (std::int32_t i = 0; i < set.listed.count && options_.eps > 0; ++i)
        norms.insert(norms.end(),
                     {&norms_a_.of(pa.panel(pc.row_panel(p), set.listed.inner[i]), priority + 2),
                      &norms_b_.of(pb.panel(set.listed.inner[i], pc.col_panel(p)), priority + 2)});
      if (local && !record.stack.valid()) list(priority + 1, p, set, norms, record, gpu);
    }
  }

 private:
  /// Inserts the task that lists a set's products; nothing if the plan has the list. Norms of other ranks
  /// are read where C's owner lists.
  void list(int priority, Index p, StackSet& set, const std::vector<const Data*>& norms, StackRecord& record,
            int gpu) {
    if (options_.eps == 0 && set.stack.valid()) return;
    Runtime& runtime = sequence_.runtime();
    Data stack = Data::bytes(runtime, ProductPlan::stack_size(set), Data::every_rank);
    ListProducts task = plan_.listing(p, set, stack);
    if (options_.eps > 0) {
      record.filtered = Data::bytes(runtime,
                                    static_cast<std::size_t>(task.shape.row_classes * task.shape.col_classes *
                                                             task.shape.inner_classes) *
                                        sizeof(std::int64_t),
                                    Data::every_rank);
      task.filtered = record.filtered;
      if (options_.row_blocks.valid()) task.row_blocks = options_.row_blocks;
      task.norms = norms;
      task.eps = options_.eps;
    }
    sequence_.insert(task, {.priority = priority, .execute_on = runtime.rank(), .gpu = gpu});
    if (options_.eps > 0) record.filtered.fetch_to_host();
    (options_.eps > 0 || !plan_.keeps_lists ? record.stack : set.stack) = std::move(stack);
  }

  Sequence& sequence_;
  const ProductOperands<T>& operands_;
  ProductPlan& plan_;
  const NumericOptions& options_;
  Norms<T> norms_a_, norms_b_;
  const Data elsewhere_;  // stands for the stacks of other ranks, which are theirs alone
};

/// C's panels as their tasks are submitted. On CPUs those with the most products first: who is done early
/// takes what is left of the small ones. Those of about as many follow each other as they are stored, as all
/// do with GPUs, where neighbours find what they share.
std::vector<Index> submission_order(const ProductPlan& plan, const BlockPattern& c) {
  std::vector<Index> order(static_cast<std::size_t>(c.panels())), products(order.size(), 0);
  std::iota(order.begin(), order.end(), Index{0});
  if (uses_stacks(c.runtime())) return order;
  for (const Index p : order)
    for (Index inner = 0; inner < plan.inner_panels(); ++inner)
      products[static_cast<std::size_t>(p)] += plan.products(p, inner);
  const Index most = order.empty() ? 0 : *std::max_element(products.begin(), products.end());
  const auto size_class = [&](Index p) {
    return ceil_div(8 * products[static_cast<std::size_t>(p)], std::max<Index>(most, 1));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](Index p, Index q) { return size_class(p) > size_class(q); });
  return order;
}

}  // namespace

ProductRecords::ProductRecords(const ProductPlan& plan)
    : panels(static_cast<std::size_t>(plan.pattern()->panels() * plan.inner_panels()), ProductWorker::none),
      stacks(static_cast<std::size_t>(plan.pattern()->panels())) {
  for (Index p = 0; p < plan.pattern()->panels(); ++p)
    stacks[static_cast<std::size_t>(p)].resize(plan.sets(p).size());
}

template <class T>
void submit_products(Sequence& sequence, const ProductOperands<T>& operands, ProductPlan& plan,
                     const BlockSparseMatrix<T>& c, const NumericOptions& options, ProductRecords& records) {
  const BlockPattern& pc = c.pattern();
  const bool on_gpus = uses_stacks(sequence.runtime());
  const std::size_t together =
      kernels::small_enough_for_rows<T>(plan.row_sizes(), plan.col_sizes(), plan.inner_sizes())
          ? max_inner_panels
          : 1;
  DenseProducts<T> dense(sequence, operands, plan);
  StackTasks<T> stacks(sequence, operands, plan, options);
  std::vector<InnerOperands> contributions;
  int priority = 3 * static_cast<int>(pc.panels()) + 3;
  for (const Index p : submission_order(plan, pc)) {
    priority -= 3;
    if (!c.panel(p).valid()) continue;
    if (!on_gpus) contributions = contributions_to(p, operands, plan);
    std::vector<StackRecord>& of_stacks = records.stacks[static_cast<std::size_t>(p)];
    ProductWorker* const workers = records.panels.data() + p * plan.inner_panels();
    const bool any_dense = dense.any(p), overwrite = options.store == Store::overwrite;
    using Values = WriteOrAdd<Array<T>>;
    const Values values = overwrite ? Values(c.panel(p)) : Values(add_to(c.panel(p)));
    if (contributions.empty() && of_stacks.empty() && overwrite && !any_dense)
      sequence.insert(FillValues<T>{.values = c.panel(p), .value = T(0)}, {.priority = priority});
    else if (on_gpus)
      stacks.submit(priority, p, pc.panel_local(p), of_stacks, values);
    else
      submit_panels<T>(sequence, priority, contributions, together, &plan.panel(p), workers, values);
    if (any_dense) dense.submit(priority, p, pc.row_panel(p) + pc.col_panel(p), workers, values);
    if (options.fetch) c.panel(p).fetch_to_host();
  }
}

template <class T>
void list_products(Sequence& sequence, const ProductOperands<T>& operands, ProductPlan& plan,
                   const NumericOptions& options, ProductRecords& records) {
  StackTasks<T> stacks(sequence, operands, plan, options);
  const BlockPattern& c = *plan.pattern();
  for (Index p = 0; p < c.panels(); ++p)
    stacks.list(0, p, c.panel_local(p), records.stacks[static_cast<std::size_t>(p)], -1);
}

template <class T>
void prepare_kernels(const ProductPlan& plan) {
  const BlockPattern& c = *plan.pattern();
  if (c.runtime().gpus() == 0) return;
  std::vector<StackClass> all;
  for (Index p = 0; p < c.panels(); ++p)
    for (const StackSet& set : plan.sets(p)) all.insert(all.end(), set.classes.begin(), set.classes.end());
  prepare_stack_kernels<T>(c.runtime(), all);
}

template <class T>
void require_room(const ProductOperands<T>& operands, const ProductPlan& plan) {
  const BlockPattern &pa = operands.a().pattern(), &pb = operands.b().pattern(), &pc = *plan.pattern();
  Runtime& runtime = pc.runtime();
  if (runtime.gpus() == 0) return;
  std::size_t most = 0;
  for (Index p = 0; p < pc.panels(); ++p)
    for (const StackSet& set : plan.sets(p)) {
      if (!pc.panel_local(p)) continue;
      Index elements = pc.panel_elements(p);
      for (std::int32_t i = 0; i < set.listed.count; ++i)
        elements += pa.panel_elements(pa.panel(pc.row_panel(p), set.listed.inner[i])) +
                    pb.panel_elements(pb.panel(set.listed.inner[i], pc.col_panel(p)));
      most = std::max(most, static_cast<std::size_t>(elements) * sizeof(T) + ProductPlan::stack_size(set));
    }
  agree(runtime, 0, [&] { require_gpu_memory(runtime, "multiply_stack", most); });
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template void submit_products<T>(Sequence&, const ProductOperands<T>&, ProductPlan&,                      \
                                   const BlockSparseMatrix<T>&, const NumericOptions&, ProductRecords&);    \
  template void list_products<T>(Sequence&, const ProductOperands<T>&, ProductPlan&, const NumericOptions&, \
                                 ProductRecords&);                                                          \
  template void require_room<T>(const ProductOperands<T>&, const ProductPlan&);                             \
  template void prepare_kernels<T>(const ProductPlan&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
