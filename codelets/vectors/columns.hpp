// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <tessera/runtime/operands.hpp>
#include <tessera/types.hpp>

/// Blocks of row-major vectors as operands. The piece of a block of `width` vectors of one segment of rows is
/// `width` x rows elements for StarPU, column-major: element j of row i is at i * ld + j.
namespace tessera::detail {

/// The most columns of a block of row-major vectors.
inline constexpr int max_block_columns = 32;

/// Real numbers of an element. Kernels that add, scale and multiply by real numbers see a complex column as two real
/// ones that stand next to each other, its real and its imaginary part.
template <class T>
inline constexpr int reals_of = is_complex<T> ? 2 : 1;
inline constexpr int max_real_columns = 2 * max_block_columns;

/// Columns of a block in memory: element j of row i is data[i * ld + j], 0 <= j < columns. Known to CPU and
/// CUDA code.
template <class T>
struct VectorBlock {
  T* data = nullptr;
  std::int64_t ld = 0;
  std::int32_t columns = 0;
};

template <class T>
using RealElement = std::conditional_t<std::is_const_v<T>, const RealOf<std::remove_const_t<T>>,
                                       RealOf<std::remove_const_t<T>>>;
/// The same memory as real columns.
template <class T>
VectorBlock<RealElement<T>> real_block(const VectorBlock<T>& block) noexcept {
  constexpr int reals = reals_of<std::remove_const_t<T>>;
  return {reinterpret_cast<RealElement<T>*>(block.data), reals * block.ld, reals * block.columns};
}
template <class T>
MatrixView<RealElement<T>> real_view(const MatrixView<T>& rows) noexcept {
  constexpr int reals = reals_of<std::remove_const_t<T>>;
  return {reinterpret_cast<RealElement<T>*>(rows.data), reals * rows.rows, rows.cols, reals * rows.ld};
}

/// Columns first_column, ..., first_column + columns - 1 of a block. Several such operands of a task may lie
/// in one piece, and overlap.
template <class T, class Whole>
struct ColumnOperand : Whole {
  using Element = std::conditional_t<Whole::mode == AccessMode::read, const T, T>;
  std::int32_t first_column = 0, columns = 0;

  ColumnOperand() = default;
  ColumnOperand(const Whole& block, Index first, Index count) noexcept
      : Whole(block),
        first_column(static_cast<std::int32_t>(first)),
        columns(static_cast<std::int32_t>(count)) {}

  // In the body:
  VectorBlock<Element> block() const noexcept {
    const auto whole = this->view();
    return {whole.data + first_column, whole.ld, columns};
  }
};
template <class T>
using ReadColumns = ColumnOperand<T, Read<Matrix<T>>>;
/// Where the task writes the block, its columns outside the range become zero; else they stay.
template <class T>
using OutputColumns = ColumnOperand<T, WriteOrAdd<Matrix<T>>>;

template <class Operands>
std::int32_t columns_of(const Operands& operands) noexcept {
  std::int32_t sum = 0;
  for (const auto& operand : operands) sum += operand.columns;
  return sum;
}

/// The columns of a task's operands in memory, as real ones; those without columns are left out.
template <class Element, std::size_t max>
class BlockList {
 public:
  template <class Operands>
  explicit BlockList(const Operands& operands) noexcept {
    for (const auto& operand : operands)
      if (operand.columns > 0) blocks_[count_++] = real_block(operand.block());
  }
  operator std::span<const VectorBlock<Element>>() const noexcept { return {blocks_.data(), count_}; }

 private:
  std::array<VectorBlock<Element>, max> blocks_{};
  std::size_t count_ = 0;
};
template <class Element, class Operand, std::size_t max>
BlockList<Element, max> blocks_of(const std::array<Operand, max>& operands) noexcept {
  return BlockList<Element, max>(operands);
}

}  // namespace tessera::detail
