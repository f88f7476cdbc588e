// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/divide_and_conquer/task_views.hpp>
#include <tessera/runtime/sequence.hpp>

/// The merges of the tridiagonal divide and conquer, without their vectors: the kernels of deflate.hpp and
/// secular.hpp. All pieces are of owner every_rank. No flops counted: the work depends on the deflation and
/// is O(m^2) divisions. What the operands hold:
/// | operand     | shape                                            | what                               |
/// |-------------|--------------------------------------------------|------------------------------------|
/// | scaled      | array of double, 2 n + 1                         | ScaledTridiagonal of the problem   |
/// | left, right | array of double, 3 of each child's order         | NodeSpectrum of the children       |
/// | record      | array of char, MergeRecord::bytes(m)             | MergeRecord                        |
/// | merged      | array of double, 3 m                             | NodeSpectrum of the merged node    |
/// | part, parts | array of double, 2 merge_part_capacity(m, parts) | two halves of one part of a step   |
/// | work        | array of double, merge_scratch_bytes(m)          | of a whole merge, or its deflation |
namespace tessera::divide_and_conquer {

std::size_t merge_scratch_bytes(Index m) noexcept;

/// One merge: which rows, and what its result is needed for.
struct MergeShape {
  Index n = 0;    ///< order of the whole problem
  Index cut = 0;  ///< first row of the right child
  Index left = 0, right = 0;
  double epsilon = 0;   ///< as in kernels::deflate
  bool weights = true;  ///< the vectors, of this node or of its parent, need the weights
  bool rows = true;     ///< there is a parent
  Index order() const noexcept { return left + right; }
};

/// A whole merge: a small one, or any on a GPU. It runs on CPUs only where there are no GPUs (not with
/// RuntimeOptions::hybrid either): one core would delay a large one for long. Fails with no_convergence,
/// index: cut + 1.
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

/// One of the parts of a merge of order m, which share its poles evenly (how many there are is known only
/// when the tasks run).
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

/// The roots, or the weights, of all parts come to the record. On CPUs alone.
/// | operand | mode       |
/// |---------|------------|
/// | record  | read-write |
/// | parts   | read       |
template <SecularStep step>
struct GatherParts {
  static_assert(step != SecularStep::rows, "these come to the record by OrderSpectrum");
  static constexpr const char* name =
      step == SecularStep::roots ? "tridiagonal_gather_roots" : "tridiagonal_gather_weights";
  ReadWrite<Array<char>> record;
  ReadAll<Array<double>> parts;
  Index m = 0;
};

/// kernels::order_spectrum; before it, if `rows`, the rows of all parts come to the record. On CPUs alone.
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

/// The same merge in steps, on CPUs only, each step in as many parts as there are pieces for them.
void insert_merge_in_parts(Sequence& sequence, const Merge& merge, std::span<const Data> parts,
                           const TaskOptions& options);

}  // namespace tessera::divide_and_conquer
