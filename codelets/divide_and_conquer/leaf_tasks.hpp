// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/divide_and_conquer/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/task_views.hpp>
#include <tessera/runtime/task.hpp>

/// The leaves of the tridiagonal divide and conquer: the kernels of leaf.hpp. They run on CPUs only where
/// there are no GPUs (not with RuntimeOptions::hybrid either): where there are, a task is all leaves, which
/// one core would delay for long.
namespace tessera::divide_and_conquer {

/// Bytes of the scratch of LeafVectors, and of SubtreeValues of order m.
std::size_t leaf_scratch_bytes(const Forest& forest, bool on_gpu) noexcept;
std::size_t subtree_scratch_bytes(Index m, bool on_gpu) noexcept;

/// kernels::leaf_eigenvectors of all leaves of a forest whose first row is row `start` of a problem of order
/// n: one task for many leaves is meant for GPUs, which solve them together (kernels::max_leaves at most).
///                                                                        [4 m^3 a leaf, typically]
/// Fails with no_convergence, index: first row of a leaf, from 1.
/// | operand | mode    | shape                                                 | what                       |
/// |---------|---------|-------------------------------------------------------|----------------------------|
/// | scaled  | read    | array of double, 2 n + 1, every_rank                  | ScaledTridiagonal          |
/// | work    | scratch | array of double, leaf_scratch_bytes                   |                            |
/// | leaves  | write   | of each leaf: m x m matrix of R; array of double, 3 m | eigenvectors; NodeSpectrum |
/// The first leaf's vectors decide the rank.
template <class R>
struct LeafVectors {
  static constexpr const char* name = "tridiagonal_leaf";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Array<double>> scaled;
  Scratch<Array<double>> work;
  WriteAll<Matrix<R>, Array<double>> leaves;
  Index n = 0, start = 0;
  Forest forest;
  double epsilon = 0;  ///< as in kernels::deflate

  double flops() const noexcept {
    double sum = 0;
    for (Index tree = 0; tree < forest.trees(); ++tree) {
      const double order = static_cast<double>(forest.tree_rows(tree));
      sum += 4 * order * order * order;
    }
    return sum;
  }
  std::uint32_t footprint() const noexcept { return footprint_of(forest.rows, forest.leaf); }
};

/// kernels::subtree_values of some rows. No flops counted: the work depends on the deflation and is O(m^2)
/// divisions. Fails with no_convergence, index: start + 1.
/// | operand  | mode    | shape                                | what              |
/// |----------|---------|--------------------------------------|-------------------|
/// | scaled   | read    | array of double, 2 n + 1             | ScaledTridiagonal |
/// | spectrum | write   | array of double, 3 m                 | NodeSpectrum      |
/// | work     | scratch | array of char, subtree_scratch_bytes |                   |
/// All are of owner every_rank.
struct SubtreeValues {
  static constexpr const char* name = "tridiagonal_subtree";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Array<double>> scaled;
  Write<Array<double>> spectrum;
  Scratch<Array<char>> work;
  RowRange rows;
  double epsilon = 0;          ///< as in kernels::deflate
  bool boundary_rows = false;  ///< are wanted, too

  std::uint32_t footprint() const noexcept { return footprint_of(rows.m, boundary_rows); }
};

}  // namespace tessera::divide_and_conquer
