// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <utility>

#include <tests/support/matrix.hpp>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/symbolic/list_products.hpp>
#include <tessera/runtime/sequence.hpp>

/// C's blocks, the counts and the lists of a product that tasks find from packed patterns, against loops over
/// all blocks.
namespace tessera::test {
using namespace detail;
namespace {

std::int32_t narrow(Index number) {
  return static_cast<std::int32_t>(number);
}

struct FindCase {
  std::vector<Index> rows, cols, inner;  ///< sizes of blocks
  double share = 0.3;
  Index panel_elements = 12, together = 64;
  ProductMask mask{};
  bool filter = false;
};

std::vector<Index> repeated(const std::vector<Index>& sizes, Index count) {
  std::vector<Index> all;
  for (Index i = 0; i < count; ++i) all.push_back(sizes[static_cast<std::size_t>(i) % sizes.size()]);
  return all;
}

BlockPatternPointer random_pattern(Runtime& runtime, const BlockLayout& layout, double share, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<BlockCoordinate> blocks;
  for (Index i = 0; i < layout.rows->blocks(); ++i)
    for (Index j = 0; j < layout.cols->blocks(); ++j)
      if (layout.stores(i, j) && uniform(random) < share) blocks.push_back({i, j});
  return BlockPattern::make_replicated(runtime, layout, blocks);
}

std::vector<std::vector<double>> random_norms(const BlockPattern& pattern, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.1, 2);
  std::vector<std::vector<double>> norms(static_cast<std::size_t>(pattern.panels()));
  for (Index p = 0; p < pattern.panels(); ++p)
    for (Index b = 0; b < pattern.panel_blocks(p); ++b)
      norms[static_cast<std::size_t>(p)].push_back(uniform(random));
  return norms;
}

class FindProductsTest {
 public:
  FindProductsTest(Runtime& runtime, const FindCase& test)
      : runtime_(runtime),
        test_(test),
        rows_(BlockDimension::make(test.rows, 1, {}, test.panel_elements)),
        cols_(BlockDimension::make(test.cols, 1, {}, test.panel_elements)),
        inner_(BlockDimension::make(test.inner, 1, {}, test.panel_elements)),
        layout_c_{rows_, cols_, {}, test.mask.lower ? Symmetry::symmetric : Symmetry::none},
        a_(random_pattern(runtime, {rows_, inner_, {}, Symmetry::none}, test.share, 1)),
        b_(random_pattern(runtime, {inner_, cols_, {}, Symmetry::none}, test.share, 2)),
        c_(random_pattern(runtime, layout_c_, test.mask.only_old ? 0.6 : 0.1, 3)),
        norms_a_(random_norms(*a_, 4)),
        norms_b_(random_norms(*b_, 5)) {}

  void run() {
    for (Index p = 0; p < c_->panels(); ++p) panels_.push_back(narrow(p));
    sizes(*rows_, row_sizes_), sizes(*cols_, col_sizes_), sizes(*inner_, inner_sizes_);
    layout_ = {narrow(inner_->panels()), narrow(test_.together),
               narrow(ceil_div(inner_->panels(), test_.together)),
               narrow(static_cast<Index>(row_sizes_.size() * col_sizes_.size() * inner_sizes_.size()))};
    find();
    expect();
    check_totals();
    check_pattern();
    for (Index p = 0; p < c_->panels(); ++p)
      for (Index set = 0; set < layout_.sets; ++set) check_list(p, set);
  }

 private:
  using Class = std::array<Index, 3>;
  /// One product of an inner panel for a block of C.
  struct Product {
    Index inner_panel, k, offset_a, offset_b;
    bool filtered;
  };

  static void sizes(const BlockDimension& dimension, std::vector<Index>& each) {
    for (Index p = 0; p < dimension.panels(); ++p)
      for (const Index block : dimension.panel(p))
        if (std::find(each.begin(), each.end(), dimension.size(block)) == each.end())
          each.push_back(dimension.size(block));
  }
  static std::int32_t number_in(const std::vector<Index>& each, Index size) {
    return narrow(std::find(each.begin(), each.end(), size) - each.begin());
  }
  std::int32_t class_number(const Class& sizes) const {
    return (number_in(row_sizes_, sizes[0]) * narrow(static_cast<Index>(col_sizes_.size())) +
            number_in(col_sizes_, sizes[1])) *
               narrow(static_cast<Index>(inner_sizes_.size())) +
           number_in(inner_sizes_, sizes[2]);
  }

