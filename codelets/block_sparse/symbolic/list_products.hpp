// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/find_products.hpp>
#include <tessera/codelets/block_sparse/symbolic/stack.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

/// The inner panels of a stack, in the order in which their products are added.
struct ListedPanels {
  std::int32_t count = 0;
  std::int32_t inner[max_stack_panels] = {};
};

/// Where the runs and the entries of a class begin.
struct ClassBegin {
  std::int32_t run, entry;
};

/// A panel of C and the stack for it.
struct ListedShape {
  std::int32_t panel;                                    ///< number of the panel
  std::int32_t rows, columns;                            ///< blocks along its rows and columns
  std::int32_t row_classes, col_classes, inner_classes;  ///< size classes
  std::int32_t first_class;                              ///< of the stack's in ListProducts::begins
  Index products, runs;                                  ///< for which the stack has room
};

/// The stack of the products of some inner panels for one panel of C, class by class; within a class the runs
/// are in the order in which C stores its blocks, the products of a run in the order of the inner panels and
/// their inner index. With a filter, products with ||A_ik||_F ||B_kj||_F < eps / max(1, blocks in row i) are
/// left out, and the rest stands at the beginning of its run.
/// | operand    | mode    | shape                                             | what                          |
/// |------------|---------|---------------------------------------------------|-------------------------------|
/// | stack      | write   | array of StackEntry, then of StackRun (stack.hpp) | the list                      |
/// | a, b, c    | read    | packed patterns                                   | A's, B's, C's after           |
/// | begins     | read    | ClassBegin of all classes of all stacks           | those of this one: from first_class on |
/// | row_blocks | read    | a number for each row of blocks of C              | blocks in the row; without it those of A count |
/// | norms      | read    | of each inner panel: numbers for A's, for B's blocks | squares of norms; with a filter |
/// | filtered   | write   | a 64-bit number for each class of products        | products left out; with a filter |
/// | work       | scratch | 2 numbers for each row and pair of classes        | on GPUs                       |
/// No flops; the number of products predicts the time.
struct ListProducts {
  static constexpr const char* name = "list_products";
  Write<Array<StackEntry>> stack;
  Read<Array<std::int32_t>> a, b, c;
  Read<Array<ClassBegin>> begins;
  Read<Array<std::int32_t>> row_blocks{};
  Write<Array<std::int64_t>> filtered{};
  GpuScratch<Array<std::int32_t>> work{};
  ReadAll<Array<double>> norms{};
  ListedShape shape;
  ListedPanels listed;
  ProductMask mask;
  bool all_runs = true;  ///< the classes have no more runs than the listed panels make
  double eps = 0;
  double seconds(WorkerKind kind, double) const noexcept {
    return kind == WorkerKind::gpu ? 1.5e-5 + 2e-11 * static_cast<double>(shape.products)
                                   : 2e-6 + 2e-8 * static_cast<double>(shape.products);
  }
};

/// Numbers in ListProducts::work.
constexpr Index list_work(Index rows, Index col_classes, Index inner_classes) noexcept {
  return 2 * rows * col_classes * inner_classes;
}

}  // namespace tessera::detail
