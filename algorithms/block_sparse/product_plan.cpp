// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/product_plan.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

PanelRows rows_of(const PanelIndex& index) {
  return {index.row_begin.data(), index.column.data(), index.offset.data()};
}

/// The pattern of A (B) with the panels that lie in a row (column) of panels of C in which this rank has some.
/// Collective.
BlockPatternPointer with_needed_panels(const BlockPattern& pattern, const BlockPattern& c, bool by_rows) {
  std::vector<char> needed(static_cast<std::size_t>(by_rows ? c.row_panels() : c.col_panels()), 0);
  for (Index p = 0; p < c.panels(); ++p)
    if (c.panel_local(p)) needed[static_cast<std::size_t>(by_rows ? c.row_panel(p) : c.col_panel(p))] = 1;
  std::vector<Index> panels;
  for (Index p = 0; p < pattern.panels(); ++p)
    if (needed[static_cast<std::size_t>(by_rows ? pattern.row_panel(p) : pattern.col_panel(p))])
      panels.push_back(p);
  return pattern.gathered(panels);
}

}  // namespace

void require_small(const Runtime& runtime, const char* what, Index count, bool in_stacks) {
  const Index most = in_stacks ? max_stack_elements - 1 : std::numeric_limits<std::int32_t>::max();
  if (count > most)
    throw_on_all_ranks(runtime,
                       InvalidArgument("panel_elements", fmt::format("a panel with {} {}", count, what),
                                       fmt::format("panels with at most {}", most)));
}

ProductPlan::SizeClasses::SizeClasses(const BlockDimension& dimension) {
  std::map<Index, std::int32_t> number;
  // Mostly a block is as large as the one before.
  auto last = number.end();
  for (Index p = 0; p < dimension.panels(); ++p) {
    auto& list = classes.emplace_back();
    list.reserve(dimension.panel(p).size());
    for (const Index block : dimension.panel(p)) {
      const Index size = dimension.size(block);
      if (last == number.end() || last->first != size) {
        bool inserted = false;
        std::tie(last, inserted) = number.try_emplace(size, static_cast<std::int32_t>(sizes.size()));
        if (inserted) sizes.push_back(size);
      }
      list.push_back(last->second);
    }
  }
}

PanelSizes ProductPlan::SizeClasses::of_panel(Index panel) const noexcept {
  const auto& list = classes[static_cast<std::size_t>(panel)];
  return {static_cast<std::int32_t>(list.size()), list.data(), sizes};
}

ProductPlan::ProductPlan(const ProductPatterns& patterns)
    : patterns_(patterns),
      a_(with_needed_panels(*patterns.a, *patterns.c, true)),
      b_(with_needed_panels(*patterns.b, *patterns.c, false)),
      rows_(patterns.c->rows()),
      cols_(patterns.c->cols()),
      inner_(patterns.a->cols()),
      inner_panels_(patterns.a->col_panels()) {
  const BlockPattern& c = *patterns_.c;
  panels_.resize(static_cast<std::size_t>(c.panels()));
  counts_.resize(panels_.size());
  sets_.resize(panels_.size());
  const bool on_gpus = uses_stacks(c.runtime());
  for (const BlockPattern* pattern : {patterns_.a.get(), patterns_.b.get(), &c})
    for (Index p = 0; p < pattern->panels(); ++p)
      require_small(c.runtime(), "elements", pattern->panel_elements(p), on_gpus);
  if (on_gpus)
    find();
  else
    count(patterns.filter);
}

bool ProductPlan::serves(const ProductPatterns& other) const {
  const auto same = [](const BlockPattern& x, const BlockPattern& y) { return x == y; };
  const DenseRule &mine = patterns_.dense, &wanted = other.dense;
  return patterns_.retain_sparsity == other.retain_sparsity && mine.use == wanted.use &&
         mine.worker == wanted.worker && mine.real_bytes == wanted.real_bytes &&
         mine.complex == wanted.complex && same(*patterns_.a, *other.a) && same(*patterns_.b, *other.b) &&
         same(*patterns_.c, *other.c);
}

void ProductPlan::describe(Index p) {
  const BlockPattern& c = *patterns_.c;
  const Index row_panel = c.row_panel(p), col_panel = c.col_panel(p);
  ProductPanel& panel = panels_[static_cast<std::size_t>(p)];
  panel.rows = rows_.of_panel(row_panel);
  panel.cols = cols_.of_panel(col_panel);
  panel.row_numbers = c.rows().panel(row_panel);
  panel.col_numbers = c.cols().panel(col_panel);
  panel.old = rows_of(c.index(p));
  panel.only_old = patterns_.retain_sparsity;
  panel.dense = patterns_.dense;
  panel.dense_despite_filter = patterns_.dense_despite_filter;
  // Of a half-stored matrix most panels lie wholly below the diagonal.
  panel.lower = c.layout().symmetry != Symmetry::none && panel.row_numbers.front() < panel.col_numbers.back();
  if (!row_limit_.empty()) panel.row_limit = row_limit_[static_cast<std::size_t>(row_panel)].data();
  for (Index r = 0; r < inner_panels_; ++r) {
    const Index of_a = a_->panel(row_panel, r), of_b = b_->panel(r, col_panel);
    panel.inner.push_back({rows_of(a_->index(of_a)), rows_of(b_->index(of_b)), inner_.of_panel(r)});
  }
}

