// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <tessera/codelets/block_sparse/product/kernels/multiply_rows.hpp>
#include <tessera/codelets/block_sparse/product/multiply_panels.hpp>
#include <tessera/codelets/linalg/block_kernel.hpp>

namespace tessera::detail {

namespace {

template <class T>
struct Shape {
  kernels::BlockKernel<T> kernel;
  Index m, n, k, b_bytes, c_bytes;
};

template <class T>
struct Product {
  const T *a, *b;
  T* c;
  const Shape<T>* shape;
};

/// Prefetches a block that is needed soon: blocks are too small for the processor to predict. Of a large
/// block the beginning suffices, since the processor fetches the rest.
inline void prefetch(const void* block, Index bytes) noexcept {
  constexpr Index line = 64, most = 320;
  const char* const at = static_cast<const char*>(block);
  for (Index i = 0; i < std::min(bytes, most); i += line) __builtin_prefetch(at + i);
}

/// Bytes of B's panel that are used at a time: they fit into a core's second cache beside the other data.
constexpr Index cache_bytes = Index(1) << 18;

template <class T>
class PanelMultiplier {
 public:
  PanelMultiplier(const ProductPanel& panel, const InnerPanel& inner, const T* a, const T* b, T* c);

  template <bool masked, bool filter>
  void multiply();

 private:
  void take_columns(std::int32_t end_column);
  template <bool masked>
  bool open_row(std::int32_t row, std::int32_t end_column);
  template <bool masked, bool filter>
  void list_row(std::int32_t row);
  void multiply_listed() const noexcept;

