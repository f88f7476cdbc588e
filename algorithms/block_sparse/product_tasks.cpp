// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <tessera/algorithms/block_sparse/dense_products.hpp>
#include <tessera/algorithms/block_sparse/panel_norms.hpp>
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
  const Data *norms_a, *norms_b;  ///< with a filter
};

/// The products of one panel of C where CPUs compute them; `together`: inner panels in one task.
template <class T>
void submit_panels(Sequence& sequence, int priority, std::span<const InnerOperands> contributions,
                   std::size_t together, const ProductPanel* panel, ProductWorker* ran_on,
                   const WriteOrAdd<Array<T>>& c) {
  std::vector<const Data*> factors, norms;
  for (std::size_t first = 0; first < contributions.size(); first += together) {
    MultiplyPanels<T> task{.c = c, .factors = {}, .panel = panel, .ran_on = ran_on};
    factors.clear();
    norms.clear();
    auto number = task.inner.begin();
    for (const InnerOperands& inner :
         contributions.subspan(first, std::min(together, contributions.size() - first))) {
      factors.insert(factors.end(), {inner.a, inner.b});
      if (inner.norms_a) norms.insert(norms.end(), {inner.norms_a, inner.norms_b});
      *number++ = static_cast<std::int32_t>(inner.number);
      task.products += inner.products;
      task.counted_flops += stack_flops(inner.classes, is_complex<T>);
    }
    task.factors = factors;
    task.norms = norms;
    sequence.insert(task, {.priority = priority});
  }
}

/// What the inner panels contribute to a panel of C, where CPUs compute it.
template <class T>
std::vector<InnerOperands> contributions_to(Index p, const ProductOperands<T>& operands,
                                            const ProductPlan& plan, const ProductFilter* filter) {
  const BlockPattern &pa = operands.a().pattern(), &pb = operands.b().pattern(), &pc = *plan.pattern();
  const Index row = pc.row_panel(p), col = pc.col_panel(p), inner_panels = plan.inner_panels();
  std::vector<InnerOperands> contributions;
  for (Index step = 0; step < inner_panels; ++step) {
    // Other panels of C begin with other inner panels: not everybody wants the same ones at a time.
    const Index inner = (row + col + step) % inner_panels;
    if (plan.products(p, inner) == 0 || plan.dense(p, inner)) continue;
    const Index of_a = pa.panel(row, inner), of_b = pb.panel(inner, col);
    contributions.push_back({inner, plan.products(p, inner), shapes_of(plan, pc, p, inner),
                             &operands.a().panel(of_a), &operands.b().panel(of_b),
                             filter ? &filter->norms_a[static_cast<std::size_t>(of_a)] : nullptr,
                             filter ? &filter->norms_b[static_cast<std::size_t>(of_b)] : nullptr});
  }
  return contributions;
}

/// The products where GPUs compute them: the lists of a few sets' products at a time, unless the plan has them,
/// then the products of each.
template <class T>
class StackTasks {
 public:
  StackTasks(Sequence& sequence, const ProductOperands<T>& operands, ProductPlan& plan,
             const NumericOptions& options)
      : sequence_(sequence),
        operands_(operands),
        plan_(plan),
        options_(options),
        norms_a_(sequence, operands.a(), sequence.runtime().size() == 1),
        norms_b_(sequence, operands.b(), sequence.runtime().size() == 1),
        elsewhere_(Data::bytes(sequence.runtime(), sizeof(StackEntry), Data::every_rank)) {}

  /// The products for a panel of C. Lists that are missing are made for it and for the `next` panels, which
  /// begin with it.
  void submit(int priority, Index p, std::span<const Index> next, ProductRecords& records,
              const WriteOrAdd<Array<T>>& c) {
    const BlockPattern &pa = operands_.a().pattern(), &pb = operands_.b().pattern(), &pc = *plan_.pattern();
    const bool local = pc.panel_local(p);
    list(priority, next, records);
    auto record = records.stacks[static_cast<std::size_t>(p)].begin();
    for (StackSet& set : plan_.sets(p)) {
      std::vector<const Data*> factors;
      for (const std::int32_t inner : set.inner)
        factors.insert(factors.end(), {&operands_.a().panel(pa.panel(pc.row_panel(p), inner)),
                                       &operands_.b().panel(pb.panel(inner, pc.col_panel(p)))});
      sequence_.insert(MultiplyStack<T>{.stack = !local                  ? elsewhere_
                                                 : record->stack.valid() ? record->stack
                                                                         : set.stack,
                                        .c = c,
                                        .factors = factors,
                                        .classes = set.classes,
                                        .complete = set.complete,
                                        .ran_on = &record->ran_on},
                       {.priority = priority});
      if (!keeps_lists()) record->stack.release();
      ++record;
    }
  }

