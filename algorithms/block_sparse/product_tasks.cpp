// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <tessera/algorithms/block_sparse/dense_products.hpp>
#include <tessera/algorithms/block_sparse/product_tasks.hpp>
#include <tessera/algorithms/block_sparse/stack_tasks.hpp>
#include <tessera/codelets/block_sparse/product/kernels/multiply_rows.hpp>
#include <tessera/codelets/block_sparse/product/multiply_panels.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/codelets/common/store.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/remote_copies.hpp>
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

/// What it contributes where CPUs compute.
template <class T>
InnerOperands contribution_of(const FactorPanels& pair, const ProductOperands<T>& operands,
                              const ProductPlan& plan, const ProductFilter* filter) {
  return {pair.inner,
          plan.products(pair.c, pair.inner),
          shapes_of(plan, *plan.pattern(), pair.c, pair.inner),
          &operands.a().panel(pair.a),
          &operands.b().panel(pair.b),
          filter ? &filter->norms_a[static_cast<std::size_t>(pair.a)] : nullptr,
          filter ? &filter->norms_b[static_cast<std::size_t>(pair.b)] : nullptr};
}

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

/// All tasks that compute the values.
template <class T>
class ProductTasks {
 public:
  ProductTasks(Sequence& sequence, const ProductOperands<T>& operands, OperandNorms<T>& norms,
               ProductPlan& plan, const BlockSparseMatrix<T>& c, const NumericOptions& options,
               ProductRecords& records)
      : sequence_(sequence),
        operands_(operands),
        plan_(plan),
        c_(c),
        options_(options),
        records_(records),
        on_gpus_(uses_stacks(sequence.runtime())),
        together_(kernels::small_enough_for_rows<T>(plan.row_sizes(), plan.col_sizes(), plan.inner_sizes())
                      ? max_inner_panels
                      : 1),
        dense_(sequence, operands, plan),
        stacks_(sequence, operands, norms, plan, options),
        order_(submission_order(plan, c.pattern())) {
    std::erase_if(order_, [&](Index p) { return !c.panel(p).valid(); });
  }

  /// In one process: C's panels one after the other, each with all inner panels.
  void submit_by_panels() {
    int priority = 3 * static_cast<int>(order_.size()) + 3;
    for (std::size_t at = 0; at < order_.size(); ++at) {
      const Index p = order_[at];
      priority -= 3;
      if (on_gpus_)
        stacks_.submit(priority, p, std::span(order_).subspan(at), records_, values(p));
      else
        submit_all_inner(priority, p);
      finish(priority, p);
    }
  }

  /// With several ranks: some inner panels after the other, each for all panels of C (Cannon). In a step ranks
  /// of one row or column of the grid take different inner panels, which begin elsewhere at each place of the
  /// grid, so that not everybody wants the panels of one rank at a time.
  /// Source: L. E. Cannon, A cellular computer to implement the Kalman filter algorithm (1969).
  void submit_by_steps() {
    // Panels of the step that is computed and of the next are there or on their way; those of one more may
    // arrive before this rank asks for them.
    StepWindow window(sequence_.runtime(), 2);
    const Index steps = product_steps(c_.pattern(), plan_.inner_panels(), options_.steps);
    int priority = 3 * static_cast<int>(steps + static_cast<Index>(order_.size())) + 3;
    for (Index step = 0; step < steps; ++step) {
      priority -= 3;
      const std::vector<FactorPanels> pairs = pairs_of(step, steps);
      const bool exchanged = exchanges(pairs);
      if (exchanged) window.begin_step();
      submit_pairs(priority, pairs);
      if (exchanged) window.end_step(pieces_of(pairs));
    }
    for (const Index p : order_) {
      priority -= 3;
      finish(priority, p);
    }
  }

 private:
  using Values = WriteOrAdd<Array<T>>;

  Values values(Index p) const { return overwrites() ? Values(c_.panel(p)) : Values(add_to(c_.panel(p))); }
  bool overwrites() const noexcept { return options_.store == Store::overwrite; }
  ProductWorker* workers(Index p) const { return records_.panels.data() + p * plan_.inner_panels(); }

  /// Where CPUs compute: a panel of C with all inner panels that are not dense.
  void submit_all_inner(int priority, Index p) {
    const BlockPattern& pc = c_.pattern();
    const Index inner_panels = plan_.inner_panels();
    std::vector<InnerOperands> contributions;
    for (Index step = 0; step < inner_panels; ++step) {
      // Other panels of C begin with other inner panels: not everybody wants the same ones at a time.
      const Index inner = (pc.row_panel(p) + pc.col_panel(p) + step) % inner_panels;
      if (plan_.products(p, inner) > 0 && !plan_.dense(p, inner))
        contributions.push_back(
            contribution_of(pair_for(p, inner, operands_, pc), operands_, plan_, options_.filter));
    }
    submit(priority, p, contributions);
  }

  void submit(int priority, Index p, std::span<const InnerOperands> contributions) {
    submit_panels<T>(sequence_, priority, contributions, together_, &plan_.panel(p), workers(p), values(p));
  }