  PanelsOfC of_c() const {
    PanelsOfC panels{narrow(c_->panels()), 0, 0, narrow(static_cast<Index>(col_sizes_.size())), test_.mask};
    for (Index p = 0; p < rows_->panels(); ++p)
      panels.most_rows = std::max(panels.most_rows, narrow(static_cast<Index>(rows_->panel(p).size())));
    for (Index p = 0; p < cols_->panels(); ++p)
      panels.most_columns = std::max(panels.most_columns, narrow(static_cast<Index>(cols_->panel(p).size())));
    return panels;
  }

  void find() {
    const Data panels = upload(runtime_, panels_),
               totals = Data::bytes(runtime_, panels_.size() * static_cast<std::size_t>(layout_.size()) * 8),
               row_counts =
                   Data::bytes(runtime_, panels_.size() * static_cast<std::size_t>(of_c().most_rows) * 2 * 4);
    {
      Sequence sequence(runtime_);
      sequence.insert(FindProducts{.a = a_->packed(),
                                   .b = b_->packed(),
                                   .c = c_->packed(),
                                   .panels = panels,
                                   .totals = totals,
                                   .row_counts = row_counts,
                                   .of_c = of_c(),
                                   .layout = layout_,
                                   .products = 1});
      ASSERT_TRUE(sequence.wait().ok());
    }
    totals_ = download_values<std::int64_t>(totals);
    std::vector<PanelCounts> counts;
    BlockPattern::Identity identity{0, 0};
    Index words = 9 + PackedPattern::side_words(rows_->panels(), rows_->blocks()) +
                  PackedPattern::side_words(cols_->panels(), cols_->blocks()) + 3 * c_->panels();
    for (Index p = 0; p < c_->panels(); ++p) {
      counts.push_back({total(p, TotalsLayout::blocks), total(p, TotalsLayout::elements),
                        total(p, TotalsLayout::diagonal_blocks), total(p, TotalsLayout::diagonal_elements)});
      identity.first += static_cast<std::uint64_t>(total(p, TotalsLayout::identity));
      identity.second += static_cast<std::uint64_t>(total(p, TotalsLayout::identity + 1));
      words += PackedPattern::panel_words(static_cast<Index>(rows_->panel(c_->row_panel(p)).size()),
                                          counts.back().blocks);
    }
    Data packed = Data::bytes(runtime_, static_cast<std::size_t>(words) * 4);
    Sequence sequence(runtime_);
    sequence.insert(WriteProductPattern{.a = a_->packed(),
                                        .b = b_->packed(),
                                        .c = c_->packed(),
                                        .panels = panels,
                                        .totals = totals,
                                        .row_counts = row_counts,
                                        .result = packed,
                                        .of_c = of_c(),
                                        .totals_size = layout_.size(),
                                        .products = 1});
    result_ = BlockPattern::from_packed(runtime_, layout_c_, std::move(packed), std::move(counts), identity);
    ASSERT_TRUE(sequence.wait().ok());
  }
  Index total(Index p, Index at) const { return totals_[static_cast<std::size_t>(p * layout_.size() + at)]; }

