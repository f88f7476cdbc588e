// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/block_memory.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/block_permutation.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/require_memory.hpp>

namespace tessera::program {
using namespace detail;

BlockLayout SparseShape::layout(Index rows, Index cols, Symmetry symmetry) const {
  const auto sum = [](const std::vector<Index>& list) {
    return std::accumulate(list.begin(), list.end(), Index{0});
  };
  const auto cut = [&](Index elements, const auto& preferred, const auto& other) {
    if (sum(preferred) == elements) return preferred;
    if (sum(other) == elements) return other;
    throw InvalidArgument("--block-sizes", fmt::format("a sum of {}", sum(preferred)),
                          fmt::format("the {} rows or columns of the matrix", elements));
  };
  if (!sizes)
    return dealt({dimension(repeated_block_sizes(pattern, rows), grid.rows),
                  dimension(repeated_block_sizes(pattern, cols), grid.cols), grid, symmetry});
  return dealt({dimension(cut(rows, sizes->rows, sizes->cols), grid.rows),
                dimension(cut(cols, sizes->cols, sizes->rows), grid.cols), grid, symmetry});
}

double SparseShape::mean_block() const {
  const auto mean = [](const std::vector<Index>& list) {
    return static_cast<double>(std::accumulate(list.begin(), list.end(), Index{0})) /
           static_cast<double>(std::max<std::size_t>(list.size(), 1));
  };
  return std::max(sizes ? std::min(mean(sizes->rows), mean(sizes->cols)) : mean(pattern), 1.);
}

double SparseShape::memory(Index rows, Index cols, double occupation, std::size_t element_bytes) const {
  const auto panels = [&](Index elements, int owners) {
    const Index along =
        panel > 0 ? panel : suitable_panel_elements(*runtime, elements, owners_for_panels(grid));
    return std::ceil(static_cast<double>(elements) / static_cast<double>(along)) + owners;
  };
  const double m = static_cast<double>(rows), n = static_cast<double>(cols), block = mean_block();
  const double values = static_cast<double>(element_bytes) * m * n * occupation / runtime->size();
  return values +
         pattern_memory({m / block, n / block, panels(rows, grid.rows), panels(cols, grid.cols),
                         m / block * (n / block) * occupation, static_cast<double>(runtime->size())});
}

double SparseShape::product_occupation(const std::string& kind, Index n, double occupation) const {
  if (kind == "water") return occupation;
  // Probability that a row of blocks of A and a column of blocks of B have a block at the same
  // inner index.
  const double blocks = static_cast<double>(n) / mean_block();
  return -std::expm1(blocks * std::log1p(-std::min(occupation * occupation, 1.)));
}

BlockLayout SparseShape::layout_like(const BlockDimension& rows, const BlockDimension& cols,
                                     Symmetry symmetry) const {
  const auto list = [](const BlockDimension& like) {
    return std::vector<Index>(like.sizes().begin(), like.sizes().end());
  };
  return dealt({dimension(list(rows), grid.rows), dimension(list(cols), grid.cols), grid, symmetry});
}

BlockLayout SparseShape::dealt(const BlockLayout& layout) const {
  return homogenized ? homogenized_layout(layout, *homogenized) : layout;
}

BlockDimensionPointer SparseShape::dimension(std::vector<Index> list, int owners) const {
  const Index elements = std::accumulate(list.begin(), list.end(), Index{0});
  return BlockDimension::make(
      std::move(list), owners, {},
      panel > 0 ? panel : suitable_panel_elements(*runtime, elements, owners_for_panels(grid)));
}

namespace {

bool is_hdf5(const std::string& path) {
  return path.ends_with(".h5");
}

/// The layout given by the header of a Matrix Market file and by the shape. Rank 0 reads the file.
template <class T>
BlockLayout layout_of_file(Session& session, const std::string& path, const SparseShape& shape) {
  Runtime& runtime = session.runtime();
  std::array<Index, 3> header{};
  session.together([&] {
    if (runtime.rank() != 0) return;
    const MatrixMarketHeader read = MatrixMarketReader(path).header();
    Symmetry symmetry = Symmetry::none;
    switch (read.symmetry) {
      case MatrixMarketSymmetry::symmetric:
        symmetry = Symmetry::symmetric;
        break;
      case MatrixMarketSymmetry::hermitian:
        symmetry = is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
        break;
      case MatrixMarketSymmetry::skew_symmetric:
        symmetry = Symmetry::antisymmetric;
        break;
      default:
        break;
    }
    header = {read.rows, read.columns, static_cast<Index>(symmetry)};
  });
  runtime.broadcast(header.data(), sizeof header, 0);
  require_memory(runtime, "the layout of " + path, shape.memory(header[0], header[1], 0, sizeof(T)));
  return shape.layout(header[0], header[1], static_cast<Symmetry>(header[2]));
}

}  // namespace

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
  Runtime& runtime = session.runtime();
  if (!is_hdf5(path)) return read_matrix_market<T>(runtime, path, layout_of_file<T>(session, path, shape));
  BlockSparseMatrix<T> read = read_hdf5<T>(runtime, path);
  const BlockLayout wanted = shape.layout_like(read.pattern().rows(), read.pattern().cols(), read.symmetry());
  if (read.layout() == wanted) return read;
  Sequence sequence(runtime);
  sequence.begin_stage("distribute");
  BlockSparseMatrix<T> matrix = make_image<T>(sequence, T(1), read, wanted);
  const Status status = sequence.wait();
  if (!status) throw Error(status.message());
  return matrix;
}

template <class T>
void save_sparse(const std::string& path, const BlockSparseMatrix<T>& matrix) {
  if (is_hdf5(path))
    write_hdf5(path, matrix);
  else
    write_matrix_market(path, matrix);
}

bool is_complex_file(const std::string& path) {
  if (is_hdf5(path)) return false;
  return MatrixMarketReader(path).header().field == MatrixMarketField::complex;
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template BlockSparseMatrix<T> generate_sparse<T>(Session&, const std::string&, Index, double, Symmetry, \
                                                   std::uint64_t, const SparseShape&);                    \
  template BlockSparseMatrix<T> load_sparse<T>(Session&, const std::string&, const SparseShape&);         \
  template void save_sparse<T>(const std::string&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
