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

}  // namespace

void report_products(Runtime& runtime, const BlockPattern& c, const SymbolicProduct& symbolic,
                     const RanOn& ran_on, double flops, MultiplyResult& result) {
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
  for (const auto& piece : runtime.all_gather(std::as_bytes(std::span<const ProductCount>(mine)))) {
    RankCount rank;
    for (std::size_t at = 0; at < piece.size(); at += sizeof(ProductCount)) {
      ProductCount count;
      std::memcpy(&count, piece.data() + at, sizeof count);
      add(count);
      rank.products += count.products;
      rank.flop += flop_of(count, flops);
    }
    result.ranks.push_back(rank);
  }
  for (const auto& [key, count] : shapes) {
    result.shapes.push_back(count);
    result.products += count.products;
    result.flop += flop_of(count, flops);
  }
  std::stable_sort(result.shapes.begin(), result.shapes.end(),
                   [](const ProductCount& x, const ProductCount& y) { return x.products > y.products; });
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

}  // namespace tessera::detail
