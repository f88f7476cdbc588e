// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/block_sparse/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/block_reductions_arguments.hpp>

namespace tessera {
namespace {

using namespace block_reductions_codelets;

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
void sum_diagonal(std::span<const PanelBlock> blocks, const T* values, double* result) {
  for (const PanelBlock& block : blocks) {
    const auto [first, end] = diagonal_part(block);
    for (Index i = first; i < end; ++i) {
      const T x = values[diagonal_place(block, i)];
      result[0] += real_part(x);
      result[1] += imag_part(x);
    }
  }
}

template <class T>
double sum_squares(std::span<const PanelBlock> blocks, const T* values, Symmetry symmetry) {
  double total = 0;
  for (const PanelBlock& block : blocks) {
    const Index count = Index(block.rows) * block.cols;
    double sum = 0;
    for (Index i = 0; i < count; ++i) sum += squared(values[block.offset + i]);
    total += has_image(symmetry, block) ? 2 * sum : sum;
  }
  return total;
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

template <class T>
void reduce_task(const TaskContext&, TaskBuffers buffers, const ReduceArguments& arguments) {
  const auto blocks = buffers.array<const PanelBlock>(0);
  const T* const values = buffers.array<const T>(1).data();
  double* const result = buffers.array<double>(2).data();
  result[0] = result[1] = 0;
  switch (arguments.sum) {
    case PanelSum::diagonal:
      return sum_diagonal(blocks, values, result);
    case PanelSum::squares:
      result[0] = sum_squares(blocks, values, arguments.symmetry);
      return;
    case PanelSum::largest:
      result[0] = largest_modulus(blocks, values);
      return;
    case PanelSum::by_position:
      result[0] = sum_by_position(blocks, values, arguments.symmetry);
      return;
  }
}

template <class T>
Codelet reduce_codelet = make_codelet<ReduceArguments, reduce_task<T>>("reduce_panel", type_letter<T>);

/// The type in which products are added up.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class T>
void dot_task(const TaskContext&, TaskBuffers buffers, const DotArguments& arguments) {
  const bool same = arguments.same;
  const T* const x = buffers.array<const T>(1).data();
  const T* const y = same ? x : buffers.array<const T>(2).data();
  const bool images = arguments.x != Symmetry::none && arguments.y != Symmetry::none;
  Wide<T> total(0);
  for (const DotRun& run : buffers.array<const DotRun>(0)) {
    Wide<T> sum(0);
    for (Index i = 0; i < run.count; ++i) {
      const Wide<T> a(x[run.first + i]), b(y[run.second + i]);
      sum += conjugate(a) * b;
      if (images && !run.on_diagonal) sum += conjugate(mirrored(arguments.x, a)) * mirrored(arguments.y, b);
    }
    total += sum;
  }
  double* const result = buffers.array<double>(same ? 2 : 3).data();
  result[0] = real_part(total);
  result[1] = imag_part(total);
}

template <class T>
Codelet dot_codelet = make_codelet<DotArguments, dot_task<T>>("dot_panels", type_letter<T>);

struct LineArguments {
  LineSum sum;
  Symmetry symmetry;
  Index rows, cols;
  std::uint32_t footprint() const {
    return 2 * static_cast<std::uint32_t>(sum) + (symmetry == Symmetry::none ? 1 : 2);
  }
};

template <class T>
void lines_task(const TaskContext&, TaskBuffers buffers, const LineArguments& arguments) {
  const auto blocks = buffers.array<const PanelBlock>(0);
  const auto lines = buffers.array<const BlockLines>(1);
  const T* const values = buffers.array<const T>(2).data();
  const auto sums = buffers.array<double>(3);
  std::fill(sums.begin(), sums.end(), 0.0);
  const bool by_row = arguments.sum == LineSum::rows_of_moduli;
  // The lines that the stored blocks add to, then those of their mirror images.
  double* const straight = sums.data();
  double* const images = straight + (by_row ? arguments.rows : arguments.cols);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const PanelBlock& block = blocks[b];
    double* const row_sums = (by_row ? straight : images) + lines[b].row;
    double* const col_sums = (by_row ? images : straight) + lines[b].col;
    const bool image = has_image(arguments.symmetry, block);
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

template <class T>
Codelet lines_codelet = make_codelet<LineArguments, lines_task<T>>("sum_lines", type_letter<T>);

}  // namespace

template <class T>
void insert_reduce_panel(Sequence& sequence, int priority, PanelSum sum, Symmetry symmetry,
                         const Data& blocks, const Data& values, const Data& result) {
  const Data work = Data::scratch(sequence.runtime(), reduction_bytes);
  sequence.insert(reduce_codelet<T>, ReduceArguments{sum, symmetry}, {.priority = priority},
                  {read(blocks), read(values), write(result), scratch(work)});
}

template <class T>
void insert_dot_panels(Sequence& sequence, int priority, Symmetry symmetry_x, Symmetry symmetry_y,
                       const Data& runs, const Data& x, const Data& y, const Data& result) {
  const Data work = Data::scratch(sequence.runtime(), reduction_bytes);
  // A task must not have one piece twice.
  const DotArguments arguments{symmetry_x, symmetry_y, x.handle() == y.handle()};
  if (arguments.same)
    sequence.insert(dot_codelet<T>, arguments, {.priority = priority},
                    {read(runs), read(x), write(result), scratch(work)});
  else
    sequence.insert(dot_codelet<T>, arguments, {.priority = priority},
                    {read(runs), read(x), read(y), write(result), scratch(work)});
}

template <class T>
void insert_sum_lines(Sequence& sequence, int priority, LineSum sum, Symmetry symmetry, Index rows,
                      Index cols, const Data& blocks, const Data& lines, const Data& values,
                      const Data& sums) {
  sequence.insert(lines_codelet<T>, LineArguments{sum, symmetry, rows, cols}, {.priority = priority},
                  {read(blocks), read(lines), read(values), write(sums)});
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void insert_reduce_panel<T>(Sequence&, int, PanelSum, Symmetry, const Data&, const Data&, \
                                       const Data&);                                                 \
  template void insert_dot_panels<T>(Sequence&, int, Symmetry, Symmetry, const Data&, const Data&,   \
                                     const Data&, const Data&);                                      \
  template void insert_sum_lines<T>(Sequence&, int, LineSum, Symmetry, Index, Index, const Data&,    \
                                    const Data&, const Data&, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