  /// The pairs with products that the ranks take in a step, by panels of C.
  std::vector<FactorPanels> pairs_of(Index step, Index steps) const {
    const BlockPattern& pc = c_.pattern();
    std::vector<FactorPanels> pairs;
    for (const Index p : order_) {
      const int row = pc.rows().panel_owner(pc.row_panel(p)), col = pc.cols().panel_owner(pc.col_panel(p));
      for (Index inner = (row + col + step) % steps; inner < plan_.inner_panels(); inner += steps)
        if (plan_.products(p, inner) > 0) pairs.push_back(pair_for(p, inner, operands_, pc));
    }
    return pairs;
  }

  /// Some rank needs a panel of another.
  bool exchanges(const std::vector<FactorPanels>& pairs) const {
    return std::any_of(pairs.begin(), pairs.end(), [&](const FactorPanels& pair) {
      const int owner = c_.pattern().panel_owner(pair.c);
      return operands_.a().pattern().panel_owner(pair.a) != owner ||
             operands_.b().pattern().panel_owner(pair.b) != owner;
    });
  }

  void submit_pairs(int priority, std::span<const FactorPanels> pairs) {
    std::vector<InnerOperands> contributions;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const FactorPanels& pair = pairs[i];
      if (plan_.dense(pair.c, pair.inner))
        dense_.expand(priority, pair.c, pair.inner);
      else if (on_gpus_)
        stacks_.submit_inner(priority, pair, records_, values(pair.c));
      else
        contributions.push_back(contribution_of(pair, operands_, plan_, options_.filter));
      if (i + 1 < pairs.size() && pairs[i + 1].c == pair.c) continue;
      submit(priority, pair.c, contributions);
      contributions.clear();
    }
  }

  /// What the tasks of a step have read, each piece once.
  std::vector<const Data*> pieces_of(const std::vector<FactorPanels>& pairs) const {
    std::vector<const Data*> pieces;
    for (const FactorPanels& pair : pairs) {
      pieces.insert(pieces.end(), {&operands_.a().panel(pair.a), &operands_.b().panel(pair.b)});
      if (options_.filter)
        pieces.insert(pieces.end(), {&options_.filter->norms_a[static_cast<std::size_t>(pair.a)],
                                     &options_.filter->norms_b[static_cast<std::size_t>(pair.b)]});
      stacks_.add_norms(pair, pieces);
    }
    std::sort(pieces.begin(), pieces.end());
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    return pieces;
  }

  /// After all other products for a panel of C: those of dense panels, or zeros where there are none at all.
  void finish(int priority, Index p) {
    const BlockPattern& pc = c_.pattern();
    bool any = false;
    for (Index inner = 0; inner < plan_.inner_panels(); ++inner) any = any || plan_.products(p, inner) > 0;
    if (!any && overwrites())
      sequence_.insert(FillValues<T>{.values = c_.panel(p), .value = T(0)}, {.priority = priority});
    if (dense_.any(p)) dense_.submit(priority, p, pc.row_panel(p) + pc.col_panel(p), workers(p), values(p));
    if (options_.fetch) c_.panel(p).fetch_to_host();
  }

  Sequence& sequence_;
  const ProductOperands<T>& operands_;
  ProductPlan& plan_;
  const BlockSparseMatrix<T>& c_;
  const NumericOptions& options_;
  ProductRecords& records_;
  const bool on_gpus_;
  const std::size_t together_;  ///< inner panels in one task, on CPUs
  DenseProducts<T> dense_;
  StackTasks<T> stacks_;
  std::vector<Index> order_;
};

}  // namespace

Index product_steps(const BlockPattern& c, Index inner_panels, Index wanted) {
  const ProcessGrid& grid = c.layout().grid;
  const Index steps = wanted > 0 ? wanted : std::lcm(Index(grid.rows), Index(grid.cols));
  return std::clamp<Index>(steps, 1, std::max<Index>(inner_panels, 1));
}

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
void submit_products(Sequence& sequence, const ProductOperands<T>& operands, OperandNorms<T>& norms,
                     ProductPlan& plan, const BlockSparseMatrix<T>& c, const NumericOptions& options,
                     ProductRecords& records) {
  ProductTasks<T> tasks(sequence, operands, norms, plan, c, options, records);
  if (sequence.runtime().size() == 1)
    tasks.submit_by_panels();
  else
    tasks.submit_by_steps();
}

template <class T>
void list_products(Sequence& sequence, const ProductOperands<T>& operands, OperandNorms<T>& norms,
                   ProductPlan& plan, const NumericOptions& options, ProductRecords& records) {
  StackTasks<T> stacks(sequence, operands, norms, plan, options);
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

#define TESSERA_INSTANTIATE(T)                                                                           \
  template void submit_products<T>(Sequence&, const ProductOperands<T>&, OperandNorms<T>&, ProductPlan&, \
                                   const BlockSparseMatrix<T>&, const NumericOptions&, ProductRecords&); \
  template void list_products<T>(Sequence&, const ProductOperands<T>&, OperandNorms<T>&, ProductPlan&,   \
                                 const NumericOptions&, ProductRecords&);                                \
  template void require_room<T>(const ProductOperands<T>&, const ProductPlan&);                          \
  template void prepare_kernels<T>(const ProductPlan&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
