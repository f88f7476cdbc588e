// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stack_problem.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>

#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "random_stack.hpp"

namespace tessera::program {
using namespace detail;

namespace {

using Complex = std::complex<double>;

/// A panel of random elements, or of zeros if `zero` is set.
template <class T>
Data make_panel(Runtime& runtime, Index elements, std::uint64_t seed, bool zero) {
  Data panel = Data::bytes(runtime, static_cast<std::size_t>(std::max<Index>(elements, 1)) * sizeof(T));
  const HostAccess access(panel, HostAccess::Mode::write);
  const std::span<T> values = access.array<T>();
  const auto uniform = [&](std::size_t k) {
    return static_cast<RealOf<T>>(static_cast<double>(splitmix(seed, k) >> 11) * 0x1p-52 - 1);
  };
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (zero)
      values[k] = T(0);
    else if constexpr (is_complex<T>)
      values[k] = T(uniform(2 * k), uniform(2 * k + 1));
    else
      values[k] = uniform(k);
  }
  return panel;
}

/// Copies the lists of a stack into its StarPU data.
void finish(Runtime& runtime, StackItem& item) {
  const auto entries = item.entries.size() * sizeof(StackEntry), runs = item.runs.size() * sizeof(StackRun);
  item.data = Data::bytes(runtime, entries + runs);
  const HostAccess access(item.data, HostAccess::Mode::write);
  std::byte* const to = access.array<std::byte>().data();
  std::memcpy(to, item.entries.data(), entries);
  std::memcpy(to + entries, item.runs.data(), runs);
}

/// A panel of a pattern, in the form for the codelet that counts products.
PanelRows rows_of(const PanelIndex& index) {
  return {index.row_begin.data(), index.column.data(), index.offset.data(), nullptr};
}

/// One panel of C = A B with blocks of a single size, and its stacks.
class Harvest {
 public:
  Harvest(const BlockPattern& a, const BlockPattern& b, Index row_panel, Index col_panel)
      : a_(a),
        b_(b),
        row_panel_(row_panel),
        col_panel_(col_panel),
        size_(a.rows().blocks() > 0 ? a.rows().size(0) : 1),
        zeros_(static_cast<std::size_t>(a.rows().blocks() + 1), 0) {
    panel_.rows = sizes(a.rows(), row_panel);
    panel_.cols = sizes(b.cols(), col_panel);
    panel_.row_numbers = a.rows().panel(row_panel);
    panel_.col_numbers = b.cols().panel(col_panel);
    panel_.old = {zeros_.data(), nullptr, no_offset_, nullptr};
    for (Index inner = 0; inner < a.col_panels(); ++inner)
      panel_.inner.push_back({rows_of(a.index(a.panel(row_panel, inner))),
                              rows_of(b.index(b.panel(inner, col_panel))), sizes(a.cols(), inner)});
    kernels::count_products(panel_, counts_);
    for (std::size_t block = 0; block <= counts_.column.size(); ++block)
      offset_.push_back(static_cast<Index>(block) * size_ * size_);
    panel_.result = {counts_.row_begin.data(), counts_.column.data(), offset_.data(), nullptr};
  }
  Harvest(const Harvest&) = delete;
  Harvest& operator=(const Harvest&) = delete;

  Index c_elements() const { return offset_.back(); }

  /// The stack for inner panel `inner`. It has no classes if there are no products.
  StackItem stack(Index inner, std::size_t c) const {
    StackItem item;
    item.a = static_cast<std::size_t>(a_.panel(row_panel_, inner));
    item.b = static_cast<std::size_t>(b_.panel(inner, col_panel_));
    item.c = c;
    item.classes = counts_.classes[static_cast<std::size_t>(inner)];
    list(panel_.inner[static_cast<std::size_t>(inner)], item);
    return item;
  }

 private:
  /// Row by row the products of each block of C, in ascending order of the inner index.
  void list(const InnerPanel& inner, StackItem& item) const {
    std::vector<std::vector<StackEntry>> of_column(static_cast<std::size_t>(panel_.cols.blocks));
    for (std::int32_t row = 0; row < panel_.rows.blocks; ++row) {
      for (std::int32_t left = inner.a.row_begin[row]; left < inner.a.row_begin[row + 1]; ++left)
        for (std::int32_t k = inner.a.column[left], right = inner.b.row_begin[k];
             right < inner.b.row_begin[k + 1]; ++right)
          of_column[static_cast<std::size_t>(inner.b.column[right])].emplace_back(
              static_cast<std::int32_t>(inner.a.offset[left]),
              static_cast<std::int32_t>(inner.b.offset[right]));
      for (std::int32_t c = panel_.result.row_begin[row]; c < panel_.result.row_begin[row + 1]; ++c) {
        auto& products = of_column[static_cast<std::size_t>(panel_.result.column[c])];
        if (products.empty()) continue;
        item.runs.push_back({static_cast<std::int32_t>(panel_.result.offset[c]),
                             static_cast<std::int32_t>(item.entries.size()),
                             static_cast<std::int32_t>(products.size()), c});
        item.entries.insert(item.entries.end(), products.begin(), products.end());
        products.clear();
      }
    }
    for (StackClass& shape : item.classes) shape.runs = static_cast<std::int32_t>(item.runs.size());
  }
  PanelSizes sizes(const BlockDimension& dimension, Index panel) const {
    return {static_cast<std::int32_t>(dimension.panel(panel).size()), zeros_.data(), std::span(&size_, 1)};
  }

