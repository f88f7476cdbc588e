// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/product/kernels/multiply_rows.hpp>
#include <tessera/codelets/block_sparse/product/kernels/row_products.hpp>

namespace tessera::detail::kernels {
namespace {

/// The last blocks of a panel of A, behind which the kernel reads beyond the end: a copy with room after it.
template <class T>
struct EndOfPanel {
  std::int32_t first;     // its first block
  Index offset;           // where that begins in the panel
  std::vector<T> values;  // from there on, with as many numbers more as may be read
};

template <class T>
EndOfPanel<T> end_of_panel(const PanelRows& a, std::int32_t rows, const T* values) {
  const Index beyond = padded_rows<T>(1) - 1;
  const std::int32_t blocks = a.row_begin[rows];
  if (blocks == 0) return {0, 0, {}};
  const Index end = a.offset[blocks];
  std::int32_t first = blocks;
  while (first > 0 && a.offset[first] + beyond > end) --first;
  EndOfPanel<T> result{first, a.offset[first], {values + a.offset[first], values + end}};
  result.values.resize(result.values.size() + static_cast<std::size_t>(beyond));
  return result;
}

template <class T>
class ListMultiplier {
 public:
  ListMultiplier(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store, T* c);

  template <bool masked, bool filter>
  void multiply();

 private:
  template <bool masked>
  void open_row(std::int32_t row);
  template <bool masked, bool filter>
  void list(std::int32_t row, const InnerValues<T>& values, const EndOfPanel<T>& end_of_a);
  void compute_list(std::int32_t column) noexcept;
  ListedBlocks<T> listed(T* c, const std::int32_t* column, Index count) const noexcept;

