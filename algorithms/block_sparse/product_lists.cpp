// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// ProductPlan with GPUs: patterns, counts and lists are found where the operands are.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/chosen_pattern.hpp>
#include <tessera/algorithms/block_sparse/product_plan.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

void require_words(Index words) {
  if (words > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("C", fmt::format("a pattern of {} words", words), "a pattern of fewer than 2^31");
}

}  // namespace

PanelsOfC ProductPlan::panels_of_c() const {
  const BlockPattern& c = *patterns_.c;
  PanelsOfC panels = panels_of(c, local_panels_);
  panels.col_classes = cols_.count();
  panels.mask = mask_;
  return panels;
}

/// If the blocks of A are spread over B's rows evenly.
double ProductPlan::expected_products() const noexcept {
  return static_cast<double>(patterns_.a->blocks()) * static_cast<double>(patterns_.b->blocks()) /
         static_cast<double>(std::max<Index>(patterns_.a->cols().blocks(), 1));
}

/// The blocks and the products of this rank's panels of C, by one task, and C's pattern by another.
void ProductPlan::find() {
  const BlockPattern &a = *a_, &b = *b_, &c = *patterns_.c;
  Runtime& runtime = c.runtime();
  // Over MPI ranks take one inner panel at a time.
  const Index together = runtime.size() == 1 ? std::min<Index>(max_stack_panels, inner_panels_) : 1;
  layout_ = {word_of(inner_panels_), word_of(std::max<Index>(together, 1)),
             word_of(ceil_div(inner_panels_, std::max<Index>(together, 1))),
             rows_.count() * cols_.count() * inner_.count()};
  mask_ = {patterns_.retain_sparsity, c.layout().symmetry != Symmetry::none,
           std::find(cols_.sizes.begin(), cols_.sizes.end(), Index{0}) != cols_.sizes.end()};
  for (Index p = 0; p < c.panels(); ++p)
    if (c.panel_local(p)) local_panels_.push_back(word_of(p));
  local_numbers_ = make_task_list(runtime, local_panels_);
  const PanelsOfC of_c = panels_of_c();
  const std::size_t panels = std::max<std::size_t>(local_panels_.size(), 1);
  const Data totals = Data::bytes(runtime,
                                  panels * static_cast<std::size_t>(layout_.size()) * sizeof(std::int64_t),
                                  Data::every_rank),
             row_counts = Data::bytes(
                 runtime,
                 panels * static_cast<std::size_t>(std::max(of_c.most_rows, 1)) * 2 * sizeof(std::int32_t),
                 Data::every_rank);
  Sequence sequence(runtime);
  sequence.insert(FindProducts{.a = a.packed(),
                               .b = b.packed(),
                               .c = c.packed(),
                               .panels = local_numbers_,
                               .totals = totals,
                               .row_counts = row_counts,
                               .of_c = of_c,
                               .layout = layout_,
                               .products = expected_products()},
                  {.priority = symbolic_priority, .execute_on = runtime.rank()});
  totals.fetch_to_host();
  // The values of C cannot be allocated before its blocks are known.
  finish(sequence);
  std::vector<std::int64_t> found;
  {
    const HostAccess access(totals, HostAccess::Mode::read);
    const auto numbers = access.array<const std::int64_t>();
    found.assign(numbers.begin(), numbers.end());
  }
  take_totals(found);
  grown_ = gather();
  pattern_ = grown_ ? found_pattern(totals, row_counts) : patterns_.c;
  for (Index p = 0; p < pattern_->panels(); ++p)
    require_small(runtime, "elements", pattern_->panel_elements(p), true);
  make_sets(found);
}

void ProductPlan::take_totals(std::span<const std::int64_t> totals) {
  found_.assign(panels_.size(), {});
  const auto size = static_cast<std::size_t>(layout_.size());
  for (std::size_t i = 0; i < local_panels_.size(); ++i)
    take_panel(local_panels_[i], totals.subspan(i * size, size));
}

