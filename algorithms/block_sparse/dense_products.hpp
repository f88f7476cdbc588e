// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/block_sparse/product_operands.hpp>
#include <tessera/algorithms/block_sparse/product_plan.hpp>
#include <tessera/codelets/block_sparse/product/dense_panels.hpp>
#include <tessera/multiply.hpp>

/// The part of a block-sparse product that is computed with dense panels.
namespace tessera::detail {

/// What the symbolic phase goes by when it chooses. `never` where element limits leave something out, or
/// where the dense arrays of the panels that store enough for it would take more than a quarter of the memory
/// that the least fortunate rank has, on the host or on a GPU. Collective; the same on all ranks.
template <class T>
DenseRule dense_rule(const MultiplyOptions& options, const ProductOperands<T>& operands,
                     const BlockPattern& c);

/// Submits the dense products, panel by panel of C. The panels of A and B that they need are expanded once on
/// every rank that needs them: their values travel as blocks, which are never more bytes. A dense array goes
/// when the last product that reads it has been submitted and is over. Collective.
template <class T>
class DenseProducts {
 public:
  DenseProducts(Sequence& sequence, const ProductOperands<T>& operands, const ProductPlan& plan);

  /// Whether a panel of C has any.
  bool any(Index panel) const noexcept;
  /// Inserts the tasks that expand the panels of A and B for the product of a panel of C with an inner panel, on
  /// C's owner. Without it submit() does so.
  void expand(int priority, Index panel, Index inner);
  /// One product for each inner panel that is dense, the first of them `first_inner` or the next after it,
  /// added up in a dense array; then C's blocks := their parts of it, or are added to. `ran_on`: for each
  /// inner panel.
  void submit(int priority, Index panel, Index first_inner, ProductWorker* ran_on,
              const WriteOrAdd<Array<T>>& c);

 private:
  /// The dense arrays of an operand's panels.
  struct Expanded {
    const BlockSparseMatrix<T>* matrix = nullptr;
    const BlockPattern* known = nullptr;  // its pattern, as the plan has it
    std::vector<Data> panels;
    std::vector<std::vector<int>> ranks;  // for each panel, those that have expanded it
    std::vector<Index> uses;              // for each panel, the products still to come
  };
  Expanded expanded(const BlockSparseMatrix<T>& matrix, const BlockPattern& known) const;
  const Data& expand(int priority, Expanded& operand, Index panel, int rank);
  static void used(Expanded& operand, Index panel);
  Sequence& sequence_;
  const ProductPlan& plan_;
  const BlockPattern& c_;
  Data elsewhere_;  // stands for pieces that only other ranks read
  Expanded a_, b_;
};

}  // namespace tessera::detail