  const BlockPattern &a_, &b_;
  Index row_panel_, col_panel_;
  Index size_;
  Index no_offset_[1] = {0};
  std::vector<std::int32_t> zeros_;  // all zero: size classes of the blocks, and row starts of a
                                     // panel without blocks
  ProductPanel panel_;
  ProductCounts counts_;
  std::vector<Index> offset_;  // of C's blocks
};

}  // namespace

template <class T>
Index StackProblem<T>::products() const {
  Index sum = 0;
  for (const StackItem& item : items) sum += stack_products(item.classes);
  return sum * iterations;
}

template <class T>
double StackProblem<T>::flops() const {
  double sum = 0;
  for (const StackItem& item : items) sum += stack_flops(item.classes, is_complex<T>);
  return sum * static_cast<double>(iterations);
}

template <class T>
double StackProblem<T>::bytes() const {
  double sum = 0;
  for (const StackItem& item : items) {
    for (const StackClass& shape : item.classes) {
      const double m = shape.m, n = shape.n, k = shape.k;
      sum += (shape.products * (m * k + k * n) + 2 * shape.runs * m * n) * sizeof(T);
    }
    sum += static_cast<double>(
        stack_bytes(static_cast<Index>(item.runs.size()), static_cast<Index>(item.entries.size())));
  }
  return sum * static_cast<double>(iterations);
}