/// The counts of one panel, class by class in the order of the class numbers.
void ProductPlan::take_panel(Index p, std::span<const std::int64_t> totals) {
  const BlockPattern& c = *patterns_.c;
  ProductCounts& counts = counts_[static_cast<std::size_t>(p)];
  found_[static_cast<std::size_t>(p)] = counts_of(totals);
  identity_.first += static_cast<std::uint64_t>(totals[TotalsLayout::identity]);
  identity_.second += static_cast<std::uint64_t>(totals[TotalsLayout::identity + 1]);
  counts.grown = totals[TotalsLayout::blocks] > c.panel_blocks(p);
  for (std::int32_t r = 0; r < layout_.inner_panels; ++r) {
    std::vector<StackClass>& classes = counts.classes.emplace_back();
    Index runs = 0, products = 0;
    std::int32_t number = 0;
    for (const Index rows : rows_.sizes)
      for (const Index cols : cols_.sizes)
        for (const Index inner : inner_.sizes) {
          const Index here = totals[static_cast<std::size_t>(layout_.products(r, number))],
                      runs_here = totals[static_cast<std::size_t>(layout_.runs(r, number++))];
          if (here == 0) continue;
          classes.push_back({word_of(rows), word_of(cols), word_of(inner), word_of(runs), word_of(runs_here),
                             word_of(products), word_of(here)});
          runs += runs_here;
          products += here;
        }
    counts.products.push_back(products);
    counts.dense.push_back(wants_dense(patterns_.dense, p, r));
  }
}

/// Whether the products of an inner panel for a panel of this rank are to be one product of dense panels.
bool ProductPlan::wants_dense(const DenseRule& rule, Index p, Index inner) const {
  const BlockPattern& c = *patterns_.c;
  const ProductCounts& counts = counts_[static_cast<std::size_t>(p)];
  const auto r = static_cast<std::size_t>(inner);
  return counts.products[r] > 0 && rule.use != UseDense::never &&
         choose_dense(rule, counts.classes[r], c.rows().extent(c.row_panel(p)),
                      c.cols().extent(c.col_panel(p)), patterns_.a->cols().extent(inner));
}

bool ProductPlan::any_dense(const DenseRule& rule) const {
  if (rule.use == UseDense::never) return false;
  double any = 0;
  for (const Index p : local_panels_)
    for (Index r = 0; r < inner_panels_; ++r)
      if (wants_dense(rule, p, r)) any = 1;
  patterns_.c->runtime().all_reduce_max(&any, 1);
  return any > 0;
}

/// C's pattern after the product. In one process nothing waits for it.
BlockPatternPointer ProductPlan::found_pattern(const Data& totals, const Data& row_counts) {
  const BlockPattern& c = *patterns_.c;
  Runtime& runtime = c.runtime();
  const Index words = packed_words(c, local_panels_, found_);
  agree(runtime, 0, [&] { require_words(words); });
  Data packed =
      Data::bytes(runtime, static_cast<std::size_t>(words) * sizeof(std::int32_t), Data::every_rank);
  writing_ = std::make_unique<Sequence>(runtime);
  writing_->insert(WriteProductPattern{.a = a_->packed(),
                                       .b = b_->packed(),
                                       .c = c.packed(),
                                       .panels = local_numbers_,
                                       .totals = totals,
                                       .row_counts = row_counts,
                                       .result = packed,
                                       .of_c = panels_of_c(),
                                       .totals_size = layout_.size(),
                                       .products = expected_products()},
                   {.priority = symbolic_priority, .execute_on = runtime.rank()});
  const auto found = BlockPattern::from_packed(runtime, c.layout(), std::move(packed), found_, identity_);
  if (runtime.size() == 1) return found;
  finish(*writing_);
  writing_.reset();
  for (const Index p : local_panels_) {
    const PanelIndex& index = found->index(p);
    ProductCounts& counts = counts_[static_cast<std::size_t>(p)];
    counts.row_begin = index.row_begin;
    counts.column = index.column;
    counts.offset = index.offset;
  }
  return grown_pattern();
}

Status ProductPlan::finish_pattern() {
  if (!writing_) return {};
  const Status status = writing_->wait();
  writing_.reset();
  return status;
}

