// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/runtime/task.hpp>

/// The merges of the tridiagonal divide and conquer, with the kernels of deflate.hpp and secular.hpp, and
/// further below their eigenvectors. Without the vectors, all pieces are of owner every_rank, and the tasks
/// count no flops: the work depends on the deflation and is O(m^2) divisions. The operands:
/// | operand     | shape                                            | what                               |
/// |-------------|--------------------------------------------------|------------------------------------|
/// | scaled      | array of double, 2 n + 1                         | ScaledTridiagonal of the problem   |
/// | left, right | array of double, 3 of each child's order         | NodeSpectrum of the children       |
/// | record      | array of char, MergeRecord::bytes(m)             | MergeRecord                        |
/// | merged      | array of double, 3 m                             | NodeSpectrum of the merged node    |
/// | part, parts | array of double, 2 merge_part_capacity(m, parts) | two halves of one part of a step   |
/// | work        | array of double, merge_scratch_bytes(m)          | of Merge or Deflate                |
namespace tessera::detail::divide_and_conquer {

std::size_t merge_scratch_bytes(Index m) noexcept;

/// The rows of a merge, and the results that it needs.
struct MergeShape {
  Index n = 0;    ///< order of the whole problem
  Index cut = 0;  ///< first row of the right child
  Index left = 0, right = 0;
  double epsilon = 0;   ///< as in kernels::deflate
  bool weights = true;  ///< the vectors, of this node or of its parent, need the weights
  bool rows = true;     ///< there is a parent
  Index order() const noexcept { return left + right; }
};

/// A whole merge: a small one on a CPU, or any on a GPU. With GPUs no CPU runs it (not with
/// RuntimeOptions::hybrid either), because one core would take too long for a large merge. Fails with
/// no_convergence, index: cut + 1.
/// | operand             | mode    |
/// |---------------------|---------|
/// | scaled, left, right | read    |
/// | record, merged      | write   |
/// | work                | scratch |
struct Merge {
  static constexpr const char* name = "tridiagonal_merge";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Array<double>> scaled, left, right;
  Write<Array<char>> record;
  Write<Array<double>> merged;
  Scratch<Array<double>> work;
  MergeShape shape;
};

/// kernels::deflate, the first step of a merge in parts. On CPUs alone. Fails as Merge does.
/// | operand             | mode    |
/// |---------------------|---------|
/// | scaled, left, right | read    |
/// | record              | write   |
/// | work                | scratch |
struct Deflate {
  static constexpr const char* name = "tridiagonal_deflate";
  Read<Array<double>> scaled, left, right;
  Write<Array<char>> record;
  Scratch<Array<double>> work;
  MergeShape shape;
};

/// Doubles in one half of a part's piece.
constexpr Index merge_part_capacity(Index m, Index parts) noexcept {
  return m / parts + 2;
}

/// One of the parts of a merge of order m, which share its poles evenly. The number of poles is known only
/// when the tasks run.
struct MergePart {
  Index m = 0, part = 0, parts = 1;
  Index capacity() const noexcept { return merge_part_capacity(m, parts); }
  Index begin(Index poles) const noexcept { return poles * part / parts; }
  Index end(Index poles) const noexcept { return poles * (part + 1) / parts; }
};

enum class SecularStep { roots, weights, rows };

/// kernels::secular_roots, secular_weights or secular_rows of one part. On CPUs alone.
/// | operand | mode  |
/// |---------|-------|
/// | record  | read  |
/// | part    | write |
template <SecularStep step>
struct SecularPart {
  static constexpr const char* name = step == SecularStep::roots     ? "tridiagonal_secular_roots"
                                      : step == SecularStep::weights ? "tridiagonal_secular_weights"
                                                                     : "tridiagonal_secular_rows";
  Read<Array<char>> record;
  Write<Array<double>> part;
  MergePart which;
};

/// Copies the roots, or the weights, of all parts to the record. On CPUs alone.
/// | operand | mode       |
/// |---------|------------|
/// | record  | read-write |
/// | parts   | read       |
template <SecularStep step>
struct GatherParts {
  static_assert(step != SecularStep::rows, "OrderSpectrum copies these to the record");
  static constexpr const char* name =
      step == SecularStep::roots ? "tridiagonal_gather_roots" : "tridiagonal_gather_weights";
  ReadWrite<Array<char>> record;
  ReadAll<Array<double>> parts;
  Index m = 0;
};

/// kernels::order_spectrum; before it, if `rows`, copies the rows of all parts to the record. On CPUs alone.
/// | operand | mode       | what            |
/// |---------|------------|-----------------|
/// | record  | read-write |                 |
/// | merged  | write      |                 |
/// | parts   | read       | none if !`rows` |
struct OrderSpectrum {
  static constexpr const char* name = "tridiagonal_order";
  ReadWrite<Array<char>> record;
  Write<Array<double>> merged;
  ReadAll<Array<double>> parts{};
  Index m = 0;
  bool rows = false;
};

/// Inserts the same merge in steps, on CPUs only. Each step has one task for each of the pieces `parts`.
void insert_merge_in_parts(Sequence& sequence, const Merge& merge, std::span<const Data> parts,
                           const TaskOptions& options);

// The eigenvectors of a merge, with the kernels of merge_vectors.hpp and secular_vectors. With GPUs no CPU
// runs these tasks (not with RuntimeOptions::hybrid either): row blocks and panels have the sizes that GPUs
// need, and a panel on a core would copy both to the host. Flops are not counted unless given. The operands:
// | operand | shape                                            | what                      |
// |---------|--------------------------------------------------|---------------------------|
// | record  | array of char, MergeRecord::bytes(m), every_rank | MergeRecord of the merge  |
// | outline | array of char, sizeof(PanelOutline), every_rank  | PanelOutline of the panel |

/// Output columns [begin, end) of a merge of order m.
struct MergePanel {
  Index m = 0, begin = 0, end = 0;
  Index columns() const noexcept { return end - begin; }
};

/// outline := the numbers that the tasks of a panel need on the host, because they determine the sizes of
/// their products.
/// | operand | mode  |
/// |---------|-------|
/// | record  | read  |
/// | outline | write |
struct OutlinePanel {
  static constexpr const char* name = "tridiagonal_outline";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Array<char>> record;
  Write<Array<char>> outline;
  MergePanel panel;

