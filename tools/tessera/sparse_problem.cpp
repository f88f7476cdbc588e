// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_problem.hpp"

#include <fstream>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/generate.hpp>
#include <tessera/runtime/error.hpp>
#include <tessera/runtime/matrix_market.hpp>

namespace tessera::program {

BlockLayout SparseShape::layout(Index rows, Index cols, Symmetry symmetry) const {
  const auto dimension = [&](Index elements, int owners) {
    std::vector<Index> cut = sizes.empty() ? repeated_block_sizes(pattern, elements) : sizes;
    const Index sum = std::accumulate(cut.begin(), cut.end(), Index{0});
    if (sum != elements)
      throw InvalidArgument("--block-sizes", fmt::format("a sum of {}", sum),
                            fmt::format("the {} rows or columns of the matrix", elements));
    return BlockDimension::make(std::move(cut), owners, {}, panel);
  };
  return {dimension(rows, grid.rows), dimension(cols, grid.cols), grid, symmetry};
}

BlockLayout SparseShape::layout_like(const BlockDimension& rows, const BlockDimension& cols) const {
  const auto dimension = [&](const BlockDimension& like, int owners) {
    return BlockDimension::make({like.sizes().begin(), like.sizes().end()}, owners, {}, panel);
  };
  return {dimension(rows, grid.rows), dimension(cols, grid.cols), grid, Symmetry::none};
}

std::vector<Index> read_block_sizes(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path, 0, "there is no such file, or it cannot be read");
  std::vector<Index> sizes;
  for (Index size; file >> size;) {
    if (size < 0) throw InputError(path, 0, fmt::format("the block size {} is negative", size));
    sizes.push_back(size);
  }
  if (!file.eof())
    throw InputError(path, 0, fmt::format("block size number {} is not a number", sizes.size() + 1));
  if (sizes.empty()) throw InputError(path, 0, "has no block sizes");
  return sizes;
}

template <class T>
BlockSparseMatrix<T> generate_sparse(Session& session, const std::string& kind, Index n, double occupation,
                                     Symmetry symmetry, std::uint64_t seed, const SparseShape& shape) {
  const BlockLayout layout = shape.layout(n, n, symmetry);
  if (kind == "water")
    return water_block_sparse<T>(session.runtime(), layout, occupation, seed,
                                 static_cast<Index>(shape.pattern.size()));
  return random_block_sparse<T>(session.runtime(), layout, occupation, seed);
}

template <class T>
BlockSparseMatrix<T> load_sparse(Session& session, const std::string& path, const SparseShape& shape) {
  BlockSparseMatrix<T> matrix;
  session.together([&] {
    (void)shape;
    throw InputError(path, 0, "cannot be read");
  });
  return matrix;
}

template <class T>
void save_sparse(Session& session, const std::string& path, const BlockSparseMatrix<T>&) {
  session.together([&] { throw InputError(path, 0, "cannot be written"); });
}

bool is_complex_file(const std::string& path) {
  if (path.ends_with(".h5")) return false;
  return MatrixMarketReader(path).header().field == MatrixMarketField::complex;
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template BlockSparseMatrix<T> generate_sparse<T>(Session&, const std::string&, Index, double, Symmetry, \
                                                   std::uint64_t, const SparseShape&);                    \
  template BlockSparseMatrix<T> load_sparse<T>(Session&, const std::string&, const SparseShape&);         \
  template void save_sparse<T>(Session&, const std::string&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
