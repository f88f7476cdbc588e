// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "lobpcg_problem.hpp"

namespace tessera::program {

/// Y := A X with cuSPARSE on the first GPU: both triangles of A in CSR, row-major X and Y, and the
/// algorithm CSR_ALG3 after its preprocessing. A, X and Y stay on the GPU.
/// @throws RuntimeError without CUDA or a GPU, and if cuSPARSE fails
template <class T>
class CusparseProduct {
 public:
  CusparseProduct(const FullRows<T>& a, Index columns, const std::vector<T>& x);
  ~CusparseProduct();
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;
  /// Median seconds of `repeat` products.
  double time(int repeat);
  /// The last product, n x columns, row-major.
  std::vector<T> result() const;

 private:
  struct Detail;
  std::unique_ptr<Detail> detail_;
};

}  // namespace tessera::program