/// Of the inner panels in which blocks of A and of B meet: the pieces of A's norms, then of B's.
std::vector<const Data*> ProductPlan::norms_for(Index p, const ProductFilter& filter) const {
  const BlockPattern& c = *patterns_.c;
  std::vector<const Data*> norms;
  for (Index r = 0; r < inner_panels_; ++r) {
    const Index of_a = patterns_.a->panel(c.row_panel(p), r), of_b = patterns_.b->panel(r, c.col_panel(p));
    if (patterns_.a->panel_blocks(of_a) == 0 || patterns_.b->panel_blocks(of_b) == 0) continue;
    norms.insert(norms.end(), {&filter.norms_a[static_cast<std::size_t>(of_a)],
                               &filter.norms_b[static_cast<std::size_t>(of_b)]});
  }
  return norms;
}

/// On CPUs: a task for each panel of C, where the panel is. With a filter the other ranks send it norms.
void ProductPlan::count(const ProductFilter* filter) {
  const BlockPattern& c = *patterns_.c;
  for (Index p = 0; filter && p < c.row_panels(); ++p) {
    auto& limits = row_limit_.emplace_back();
    for (const Index block : c.rows().panel(p))
      limits.push_back(filter->row_limit[static_cast<std::size_t>(block)]);
  }
  Sequence sequence(c.runtime());
  for (Index p = 0; p < c.panels(); ++p) {
    if (!c.panel_local(p) && !filter) continue;
    if (c.panel_local(p)) describe(p);
    const auto at = static_cast<std::size_t>(p);
    std::vector<const Data*> norms;
    if (filter) norms = norms_for(p, *filter);
    if (!c.rows().panel(c.row_panel(p)).empty())
      sequence.insert(CountProducts{.norms = norms, .panel = &panels_[at], .counts = &counts_[at]},
                      {.execute_on = c.panel_owner(p)});
  }
  for (const std::vector<Data>* norms :
       {filter ? &filter->norms_a : nullptr, filter ? &filter->norms_b : nullptr})
    for (std::size_t p = 0; norms && p < norms->size(); ++p)
      if ((*norms)[p].valid()) (*norms)[p].flush_remote_copies();
  // The values of C cannot be allocated before its blocks are known.
  finish(sequence);
  grown_ = gather();
  pattern_ = grown_ ? grown_pattern() : patterns_.c;
  for (Index p = 0; p < pattern_->panels(); ++p) {
    require_small(c.runtime(), "elements", pattern_->panel_elements(p), false);
    if (pattern_->panel_local(p)) panels_[static_cast<std::size_t>(p)].result = rows_of(pattern_->index(p));
  }
}

/// What all ranks have to know: the number of products of every panel, and which of them are dense. Whether C
/// has new blocks.
bool ProductPlan::gather() {
  const BlockPattern& c = *patterns_.c;
  Runtime& runtime = c.runtime();
  std::vector<Index> mine;
  double totals[2] = {0, 0};  // panels with new blocks, products filtered
  for (Index p = 0; p < c.panels(); ++p) {
    if (!c.panel_local(p)) continue;
    const ProductCounts& counts = counts_[static_cast<std::size_t>(p)];
    for (std::size_t r = 0; r < counts.products.size(); ++r)
      mine.push_back(2 * counts.products[r] + counts.dense[r]);
    totals[0] += counts.grown ? 1 : 0;
    totals[1] += static_cast<double>(counts.filtered);
  }
  runtime.all_reduce_sum(totals, 2);
  filtered_ = static_cast<Index>(totals[1]);
  const auto all = runtime.all_gather(std::as_bytes(std::span<const Index>(mine)));
  std::vector<std::size_t> at(all.size(), 0);
  products_.resize(static_cast<std::size_t>(c.panels() * inner_panels_));
  const std::size_t bytes = static_cast<std::size_t>(inner_panels_) * sizeof(Index);
  for (Index p = 0; p < c.panels() && bytes > 0; ++p) {
    const auto owner = static_cast<std::size_t>(c.panel_owner(p));
    std::memcpy(products_.data() + p * inner_panels_, all[owner].data() + at[owner], bytes);
    at[owner] += bytes;
  }
  for (Index& products : products_) {
    dense_.push_back(static_cast<char>(products % 2));
    products /= 2;
    require_small(runtime, "products", products, false);
  }
  return totals[0] > 0;
}

BlockPatternPointer ProductPlan::grown_pattern() {
  const BlockPattern& c = *patterns_.c;
  std::vector<PanelIndex> index(static_cast<std::size_t>(c.panels()));
  for (Index p = 0; p < c.panels(); ++p) {
    ProductCounts& counts = counts_[static_cast<std::size_t>(p)];
    if (c.panel_local(p))
      index[static_cast<std::size_t>(p)] = {std::move(counts.row_begin), std::move(counts.column),
                                            std::move(counts.offset)};
  }
  return BlockPattern::from_panels(c.runtime(), c.layout(), std::move(index));
}

}  // namespace tessera::detail