  /// The products of every block of C, by a loop over all.
  void expect() {
    std::vector<BlockCoordinate> blocks;
    for (Index p = 0; p < c_->panels(); ++p)
      for (const BlockCoordinate at : c_->coordinates(p)) blocks.push_back(at);
    for (Index i = 0; i < rows_->blocks(); ++i)
      for (Index j = 0; j < cols_->blocks(); ++j) {
        const bool allowed = rows_->size(i) > 0 && cols_->size(j) > 0 && (!test_.mask.lower || i >= j) &&
                             (!test_.mask.only_old || c_->find(i, j));
        for (Index k = 0; allowed && k < inner_->blocks(); ++k) {
          const auto left = a_->find(i, k), right = b_->find(k, j);
          if (!left || !right || inner_->size(k) == 0) continue;
          const auto at = [](const std::vector<std::vector<double>>& norms,
                             const BlockPattern::Location& of) {
            return std::sqrt(norms[static_cast<std::size_t>(of.panel)][static_cast<std::size_t>(of.block)]);
          };
          const double limit = eps / static_cast<double>(std::max<Index>(a_->blocks_in_row(i), 1));
          products_[{i, j}].push_back({inner_->panel_of(k), k,
                                       a_->index(left->panel).offset[static_cast<std::size_t>(left->block)],
                                       b_->index(right->panel).offset[static_cast<std::size_t>(right->block)],
                                       test_.filter && at(norms_a_, *left) * at(norms_b_, *right) < limit});
          blocks.push_back({i, j});
        }
      }
    expected_ = BlockPattern::make_replicated(runtime_, layout_c_, blocks);
    ASSERT_FALSE(products_.empty());
  }

  void check_totals() const {
    std::map<std::pair<Index, std::int64_t>, Index> numbers;
    for (const auto& [at, products] : products_) {
      const Index p = c_->panel(rows_->panel_of(at.row), cols_->panel_of(at.col));
      std::set<std::int64_t> runs;
      for (const Product& product : products) {
        const std::int32_t number =
            class_number({rows_->size(at.row), cols_->size(at.col), inner_->size(product.k)});
        const auto r = narrow(product.inner_panel);
        ++numbers[{p, layout_.products(r, number)}];
        runs.insert(layout_.runs(r, number));
        const Index step = (r - (c_->row_panel(p) + c_->col_panel(p)) % inner_->panels() + inner_->panels()) %
                           inner_->panels();
        runs.insert(layout_.set_runs(narrow(step / test_.together), number));
      }
      for (const std::int64_t run : runs) ++numbers[{p, run}];
    }
    for (Index p = 0; p < c_->panels(); ++p) {
      EXPECT_EQ(total(p, TotalsLayout::blocks), expected_->panel_blocks(p));
      EXPECT_EQ(total(p, TotalsLayout::elements), expected_->panel_elements(p));
      const PanelCounts counts = expected_->counts_of(p);
      EXPECT_EQ(total(p, TotalsLayout::diagonal_blocks), counts.diagonal_blocks);
      EXPECT_EQ(total(p, TotalsLayout::diagonal_elements), counts.diagonal_elements);
      for (std::int64_t at = TotalsLayout::common; at < layout_.size(); ++at) {
        const auto found = numbers.find({p, at});
        ASSERT_EQ(total(p, at), found == numbers.end() ? 0 : found->second) << p << " " << at;
      }
    }
  }

  void check_pattern() const {
    EXPECT_EQ(result_->identity(), expected_->identity());
    EXPECT_EQ(result_->blocks(), expected_->blocks());
    EXPECT_EQ(result_->elements(), expected_->elements());
    EXPECT_EQ(result_->diagonal_elements(), expected_->diagonal_elements());
    for (Index p = 0; p < c_->panels(); ++p) {
      EXPECT_TRUE(result_->index(p).same_blocks(expected_->index(p))) << p;
      EXPECT_EQ(result_->index(p).offset, expected_->index(p).offset) << p;
    }
  }

