// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/codelets/block_sparse/symbolic/product_panel.hpp>

namespace tessera::detail {

bool ProductPanel::masked() const noexcept {
  return only_old || lower || std::any_of(cols.of_block, cols.of_block + cols.blocks, [&](std::int32_t c) {
           return cols.sizes[static_cast<std::size_t>(c)] == 0;
         });
}

namespace {

using Word = std::uint64_t;

/// One bit for each block position of a panel, each row in whole words.
class BlockBits {
 public:
  BlockBits(std::int32_t rows, std::int32_t cols)
      : words_((static_cast<std::size_t>(cols) + 63) / 64), bits_(static_cast<std::size_t>(rows) * words_) {}
  Word* row(std::int32_t i) noexcept { return bits_.data() + static_cast<std::size_t>(i) * words_; }
  std::size_t words() const noexcept { return words_; }

 private:
  std::size_t words_;
  std::vector<Word> bits_;
};

void set(Word* bits, std::int32_t j) noexcept {
  bits[j >> 6] |= Word(1) << (j & 63);
}
bool test(const Word* bits, std::int32_t j) noexcept {
  return bits[j >> 6] >> (j & 63) & 1;
}

/// The blocks of C that may be computed.
BlockBits allowed_blocks(const ProductPanel& panel) {
  BlockBits bits(panel.rows.blocks, panel.cols.blocks);
  for (std::int32_t i = 0; i < panel.rows.blocks; ++i) {
    if (panel.only_old) {
      for (auto b = panel.old.row_begin[i]; b < panel.old.row_begin[i + 1]; ++b)
        if (panel.allows(i, panel.old.column[b])) set(bits.row(i), panel.old.column[b]);
    } else {
      for (std::int32_t j = 0; j < panel.cols.blocks; ++j)
        if (panel.allows(i, j)) set(bits.row(i), j);
    }
  }
  return bits;
}

struct ShapeCount {
  Index runs = 0, products = 0;
};

/// Elements along one side of a panel.
Index extent(const PanelSizes& side) noexcept {
  Index sum = 0;
  for (std::int32_t b = 0; b < side.blocks; ++b)
    sum += side.sizes[static_cast<std::size_t>(side.of_block[b])];
  return sum;
}

struct Counter {
  const ProductPanel& panel;
  BlockBits allowed, found;
  std::vector<std::int32_t> sums, touched;  // products for (inner class, column) of one row; which there are
  std::vector<ShapeCount> shapes;           // by (row class, column class, inner class)
  Index filtered = 0;
  Index rows = 0, cols = 0;  // elements of the panel

  explicit Counter(const ProductPanel& p)
      : panel(p),
        allowed(p.masked() ? allowed_blocks(p) : BlockBits(0, 0)),
        found(p.rows.blocks, p.cols.blocks),
        rows(extent(p.rows)),
        cols(extent(p.cols)) {}

