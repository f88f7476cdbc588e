// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/algorithms/block_sparse/panel_norms.hpp>
#include <tessera/algorithms/block_sparse/product_plan.hpp>
#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/common/store.hpp>
#include <tessera/multiply.hpp>

/// The tasks that compute the values of a block-sparse product.
namespace tessera::detail {

/// What one stack of a product came to.
struct StackRecord {
  ProductWorker ran_on = ProductWorker::none;
  bool listed = false;  ///< a task for the list has been inserted
  Data stack;           ///< the list, if this product has made it
  std::shared_ptr<const Data>
      filtered{};            ///< with a filter: products that it leaves out, for each stack of a task
  Index first_filtered = 0;  ///< in it: for each class of products
};

/// What the tasks of a product write beside C, alive until they have ended.
struct ProductRecords {
  std::vector<ProductWorker> panels;             ///< for each panel of C and inner panel, not of stacks
  std::vector<std::vector<StackRecord>> stacks;  ///< for each panel of C and set of the plan
  explicit ProductRecords(const ProductPlan& plan);
};

/// Gives the lists of a product that has succeeded to its plan, for later ones. Not before: a task of a product
/// that fails may have written nothing.
void keep_lists(ProductPlan& plan, ProductRecords& records);

/// The steps that a product of several ranks goes in: those wanted, or (0) as many as Cannon's algorithm has on
/// the grid; at most one for each inner panel. Step s of S has the inner panels i with i mod S = s.
Index product_steps(const BlockPattern& c, Index inner_panels, Index wanted);

/// How the products are computed.
struct NumericOptions {
  Store store = Store::add;               ///< overwrite: C has no values yet
  bool fetch = false;                     ///< a finished panel of C goes to host memory
  const ProductFilter* filter = nullptr;  ///< on CPUs; alive until the tasks are inserted
  double eps = 0;                         ///< of the filter, which tasks that list apply: with GPUs
  Index steps = 0;                        ///< with several ranks, see product_steps
  Data row_blocks{};  ///< with it: blocks in each row of blocks of op(A), in the order of the panels
};

/// The tasks; in one process panel by panel of C, which stays in the caches of its worker, or on its GPU,
/// meanwhile. With several ranks step by step, each with some inner panels for all panels of C, so that copies of
/// few panels wait at a rank (StepWindow); it waits for steps to end then, is collective, and drops the copies
/// of the operands' panels. Priorities: what is submitted first.
template <class T>
void submit_products(Sequence& sequence, const ProductOperands<T>& operands, OperandNorms<T>& norms,
                     ProductPlan& plan, const BlockSparseMatrix<T>& c, const NumericOptions& options,
                     ProductRecords& records);

/// With a filter and GPUs: the lists of all products, into the records, for submit_products.
template <class T>
void list_products(Sequence& sequence, const ProductOperands<T>& operands, OperandNorms<T>& norms,
                   ProductPlan& plan, const NumericOptions& options, ProductRecords& records);

/// Every task that multiplies must fit a GPU: known to the owner of the panel of C alone, said to all.
template <class T>
void require_room(const ProductOperands<T>& operands, const ProductPlan& plan);

/// Kernels for the shapes of this rank's stacks, where GPUs compute them.
template <class T>
void prepare_kernels(const ProductPlan& plan);

}  // namespace tessera::detail
