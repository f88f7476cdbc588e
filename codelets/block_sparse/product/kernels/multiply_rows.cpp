// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>

#include <tessera/codelets/block_sparse/product/kernels/multiply_rows.hpp>
#include <tessera/codelets/block_sparse/product/kernels/row_products.hpp>

namespace tessera::detail::kernels {
namespace {

/// Columns of A and B that blocks may have.
constexpr Index max_columns = 32;

template <class T>
class RowMultiplier {
 public:
  RowMultiplier(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store, T* c);

  template <bool masked, bool filter>
  void multiply();

 private:
  bool has_products(std::int32_t row) const noexcept;
  template <bool masked>
  Index open_row(std::int32_t row);
  template <bool masked, bool filter>
  void add_products(std::int32_t row, Index m, const InnerValues<T>& values);
  template <bool masked, bool filter>
  void choose(std::int32_t row, double norm, const PanelRows& b, std::int32_t first, std::int32_t end);

  const ProductPanel& panel_;
  const std::span<const InnerValues<T>> inner_;
  const Store store_;
  T* const c_;
  std::vector<std::int32_t> place_;   // for each column of blocks, its first column in the row
  std::vector<Index> chosen_offset_;  // of blocks of B, where some are left out
  std::vector<std::int32_t> chosen_column_;
  std::size_t chosen_ = 0;
  std::vector<T> memory_;  // of the next two
  T *a_, *sums_;           // padded: a block of A, a row of C; aligned to registers
};

template <class T>
RowMultiplier<T>::RowMultiplier(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store,
                                T* c)
    : panel_(panel), inner_(inner), store_(store), c_(c) {
  const auto columns = static_cast<std::size_t>(panel.cols.blocks);
  place_.assign(columns, -1);
  chosen_offset_.resize(columns);
  chosen_column_.resize(columns);
  Index max_m = 0, max_k = 0, all_columns = 0;
  for (const Index m : panel.rows.sizes) max_m = std::max(max_m, m);
  for (const InnerValues<T>& values : inner)
    for (const Index k : values.inner->inner.sizes) max_k = std::max(max_k, k);
  for (std::int32_t j = 0; j < panel.cols.blocks; ++j)
    all_columns += panel.cols.sizes[static_cast<std::size_t>(panel.cols.of_block[j])];
  const Index rows = padded_rows<T>(max_m);
  constexpr std::size_t alignment = 64;
  memory_.resize(static_cast<std::size_t>(rows * (max_k + all_columns)) + alignment / sizeof(T));
  void* first = memory_.data();
  std::size_t room = memory_.size() * sizeof(T);
  sums_ = static_cast<T*>(std::align(alignment, 1, first, room));
  a_ = sums_ + rows * all_columns;
}

template <class T>
bool RowMultiplier<T>::has_products(std::int32_t row) const noexcept {
  return std::any_of(inner_.begin(), inner_.end(), [row](const InnerValues<T>& values) {
    return values.inner->a.row_begin[row] < values.inner->a.row_begin[row + 1];
  });
}

/// Notes where the row's blocks are; the number of its columns.
template <class T>
template <bool masked>
Index RowMultiplier<T>::open_row(std::int32_t row) {
  if constexpr (masked) std::fill(place_.begin(), place_.end(), -1);
  const PanelRows& result = panel_.result;
  std::int32_t columns = 0;
  for (std::int32_t at = result.row_begin[row]; at < result.row_begin[row + 1]; ++at) {
    const auto column = static_cast<std::size_t>(result.column[at]);
    if (!masked || panel_.allows(row, result.column[at])) place_[column] = columns;
    columns +=
        static_cast<std::int32_t>(panel_.cols.sizes[static_cast<std::size_t>(panel_.cols.of_block[column])]);
  }
  return columns;
}

/// Of a row of B the blocks that are multiplied.
template <class T>
template <bool masked, bool filter>
void RowMultiplier<T>::choose(std::int32_t row, double norm, const PanelRows& b, std::int32_t first,
                              std::int32_t end) {
  chosen_ = 0;
  for (std::int32_t right = first; right < end; ++right) {
    const std::int32_t column = b.column[right];
    if constexpr (masked)
      if (place_[static_cast<std::size_t>(column)] < 0) continue;
    if constexpr (filter)
      if (norm * b.norm[right] < panel_.row_limit[row]) continue;
    chosen_offset_[chosen_] = b.offset[right];
    chosen_column_[chosen_++] = column;
  }
}

/// Prefetches the beginning of a row of B that is needed soon; the processor fetches the rest.
inline void prefetch(const void* first, const void* end) noexcept {
  constexpr std::ptrdiff_t line = 64, most = 1024;
  const char* const at = static_cast<const char*>(first);
  const std::ptrdiff_t bytes = std::min(static_cast<const char*>(end) - at, most);
  for (std::ptrdiff_t i = 0; i < bytes; i += line) __builtin_prefetch(at + i);
}

template <class T>
template <bool masked, bool filter>
void RowMultiplier<T>::add_products(std::int32_t row, Index m, const InnerValues<T>& values) {
  const PanelRows &of_a = values.inner->a, &of_b = values.inner->b;
  const PanelSizes& sizes = values.inner->inner;
  const std::int32_t last = of_a.row_begin[row + 1];
  // Another block follows each block of A except the last one.
  const Index ld = padded_rows<T>(m), padding = ld - m,
              end_of_a = of_a.offset[of_a.row_begin[panel_.rows.blocks]];
  RowOfBlocks<T> blocks{values.b,
                        chosen_offset_.data(),
                        chosen_column_.data(),
                        0,
                        place_.data(),
                        panel_.cols.sizes.size() == 1 ? nullptr : panel_.cols.of_block,
                        panel_.cols.sizes.data()};
  for (std::int32_t left = of_a.row_begin[row]; left < last; ++left) {
    const std::int32_t inner = of_a.column[left], first = of_b.row_begin[inner],
                       end = of_b.row_begin[inner + 1];
    const Index k = sizes.sizes[static_cast<std::size_t>(sizes.of_block[inner])];
    if (left + 1 < last) {
      const std::int32_t next = of_a.column[left + 1];
      prefetch(values.b + of_b.offset[of_b.row_begin[next]],
               values.b + of_b.offset[of_b.row_begin[next + 1]]);
    }
    if (k == 0 || first == end) continue;
    if constexpr (masked || filter) {
      choose<masked, filter>(row, filter ? of_a.norm[left] : 0, of_b, first, end);
      blocks.count = static_cast<Index>(chosen_);
    } else {
      blocks.offset = of_b.offset + first;
      blocks.column = of_b.column + first;
      blocks.count = end - first;
    }
    if (blocks.count == 0) continue;
    const T* const a = values.a + of_a.offset[left];
    if (of_a.offset[left + 1] + padding <= end_of_a) {
      multiply_row<T>(m, k, a, m, blocks, sums_);
    } else {
      pad_columns<T>(m, k, a, a_);
      multiply_row<T>(m, k, a_, ld, blocks, sums_);
    }
  }
}

template <class T>
template <bool masked, bool filter>
void RowMultiplier<T>::multiply() {
  for (std::int32_t row = 0; row < panel_.rows.blocks; ++row) {
    const Index m = panel_.rows.sizes[static_cast<std::size_t>(panel_.rows.of_block[row])];
    const Index* const offset = panel_.result.offset;
    const Index first = offset[panel_.result.row_begin[row]], end = offset[panel_.result.row_begin[row + 1]];
    if (first == end) continue;
    if (!has_products(row)) {
      if (store_ == Store::overwrite) std::fill(c_ + first, c_ + end, T(0));
      continue;
    }
    const Index columns = open_row<masked>(row);
    if (store_ == Store::overwrite)
      std::fill_n(sums_, padded_rows<T>(m) * columns, T(0));
    else
      pad_columns<T>(m, columns, c_ + first, sums_);
    for (const InnerValues<T>& values : inner_) add_products<masked, filter>(row, m, values);
    unpad_columns<T>(m, columns, sums_, c_ + first);
  }
}

}  // namespace

template <class T>
bool small_enough_for_rows(std::span<const Index> m, std::span<const Index> n,
                           std::span<const Index> k) noexcept {
  const auto within = [](std::span<const Index> sizes, Index most) {
    return std::all_of(sizes.begin(), sizes.end(), [most](Index size) { return size <= most; });
  };
  if constexpr (is_complex<T>)
    return false;
  else
    return within(m, max_rows<T>()) && within(n, max_columns) && within(k, max_columns);
}

template <class T>
void multiply_rows(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store, T* c) {
  RowMultiplier<T> multiplier(panel, inner, store, c);
  visit_specialized(panel,
                    [&]<bool masked, bool filter>() { multiplier.template multiply<masked, filter>(); });
}

#define TESSERA_INSTANTIATE(T)                                                           \
  template bool small_enough_for_rows<T>(std::span<const Index>, std::span<const Index>, \
                                         std::span<const Index>) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
template void multiply_rows<float>(const ProductPanel&, std::span<const InnerValues<float>>, Store, float*);
template void multiply_rows<double>(const ProductPanel&, std::span<const InnerValues<double>>, Store,
                                    double*);

}  // namespace tessera::detail::kernels