template <class T>
StackProblem<T> artificial_stacks(Runtime& runtime, const StackBenchOptions& options, int copies) {
  constexpr Index blocks = random_stack_blocks;
  const Index m = options.m, n = options.n, k = options.k, products = options.products;
  const double a_elements = static_cast<double>(blocks * m * k),
               b_elements = static_cast<double>(blocks * k * n),
               c_elements = static_cast<double>(std::max<Index>(1, products / 16) * m * n);
  if (std::max({a_elements, b_elements, c_elements}) > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("--products", fmt::to_string(products), "panels below 2^31 elements");
  require_memory(runtime, "bench stack", (a_elements + b_elements + c_elements) * sizeof(T) * copies);
  StackProblem<T> problem;
  problem.iterations = std::max<Index>(3, 12500 / (m * n * k));
  for (int copy = 0; copy < copies; ++copy) {
    const std::uint64_t seed = splitmix(options.common.seed, static_cast<std::uint64_t>(copy));
    RandomStack stack = random_stack(m, n, k, products, splitmix(seed, 0));
    StackItem item;
    item.classes = {stack.shape};
    item.entries = std::move(stack.entries);
    item.runs = std::move(stack.runs);
    item.a = item.b = item.c = static_cast<std::size_t>(copy);
    problem.a.push_back(make_panel<T>(runtime, blocks * m * k, splitmix(seed, 1), false));
    problem.b.push_back(make_panel<T>(runtime, blocks * k * n, splitmix(seed, 2), false));
    problem.c.push_back(make_panel<T>(runtime, static_cast<Index>(item.runs.size()) * m * n, 0, true));
    finish(runtime, item);
    problem.items.push_back(std::move(item));
  }
  return problem;
}

template <class T>
StackProblem<T> water_stacks(Runtime& runtime, const StackBenchOptions& options) {
  if (options.n != options.m || options.k != options.m)
    throw InvalidArgument("--n, --k", fmt::format("{}, {}", options.n, options.k),
                          "the same as --m for water (square blocks)");
  const double share = options.occupation;
  const auto molecules =
      static_cast<Index>(std::ceil(std::cbrt(static_cast<double>(options.products) / (share * share))));
  require_memory(runtime, "bench stack",
                 4 * share * static_cast<double>(molecules * molecules * options.m * options.m) * sizeof(T));
  const std::vector<Index> sizes(static_cast<std::size_t>(molecules), options.m);
  const BlockLayout layout{BlockDimension::make(sizes), BlockDimension::make(sizes), {}, Symmetry::none};
  const auto a = water_block_sparse<T>(runtime, layout, share, options.common.seed),
             b = water_block_sparse<T>(runtime, layout, share, options.common.seed + 1);
  StackProblem<T> problem;
  for (Index p = 0; p < a.pattern().panels(); ++p) {
    const auto seed = static_cast<std::uint64_t>(2 * p);
    problem.a.push_back(make_panel<T>(runtime, a.pattern().panel_elements(p), splitmix(1, seed), false));
    problem.b.push_back(make_panel<T>(runtime, b.pattern().panel_elements(p), splitmix(2, seed), false));
  }
  for (Index q = 0; q < b.pattern().col_panels(); ++q)
    for (Index p = 0; p < a.pattern().row_panels(); ++p) {
      const Harvest harvest(a.pattern(), b.pattern(), p, q);
      const std::size_t c = problem.c.size();
      problem.c.push_back(make_panel<T>(runtime, harvest.c_elements(), 0, true));
      for (Index inner = 0; inner < a.pattern().col_panels(); ++inner) {
        StackItem item = harvest.stack(inner, c);
        if (item.entries.empty()) continue;
        finish(runtime, item);
        problem.items.push_back(std::move(item));
      }
    }
  return problem;
}

namespace {

/// A block of C, with all products that are added to it.
struct SampledBlock {
  std::size_t c;
  std::int32_t offset, m, n;
  std::vector<std::pair<const StackItem*, const StackRun*>> runs;
  std::vector<std::int32_t> inner;  // k of each run
};

/// About a hundred blocks of C, with the data for their checks.
template <class T>
std::vector<SampledBlock> sample(const StackProblem<T>& problem) {
  std::size_t all = 0;
  for (const StackItem& item : problem.items) all += item.runs.size();
  const std::size_t step = std::max<std::size_t>(1, all / 100);
  std::map<std::pair<std::size_t, std::int32_t>, SampledBlock> blocks;
  for (const bool choosing : {true, false}) {
    std::size_t number = 0;
    for (const StackItem& item : problem.items)
      for (const StackClass& shape : item.classes)
        for (std::int32_t r = shape.first_run; r < shape.first_run + shape.runs; ++r) {
          const StackRun& run = item.runs[static_cast<std::size_t>(r)];
          const std::pair key(item.c, run.c);
          if (choosing) {
            if (number++ % step == 0) blocks[key] = {item.c, run.c, shape.m, shape.n, {}, {}};
          } else if (const auto found = blocks.find(key); found != blocks.end()) {
            found->second.runs.emplace_back(&item, &run);
            found->second.inner.push_back(shape.k);
          }
        }
  }
  std::vector<SampledBlock> result;
  for (auto& [key, block] : blocks) result.push_back(std::move(block));
  return result;
}

}  // namespace

template <class T>
std::vector<T> panel_values(const Data& panel) {
  const HostAccess access(panel, HostAccess::Mode::read);
  const std::span<const T> values = access.array<const T>();
  return {values.begin(), values.end()};
}

template <class T>
void StackProblem<T>::clear() {
  for (const Data& panel : c) {
    const HostAccess access(panel, HostAccess::Mode::write);
    const std::span<T> values = access.array<T>();
    std::fill(values.begin(), values.end(), T(0));
  }
}

template <class T>
CheckRecord check_stacks(const StackProblem<T>& problem) {
  const auto copies = [](const std::vector<Data>& panels) {
    std::vector<std::vector<T>> values;
    for (const Data& panel : panels) values.push_back(panel_values<T>(panel));
    return values;
  };
  const auto a = copies(problem.a), b = copies(problem.b), c = copies(problem.c);
  const double times = static_cast<double>(problem.iterations), eps = static_cast<double>(precision<T>);
  double worst = 0;
  for (const SampledBlock& block : sample(problem))
    for (std::int32_t j = 0; j < block.n; ++j)
      for (std::int32_t i = 0; i < block.m; ++i) {
        Complex sum = 0;
        double moduli = 0;
        for (std::size_t r = 0; r < block.runs.size(); ++r) {
          const auto& [item, run] = block.runs[r];
          for (std::int32_t e = run->first; e < run->first + run->count; ++e) {
            const StackEntry entry = item->entries[static_cast<std::size_t>(e)];
            const T* const x = a[item->a].data() + entry.a + i;
            const T* const y = b[item->b].data() + entry.b + static_cast<Index>(j) * block.inner[r];
            for (std::int32_t l = 0; l < block.inner[r]; ++l) {
              const Complex term = Complex(x[static_cast<Index>(l) * block.m]) * Complex(y[l]);
              sum += term;
              moduli += std::abs(term);
            }
          }
        }
        const Complex found(c[block.c][static_cast<std::size_t>(block.offset + i + j * block.m)]);
        const double error = std::abs(found - times * sum) / (eps * times * times * moduli);
        worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
      }
  CheckRecord record;
  record.residual = worst;
  return record;
}

#define TESSERA_INSTANTIATE(T)                                                            \
  template struct StackProblem<T>;                                                        \
  template StackProblem<T> artificial_stacks<T>(Runtime&, const StackBenchOptions&, int); \
  template StackProblem<T> water_stacks<T>(Runtime&, const StackBenchOptions&);           \
  template std::vector<T> panel_values<T>(const Data&);                                   \
  template CheckRecord check_stacks<T>(const StackProblem<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