  /// Inserts tasks for the lists that the first of the panels needs, and with them those of the panels after,
  /// as far as one task takes them. Norms of other ranks are read where C's owner lists, one set at a time.
  void list(int priority, std::span<const Index> panels, ProductRecords& records) {
    const bool alone = sequence_.runtime().size() == 1;
    std::vector<Missing> missing;
    double bytes = 0;
    const double most = static_cast<double>(sequence_.runtime().info().gpu_memory_bytes) / 16;
    for (const Index p : alone ? panels : panels.first(1)) {
      if (p != panels.front() && missing.empty()) return;
      for (std::size_t s = 0; s < plan_.sets(p).size(); ++s) {
        StackSet& set = plan_.sets(p)[s];
        StackRecord& record = records.stacks[static_cast<std::size_t>(p)][s];
        if (record.listed || (options_.eps == 0 && set.stack.valid())) continue;
        const bool full = !alone || missing.size() == ListedStacks::most || bytes > most;
        if (full && !missing.empty()) {
          insert(priority, missing);
          missing.clear();
          bytes = 0;
          if (p != panels.front()) return;
        }
        record.listed = true;
        missing.push_back({p, &set, &record});
        bytes += static_cast<double>(ProductPlan::stack_size(set));
      }
    }
    if (!missing.empty()) insert(priority, missing);
  }

 private:
  /// The lists may serve later products.
  bool keeps_lists() const noexcept { return options_.eps == 0 && plan_.keeps_lists; }

  struct Missing {
    Index panel;
    StackSet* set;
    StackRecord* record;
  };

  /// One task that lists the products of these sets.
  void insert(int priority, std::span<const Missing> sets) {
    const BlockPattern &pa = operands_.a().pattern(), &pb = operands_.b().pattern(), &pc = *plan_.pattern();
    Runtime& runtime = sequence_.runtime();
    const bool filtered = options_.eps > 0;
    const Index p = sets.front().panel, inner = sets.front().set->inner.front();
    const Index of_a = pa.panel(pc.row_panel(p), inner), of_b = pb.panel(inner, pc.col_panel(p));
    const Data* const norms_a = filtered ? &norms_a_.of(of_a, priority + 2) : nullptr;
    const Data* const norms_b = filtered ? &norms_b_.of(of_b, priority + 2) : nullptr;
    const bool local = pc.panel_local(p);
    // Others have no part in it, unless they send norms.
    if (!local && !filtered) return;
    std::vector<std::pair<Index, const StackSet*>> listed;
    std::vector<const Data*> lists;
    for (const Missing& each : sets) {
      listed.emplace_back(each.panel, each.set);
      if (!local) {
        lists.push_back(&elsewhere_);
        continue;
      }
      each.record->stack = Data::bytes(runtime, ProductPlan::stack_size(*each.set), Data::every_rank);
      lists.push_back(&each.record->stack);
    }
    ListProducts task = plan_.listing(listed);
    task.lists = lists;
    std::shared_ptr<const Data> counts;
    if (filtered) {
      counts = std::make_shared<const Data>(
          Data::bytes(runtime, sets.size() * static_cast<std::size_t>(plan_.classes()) * sizeof(std::int64_t),
                      Data::every_rank));
      task.filtered = *counts;
      task.norms_a = norms_a;
      task.norms_b = norms_b;
      task.filter = {options_.eps, word_of(norms_a_.before(of_a)), word_of(norms_b_.before(of_b))};
      if (options_.row_blocks.valid()) task.row_blocks = options_.row_blocks;
      for (std::size_t i = 0; i < sets.size(); ++i) {
        sets[i].record->filtered = counts;
        sets[i].record->first_filtered = static_cast<Index>(i) * plan_.classes();
      }
    }
    sequence_.insert(task, {.priority = priority + 1, .execute_on = pc.panel_owner(p)});
    if (counts && local) counts->fetch_to_host();
  }

  Sequence& sequence_;
  const ProductOperands<T>& operands_;
  ProductPlan& plan_;
  const NumericOptions& options_;
  PanelNorms<T> norms_a_, norms_b_;
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

void keep_lists(ProductPlan& plan, ProductRecords& records) {
  for (std::size_t p = 0; p < records.stacks.size(); ++p)
    for (std::size_t s = 0; s < records.stacks[p].size(); ++s) {
      Data& stack = records.stacks[p][s].stack;
      StackSet& set = plan.sets(static_cast<Index>(p))[s];
      if (stack.valid() && !set.stack.valid()) set.stack = std::move(stack);
    }
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
  const std::vector<Index> order = submission_order(plan, pc);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Index p = order[at];
    priority -= 3;
    if (!c.panel(p).valid()) continue;
    if (!on_gpus) contributions = contributions_to(p, operands, plan, options.filter);
    const bool any_stacks = !plan.sets(p).empty();
    ProductWorker* const workers = records.panels.data() + p * plan.inner_panels();
    const bool any_dense = dense.any(p), overwrite = options.store == Store::overwrite;
    using Values = WriteOrAdd<Array<T>>;
    const Values values = overwrite ? Values(c.panel(p)) : Values(add_to(c.panel(p)));
    if (contributions.empty() && !any_stacks && overwrite && !any_dense)
      sequence.insert(FillValues<T>{.values = c.panel(p), .value = T(0)}, {.priority = priority});
    else if (on_gpus)
      stacks.submit(priority, p, std::span(order).subspan(at), records, values);
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
  const std::vector<Index> order = submission_order(plan, *plan.pattern());
  for (std::size_t at = 0; at < order.size(); ++at) stacks.list(0, std::span(order).subspan(at), records);
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
      for (const std::int32_t inner : set.inner)
        elements += pa.panel_elements(pa.panel(pc.row_panel(p), inner)) +
                    pb.panel_elements(pb.panel(inner, pc.col_panel(p)));
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
