// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/values/panel_lines.hpp>
#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks for products of a block-sparse matrix with dense vectors, which are arrays of rows x width, column-major
/// without gaps (PanelVectors). Sums go in one order: the same bits in every run on the same kind of worker.
namespace tessera::detail {

/// How the blocks B of a panel are applied in one direction: as they stand, or as their mirror images.
struct VectorFactor {
  bool active = false;      ///< at all
  bool diagonal = true;     ///< blocks on the diagonal of the matrix, too
  bool conjugated = false;  ///< conj(B), or B^H instead of B^T
  bool negative = false;    ///< -B, or -B^T
  /// Whether it applies to a block.
  TESSERA_HOST_DEVICE bool takes(const PanelBlock& block) const noexcept {
    return active && (diagonal || block.block_row != block.block_col);
  }
};

/// The product of one panel with vectors, each way that its factors are active:
///   y := P x,  y_image := P^T x_image,                         [2 width an element and way]
/// where P consists of the blocks, conjugated and negated as the factors say; zero in lines without blocks.
/// | operand | mode  | shape               | what                                                       |
/// |---------|-------|---------------------|------------------------------------------------------------|
/// | blocks  | read  | array of PanelBlock | the panel's                                                |
/// | lines   | read  | array of BlockLines | one for each block                                         |
/// | order   | read  | as in PanelOrder    | the panel's; only where there are GPUs                     |
/// | values  | read  | array               | the panel's                                                |
/// | x       | read  | cols x width        | absent without `straight`                                  |
/// | x_image | read  | rows x width        | absent without `image`; may be the piece that x is         |
/// | y       | write | rows x width        | absent without `straight`                                  |
/// | y_image | write | cols x width        | absent without `image`                                     |
/// On CPUs block by block: plain loops over the columns of small blocks, BLAS for large ones and several vectors;
/// on GPUs a thread block for the lines of a row (column) of blocks. Predicted by the bytes: every block is read
/// once from memory.
template <class T>
struct PanelTimesVectors {
  static constexpr const char* name = "panel_times_vectors";
  Read<Array<PanelBlock>> blocks;
  Read<Array<BlockLines>> lines;
  Read<Array<std::int32_t>> order{};
  Read<Array<T>> values;
  Read<Array<T>> x{}, x_image{};
  Write<Array<T>> y{}, y_image{};
  VectorFactor straight, image;
  Index rows, cols;              ///< of the panel, in elements
  Index block_rows, block_cols;  ///< the same in blocks
  Index width;                   ///< vectors
  double elements;               ///< of the panel's blocks

  double flops() const noexcept {
    return flop_factor<T> * 2.0 * elements * static_cast<double>(width) *
           ((straight.active ? 1 : 0) + (image.active ? 1 : 0));
  }
  double seconds(WorkerKind kind, double bytes) const noexcept {
    return memory_seconds(kind, bytes) + flops() / (kind == WorkerKind::gpu ? 2e12 : 1e10);
  }
};

/// y := alpha (z_0 + z_1 + ...) + beta y, term by term from the left.                     [2 an element and term]
/// | operand | mode         | shape  | what                                        |
/// |---------|--------------|--------|---------------------------------------------|
/// | parts   | read         | arrays | any number, as large as y; none is y        |
/// | y       | write or add | array  | if it is written, as with beta = 0          |
template <class T>
struct SumParts {
  static constexpr const char* name = "sum_parts";
  ReadAll<Array<T>> parts;
  WriteOrAdd<Array<T>> y;
  T alpha, beta;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

namespace kernels {

/// y += factor op(B) x for `width` vectors; B is m x n, column-major without gaps; op: as it is, or conjugated.
template <class T>
void add_block_product(Index m, Index n, const T* b, bool conjugated, T factor, Index width, const T* x,
                       Index ldx, T* y, Index ldy) noexcept;
/// y += factor op(B) x with the transpose of B, or the adjoint (`conjugated`).
template <class T>
void add_image_product(Index m, Index n, const T* b, bool conjugated, T factor, Index width, const T* x,
                       Index ldx, T* y, Index ldy) noexcept;

#define TESSERA_DECLARE_BLOCK_VECTORS(LEVEL)                                                               \
  namespace LEVEL {                                                                                        \
  template <class T>                                                                                       \
  void add_block_product(Index m, Index n, const T* b, bool conjugated, T factor, Index width, const T* x, \
                         Index ldx, T* y, Index ldy) noexcept;                                             \
  template <class T>                                                                                       \
  void add_image_product(Index m, Index n, const T* b, bool conjugated, T factor, Index width, const T* x, \
                         Index ldx, T* y, Index ldy) noexcept;                                             \
  }
TESSERA_DECLARE_BLOCK_VECTORS(level2)
TESSERA_DECLARE_BLOCK_VECTORS(level3)
TESSERA_DECLARE_BLOCK_VECTORS(level4)
#undef TESSERA_DECLARE_BLOCK_VECTORS

}  // namespace kernels

}  // namespace tessera::detail
