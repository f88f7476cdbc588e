// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/algorithms/dense/tridiagonal_sizes.hpp>

namespace tessera::detail {

namespace {

/// Rows of a leaf: n over a power of two, so that the tree is balanced, at most `largest` and a multiple
/// of 8.
Index balanced_leaf(Index n, Index largest) {
  Index pieces = 1;
  while (ceil_div(n, pieces) > largest) pieces *= 2;
  return pieces == 1 ? n : ceil_div(ceil_div(n, pieces), 8) * 8;
}

/// Bytes of a leaf's task: its vectors and three matrices of their order in double.
Index leaf_bytes(Index leaf, std::size_t real_bytes) {
  return leaf * leaf * static_cast<Index>(3 * sizeof(double) + real_bytes);
}

/// The largest leaf whose own task fits into a GPU's memory, and with it the packing of its row block at the
/// root, which writes leaf x n and reads half of that.
Index fitting_leaf(const Runtime& runtime, Index n, std::size_t real_bytes) {
  const Index bytes = task_memory(runtime);
  return std::max<Index>(std::min(square_of(bytes / leaf_bytes(1, real_bytes)),
                                  2 * (bytes / (3 * std::max<Index>(n, 1) * static_cast<Index>(real_bytes)))),
                         32);
}

}  // namespace

Index choose_leaf(const Runtime& runtime, Index n, bool want_vectors, std::size_t real_bytes) {
  if (runtime.gpus() > 0) {
    if (!want_vectors) return n;
    const Index wish = std::clamp<Index>(n / (4 * Index(runtime.gpus()) * runtime.size()), 512, 1024);
    return balanced_leaf(n, std::min(wish, fitting_leaf(runtime, n, real_bytes)));
  }
  if (want_vectors)
    return balanced_leaf(
        n, std::clamp<Index>(n / (6 * Index(runtime.common_workers()) * runtime.size()), 64, 256));
  return balanced_leaf(n, std::clamp<Index>(n / (4 * runtime.common_workers()), 64, 512));
}

Index leaves_together(const Runtime& runtime, Index leaf, std::size_t real_bytes) {
  if (runtime.gpus() == 0) return 1;
  const Index fitting = task_memory(runtime) / leaf_bytes(leaf, real_bytes);
  return std::clamp<Index>(std::min(16384 / leaf / runtime.gpus(), fitting), 1, 64);
}

Index choose_tile_columns(const Runtime& runtime, Index n, Index leaf, std::size_t real_bytes) {
  const Index fewest = ceil_div(n, 1000);
  const int gpus = runtime.gpus();
  if (gpus == 0) return std::max({leaf, tile_columns_on_cpus, fewest});
  const Index elements = task_memory(runtime) / static_cast<Index>(real_bytes);
  const Index fitting = std::min((elements - leaf * n) / (n + leaf), elements / (2 * n)) / 32 * 32;
  return std::min(std::clamp<Index>(n / (4 * gpus), 1024, 4096), std::max({fitting, Index(32), fewest}));
}

Index merge_parts(const Runtime& runtime, Index m, int depth) {
  if (runtime.gpus() > 0) return 1;
  const double milliseconds = 4e-6 * double(m) * double(m);
  const Index wanted = (4 * Index(runtime.common_workers())) >> std::min(depth, 30);
  return std::max<Index>(1, std::min<Index>(wanted, static_cast<Index>(2 * milliseconds)));
}

}  // namespace tessera::detail
