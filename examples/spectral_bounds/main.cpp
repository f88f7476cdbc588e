// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where the spectrum of a block-sparse matrix lies: the second differences of a line, A = tridiag(-1, 2, -1), cut
// into blocks, whose eigenvalues 2 - 2 cos(k pi / (n + 1)) are known; and its product with one of its eigenvectors.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

namespace {

/// Symmetric: only the lower half is stored.
tessera::BlockSparseMatrix<double> second_differences(tessera::Runtime& runtime, Index blocks, Index size) {
  const std::vector<Index> sizes(blocks, size);
  const auto layout = tessera::make_block_layout(runtime, sizes, sizes, tessera::Symmetry::symmetric);
  tessera::BlockSparseBuilder<double> builder(runtime, layout);
  for (Index b = 0; b < blocks; ++b) {
    std::vector<double> diagonal(size * size), beside(size * size);
    for (Index i = 0; i < size; ++i) {
      diagonal[i + i * size] = 2;
      if (i > 0) diagonal[i + (i - 1) * size] = diagonal[i - 1 + i * size] = -1;
    }
    beside[(size - 1) * size] = -1;
    if (builder.owner(b, b) == runtime.rank()) builder.put(b, b, {diagonal.data(), size, size, size});
    if (b > 0 && builder.owner(b, b - 1) == runtime.rank())
      builder.put(b, b - 1, {beside.data(), size, size, size});
  }
  return builder.finalize();
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  const auto a = second_differences(runtime, 30, 7);
  const Index n = a.rows();
  const double angle = std::numbers::pi / static_cast<double>(n + 1);
  const double least = 2 - 2 * std::cos(angle), largest = 2 + 2 * std::cos(angle);

  const auto r = tessera::extremal_eigenvalues(runtime, {.a = a}, {.tolerance = 1e-3});
  if (!r) {
    std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }
  std::printf("%ld products: the spectrum lies in [%.4f, %.4f], nearly surely in [%.4f, %.4f]\n",
              static_cast<long>(r.products), r.lowest.bound, r.highest.bound, r.lowest.safe_bound,
              r.highest.safe_bound);
  std::printf("by Gershgorin: [%.4f, %.4f]\n", r.gershgorin.lower, r.gershgorin.upper);

  // A x for the eigenvector of the largest eigenvalue.
  std::vector<double> x(n), product(n);
  for (Index i = 0; i < n; ++i) x[i] = (i % 2 == 0 ? 1 : -1) * std::sin((i + 1) * angle);
  const auto vectors = tessera::column_vectors(a, 1), products = tessera::row_vectors(a, 1);
  vectors.set(x.data(), n);
  tessera::Sequence sequence(runtime);
  tessera::multiply_vectors(sequence, 1.0, a, tessera::Op::none, vectors, 0.0, products);
  if (!sequence.wait()) return 1;
  products.get(product.data(), n);
  double error = 0;
  for (Index i = 0; i < n; ++i) error = std::max(error, std::abs(product[i] - largest * x[i]));
  std::printf("largest eigenvalue %.8f, error of A x %.1e\n", largest, error);
  const bool right = r.lowest.bound <= least && r.highest.bound >= largest && error < 1e-13;
  return right ? 0 : 1;
}
