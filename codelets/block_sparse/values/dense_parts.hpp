// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/host_device.hpp>
#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks that copy parts of blocks between a panel of a block-sparse matrix and a dense matrix: a tile, or a
/// principal submatrix. They run at the speed of memory, whose cost predicts their time: no flops are
/// counted. On CPUs and GPUs, with the same bits.
namespace tessera::detail {

/// Where element (i, j) of a part of a block stands in the dense matrix, from the part's place (row, col) on.
enum class PartImage : std::int32_t {
  straight,  ///< at (row + i, col + j)
  mirrored,  ///< at (row + j, col + i), as the mirror image
  of_lower,  ///< straight on and below the matrix' diagonal; else at (col + j, row + i), as the mirror image
  of_upper   ///< straight on and above the diagonal; else as before
};

/// A part of a block, and its place in a dense matrix.
struct DensePart {
  Index element;            ///< of the panel's data at which the part begins
  std::int32_t row, col;    ///< of the dense matrix
  std::int32_t rows, cols;  ///< elements, as in the block
  std::int32_t ld;          ///< of the block
  PartImage image;
};

/// For each part, its place in the matrix := the part, straight or as the mirror image that the symmetry
/// gives. Where the task writes, not adds, the rest of the matrix becomes zero.
/// | operand | mode         | shape              | what                                                    |
/// |---------|--------------|--------------------|---------------------------------------------------------|
/// | parts   | read         | array of DensePart | of this panel in this matrix; straight, mirrored        |
/// | values  | read         | array              | of the panel; absent without parts                      |
/// | matrix  | write or add | matrix             | what no part reaches becomes zero (write) or stays (add) |
template <class T>
struct GatherBlocks {
  static constexpr const char* name = "gather_blocks";
  Read<Array<DensePart>> parts{};
  Read<Array<T>> values{};
  WriteOrAdd<Matrix<T>> matrix;
  Symmetry symmetry = Symmetry::none;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// For each part, the part := what stands in its place in the matrix, straight or as the mirror image.
/// | operand | mode         | shape              | what                                                     |
/// |---------|--------------|--------------------|----------------------------------------------------------|
/// | parts   | read         | array of DensePart | of this panel in this matrix                             |
/// | matrix  | read         | matrix             |                                                          |
/// | values  | write or add | array              | of the panel; what no part reaches is lost (write) or stays (add) |
template <class T>
struct ScatterBlocks {
  static constexpr const char* name = "scatter_blocks";
  Read<Array<DensePart>> parts;
  Read<Matrix<T>> matrix;
  WriteOrAdd<Array<T>> values;
  Symmetry symmetry = Symmetry::none;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// For each part, the largest modulus of an element in its place in the matrix; NaN if one is NaN, zero
/// without elements. The modulus of a complex element may differ in the last bit between CPUs and GPUs.
/// | operand | mode  | shape              | what                                          |
/// |---------|-------|--------------------|-----------------------------------------------|
/// | parts   | read  | array of DensePart | straight; `element` and `ld` are not looked at |
/// | matrix  | read  | matrix             |                                               |
/// | largest | write | array of double    | one for each part                             |
template <class T>
struct LargestOfParts {
  static constexpr const char* name = "largest_of_parts";
  Read<Array<DensePart>> parts;
  Read<Matrix<T>> matrix;
  Write<Array<double>> largest;
  Uplo counted = Uplo::general;  ///< of the matrix: in the other triangle nothing is looked at
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Element (row, col) of a matrix counts.
TESSERA_HOST_DEVICE constexpr bool counts(Uplo counted, Index row, Index col) noexcept {
  return counted == Uplo::general || (counted == Uplo::lower ? row >= col : row <= col);
}

/// Where an element of a part stands in the dense matrix.
struct PartPlace {
  Index row, col;
  bool mirrored;
};
TESSERA_HOST_DEVICE constexpr PartPlace place_of(const DensePart& part, Index i, Index j) noexcept {
  if (part.image == PartImage::mirrored) return {part.row + j, part.col + i, true};
  const Index row = part.row + i, col = part.col + j;
  if (part.image == PartImage::straight ||
      counts(part.image == PartImage::of_lower ? Uplo::lower : Uplo::upper, row, col))
    return {row, col, false};
  return {col, row, true};
}

}  // namespace tessera::detail
