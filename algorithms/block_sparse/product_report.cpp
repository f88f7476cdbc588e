// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <tuple>

#include <tessera/algorithms/block_sparse/product_report.hpp>

namespace tessera::detail {

namespace {

double flop_of(const ProductCount& count, double flops) {
  return flops * static_cast<double>(count.m * count.n * count.k) * static_cast<double>(count.products);
}

/// Sums of products by shape.
class ShapeSums {
 public:
  void add(const ProductCount& count) {
    ProductCount& sum = shapes_[{count.m, count.n, count.k}];
    sum = {count.m,
           count.n,
           count.k,
           sum.products + count.products,
           sum.cpu_products + count.cpu_products,
           sum.gpu_products + count.gpu_products};
  }
  void add(const StackClass& shape, Index products, ProductWorker worker) {
    if (products > 0)
      add({shape.m, shape.n, shape.k, products, worker == ProductWorker::cpu ? products : 0,
           worker == ProductWorker::gpu ? products : 0});
  }
  /// The sums of each rank and those of all, by shape in descending order of products. `flops`: of two numbers
  /// that are multiplied and added. Collective.
  void report(const Runtime& runtime, double flops, MultiplyResult& result) const {
    std::vector<ProductCount> mine;
    for (const auto& [key, count] : shapes_) mine.push_back(count);
    ShapeSums all;
    for (const auto& piece : runtime.all_gather(std::as_bytes(std::span<const ProductCount>(mine)))) {
      RankCount rank;
      for (std::size_t at = 0; at < piece.size(); at += sizeof(ProductCount)) {
        ProductCount count;
        std::memcpy(&count, piece.data() + at, sizeof count);
        all.add(count);
        rank.products += count.products;
        rank.flop += flop_of(count, flops);
      }
      result.ranks.push_back(rank);
    }
    for (const auto& [key, count] : all.shapes_) {
      result.shapes.push_back(count);
      result.products += count.products;
      result.flop += flop_of(count, flops);
    }
    std::stable_sort(result.shapes.begin(), result.shapes.end(),
                     [](const ProductCount& x, const ProductCount& y) { return x.products > y.products; });
  }

 private:
  std::map<std::tuple<Index, Index, Index>, ProductCount> shapes_;
};

/// The products of a stack, less those that the filter has left out. Returns these.
Index add_stack(ShapeSums& sums, const ProductPlan& plan, const StackSet& set, const StackRecord& record) {
  std::vector<std::int64_t> filtered;
  if (record.filtered) {
    const HostAccess access(*record.filtered, HostAccess::Mode::read);
    const auto numbers =
        access.array<const std::int64_t>().subspan(static_cast<std::size_t>(record.first_filtered));
    filtered.assign(numbers.begin(), numbers.begin() + plan.classes());
  }
  Index left_out = 0;
  for (const StackClass& shape : set.classes) {
    const Index here = filtered.empty() ? 0 : filtered[static_cast<std::size_t>(plan.class_number(shape))];
    sums.add(shape, shape.products - here, record.ran_on);
    left_out += here;
  }
  return left_out;
}

}  // namespace

Index listed_as_filtered(const ProductPlan& plan, const ProductRecords& records) {
  ShapeSums unused;
  double filtered = 0;
  for (Index p = 0; p < plan.pattern()->panels(); ++p)
    for (std::size_t s = 0; s < plan.sets(p).size(); ++s)
      if (plan.pattern()->panel_local(p))
        filtered += static_cast<double>(
            add_stack(unused, plan, plan.sets(p)[s], records.stacks[static_cast<std::size_t>(p)][s]));
  plan.pattern()->runtime().all_reduce_sum(&filtered, 1);
  return static_cast<Index>(filtered);
}

void count_products(const ProductPlan& plan, const ProductRecords& records, double flop_factor,
                    MultiplyResult& result) {
  const BlockPattern& c = *plan.pattern();
  const Runtime& runtime = c.runtime();
  ShapeSums sums;
  double filtered = 0;
  for (Index p = 0; p < c.panels(); ++p) {
    if (!c.panel_local(p)) continue;
    const std::vector<StackSet>& sets = plan.sets(p);
    for (std::size_t s = 0; s < sets.size(); ++s)
      filtered +=
          static_cast<double>(add_stack(sums, plan, sets[s], records.stacks[static_cast<std::size_t>(p)][s]));
    for (Index inner = 0; inner < plan.inner_panels(); ++inner)
      if (sets.empty() || plan.dense(p, inner))
        for (const StackClass& shape : plan.counts(p).classes[static_cast<std::size_t>(inner)])
          sums.add(shape, shape.products,
                   records.panels[static_cast<std::size_t>(p * plan.inner_panels() + inner)]);
  }
  runtime.all_reduce_sum(&filtered, 1);
  result.filtered_products = plan.filtered_products() + static_cast<Index>(filtered);
  sums.report(runtime, 2 * flop_factor, result);
  for (Index p = 0; p < c.panels(); ++p)
    for (Index inner = 0; inner < plan.inner_panels(); ++inner) {
      result.panel_products += plan.products(p, inner) > 0;
      result.dense_panel_products += plan.dense(p, inner);
    }
}

double codelet_seconds(const SequenceStatistics& statistics, std::string_view name) {
  for (const CodeletStatistics& codelet : statistics.codelets)
    if (codelet.name == name) return codelet.seconds;
  return 0;
}

}  // namespace tessera::detail
