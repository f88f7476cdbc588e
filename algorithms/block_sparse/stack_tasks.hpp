// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <tessera/algorithms/block_sparse/panel_norms.hpp>
#include <tessera/algorithms/block_sparse/product_tasks.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>

namespace tessera::detail {

/// The panels of A and B that meet in an inner panel, for a panel of C.
struct FactorPanels {
  Index c, inner, a, b;
};

template <class T>
FactorPanels pair_for(Index p, Index inner, const ProductOperands<T>& operands, const BlockPattern& c) {
  return {p, inner, operands.a().pattern().panel(c.row_panel(p), inner),
          operands.b().pattern().panel(inner, c.col_panel(p))};
}

/// The products where GPUs compute them: the lists of a few sets' products at a time, unless the plan has them,
/// then the products of each.
template <class T>
class StackTasks {
 public:
  StackTasks(Sequence& sequence, const ProductOperands<T>& operands, OperandNorms<T>& norms,
             ProductPlan& plan, const NumericOptions& options)
      : sequence_(sequence),
        operands_(operands),
        norms_(norms),
        plan_(plan),
        options_(options),
        elsewhere_(stand_in(sequence.runtime(), sizeof(StackEntry))) {}

  /// The products for a panel of C. Lists that are missing are made for it and for the `next` panels, which
  /// begin with it.
  void submit(int priority, Index p, std::span<const Index> next, ProductRecords& records,
              const WriteOrAdd<Array<T>>& c) {
    list(priority, next, records);
    for (std::size_t s = 0; s < plan_.sets(p).size(); ++s) multiply(priority, p, s, records, c);
  }

  /// The products for a panel of C with one inner panel, which make a set of their own with several ranks.
  void submit_inner(int priority, const FactorPanels& pair, ProductRecords& records,
                    const WriteOrAdd<Array<T>>& c) {
    std::vector<StackSet>& sets = plan_.sets(pair.c);
    // Sets follow each other from the inner panel on with which their panel of C begins.
    const BlockPattern& pc = *plan_.pattern();
    const Index begin = pc.row_panel(pair.c) + pc.col_panel(pair.c), inner_panels = plan_.inner_panels();
    const auto place = [&](Index inner) {
      return (inner - begin % inner_panels + inner_panels) % inner_panels;
    };
    const auto found = std::lower_bound(
        sets.begin(), sets.end(), place(pair.inner),
        [&](const StackSet& set, Index wanted) { return place(set.inner.front()) < wanted; });
    if (found == sets.end() || found->inner.front() != pair.inner) return;
    const auto number = static_cast<std::size_t>(found - sets.begin());
    StackRecord& record = records.stacks[static_cast<std::size_t>(pair.c)][number];
    if (!has_list(*found, record)) {
      record.listed = true;
      const Missing missing{pair.c, &*found, &record};
      insert(priority, std::span(&missing, 1));
    }
    multiply(priority, pair.c, number, records, c);
  }

  /// Adds the norms that have been read for a pair of panels.
  void add_norms(const FactorPanels& pair, std::vector<const Data*>& pieces) const {
    for (const Data* const norms : {norms_.a().made(pair.a), norms_.b().made(pair.b)})
      if (norms) pieces.push_back(norms);
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
        if (has_list(set, record)) continue;
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
  bool has_list(const StackSet& set, const StackRecord& record) const noexcept {
    return record.listed || (options_.eps == 0 && set.stack.valid());
  }

  /// The products of a set, whose list is made.
  void multiply(int priority, Index p, std::size_t number, ProductRecords& records,
                const WriteOrAdd<Array<T>>& c) {
    const BlockPattern& pc = *plan_.pattern();
    const StackSet& set = plan_.sets(p)[number];
    StackRecord& record = records.stacks[static_cast<std::size_t>(p)][number];
    std::vector<const Data*> factors;
    for (const std::int32_t inner : set.inner) {
      const FactorPanels pair = pair_for(p, inner, operands_, pc);
      factors.insert(factors.end(), {&operands_.a().panel(pair.a), &operands_.b().panel(pair.b)});
    }
    sequence_.insert(MultiplyStack<T>{.stack = !pc.panel_local(p)     ? elsewhere_
                                               : record.stack.valid() ? record.stack
                                                                      : set.stack,
                                      .c = c,
                                      .factors = factors,
                                      .classes = set.classes,
                                      .complete = set.complete,
                                      .ran_on = &record.ran_on},
                     {.priority = priority});
    if (!keeps_lists()) record.stack.release();
  }

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
    const Data* const norms_a = filtered ? &norms_.a().of(of_a, priority + 2) : nullptr;
    const Data* const norms_b = filtered ? &norms_.b().of(of_b, priority + 2) : nullptr;
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
      task.filter = {options_.eps, word_of(norms_.a().before(plan_.a(), of_a)),
                     word_of(norms_.b().before(plan_.b(), of_b))};
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
  OperandNorms<T>& norms_;
  ProductPlan& plan_;
  const NumericOptions& options_;
  const Data elsewhere_;  // stands for the stacks of other ranks, which are theirs alone
};

}  // namespace tessera::detail
