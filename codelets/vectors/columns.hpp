// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <tessera/runtime/operands.hpp>

/// Blocks of row-major vectors as operands. The piece of a block of `width` vectors of one segment of rows is
/// `width` x rows elements for StarPU, column-major: element j of row i is at i * ld + j.
namespace tessera::detail {

/// The most columns of a block of row-major vectors.
inline constexpr int max_block_columns = 32;

/// Columns of a block in memory: element j of row i is data[i * ld + j], 0 <= j < columns. Known to CPU and
/// CUDA code.
template <class T>
struct VectorBlock {
  T* data = nullptr;
  std::int64_t ld = 0;
  std::int32_t columns = 0;
};

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

/// The columns of a task's operands in memory; those without columns are left out.
template <class Element, std::size_t max>
class BlockList {
 public:
  template <class Operands>
  explicit BlockList(const Operands& operands) noexcept {
    for (const auto& operand : operands)
      if (operand.columns > 0) blocks_[count_++] = operand.block();
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
