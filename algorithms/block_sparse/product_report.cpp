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

/// The products of stacks, less those that the filter has left out.
class StackSums {
 public:
  StackSums(ShapeSums& sums, const ProductPlan& plan, const ProductRecords& records)
      : sums_(sums), plan_(plan), records_(records) {}
  /// Adds those of a panel of this rank. Returns how many the filter has left out.
  Index add(Index p) {
    Index left_out = 0;
    for (std::size_t s = 0; s < plan_.sets(p).size(); ++s) {
      const StackRecord& record = records_.stacks[static_cast<std::size_t>(p)][s];
      for (const StackClass& shape : plan_.sets(p)[s].classes) {
        const Index here = filtered(record, shape);
        sums_.add(shape, shape.products - here, record.ran_on);
        left_out += here;
      }
    }
    return left_out;
  }

 private:
  Index filtered(const StackRecord& record, const StackClass& shape) {
    if (!record.filtered) return 0;
    // The stacks of one task have their numbers in one piece, which is read once.
    if (record.filtered != read_) {
      read_ = record.filtered;
      const HostAccess access(*read_, HostAccess::Mode::read);
      const auto numbers = access.array<const std::int64_t>();
      numbers_.assign(numbers.begin(), numbers.end());
    }
    return numbers_[static_cast<std::size_t>(record.first_filtered + plan_.class_number(shape))];
  }
  ShapeSums& sums_;
  const ProductPlan& plan_;
  const ProductRecords& records_;
  std::shared_ptr<const Data> read_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace

Index listed_as_filtered(const ProductPlan& plan, const ProductRecords& records) {
  ShapeSums unused;
  StackSums stacks(unused, plan, records);
  double filtered = 0;
  for (Index p = 0; p < plan.pattern()->panels(); ++p)
    if (plan.pattern()->panel_local(p)) filtered += static_cast<double>(stacks.add(p));
  plan.pattern()->runtime().all_reduce_sum(&filtered, 1);
  return static_cast<Index>(filtered);
}

void count_products(const ProductPlan& plan, const ProductRecords& records, double flop_factor,
                    MultiplyResult& result) {
  const BlockPattern& c = *plan.pattern();
  const Runtime& runtime = c.runtime();
  ShapeSums sums;
  StackSums stacks(sums, plan, records);
  double filtered = 0;
  for (Index p = 0; p < c.panels(); ++p) {
    if (!c.panel_local(p)) continue;
    filtered += static_cast<double>(stacks.add(p));
    for (Index inner = 0; inner < plan.inner_panels(); ++inner)
      if (plan.sets(p).empty() || plan.dense(p, inner))
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
