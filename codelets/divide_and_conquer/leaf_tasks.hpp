// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/tile_part.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>
#include <tessera/runtime/task.hpp>

/// Both ends of the tridiagonal divide and conquer, with the kernels of leaf.hpp: scaling T, the leaves, and
/// scaling the eigenvalues back.
namespace tessera::detail::divide_and_conquer {

/// kernels::scale_and_cut. All pieces are of owner every_rank. Fails with not_finite, index: the row from 1.
/// | operand | mode  | shape                    | what                                   |
/// |---------|-------|--------------------------|----------------------------------------|
/// | d       | read  | array of R, n            | diagonal                               |
/// | e       | read  | array of R, n - 1        | off-diagonal                           |
/// | scaled  | write | array of double, 2 n + 1 | ScaledTridiagonal of the whole problem |
template <class R>
struct ScaleAndCut {
  static constexpr const char* name = "tridiagonal_scale";
  Read<Array<R>> d, e;
  Write<Array<double>> scaled;
  Index n = 0;
  Index leaf = 0;  ///< cuts lie at its multiples

  std::uint32_t footprint() const noexcept { return footprint_of(leaf, false); }
};

/// kernels::unscale_values of the whole spectrum. All pieces are of owner every_rank.
/// | operand  | mode  | shape                    | what                                |
/// |----------|-------|--------------------------|-------------------------------------|
/// | scaled   | read  | array of double, 2 n + 1 | ScaledTridiagonal: for its exponent |
/// | spectrum | read  | array of double, 3 n     | NodeSpectrum of the root            |
/// | values   | write | array of R, n            | the eigenvalues                     |
template <class R>
struct Unscale {
  static constexpr const char* name = "tridiagonal_unscale";
  Read<Array<double>> scaled, spectrum;
  Write<Array<R>> values;
  Index n = 0;

  std::uint32_t footprint() const noexcept { return footprint_of(n, false); }
};

// With GPUs no CPU solves leaves (not with RuntimeOptions::hybrid either): a task then takes all leaves, and
// one core would delay them for long.

/// Bytes of the scratch of LeafVectors, and of SubtreeValues of order m.
std::size_t leaf_scratch_bytes(const Forest& forest, bool on_gpu) noexcept;
std::size_t subtree_scratch_bytes(Index m, bool on_gpu) noexcept;

/// kernels::leaf_eigenvectors of all leaves of a forest whose first row is row `start` of a problem of order
/// n. GPUs get one task for many leaves (at most kernels::max_leaves) and solve them together.
///                                                                        [4 m^3 a leaf, typically]
/// Fails with no_convergence, index: first row of a leaf, from 1.
/// | operand | mode    | shape                                                 | what                       |
/// |---------|---------|-------------------------------------------------------|----------------------------|
/// | scaled  | read    | array of double, 2 n + 1, every_rank                  | ScaledTridiagonal          |
/// | work    | scratch | array of double, leaf_scratch_bytes                   |                            |
/// | leaves  | write   | of each leaf: m x m matrix of R; array of double, 3 m | eigenvectors; NodeSpectrum |
/// The task runs on the rank of the first leaf's vectors.
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

/// kernels::subtree_values of some rows. It counts no flops: the work depends on the deflation and is O(m^2)
/// divisions. Fails with no_convergence, index: start + 1.
/// | operand  | mode    | shape                                | what              |
/// |----------|---------|--------------------------------------|-------------------|
/// | scaled   | read    | array of double, 2 n + 1             | ScaledTridiagonal |
/// | spectrum | write   | array of double, 3 m                 | NodeSpectrum      |
/// | work     | scratch | array of char, subtree_scratch_bytes |                   |
/// All pieces are of owner every_rank.
struct SubtreeValues {
  static constexpr const char* name = "tridiagonal_subtree";
  static constexpr bool gpu_instead_of_cpu = true;
  Read<Array<double>> scaled;
  Write<Array<double>> spectrum;
  Scratch<Array<char>> work;
  RowRange rows;
  double epsilon = 0;          ///< as in kernels::deflate
  bool boundary_rows = false;  ///< also computes the boundary rows

  std::uint32_t footprint() const noexcept { return footprint_of(rows.m, boundary_rows); }
};

}  // namespace tessera::detail::divide_and_conquer
