// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>
#include <tessera/runtime/sequence.hpp>

/// The merges of the tridiagonal divide and conquer without their vectors: the kernels of deflate.hpp and
/// secular.hpp. All pieces are of owner every_rank. The tasks count no flops: the work depends on the
/// deflation and is O(m^2) divisions. The operands:
/// | operand     | shape                                            | what                               |
/// |-------------|--------------------------------------------------|------------------------------------|
/// | scaled      | array of double, 2 n + 1                         | ScaledTridiagonal of the problem   |
/// | left, right | array of double, 3 of each child's order         | NodeSpectrum of the children       |
/// | record      | array of char, MergeRecord::bytes(m)             | MergeRecord                        |
/// | merged      | array of double, 3 m                             | NodeSpectrum of the merged node    |
/// | part, parts | array of double, 2 merge_part_capacity(m, parts) | two halves of one part of a step   |
/// | work        | array of double, merge_scratch_bytes(m)          | of Merge or Deflate                |
namespace tessera::divide_and_conquer {

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

}  // namespace tessera::divide_and_conquer