  const ProductPanel& panel_;
  const std::span<const InnerValues<T>> inner_;
  const Store store_;
  const Index size_;  // of all blocks
  T* const c_;
  T* row_ = nullptr;                     // C's row
  std::vector<EndOfPanel<T>> end_of_a_;  // of each inner panel
  std::vector<BlockPair<T>> pairs_;      // max_listed for each column of blocks
  // For each column of blocks:
  std::vector<std::int32_t> listed_;  // pairs that are listed
  std::vector<char> started_;         // C's block has values
  std::vector<Index> place_;          // of C's block in the row; with a mask -1 where there is none
};

template <class T>
ListMultiplier<T>::ListMultiplier(const ProductPanel& panel, std::span<const InnerValues<T>> inner,
                                  Store store, T* c)
    : panel_(panel), inner_(inner), store_(store), size_(panel.rows.sizes.front()), c_(c) {
  const auto columns = static_cast<std::size_t>(panel.cols.blocks);
  for (const InnerValues<T>& values : inner)
    end_of_a_.push_back(end_of_panel(values.inner->a, panel.rows.blocks, values.a));
  pairs_.resize(columns * max_listed);
  listed_.resize(columns);
  started_.resize(columns);
  place_.resize(columns);
}

template <class T>
ListedBlocks<T> ListMultiplier<T>::listed(T* c, const std::int32_t* column, Index count) const noexcept {
  return {c, column, count, pairs_.data(), listed_.data(), started_.data()};
}

/// Empties the lists and notes where the row's blocks are.
template <class T>
template <bool masked>
void ListMultiplier<T>::open_row(std::int32_t row) {
  std::fill(listed_.begin(), listed_.end(), 0);
  std::fill(started_.begin(), started_.end(), store_ == Store::add);
  if constexpr (masked) std::fill(place_.begin(), place_.end(), -1);
  const PanelRows& result = panel_.result;
  const Index first = result.offset[result.row_begin[row]];
  for (std::int32_t at = result.row_begin[row]; at < result.row_begin[row + 1]; ++at)
    if (!masked || panel_.allows(row, result.column[at]))
      place_[static_cast<std::size_t>(result.column[at])] = result.offset[at] - first;
}

/// Makes room in a list that is full.
template <class T>
__attribute__((noinline)) void ListMultiplier<T>::compute_list(std::int32_t column) noexcept {
  const auto at = static_cast<std::size_t>(column);
  multiply_listed<T>(size_, listed(row_ + place_[at], &column, 1));
  listed_[at] = 0;
  started_[at] = 1;
}

/// Prefetches the beginning of a row of B into the second cache: a fixed number of lines, which needs no
/// branch that the processor would mispredict.
inline void prefetch_blocks(const void* first) noexcept {
  constexpr int lines = 16, line = 64;
  const char* const at = static_cast<const char*>(first);
#pragma GCC unroll 16
  for (int i = 0; i < lines; ++i) __builtin_prefetch(at + i * line, 0, 2);
}

/// Where the blocks of a row are.
inline void prefetch_index(const PanelRows& rows, std::int32_t row) noexcept {
  const std::int32_t first = rows.row_begin[row];
  __builtin_prefetch(rows.column + first);
  __builtin_prefetch(rows.offset + first);
  __builtin_prefetch(rows.offset + first + 7);
}

template <class T>
template <bool masked, bool filter>
void ListMultiplier<T>::list(std::int32_t row, const InnerValues<T>& values, const EndOfPanel<T>& end_of_a) {
  constexpr std::int32_t index_ahead = 3;
  const PanelRows &of_a = values.inner->a, &of_b = values.inner->b;
  const std::int32_t last = of_a.row_begin[row + 1];
  const std::int32_t* const columns = of_b.column;
  const Index* const offset = of_b.offset;
  BlockPair<T>* const pairs = pairs_.data();
  std::int32_t* const listed = listed_.data();
  for (std::int32_t left = of_a.row_begin[row]; left < last; ++left) {
    const std::int32_t inner = of_a.column[left];
    if (left + index_ahead < last) prefetch_index(of_b, of_a.column[left + index_ahead]);
    if (left + 1 < last) prefetch_blocks(values.b + offset[of_b.row_begin[of_a.column[left + 1]]]);
    const T* const a = left < end_of_a.first ? values.a + of_a.offset[left]
                                             : end_of_a.values.data() + (of_a.offset[left] - end_of_a.offset);
    for (std::int32_t right = of_b.row_begin[inner], end = of_b.row_begin[inner + 1]; right < end; ++right) {
      const std::int32_t column = columns[right];
      if constexpr (masked)
        if (place_[static_cast<std::size_t>(column)] < 0) continue;
      if constexpr (filter)
        if (of_a.norm[left] * of_b.norm[right] < panel_.row_limit[row]) continue;
      if (listed[column] == max_listed) compute_list(column);
      pairs[column * max_listed + listed[column]++] = {a, values.b + offset[right]};
    }
  }
}

template <class T>
template <bool masked, bool filter>
void ListMultiplier<T>::multiply() {
  const PanelRows& result = panel_.result;
  for (std::int32_t row = 0; row < panel_.rows.blocks; ++row) {
    const std::int32_t first = result.row_begin[row], end = result.row_begin[row + 1];
    if (result.offset[first] == result.offset[end]) continue;
    row_ = c_ + result.offset[first];
    open_row<masked>(row);
    for (std::size_t i = 0; i < inner_.size(); ++i) list<masked, filter>(row, inner_[i], end_of_a_[i]);
    multiply_listed<T>(size_, listed(row_, result.column + first, end - first));
  }
}

}  // namespace

bool small_enough_for_lists(std::span<const Index> m, std::span<const Index> n,
                            std::span<const Index> k) noexcept {
  if (m.size() != 1 || n.size() != 1 || k.size() != 1) return false;
  const Index size = m.front();
  return size > 0 && size <= max_listed_size && n.front() == size && k.front() == size;
}

template <class T>
void multiply_by_lists(const ProductPanel& panel, std::span<const InnerValues<T>> inner, Store store, T* c) {
  ListMultiplier<T> multiplier(panel, inner, store, c);
  visit_specialized(panel,
                    [&]<bool masked, bool filter>() { multiplier.template multiply<masked, filter>(); });
}

template void multiply_by_lists<float>(const ProductPanel&, std::span<const InnerValues<float>>, Store,
                                       float*);
template void multiply_by_lists<double>(const ProductPanel&, std::span<const InnerValues<double>>, Store,
                                        double*);

}  // namespace tessera::detail::kernels
