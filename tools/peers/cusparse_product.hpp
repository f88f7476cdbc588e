// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "lobpcg_problem.hpp"

namespace tessera::program {

/// Y := A X by cuSPARSE on the first GPU: full rows (CSR), row-major X and Y, the algorithm CSR_ALG3 after
/// its preprocessing. A, X and Y stay on the GPU.
/// @throws RuntimeError without CUDA or a GPU, and where cuSPARSE fails
template <class T>
class CusparseProduct {
 public:
  CusparseProduct(const FullRows<T>& a, Index columns, const std::vector<T>& x);
  ~CusparseProduct();
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;
  /// Seconds of a product: the median of `repeat`.
  double time(int repeat);
  /// The last product, n x columns, row-major.
  std::vector<T> result() const;

 private:
  struct Detail;
  std::unique_ptr<Detail> detail_;
};

}  // namespace tessera::program