  const ProductPanel& panel_;
  const InnerPanel& inner_;
  const T *a_, *b_;
  T* c_;
  std::int32_t columns_at_a_time_;
  bool b_in_cache_ = true;                 // the blocks of B in these columns
  std::vector<std::int32_t> first_, end_;  // for each row of B, the blocks in the columns worked on
  std::vector<std::int32_t> result_;       // for each row of C, the first block not yet passed
  std::vector<std::ptrdiff_t> place_;      // for each column, where the block of C begins in the row
  std::vector<Shape<T>> shapes_;           // by (row class, inner class, column class)
  std::vector<Product<T>> products_;       // of one row, the first count_
  std::size_t count_ = 0;
};

template <class T>
PanelMultiplier<T>::PanelMultiplier(const ProductPanel& panel, const InnerPanel& inner, const T* a,
                                    const T* b, T* c)
    : panel_(panel),
      inner_(inner),
      a_(a),
      b_(b),
      c_(c),
      columns_at_a_time_(panel.cols.blocks),
      end_(inner.b.row_begin, inner.b.row_begin + inner.inner.blocks),
      result_(panel.result.row_begin, panel.result.row_begin + panel.rows.blocks),
      place_(static_cast<std::size_t>(panel.cols.blocks), -1) {
  for (const Index m : panel.rows.sizes)
    for (const Index k : inner.inner.sizes)
      for (const Index n : panel.cols.sizes)
        shapes_.push_back({kernels::find_block_kernel<T>(m, n, k), m, n, k,
                           k * n * static_cast<Index>(sizeof(T)), m * n * static_cast<Index>(sizeof(T))});
  // Fewer columns at a time read A more often, which pays as long as these reads are few beside those of B.
  const Index blocks = inner.b.row_begin[inner.inner.blocks];
  if (blocks == 0) return;
  const Index bytes = inner.b.offset[blocks] * static_cast<Index>(sizeof(T)),
              parts = std::min<Index>((bytes + cache_bytes - 1) / cache_bytes, panel.cols.blocks);
  b_in_cache_ = parts <= std::max<Index>(panel.rows.blocks / 4, 1);
  if (b_in_cache_) columns_at_a_time_ = static_cast<std::int32_t>((panel.cols.blocks + parts - 1) / parts);
}

/// Proceeds to the columns before `end_column`.
template <class T>
void PanelMultiplier<T>::take_columns(std::int32_t end_column) {
  first_ = end_;
  for (std::int32_t k = 0; k < inner_.inner.blocks; ++k) {
    std::int32_t& end = end_[static_cast<std::size_t>(k)];
    if (end_column == panel_.cols.blocks)
      end = inner_.b.row_begin[k + 1];
    else
      while (end < inner_.b.row_begin[k + 1] && inner_.b.column[end] < end_column) ++end;
  }
}

/// Notes where the row's blocks are; false if there are none.
template <class T>
template <bool masked>
bool PanelMultiplier<T>::open_row(std::int32_t row, std::int32_t end_column) {
  if constexpr (masked) std::fill(place_.begin(), place_.end(), -1);
  std::int32_t& at = result_[static_cast<std::size_t>(row)];
  const std::int32_t first = at, end = panel_.result.row_begin[row + 1];
  const std::int32_t* const column = panel_.result.column;
  const Index* const offset = panel_.result.offset;
  for (; at < end && column[at] < end_column; ++at)
    if (!masked || panel_.allows(row, column[at])) place_[static_cast<std::size_t>(column[at])] = offset[at];
  return at > first;
}

/// Lists the products of a row.
template <class T>
template <bool masked, bool filter>
void PanelMultiplier<T>::list_row(std::int32_t row) {
  const auto row_class = static_cast<std::size_t>(panel_.rows.of_block[row]);
  const std::size_t inner_classes = inner_.inner.sizes.size(), col_classes = panel_.cols.sizes.size();
  const PanelRows &of_a = inner_.a, &of_b = inner_.b;
  const std::int32_t *const column = of_b.column, *const col_class = panel_.cols.of_block;
  const Index* const offset = of_b.offset;
  const std::ptrdiff_t* const place = place_.data();
  const bool one_class = col_classes == 1;
  std::size_t count = 0;
  for (std::int32_t left = of_a.row_begin[row]; left < of_a.row_begin[row + 1]; ++left) {
    const std::int32_t k = of_a.column[left];
    const auto inner_class = static_cast<std::size_t>(inner_.inner.of_block[k]);
    if (inner_.inner.sizes[inner_class] == 0) continue;
    const Shape<T>* const shapes = shapes_.data() + (row_class * inner_classes + inner_class) * col_classes;
    const T* const a = a_ + of_a.offset[left];
    const std::int32_t first = first_[static_cast<std::size_t>(k)], end = end_[static_cast<std::size_t>(k)];
    if (products_.size() < count + static_cast<std::size_t>(end - first))
      products_.resize(2 * (count + static_cast<std::size_t>(end - first)));
    Product<T>* next = products_.data() + count;
    for (std::int32_t right = first; right < end; ++right) {
      const std::int32_t j = column[right];
      if constexpr (masked)
        if (place[j] < 0) continue;
      if constexpr (filter)
        if (of_a.norm[left] * of_b.norm[right] < panel_.row_limit[row]) continue;
      *next++ = {a, b_ + offset[right], c_ + place[j], shapes + (one_class ? 0 : col_class[j])};
    }
    count = static_cast<std::size_t>(next - products_.data());
  }
  count_ = count;
}

/// Computes what is listed.
template <class T>
void PanelMultiplier<T>::multiply_listed() const noexcept {
  constexpr std::size_t ahead = 6;
  const bool far = !b_in_cache_;
  const Product<T>* const products = products_.data();
  for (std::size_t p = 0; p < count_; ++p) {
    const Product<T>& later = products[std::min(p + ahead, count_ - 1)];
    prefetch(later.c, later.shape->c_bytes);
    if (far) prefetch(later.b, later.shape->b_bytes);
    const auto& [a, b, c, shape] = products[p];
    if (shape->kernel)
      shape->kernel(a, b, c);
    else
      kernels::multiply_blocks<T>(shape->m, shape->n, shape->k, a, b, c);
  }
}

template <class T>
template <bool masked, bool filter>
void PanelMultiplier<T>::multiply() {
  for (std::int32_t column = 0; column < panel_.cols.blocks;) {
    column = std::min(column + columns_at_a_time_, panel_.cols.blocks);
    take_columns(column);
    for (std::int32_t row = 0; row < panel_.rows.blocks; ++row) {
      if (inner_.a.row_begin[row] == inner_.a.row_begin[row + 1] ||
          panel_.rows.sizes[static_cast<std::size_t>(panel_.rows.of_block[row])] == 0)
        continue;
      if (!open_row<masked>(row, column)) continue;
      list_row<masked, filter>(row);
      multiply_listed();
    }
  }
}

/// Row by row C is loaded and stored once, product by product as often as there are products.
template <class T>
bool go_by_rows(const MultiplyPanels<T>& task) {
  const ProductPanel& panel = *task.panel;
  return kernels::small_enough_for_rows<T>(panel.rows.sizes, panel.cols.sizes,
                                           panel.inner.front().inner.sizes) &&
         (task.c.first() || task.products >= panel.result.row_begin[panel.rows.blocks]);
}

/// Lists pay where there are few products for each block of C: then to load and store the block with each
/// product takes longer than to list the products first.
template <class T>
bool go_by_lists(const MultiplyPanels<T>& task) {
  constexpr Index max_products = 4;  // for a block of C
  const ProductPanel& panel = *task.panel;
  return kernels::small_enough_for_lists(panel.rows.sizes, panel.cols.sizes,
                                         panel.inner.front().inner.sizes) &&
         task.products <= max_products * panel.result.row_begin[panel.rows.blocks];
}

}  // namespace

template <class T>
void kernels::multiply_panels(const ProductPanel& panel, const InnerPanel& inner, const T* a, const T* b,
                              T* c) {
  PanelMultiplier<T> multiplier(panel, inner, a, b, c);
  visit_specialized(panel,
                    [&]<bool masked, bool filter>() { multiplier.template multiply<masked, filter>(); });
}

template <class T>
void run(const HostContext&, const MultiplyPanels<T>& task) {
  const ProductPanel& panel = *task.panel;
  const Store store = store_of(task.c);
  const std::span<T> c = *task.c;
  const int count = task.factors.size() / 2;
  std::array<kernels::InnerValues<T>, max_inner_panels> inner;
  std::array<InnerPanel, max_inner_panels> with_norms;
  const auto norms = square_roots(task.norms);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i), number = static_cast<std::size_t>(task.inner[at]);
    inner[at] = {&panel.inner[number], task.factors[2 * i].data(), task.factors[2 * i + 1].data()};
    if (!norms.empty()) {
      with_norms[at] = panel.inner[number];
      with_norms[at].a.norm = norms[2 * at].data();
      with_norms[at].b.norm = norms[2 * at + 1].data();
      inner[at].inner = &with_norms[at];
    }
    task.ran_on[number] = ProductWorker::cpu;
  }
  const std::span values(inner.data(), static_cast<std::size_t>(count));
  if constexpr (!is_complex<T>)
    if (go_by_rows(task))
      return go_by_lists(task) ? kernels::multiply_by_lists<T>(panel, values, store, c.data())
                               : kernels::multiply_rows<T>(panel, values, store, c.data());
  if (store == Store::overwrite) std::fill(c.begin(), c.end(), T(0));
  for (const kernels::InnerValues<T>& with : values)
    kernels::multiply_panels<T>(panel, *with.inner, with.a, with.b, c.data());
}

#define TESSERA_DEFINE(T)                                                                                    \
  template void kernels::multiply_panels<T>(const ProductPanel&, const InnerPanel&, const T*, const T*, T*); \
  TESSERA_DEFINE_TASK(MultiplyPanels<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