  /// The list of one set for one panel: runs class by class, in C's order, products by their order. A row's entries
  /// follow each other, and begin where they would if no product before that row were left out.
  void check_list(Index p, Index set) {
    std::vector<std::int32_t> listed;
    for (Index step = set * test_.together;
         step < std::min<Index>((set + 1) * test_.together, inner_->panels()); ++step)
      listed.push_back(narrow((c_->row_panel(p) + c_->col_panel(p) + step) % inner_->panels()));
    if (result_->panel_blocks(p) == 0) return;
    std::vector<ClassBegin> begins;
    Index runs = 0, products = 0;
    for (std::int32_t number = 0; number < layout_.classes; ++number) {
      begins.push_back({narrow(runs), narrow(products)});
      runs += total(p, layout_.set_runs(narrow(set), number));
      for (const std::int32_t r : listed) products += total(p, layout_.products(r, number));
    }
    if (products == 0) return;
    const auto lists = list(p, listed, begins, runs, products);
    const auto* const entries = reinterpret_cast<const StackEntry*>(lists.data());
    const auto* const all_runs = reinterpret_cast<const StackRun*>(entries + products);
    std::vector<std::int32_t> next(static_cast<std::size_t>(layout_.classes), 0);
    std::vector<std::int32_t> entry(next.size(), 0), left_out_in_row(next.size(), 0);
    Index row = -1;
    std::vector<std::int64_t> filtered(next.size(), 0);
    const auto coordinates = result_->coordinates(p);
    for (std::size_t block = 0; block < coordinates.size(); ++block) {
      if (coordinates[block].row != row)
        for (std::size_t number = 0; number < next.size(); ++number)
          entry[number] += std::exchange(left_out_in_row[number], 0);
      row = coordinates[block].row;
      const auto found = products_.find(coordinates[block]);
      if (found == products_.end()) continue;
      for (const Index size : inner_sizes_) {
        const auto number = static_cast<std::size_t>(
            class_number({rows_->size(coordinates[block].row), cols_->size(coordinates[block].col), size}));
        std::vector<const Product*> wanted;
        std::vector<std::int32_t> places;
        Index in_superset = 0;
        for (std::int32_t i = 0; i < narrow(static_cast<Index>(listed.size())); ++i)
          for (const Product& product : found->second) {
            if (product.inner_panel != listed[static_cast<std::size_t>(i)] || inner_->size(product.k) != size)
              continue;
            ++in_superset;
            if (product.filtered) {
              ++filtered[number];
              continue;
            }
            wanted.push_back(&product);
            places.push_back(i);
          }
        if (in_superset == 0) continue;
        const StackRun& run = all_runs[begins[number].run + next[number]++];
        ASSERT_EQ(run.c, result_->index(p).offset[block]);
        ASSERT_EQ(run.block, static_cast<int>(block));
        ASSERT_EQ(run.first, begins[number].entry + entry[number]);
        ASSERT_EQ(run.count, static_cast<int>(wanted.size()));
        entry[number] += run.count;
        left_out_in_row[number] += narrow(in_superset) - run.count;
        for (std::size_t e = 0; e < wanted.size(); ++e) {
          const StackEntry& product = entries[run.first + static_cast<int>(e)];
          ASSERT_EQ(static_cast<Index>(product.a), wanted[e]->offset_a);
          ASSERT_EQ(static_cast<Index>(product.b), wanted[e]->offset_b);
          ASSERT_EQ(static_cast<std::int32_t>(product.panel), places[e]);
        }
      }
    }
    if (test_.filter) {
      EXPECT_EQ(filtered_, filtered);
    }
  }

