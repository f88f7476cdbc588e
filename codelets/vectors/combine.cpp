// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <type_traits>

#include <tessera/codelets/linalg/block_kernel.hpp>
#include <tessera/codelets/vectors/chunk_rows.hpp>
#include <tessera/codelets/vectors/combine.hpp>

namespace tessera::detail::kernels {

namespace {

/// The output of which rows may be summed up in place: in double, alone, and in no input's memory.
template <class T>
const VectorBlock<double>* output_in_place(std::span<const VectorBlock<const T>> inputs,
                                           std::span<const VectorBlock<T>> outputs) noexcept {
  if constexpr (std::is_same_v<T, double>) {
    if (outputs.size() != 1) return nullptr;
    // Columns of a piece: rows of two operands of one piece begin within a row's length.
    const VectorBlock<double>& out = outputs.front();
    for (const VectorBlock<const double>& in : inputs)
      if (in.ld == out.ld && std::less<>()(in.data - in.ld, out.data) &&
          std::less<>()(out.data, in.data + in.ld))
        return nullptr;
    return &out;
  } else {
    return nullptr;
  }
}

}  // namespace

template <class T>
void combine(std::int64_t rows, std::span<const VectorBlock<const T>> inputs,
             std::span<const VectorBlock<T>> outputs, const double* c) noexcept {
  const std::int64_t in = columns_of(inputs), out = columns_of(outputs);
  if (out == 0) return;
  alignas(64) double input_rows[chunk_rows * max_real_columns];
  alignas(64) double output_rows[chunk_rows * 2 * max_real_columns];
  alignas(64) double transposed[4 * max_real_columns * 2 * max_real_columns];
  for (std::int64_t k = 0; k < in; ++k)
    for (std::int64_t j = 0; j < out; ++j) transposed[k * out + j] = c[j * in + k];
  const VectorBlock<double>* const in_place = in > 0 ? output_in_place<T>(inputs, outputs) : nullptr;
  for (std::int64_t first = 0; first < rows; first += chunk_rows) {
    const std::int64_t count = std::min(chunk_rows, rows - first);
    const double* coefficients = transposed;
    double* const sums = in_place ? in_place->data + first * in_place->ld : output_rows;
    const std::int64_t ld = in_place ? in_place->ld : out;
    if (in == 0) std::fill_n(output_rows, out * count, 0.0);
    for (const VectorBlock<const T>& block : inputs) {
      if (block.columns == 0) continue;
      fetch_rows(block, first + count, rows);
      const WideRows rows_of_block = wide_rows(block, first, count, input_rows);
      multiply_small<double>(out, count, block.columns, coefficients, out, Op::none, rows_of_block.data,
                             rows_of_block.ld, coefficients != transposed, sums, ld);
      coefficients += out * block.columns;
    }
    if (in_place) continue;
    const double* from = output_rows;
    for (const VectorBlock<T>& block : outputs) {
      T* const to = block.data + first * block.ld;
      for (std::int64_t i = 0; i < count; ++i) std::copy_n(from + i * out, block.columns, to + i * block.ld);
      from += block.columns;
    }
  }
}

#define TESSERA_INSTANTIATE(T)                                                  \
  template void combine<T>(std::int64_t, std::span<const VectorBlock<const T>>, \
                           std::span<const VectorBlock<T>>, const double*) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels

namespace tessera::detail {

namespace {

/// The columns of its block outside the operand := 0.
template <class T>
void clear_other_columns(const OutputColumns<T>& operand) {
  const MatrixView<T> whole = *operand;
  for (Index i = 0; i < whole.cols; ++i) {
    T* const row = &whole(0, i);
    std::fill(row, row + operand.first_column, T(0));
    std::fill(row + operand.first_column + operand.columns, row + whole.rows, T(0));
  }
}

}  // namespace

template <class T>
void run(const HostContext&, const Combine<T>& task) {
  for (const OutputColumns<T>& output : task.outputs)
    if (output && output.first()) clear_other_columns(output);
  using R = RealOf<T>;
  kernels::combine<R>(task.rows, blocks_of<const R>(task.inputs), blocks_of<R>(task.outputs),
                      task.c.view().data());
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(Combine<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