  std::uint32_t footprint() const noexcept { return footprint_of(panel.m, panel.columns(), 0, 0); }
};

/// kernels::secular_vectors for the roots among the columns of a panel. Every rank computes them for itself.
/// | operand | mode              | shape                             | what            |
/// |---------|-------------------|-----------------------------------|-----------------|
/// | outline | read, on the host |                                   |                 |
/// | record  | read              |                                   |                 |
/// | s       | write             | matrix of R, at least m x columns | secular vectors |
template <class R>
struct SecularVectors {
  static constexpr const char* name = "tridiagonal_secular_vectors";
  static constexpr bool gpu_instead_of_cpu = true;
  ReadOnHost<Array<char>> outline;
  Read<Array<char>> record;
  Write<Matrix<R>> s;
  MergePanel panel;

  std::uint32_t footprint() const noexcept { return footprint_of(panel.m, panel.columns(), 0, 0); }
};

/// kernels::pack_rows of a merge of order m, for `rows` rows of a child.
/// | operand | mode  | shape                                         | what                        |
/// |---------|-------|-----------------------------------------------|-----------------------------|
/// | record  | read  |                                               |                             |
/// | packed  | write | matrix of R, at least rows x m                | the row block, packed       |
/// | tiles   | read  | matrices of R, rows x up to tile_columns each | the row block, 1024 at most |
template <class R>
struct PackRows {
  static constexpr const char* name = "tridiagonal_pack_rows";
  static constexpr bool gpu_instead_of_cpu = true;
  static constexpr int max_tiles = 1024;
  Read<Array<char>> record;
  Write<Matrix<R>> packed;
  ReadAll<Matrix<R>> tiles;
  Index m = 0;
  Child child = Child::left;
  Index rows = 0, tile_columns = 0;

  std::uint32_t footprint() const noexcept { return footprint_of(m, rows); }
};

/// Some rows of a child of a merge.
struct ChildRows {
  Child child = Child::left;
  Index rows = 0;
  Index inner = 0;  ///< order of the child
};

/// kernels::update_rows: the columns of a panel in the rows of one block.
///                                        [2 rows inner columns, less what deflation saves]
/// | operand | mode              | shape                             | what              |
/// |---------|-------------------|-----------------------------------|-------------------|
/// | outline | read, on the host |                                   |                   |
/// | record  | read              |                                   |                   |
/// | packed  | read              | matrix of R, at least rows x m    | by PackRows       |
/// | s       | read              | matrix of R, at least m x columns | by SecularVectors |
/// | out     | write             | matrix of R, rows x columns       | new rows          |
/// | split   | scratch           | array, split_product_bytes        | GPUs; absent: plain products |
template <class R>
struct UpdateRows {
  static constexpr const char* name = "tridiagonal_update_rows";
  static constexpr bool gpu_instead_of_cpu = true;
  ReadOnHost<Array<char>> outline;
  Read<Array<char>> record;
  Read<Matrix<R>> packed, s;
  Write<Matrix<R>> out;
  GpuScratch<Array<char>> split{};
  MergePanel panel;
  ChildRows block;

  double flops() const noexcept {
    return 2.0 * double(block.rows) * double(block.inner) * double(panel.columns());
  }
  std::uint32_t footprint() const noexcept {
    return footprint_of(panel.m, panel.columns(), block.rows, block.inner);
  }
};

/// Columns [from, from + count) of some tiles, which become columns [to, to + count) of a slab.
struct SlabColumns {
  Index from = 0, to = 0, count = 0;
};

/// Copies columns of eigenvectors, from tiles of `block_rows` rows below each other, to columns of a slab,
/// and converts them to T.
/// | operand | mode         | shape                 | what                                          |
/// |---------|--------------|-----------------------|-----------------------------------------------|
/// | slab    | write or add | matrix of T, n rows   | the other columns stay                        |
/// | tiles   | read         | matrices of RealOf<T> | block_rows rows each, the last fewer          |
template <class T>
struct FillSlab {
  static constexpr const char* name = "tridiagonal_fill_slab";
  static constexpr bool gpu_instead_of_cpu = true;
  WriteOrAdd<Matrix<T>> slab;
  ReadAll<Matrix<RealOf<T>>> tiles;
  Index block_rows = 0;
  SlabColumns columns;

  std::uint32_t footprint() const noexcept { return footprint_of(columns.count); }
};

/// The tiles of PackRows in memory.
template <class R>
struct TileList {
  std::array<const R*, PackRows<R>::max_tiles> data;
  Index count = 0, ld = 0;
  explicit TileList(const ReadAll<Matrix<R>>& tiles) noexcept : count(tiles.size()) {
    for (int i = 0; i < tiles.size(); ++i) {
      const MatrixView<const R> tile = tiles[i];
      data[static_cast<std::size_t>(i)] = tile.data;
      ld = tile.ld;
    }
  }
};

}  // namespace tessera::detail::divide_and_conquer
