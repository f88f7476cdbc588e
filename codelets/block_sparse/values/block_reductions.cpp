// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/block_reductions.hpp>

namespace tessera::detail {

namespace {

template <class T>
double squared(T x) {
  const double re = real_part(x), im = imag_part(x);
  return re * re + im * im;
}

/// In double: the modulus of a complex<float> may overflow.
template <class T>
double modulus(T x) {
  if constexpr (is_complex<T>)
    return std::hypot(double(x.real()), double(x.imag()));
  else
    return std::abs(double(x));
}

/// The block has a mirror image that is not stored.
bool has_image(Symmetry symmetry, const PanelBlock& block) {
  return symmetry != Symmetry::none && block.block_row != block.block_col;
}

template <class T>
double largest_modulus(std::span<const PanelBlock> blocks, const T* values) {
  double largest = 0;
  for (const PanelBlock& block : blocks) {
    const Index count = Index(block.rows) * block.cols;
    for (Index i = 0; i < count; ++i) {
      const double x = modulus(values[block.offset + i]);
      if (std::isnan(x)) return x;
      largest = std::max(largest, x);
    }
  }
  return largest;
}

template <class T>
double positioned(T x, Index i, Index j) {
  return (double(real_part(x)) + 0.5 * double(imag_part(x))) * position_weight(i, j);
}

template <class T>
double sum_by_position(std::span<const PanelBlock> blocks, const T* values, Symmetry symmetry) {
  double total = 0;
  for (const PanelBlock& block : blocks) {
    const bool image = has_image(symmetry, block);
    double sum = 0;
    for (Index j = 0; j < block.cols; ++j)
      for (Index i = 0; i < block.rows; ++i) {
        const T x = values[block.offset + i + j * block.rows];
        const Index row = block.first_row + i, col = block.first_col + j;
        sum += positioned(x, row, col);
        if (image) sum += positioned(mirrored(symmetry, x), col, row);
      }
    total += sum;
  }
  return total;
}

}  // namespace

template <class T>
void run(const HostContext&, const ReducePanel<T>& task) {
  const auto blocks = *task.blocks;
  const T* const values = task.values.view().data();
  task.result.view()[0] = task.sum == PanelSum::largest ? largest_modulus(blocks, values)
                                                        : sum_by_position(blocks, values, task.symmetry);
}

template <class T>
void run(const HostContext&, const SumLines<T>& task) {
  const auto blocks = *task.blocks;
  const auto lines = *task.lines;
  const T* const values = task.values.view().data();
  const auto sums = *task.sums;
  std::fill(sums.begin(), sums.end(), 0.0);
  const bool by_row = task.sum == LineSum::rows_of_moduli;
  // The lines that the stored blocks add to, then those of their mirror images.
  double* const straight = sums.data();
  double* const images = straight + (by_row ? task.rows : task.cols);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const PanelBlock& block = blocks[b];
    double* const row_sums = (by_row ? straight : images) + lines[b].row;
    double* const col_sums = (by_row ? images : straight) + lines[b].col;
    const bool image = has_image(task.symmetry, block);
    const bool to_rows = by_row || image, to_cols = !by_row || image;
    for (Index j = 0; j < block.cols; ++j) {
      double column = 0;
      for (Index i = 0; i < block.rows; ++i) {
        const T x = values[block.offset + i + j * block.rows];
        const double term = by_row ? modulus(x) : squared(x);
        column += term;
        if (to_rows) row_sums[i] += term;
      }
      if (to_cols) col_sums[j] += column;
    }
  }
}

#define TESSERA_DEFINE(T)             \
  TESSERA_DEFINE_TASK(ReducePanel<T>) \
  TESSERA_DEFINE_TASK(SumLines<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
