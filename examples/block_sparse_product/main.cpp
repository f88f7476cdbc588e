// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// C := A B of block-sparse matrices with a filter: a chain of molecules, each with blocks of 13, 5 and 5
// basis functions, whose matrix elements fall off with the distance. The product is compared with that of the
// dense matrices, and its trace with the inner product of A and B.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <tessera/tessera.hpp>

using tessera::Index;

namespace {

constexpr Index molecules = 16, blocks = 3 * molecules;

/// Blocks of molecules at most `reach` apart. Symmetric: only the lower half is stored.
tessera::BlockSparseMatrix<double> chain(tessera::Runtime& runtime, const tessera::BlockLayout& layout,
                                         Index reach, double phase) {
  tessera::BlockSparseBuilder<double> builder(runtime, layout);
  std::vector<double> values;
  for (Index j = 0; j < blocks; ++j)
    for (Index i = j; i < blocks; ++i) {
      const Index distance = i / 3 - j / 3;
      // Each rank puts the blocks that it owns; here, on one rank, all.
      if (distance > reach || builder.owner(i, j) != runtime.rank()) continue;
      const Index rows = layout.rows->size(i), cols = layout.cols->size(j);
      const Index row = layout.rows->first(i), col = layout.cols->first(j);
      values.assign(rows * cols, 0);
      for (Index c = 0; c < cols; ++c)
        for (Index r = 0; r < rows; ++r)
          values[r + c * rows] = std::exp(-2.0 * distance) * std::cos(phase * ((row + r) + (col + c)));
      builder.put(i, j, {values.data(), rows, cols, rows});
    }
  return builder.finalize();
}

}  // namespace

int main() {
  tessera::Runtime runtime;
  std::vector<Index> sizes;
  for (Index k = 0; k < molecules; ++k) sizes.insert(sizes.end(), {13, 5, 5});
  const auto half = tessera::make_block_layout(runtime, sizes, sizes, tessera::Symmetry::symmetric);
  const auto whole = tessera::make_block_layout(runtime, sizes, sizes);
  const auto a = chain(runtime, half, 5, 0.3), b = chain(runtime, half, 4, 0.7);
  auto c = tessera::BlockSparseBuilder<double>(runtime, whole).finalize();  // no blocks yet

  const double eps = 1e-5;
  const auto r = tessera::multiply(runtime, {.a = a, .b = b, .c = c}, {.filter_eps = eps});
  if (!r) {
    std::fprintf(stderr, "%s\n", r.status().message().c_str());
    return 1;
  }
  std::printf("%ld products of blocks, %.2e flop; left out by the filter: %ld products, %ld blocks\n",
              static_cast<long>(r.products), r.flop, static_cast<long>(r.filtered_products),
              static_cast<long>(r.filtered_blocks));
  std::printf("occupation: A %.2f, B %.2f, C %.2f\n", occupation(a), occupation(b), occupation(c));

  // What the filter changes: products below eps in all for a block, and blocks below eps. So no element of C
  // is off by more than 2 eps, and the trace by no more than the sum of that over the diagonal.
  const Index n = a.rows();
  const std::vector<double> da = to_dense(a), db = to_dense(b), dc = to_dense(c);
  double error = 0;
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      double exact = 0;
      for (Index k = 0; k < n; ++k) exact += da[i + k * n] * db[k + j * n];
      error = std::max(error, std::abs(dc[i + j * n] - exact));
    }
  const double trace_error = std::abs(trace(c) - dot(a, b));  // trace(A^T B), and A^T = A
  std::printf("trace of C %.8f, off by %.1e; largest error of an element %.1e (filter %.0e)\n", trace(c),
              trace_error, error, eps);
  const bool right = error <= 2 * eps && trace_error <= 2 * eps * n && r.filtered_blocks > 0;
  return right ? 0 : 1;
}
