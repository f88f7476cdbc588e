// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/find_products.hpp>
#include <tessera/codelets/block_sparse/symbolic/stack.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

/// Where the runs and the entries of a class begin.
struct ClassBegin {
  std::int32_t run, entry;
};

/// One of the stacks that a task lists.
struct ListedStack {
  std::int32_t panel;               ///< of C
  std::int32_t first_inner, inner;  ///< its inner panels: so many of ListProducts::inner from the first on
  std::int32_t first_class;         ///< of its classes in ListProducts::begins
  std::int32_t products, runs;      ///< for which it has room
  bool all_runs;                    ///< these inner panels make as many runs as it has room for
  bool complete;                    ///< every block of C has one run
};
struct ListedStacks {
  static constexpr int most = 32;
  std::int32_t count = 0;
  ListedStack stack[most] = {};
};

/// The panels of C of a task.
struct ListedShape {
  std::int32_t rows, columns;                            ///< blocks along the largest
  std::int32_t row_classes, col_classes, inner_classes;  ///< size classes
  ProductMask mask;
  constexpr std::int32_t pairs() const noexcept { return col_classes * inner_classes; }
  constexpr std::int32_t classes() const noexcept { return row_classes * pairs(); }
};

/// No product is left out, all are of one class, and every block of C has a run: the lengths of the rows of B
/// and C tell how many products and runs a row has.
TESSERA_HOST_DEVICE constexpr bool counts_by_lengths(const ListedShape& shape,
                                                     const ListedStack& stack) noexcept {
  return stack.complete && !shape.mask.any() && shape.col_classes == 1 && shape.inner_classes == 1;
}

/// Products with ||A_ik||_F ||B_kj||_F < eps / max(1, blocks in row i) are left out.
struct ListFilter {
  double eps = 0;
  std::int32_t before_a = 0, before_b = 0;  ///< blocks of the patterns before the first norms
};

/// The stacks of the products of some inner panels for panels of C, class by class; within a class the runs
/// are in the order in which C stores its blocks, the products of a run in the order of the inner panels and
/// their inner index. What a filter leaves out is missing: runs of a row follow each other without gaps, and rows
/// keep their places.
/// | operand    | mode    | shape                                             | what                             |
/// |------------|---------|---------------------------------------------------|----------------------------------|
/// | lists      | write   | arrays of StackEntry, then of StackRun (stack.hpp) | the stacks                      |
/// | a, b, c    | read    | packed patterns                                   | A's, B's, C's after              |
/// | begins     | read    | ClassBegin of all classes of all stacks           | from first_class on a stack's    |
/// | inner      | read    | numbers                                           | the stacks' inner panels         |
/// | row_blocks | read    | a number for each row of blocks of C              | blocks in the row; without it those of A count |
/// | norms_a, norms_b | read | a number for each block                        | squares of norms; with a filter  |
/// | filtered   | write   | 64-bit numbers: classes() for each stack          | products left out; with a filter |
/// | work       | scratch | list_work() numbers                               | on GPUs                          |
/// No flops; the number of products predicts the time.
struct ListProducts {
  static constexpr const char* name = "list_products";
  WriteAll<Array<StackEntry>> lists;
  Read<Array<std::int32_t>> a, b, c;
  Read<Array<ClassBegin>> begins;
  Read<Array<std::int32_t>> inner;
  Read<Array<std::int32_t>> row_blocks{};
  Read<Array<double>> norms_a{}, norms_b{};
  Write<Array<std::int64_t>> filtered{};
  GpuScratch<Array<std::int32_t>> work{};
  ListedShape shape;
  ListedStacks stacks;
  ListFilter filter{};
  double seconds(WorkerKind kind, double) const noexcept {
    double products = 0;
    for (std::int32_t s = 0; s < stacks.count; ++s) products += stacks.stack[s].products;
    return kind == WorkerKind::gpu ? 5e-5 + 5e-11 * products : 2e-6 + 2e-8 * products;
  }
};

/// Numbers in ListProducts::work for one stack.
constexpr Index list_work(Index rows, Index col_classes, Index inner_classes) noexcept {
  return 2 * rows * col_classes * inner_classes;
}

}  // namespace tessera::detail