/// The stacks of all panels: what of a set of inner panels is not computed by dense panels.
void ProductPlan::make_sets(std::span<const std::int64_t> totals) {
  const BlockPattern& c = *patterns_.c;
  const auto size = static_cast<std::size_t>(layout_.size());
  std::vector<ClassBegin> begins;
  std::vector<std::int32_t> inner_numbers;
  std::size_t number = 0;  // among the panels of this rank
  for (Index p = 0; p < c.panels(); ++p) {
    const bool local = c.panel_local(p);
    const std::span<const std::int64_t> mine = local ? totals.subspan(size * number++, size) : totals;
    for (Index s = 0; s < layout_.sets; ++s) {
      StackSet set;
      for (Index step = s * layout_.together;
           step < std::min<Index>((s + 1) * layout_.together, inner_panels_); ++step) {
        const Index inner = (c.row_panel(p) + c.col_panel(p) + step) % inner_panels_;
        if (products(p, inner) == 0) continue;
        if (dense(p, inner))
          set.all_runs = false;
        else
          set.inner.push_back(word_of(inner));
      }
      if (set.inner.empty()) continue;
      set.first_inner = word_of(static_cast<Index>(inner_numbers.size()));
      inner_numbers.insert(inner_numbers.end(), set.inner.begin(), set.inner.end());
      if (local) make_classes(p, set, s, mine, begins);
      sets_[static_cast<std::size_t>(p)].push_back(std::move(set));
    }
  }
  begins_ = make_task_list(c.runtime(), begins);
  inner_numbers_ = make_task_list(c.runtime(), inner_numbers);
  Index most = 1;
  for (const Index p : local_panels_)
    most = std::max(most, list_work(static_cast<Index>(c.rows().panel(c.row_panel(p)).size()), cols_.count(),
                                    inner_.count()));
  work_ =
      Data::scratch(c.runtime(), static_cast<std::size_t>(ListedStacks::most * most) * sizeof(std::int32_t));
}

/// The classes of set number `number` of a panel of this rank, and where they begin.
void ProductPlan::make_classes(Index p, StackSet& set, Index number, std::span<const std::int64_t> totals,
                               std::vector<ClassBegin>& begins) {
  set.first_class = word_of(static_cast<Index>(begins.size()));
  Index runs = 0, products = 0, all_runs = 0;
  std::int32_t at = 0;
  const std::vector<std::int32_t>& row_classes =
      rows_.classes[static_cast<std::size_t>(pattern_->row_panel(p))];
  for (std::int32_t row_class = 0; row_class < rows_.count(); ++row_class) {
    const Index rows = rows_.sizes[static_cast<std::size_t>(row_class)],
                blocks = std::count(row_classes.begin(), row_classes.end(), row_class);
    for (const Index cols : cols_.sizes)
      for (const Index inner : inner_.sizes) {
        const Index runs_here = totals[static_cast<std::size_t>(layout_.set_runs(word_of(number), at))];
        Index here = 0;
        for (const std::int32_t r : set.inner)
          here += totals[static_cast<std::size_t>(layout_.products(r, at))];
        ++at;
        begins.push_back({word_of(runs), word_of(products)});
        all_runs += runs_here;
        if (here == 0) continue;
        set.classes.push_back({word_of(rows), word_of(cols), word_of(inner), word_of(runs),
                               word_of(runs_here), word_of(products), word_of(here), word_of(blocks)});
        runs += runs_here;
        products += here;
        require_small(patterns_.c->runtime(), "products", products, false);
      }
  }
  set.complete =
      layout_.sets == 1 && set.all_runs && inner_.count() == 1 && all_runs == pattern_->panel_blocks(p);
}

std::int32_t ProductPlan::class_number(const StackClass& shape) const noexcept {
  const auto number = [](const SizeClasses& classes, std::int32_t size) {
    return word_of(std::find(classes.sizes.begin(), classes.sizes.end(), Index(size)) -
                   classes.sizes.begin());
  };
  return (number(rows_, shape.m) * cols_.count() + number(cols_, shape.n)) * inner_.count() +
         number(inner_, shape.k);
}

ListProducts ProductPlan::listing(std::span<const std::pair<Index, const StackSet*>> sets) const {
  const BlockPattern& c = *pattern_;
  const PanelsOfC of_c = panels_of_c();
  ListProducts task{
      .lists = {},
      .a = a_->packed(),
      .b = b_->packed(),
      .c = c.packed(),
      .begins = begins_,
      .inner = inner_numbers_,
      .work = work_,
      .shape = {of_c.most_rows, of_c.most_columns, rows_.count(), cols_.count(), inner_.count(), mask_},
      .stacks = {}};
  for (const auto& [panel, set] : sets)
    task.stacks.stack[task.stacks.count++] = {word_of(panel),
                                              set->first_inner,
                                              word_of(static_cast<Index>(set->inner.size())),
                                              set->first_class,
                                              word_of(stack_products(set->classes)),
                                              word_of(stack_runs(set->classes)),
                                              set->all_runs,
                                              set->complete};
  return task;
}

void ProductPlan::drop_lists() noexcept {
  for (auto& sets : sets_)
    for (StackSet& set : sets) set.stack.release();
}

double ProductPlan::list_bytes() const noexcept {
  double bytes = 0;
  for (const auto& sets : sets_)
    for (const StackSet& set : sets) bytes += static_cast<double>(stack_size(set));
  return bytes;
}

}  // namespace tessera::detail