  /// The list, which a task makes after another one, of no products.
  std::vector<std::byte> list(Index p, const std::vector<std::int32_t>& listed,
                              const std::vector<ClassBegin>& begins, Index runs, Index products) {
    const Data none = Data::bytes(runtime_, sizeof(StackRun)),
               stack = Data::bytes(runtime_, stack_bytes(runs, products)),
               all_begins = upload(runtime_, begins), inner = upload(runtime_, listed),
               filtered = Data::bytes(runtime_, 2 * static_cast<std::size_t>(layout_.classes) * 8);
    const PanelsOfC most = of_c();
    const Data work = Data::scratch(runtime_, 2 *
                                                  static_cast<std::size_t>(list_work(
                                                      most.most_rows, static_cast<Index>(col_sizes_.size()),
                                                      static_cast<Index>(inner_sizes_.size()))) *
                                                  4);
    std::vector<std::int32_t> row_blocks;
    for (Index panel = 0; panel < rows_->panels(); ++panel)
      for (const Index row : rows_->panel(panel)) row_blocks.push_back(narrow(a_->blocks_in_row(row)));
    const Data blocks = upload(runtime_, row_blocks), norms_a = upload(runtime_, joined(norms_a_)),
               norms_b = upload(runtime_, joined(norms_b_));
    const std::vector<const Data*> lists{&none, &stack};
    ListProducts task{
        .lists = lists,
        .a = a_->packed(),
        .b = b_->packed(),
        .c = result_->packed(),
        .begins = all_begins,
        .inner = inner,
        .work = work,
        .shape = {most.most_rows, most.most_columns, narrow(static_cast<Index>(row_sizes_.size())),
                  narrow(static_cast<Index>(col_sizes_.size())),
                  narrow(static_cast<Index>(inner_sizes_.size())), test_.mask},
        .stacks = {
            .count = 2,
            .stack = {{narrow(p), 0, 0, 0, 0, 1, false, false},
                      {narrow(p), 0, narrow(static_cast<Index>(listed.size())), 0, narrow(products),
                       narrow(runs), true, inner_sizes_.size() == 1 && runs == result_->panel_blocks(p)}}}};
    if (test_.filter) {
      task.filtered = filtered;
      if (p % 2 == 0) task.row_blocks = blocks;
      task.norms_a = norms_a;
      task.norms_b = norms_b;
      task.filter.eps = eps;
    }
    Sequence sequence(runtime_);
    sequence.insert(task);
    EXPECT_TRUE(sequence.wait().ok());
    EXPECT_EQ(download_values<std::byte>(none), std::vector<std::byte>(sizeof(StackRun)));
    if (test_.filter) {
      const auto both = download_values<std::int64_t>(filtered);
      filtered_.assign(both.begin() + layout_.classes, both.end());
    }
    return download_values<std::byte>(stack);
  }
  static std::vector<double> joined(const std::vector<std::vector<double>>& norms) {
    std::vector<double> all;
    for (const auto& panel : norms) all.insert(all.end(), panel.begin(), panel.end());
    return all;
  }

  static constexpr double eps = 4;
  Runtime& runtime_;
  const FindCase& test_;
  BlockDimensionPointer rows_, cols_, inner_;
  BlockLayout layout_c_;
  BlockPatternPointer a_, b_, c_, result_, expected_;
  std::vector<std::vector<double>> norms_a_, norms_b_;
  std::vector<Index> row_sizes_, col_sizes_, inner_sizes_;
  std::vector<std::int32_t> panels_;
  TotalsLayout layout_{};
  std::vector<std::int64_t> totals_, filtered_;
  std::map<BlockCoordinate, std::vector<Product>> products_;
};

TEST(FindProducts, EveryBlockCountAndList) {
  Runtime runtime({.cores = 1, .bind = false});
  std::vector<FindCase> cases;
  const std::vector<Index> one{3}, mixed{2, 5, 3}, with_zero{4, 0, 1};
  for (const auto& sizes : {one, mixed, with_zero})
    for (const Index together : {64, 2, 1})
      for (const bool filter : {false, true})
        cases.push_back(
            {repeated(sizes, 23), repeated(mixed, 17), repeated(sizes, 29), 0.3, 12, together, {}, filter});
  // Rows with more blocks than a warp has threads, in one panel and in several.
  cases.push_back({repeated(one, 40), repeated(one, 150), repeated(mixed, 90), 0.7, 1000, 64, {}, true});
  cases.push_back({repeated(one, 40), repeated(mixed, 150), repeated(one, 90), 0.5, 100, 2, {}, false});
  // Rows with so many products that several warps share each.
  cases.push_back({repeated(one, 12), repeated(one, 150), repeated(one, 250), 0.5, 1000, 64, {}, false});
  cases.push_back({repeated(one, 12), repeated(mixed, 150), repeated(mixed, 250), 0.5, 400, 64, {}, false});
  for (const bool only_old : {false, true})
    for (const bool lower : {false, true})
      cases.push_back({repeated(with_zero, 25),
                       repeated(with_zero, 25),
                       repeated(mixed, 14),
                       0.4,
                       12,
                       3,
                       {only_old, lower, true},
                       lower});
  for (const FindCase& test : cases) FindProductsTest(runtime, test).run();
}

}  // namespace
}  // namespace tessera::test
