// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

#include <tessera/codelets/block_sparse/values/panel_sums.hpp>

namespace tessera::detail {

namespace {

/// The type in which elements are added up.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// Where a block lies in the matrix, and its elements.
template <class T>
struct SummedBlock {
  const T* values;  ///< null if they are not needed
  Index rows, cols, first_row, first_col;
  bool image;  ///< its mirror image is not stored
};

template <class T>
Wide<T> diagonal_sum(const SummedBlock<T>& block) {
  const Index end = std::min(block.first_row + block.rows, block.first_col + block.cols);
  Wide<T> sum(0);
  for (Index i = std::max(block.first_row, block.first_col); i < end; ++i)
    sum += Wide<T>(block.values[(i - block.first_row) + (i - block.first_col) * block.rows]);
  return sum;
}

template <class T>
Wide<T> scalar_product(const SummedBlock<T>& block, const T* other, Symmetry symmetry,
                       Symmetry other_symmetry) {
  const bool images = block.image && other_symmetry != Symmetry::none;
  Wide<T> sum(0);
  for (Index i = 0; i < block.rows * block.cols; ++i) {
    const Wide<T> a(block.values[i]), b(other[i]);
    sum += conjugate(a) * b;
    if (images) sum += conjugate(mirrored(symmetry, a)) * mirrored(other_symmetry, b);
  }
  return sum;
}

/// The sums of panel number `at` of the task's.
template <class T>
class PanelSummer {
 public:
  PanelSummer(const SumPanels<T>& task, std::int32_t at)
      : task_(task),
        pattern_(task.pattern.view().data()),
        row_panel_(task.panels.number[at] % pattern_.header().row_panels),
        col_panel_(task.panels.number[at] / pattern_.header().row_panels),
        panel_(pattern_.panel(row_panel_, col_panel_)),
        values_(operand(task.panels.values[at])),
        others_(operand(task.panels.others[at])),
        sums_(task.sums.view().data() + at * SumLayout::size) {
    if (others_) other_ = PackedPattern(task.other_pattern.view().data()).panel(row_panel_, col_panel_);
  }

  void run() {
    std::fill_n(sums_, SumLayout::size, 0.0);
    const PackedSide rows = pattern_.rows(), cols = pattern_.cols();
    const std::int32_t row = rows.first[row_panel_], col = cols.first[col_panel_];
    for (std::int32_t i = 0; panel_.blocks > 0 && i < rows.blocks(row_panel_); ++i)
      for (std::int32_t b = panel_.row_begin[i]; b < panel_.row_begin[i + 1]; ++b) {
        const std::int32_t j = panel_.column[b];
        const bool image = task_.symmetry != Symmetry::none && rows.number[row + i] != cols.number[col + j];
        add(i, b,
            {values_ ? values_ + panel_.offset[b] : nullptr, rows.size[row + i], cols.size[col + j],
             rows.element[row + i], cols.element[col + j], image});
      }
  }

 private:
  const T* operand(std::int32_t number) const { return number < 0 ? nullptr : task_.values[number].data(); }

  void add(std::int32_t row, std::int32_t b, const SummedBlock<T>& block) {
    if (task_.norms) {
      const double norm =
          sum_of_squares(std::span(block.values, static_cast<std::size_t>(block.rows * block.cols)));
      task_.norms.view()[static_cast<std::size_t>(panel_.before + b)] = norm;
      if (std::sqrt(norm) < task_.panels.eps) return;
      sums_[SumLayout::squares] += block.image ? 2 * norm : norm;
    }
    if (task_.panels.trace && values_) add(SumLayout::trace, diagonal_sum(block));
    if (!others_ || other_.blocks == 0) return;
    const std::int32_t* const first = other_.column + other_.row_begin[row];
    const std::int32_t* const end = other_.column + other_.row_begin[row + 1];
    const std::int32_t* const found = std::lower_bound(first, end, panel_.column[b]);
    if (found != end && *found == panel_.column[b])
      add(SumLayout::dot, scalar_product(block, others_ + other_.offset[found - other_.column],
                                         task_.symmetry, task_.other_symmetry));
  }
  void add(int at, Wide<T> sum) {
    sums_[at] += real_part(sum);
    sums_[at + 1] += imag_part(sum);
  }

  const SumPanels<T>& task_;
  const PackedPattern pattern_;
  const std::int32_t row_panel_, col_panel_;
  const PackedPanel panel_;
  PackedPanel other_;
  const T *values_, *others_;
  double* sums_;
};

}  // namespace

template <class T>
void run(const HostContext&, const SumPanels<T>& task) {
  for (std::int32_t p = 0; p < task.panels.count; ++p) PanelSummer<T>(task, p).run();
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(SumPanels<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
