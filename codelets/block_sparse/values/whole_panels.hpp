// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks between the panels of a block-sparse matrix and the same matrix as one dense piece: the packed pattern tells
/// where a block lies, so that no list of blocks is made on the host. They run at the speed of memory, whose cost
/// predicts their time: no flops are counted. On CPUs and GPUs, with the same bits.
namespace tessera::detail {

/// For each block of a panel, its place in the matrix := the block; of a matrix with a symmetry also the mirror image
/// of a block off the diagonal.
/// | operand | mode       | shape          | what                             |
/// |---------|------------|----------------|----------------------------------|
/// | pattern | read       | packed pattern | the block-sparse matrix'         |
/// | values  | read       | array          | of the panel                     |
/// | matrix  | read-write | matrix         | the whole; other places stay     |
template <class T>
struct PanelToDense {
  static constexpr const char* name = "panel_to_dense";
  Read<Array<std::int32_t>> pattern;
  Read<Array<T>> values;
  ReadWrite<Matrix<T>> matrix;
  std::int32_t row_panel = 0, col_panel = 0;
  Index blocks = 0;  ///< of the panel
  Symmetry symmetry = Symmetry::none;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// For each block of a panel, the block := its place in the matrix. With a symmetry a block on the diagonal is made of
/// its lower triangle.
/// | operand | mode  | shape          | what                                          |
/// |---------|-------|----------------|-----------------------------------------------|
/// | pattern | read  | packed pattern | the block-sparse matrix'                      |
/// | matrix  | read  | matrix         | the whole; Hermitian, if one triangle counts  |
/// | values  | write | array          | of the panel                                  |
template <class T>
struct PanelFromDense {
  static constexpr const char* name = "panel_from_dense";
  Read<Array<std::int32_t>> pattern;
  Read<Matrix<T>> matrix;
  Write<Array<T>> values;
  std::int32_t row_panel = 0, col_panel = 0;
  Index blocks = 0;              ///< of the panel
  Uplo counted = Uplo::general;  ///< of the matrix; the other triangle is its mirror image
  Symmetry symmetry = Symmetry::none;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Which blocks of a dense matrix have an element of a modulus above the threshold, or a NaN. A threshold below 0: all.
/// | operand | mode  | shape          | what                                                                        |
/// |---------|-------|----------------|-----------------------------------------------------------------------------|
/// | pattern | read  | packed pattern | any with these rows and columns of blocks                                   |
/// | matrix  | read  | matrix         | the whole; Hermitian, if one triangle counts                                |
/// | flags   | write | array          | [column + row * columns], of the blocks as the pattern numbers them: 1 or 0 |
template <class T>
struct FlagBlocks {
  static constexpr const char* name = "flag_blocks";
  Read<Array<std::int32_t>> pattern;
  Read<Matrix<T>> matrix;
  Write<Array<char>> flags;
  double threshold = 0;
  Index row_blocks = 0, col_blocks = 0;
  Uplo counted = Uplo::general;  ///< of the matrix; the other triangle is its mirror image
  bool half_stored = false;      ///< blocks above the diagonal have no place
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Where element (i, j) of a matrix stands: `conjugated`, in the triangle that counts; `image`, the mirror image that a
/// symmetry gives, in the lower triangle.
struct DensePlace {
  Index row, col;
  bool conjugated, image;
};
/// @param halved the upper triangle follows from the lower one by a symmetry
TESSERA_HOST_DEVICE constexpr DensePlace dense_place(Uplo counted, bool halved, Index i, Index j) noexcept {
  const bool image = halved && i < j;
  const Index row = image ? j : i, col = image ? i : j;
  const bool elsewhere = counted != Uplo::general && (counted == Uplo::lower ? row < col : row > col);
  return elsewhere ? DensePlace{col, row, true, image} : DensePlace{row, col, false, image};
}

}  // namespace tessera::detail