  template <bool masked, bool filter>
  void take(ProductCounts& counts, const InnerPanel& inner);
  void clear_shapes(const InnerPanel& inner);
  template <bool masked, bool filter>
  void count(const InnerPanel& inner);
  void count_rows(const InnerPanel& inner);
  void take_row(std::int32_t row, std::int32_t touched_count, std::size_t inner_classes);
  bool is_dense(const InnerPanel& inner) const;
  std::vector<StackClass> classes(const InnerPanel& inner) const;
};

/// The rows of B have a block for each word of bits, or more.
bool full_rows(const InnerPanel& inner, std::size_t words) {
  return static_cast<std::size_t>(inner.b.row_begin[inner.inner.blocks]) >=
         words * static_cast<std::size_t>(inner.inner.blocks);
}

/// All products with one inner panel, but no runs, into `shapes` and `found`: a row of B at a time.
void Counter::count_rows(const InnerPanel& inner) {
  const std::size_t inner_classes = inner.inner.sizes.size(), col_classes = panel.cols.sizes.size(),
                    words = found.words();
  BlockBits b(inner.inner.blocks, panel.cols.blocks);
  std::vector<std::int32_t> blocks(static_cast<std::size_t>(inner.inner.blocks) * col_classes, 0);
  for (std::int32_t k = 0; k < inner.inner.blocks; ++k)
    for (auto right = inner.b.row_begin[k]; right < inner.b.row_begin[k + 1]; ++right) {
      const std::int32_t j = inner.b.column[right];
      set(b.row(k), j);
      ++blocks[static_cast<std::size_t>(k) * col_classes + static_cast<std::size_t>(panel.cols.of_block[j])];
    }
  for (std::int32_t i = 0; i < panel.rows.blocks; ++i) {
    const auto row_class = static_cast<std::size_t>(panel.rows.of_block[i]);
    if (panel.rows.sizes[row_class] == 0) continue;
    ShapeCount* const of_row = shapes.data() + row_class * col_classes * inner_classes;
    Word* const bits = found.row(i);
    for (auto left = inner.a.row_begin[i]; left < inner.a.row_begin[i + 1]; ++left) {
      const std::int32_t k = inner.a.column[left];
      const auto inner_class = static_cast<std::size_t>(inner.inner.of_block[k]);
      if (inner.inner.sizes[inner_class] == 0) continue;
      const Word* const of_b = b.row(k);
      for (std::size_t w = 0; w < words; ++w) bits[w] |= of_b[w];
      const std::int32_t* const count = blocks.data() + static_cast<std::size_t>(k) * col_classes;
      for (std::size_t n = 0; n < col_classes; ++n)
        of_row[n * inner_classes + inner_class].products += count[n];
    }
  }
}

/// Neither panel stores too little for a dense product.
bool Counter::is_dense(const InnerPanel& inner) const {
  return panel.dense.use != UseDense::never &&
         choose_dense(panel.dense, classes(inner), rows, cols, extent(inner.inner));
}

/// Counts one inner panel: by whole rows of B where that is faster; it finds no runs, which CPUs do not need.
template <bool masked, bool filter>
void Counter::take(ProductCounts& counts, const InnerPanel& inner) {
  const Index filtered_before = filtered;
  clear_shapes(inner);
  if (!masked && !filter && full_rows(inner, found.words()))
    count_rows(inner);
  else
    count<masked, filter>(inner);
  // A dense product leaves nothing out.
  const bool dense = (panel.dense_despite_filter || filtered == filtered_before) && is_dense(inner);
  if (dense) filtered = filtered_before;
  counts.classes.push_back(classes(inner));
  Index products = 0;
  for (const ShapeCount& shape : shapes) products += shape.products;
  counts.products.push_back(products);
  counts.dense.push_back(dense);
}

void Counter::clear_shapes(const InnerPanel& inner) {
  shapes.assign(panel.rows.sizes.size() * panel.cols.sizes.size() * inner.inner.sizes.size(), {});
}

/// All products with one inner panel, into `shapes` and `found`.
template <bool masked, bool filter>
void Counter::count(const InnerPanel& inner) {
  const std::size_t inner_classes = inner.inner.sizes.size(),
                    columns = static_cast<std::size_t>(panel.cols.blocks);
  sums.assign(inner_classes * columns, 0);
  touched.resize(inner_classes * columns + 1);
  for (std::int32_t i = 0; i < panel.rows.blocks; ++i) {
    const std::int32_t begin = inner.a.row_begin[i], end = inner.a.row_begin[i + 1];
    if (begin == end || panel.rows.sizes[static_cast<std::size_t>(panel.rows.of_block[i])] == 0) continue;
    [[maybe_unused]] const Word* const mask = masked ? allowed.row(i) : nullptr;
    std::int32_t count = 0;
    std::int32_t *const sum = sums.data(), *const touched_in_row = touched.data();
    const std::int32_t *const b_begin = inner.b.row_begin, *const b_column = inner.b.column;
    for (std::int32_t a = begin; a < end; ++a) {
      const std::int32_t k = inner.a.column[a], inner_class = inner.inner.of_block[k];
      if (inner.inner.sizes[static_cast<std::size_t>(inner_class)] == 0) continue;
      const auto shift = static_cast<std::int32_t>(static_cast<std::size_t>(inner_class) * columns);
      for (std::int32_t b = b_begin[k], b_end = b_begin[k + 1]; b < b_end; ++b) {
        const std::int32_t j = b_column[b];
        if constexpr (masked)
          if (!test(mask, j)) continue;
        if constexpr (filter)
          if (inner.a.norm[a] * inner.b.norm[b] < panel.row_limit[i]) {
            ++filtered;
            continue;
          }
        touched_in_row[count] = shift + j;
        count += sum[shift + j] == 0;
        ++sum[shift + j];
      }
    }
    take_row(i, count, inner_classes);
  }
}

void Counter::take_row(std::int32_t row, std::int32_t touched_count, std::size_t inner_classes) {
  const std::size_t first =
      static_cast<std::size_t>(panel.rows.of_block[row]) * panel.cols.sizes.size() * inner_classes;
  Word* const bits = found.row(row);
  if (inner_classes == 1 && panel.cols.sizes.size() == 1) {
    ShapeCount& shape = shapes[first];
    shape.runs += touched_count;
    for (std::int32_t t = 0; t < touched_count; ++t) {
      std::int32_t& sum = sums[static_cast<std::size_t>(touched[static_cast<std::size_t>(t)])];
      set(bits, touched[static_cast<std::size_t>(t)]);
      shape.products += std::exchange(sum, 0);
    }
    return;
  }
  for (std::int32_t t = 0; t < touched_count; ++t) {
    const std::int32_t at = touched[static_cast<std::size_t>(t)];
    const std::int32_t inner_class = inner_classes == 1 ? 0 : at / panel.cols.blocks;
    const std::int32_t j = at - inner_class * panel.cols.blocks;
    set(bits, j);
    ShapeCount& shape = shapes[first + static_cast<std::size_t>(panel.cols.of_block[j]) * inner_classes +
                               static_cast<std::size_t>(inner_class)];
    ++shape.runs;
    shape.products += sums[static_cast<std::size_t>(at)];
    sums[static_cast<std::size_t>(at)] = 0;
  }
}

/// The classes of the inner panel counted last, by row class, column class, inner class.
std::vector<StackClass> Counter::classes(const InnerPanel& inner) const {
  std::vector<StackClass> result;
  Index runs = 0, products = 0;
  std::size_t at = 0;
  for (const Index m : panel.rows.sizes)
    for (const Index n : panel.cols.sizes)
      for (const Index k : inner.inner.sizes) {
        const ShapeCount& shape = shapes[at++];
        if (shape.products == 0) continue;
        result.push_back({static_cast<std::int32_t>(m), static_cast<std::int32_t>(n),
                          static_cast<std::int32_t>(k), static_cast<std::int32_t>(runs),
                          static_cast<std::int32_t>(shape.runs), static_cast<std::int32_t>(products),
                          static_cast<std::int32_t>(shape.products)});
        runs += shape.runs;
        products += shape.products;
      }
  return result;
}

/// C's blocks: those found and the old ones.
void collect_blocks(const ProductPanel& panel, BlockBits& found, ProductCounts& counts) {
  std::size_t old_blocks = 0;
  if (panel.old.row_begin) {
    old_blocks = static_cast<std::size_t>(panel.old.row_begin[panel.rows.blocks]);
    for (std::int32_t i = 0; i < panel.rows.blocks; ++i)
      for (auto b = panel.old.row_begin[i]; b < panel.old.row_begin[i + 1]; ++b)
        set(found.row(i), panel.old.column[b]);
  }
  std::size_t blocks = 0;
  for (std::int32_t i = 0; i < panel.rows.blocks; ++i)
    for (std::size_t w = 0; w < found.words(); ++w)
      blocks += static_cast<std::size_t>(__builtin_popcountll(found.row(i)[w]));
  counts.column.resize(blocks);
  counts.offset.resize(blocks + 1);
  counts.row_begin.assign(1, 0);
  std::int32_t at = 0;
  Index offset = 0;
  for (std::int32_t i = 0; i < panel.rows.blocks; ++i) {
    const Index rows = panel.rows.sizes[static_cast<std::size_t>(panel.rows.of_block[i])];
    for (std::size_t w = 0; w < found.words(); ++w)
      for (Word bits = found.row(i)[w]; bits != 0; bits &= bits - 1) {
        const std::int32_t j = static_cast<std::int32_t>(64 * w) + __builtin_ctzll(bits);
        counts.offset[static_cast<std::size_t>(at)] = offset;
        counts.column[static_cast<std::size_t>(at++)] = j;
        offset += rows * panel.cols.sizes[static_cast<std::size_t>(panel.cols.of_block[j])];
      }
    counts.row_begin.push_back(at);
  }
  counts.offset.back() = offset;
  counts.grown = blocks > old_blocks;
}

/// C has no blocks and gets none. For a matrix with very many blocks, most of them not stored, to visit all
/// block positions of such panels would take longer than all other work.
bool is_empty(const ProductPanel& panel) noexcept {
  if (panel.dense.use == UseDense::always) return false;
  if (panel.old.row_begin && panel.old.row_begin[panel.rows.blocks] > 0) return false;
  return std::none_of(panel.inner.begin(), panel.inner.end(),
                      [&](const InnerPanel& inner) { return panel.meets(inner); });
}

}  // namespace

/// A constant for each product, as if all rows of B were equally full; a smaller one where whole rows are
/// counted.
double count_seconds(const ProductPanel& panel) noexcept {
  double products = 0;
  for (const InnerPanel& inner : panel.inner) {
    const double a = inner.a.row_begin[panel.rows.blocks], b = inner.b.row_begin[inner.inner.blocks];
    products += a * b / std::max(inner.inner.blocks, 1);
  }
  return 1e-5 + 2e-10 * products;
}

void kernels::count_products(const ProductPanel& panel, ProductCounts& counts) {
  if (is_empty(panel)) {
    counts.row_begin.assign(static_cast<std::size_t>(panel.rows.blocks) + 1, 0);
    counts.offset.assign(1, 0);
    counts.classes.resize(panel.inner.size());
    counts.products.assign(panel.inner.size(), 0);
    counts.dense.assign(panel.inner.size(), 0);
    return;
  }
  Counter counter(panel);
  visit_specialized(panel, [&]<bool masked, bool filter>() {
    for (const InnerPanel& inner : panel.inner) counter.take<masked, filter>(counts, inner);
  });
  counts.filtered = counter.filtered;
  collect_blocks(panel, counter.found, counts);
}

std::vector<std::vector<double>> square_roots(const ReadAll<Array<double>>& squares) {
  std::vector<std::vector<double>> norms;
  for (int i = 0; i < squares.size(); ++i) {
    const std::span<const double> of_panel = squares[i];
    auto& roots = norms.emplace_back(of_panel.size());
    std::transform(of_panel.begin(), of_panel.end(), roots.begin(), [](double x) { return std::sqrt(x); });
  }
  return norms;
}

void run(const HostContext&, const CountProducts& task) {
  if (task.norms.size() == 0) return kernels::count_products(*task.panel, *task.counts);
  ProductPanel panel = *task.panel;
  const auto norms = square_roots(task.norms);
  auto next = norms.begin();
  for (InnerPanel& inner : panel.inner) {
    if (!panel.meets(inner)) continue;
    inner.a.norm = (next++)->data();
    inner.b.norm = (next++)->data();
  }
  kernels::count_products(panel, *task.counts);
}
TESSERA_DEFINE_TASK(CountProducts)

}  // namespace tessera::detail
