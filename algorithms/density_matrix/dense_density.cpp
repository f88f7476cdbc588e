// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/dense_density.hpp>
#include <tessera/algorithms/density_matrix/hermitian_tiles.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/eigensolve.hpp>

namespace tessera::detail {

namespace {

/// The blocks of the occupied states: rows as those of H, columns in small groups of states.
BlockLayout layout_of_states(const BlockLayout& of_h, Index states) {
  constexpr Index group = 32;
  std::vector<Index> sizes(static_cast<std::size_t>(ceil_div(states, group)), group);
  if (states % group != 0) sizes.back() = states % group;
  BlockLayout layout = full_layout(of_h);
  layout.cols = BlockDimension::make(std::move(sizes), layout.grid.cols);
  return layout;
}

/// H, or S, in lower tiles.
template <class T>
TiledMatrix<T> lower_tiles(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a, Index tile) {
  Sequence sequence(algebra.runtime());
  auto tiled = to_tiled(sequence, a, tile_layout_for(a, tile));
  const Status status = sequence.wait();
  if (!status.ok()) throw IterationEnded{status};
  return tiled;
}

/// Eigenpairs with the vectors in tiles.
template <class T>
struct TiledEigenpairs {
  std::vector<double> values;
  TiledMatrix<T> vectors;
};

template <class T>
TiledEigenpairs<T> tiled_eigenpairs(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem, Index count) {
  const BlockSparseMatrix<T>& h = problem.hamiltonian;
  EigensolveOptions of_solve =
      resolve_options<T>(algebra.runtime(), h.rows(), {.range = index_range(0, count)});
  const auto tiled_h = lower_tiles(algebra, h, of_solve.tile);
  const auto tiled_s =
      problem.overlap ? lower_tiles(algebra, *problem.overlap, of_solve.tile) : TiledMatrix<T>();
  EigenProblem<T> eigenproblem{.a = tiled_h};
  if (problem.overlap) eigenproblem.b = tiled_s;
  auto solved = eigensolve<T>(algebra.runtime(), eigenproblem, of_solve);
  if (!solved) throw IterationEnded{solved.status()};
  return {{solved.values.begin(), solved.values.end()}, tiles_of(std::move(solved.vectors))};
}

/// The vectors in blocks.
template <class T>
DenseEigenpairs<T> in_blocks(BlockAlgebra<T>& algebra, TiledEigenpairs<T> tiled, const BlockLayout& of_h) {
  const BlockLayout all = layout_of_states(of_h, static_cast<Index>(tiled.values.size()));
  DenseEigenpairs<T> pairs{std::move(tiled.values), algebra.in_sequence([&](Sequence& sequence) {
                             return from_tiled(sequence, tiled.vectors, all, -1);
                           })};
  algebra.finish();
  return pairs;
}

/// C C^H of the first columns of vectors that are one tile, by one dense product.
template <class T>
BlockSparseMatrix<T> projector_of_tile(Runtime& runtime, const TiledMatrix<T>& vectors, Index states,
                                       const BlockLayout& layout) {
  const Index n = vectors.rows();
  const TiledMatrix<T> occupied(runtime, {n, states, n, states});
  HermitianTiles<T> p(runtime, {n, n, n, n, {}, Uplo::lower});
  const Data one = Data::bytes(runtime, sizeof(RealOf<T>), Data::every_rank);
  {
    const HostAccess access(one, HostAccess::Mode::write);
    access.array<RealOf<T>>().front() = 1;
  }
  Sequence sequence(runtime);
  sequence.insert(CopyTile<T>{.source = vectors.tile(0, 0),
                              .scale = one,
                              .destination = overwrite(occupied.tile(0, 0)),
                              .from = {0, 0, n, states},
                              .to = {0, 0, n, states},
                              .row0 = n});  // vectors have no diagonal that is real
  p.square(sequence, occupied);
  auto density = from_tiled(sequence, p.tiles(), layout, -1);
  const Status status = sequence.wait();
  if (!status.ok()) throw IterationEnded{status};
  return density;
}

}  // namespace

template <class T>
DenseEigenpairs<T> dense_eigenpairs(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem, Index count) {
  return in_blocks(algebra, tiled_eigenpairs(algebra, problem, count), problem.hamiltonian.layout());
}

template <class T>
BlockSparseMatrix<T> sum_over_states(BlockAlgebra<T>& algebra, const DenseEigenpairs<T>& of,
                                     std::span<const double> factors, const BlockLayout& layout) {
  Index count = static_cast<Index>(factors.size());
  while (count > 0 && factors[static_cast<std::size_t>(count - 1)] == 0) --count;
  BlockSparseMatrix<T> sum(empty_pattern(algebra.runtime(), layout));
  const auto scaled = algebra.copied(of.vectors);
  std::vector<T> v;
  for (const double factor : factors) v.push_back(T(static_cast<RealOf<T>>(factor)));
  algebra.in_sequence([&](Sequence& sequence) {
    scale_by_vector(sequence, Side::right, std::span<const T>(v), scaled);
    return scaled;
  });
  algebra.finish();
  const auto multiplied =
      multiply<T>(algebra.runtime(), {.a = scaled, .b = {of.vectors, Op::adjoint}, .c = sum},
                  {.limits = {.end_inner = count}});
  if (!multiplied) throw IterationEnded{multiplied.status()};
  return sum;
}

template <class T>
BlockSparseMatrix<T> dense_density(BlockAlgebra<T>& algebra, const DensityProblem<T>& problem,
                                   DensityResult<T>& result) {
  const BlockSparseMatrix<T>& h = problem.hamiltonian;
  const Index n = h.rows(), states = static_cast<Index>(std::llround(problem.electrons / problem.occupation));
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  result.gap = {{none, none}, {none, none}};
  if (states == 0 || n == 0) {
    return algebra.in_sequence([&](Sequence& sequence) {
      return zero_matrix<T>(sequence, empty_pattern(algebra.runtime(), h.layout()));
    });
  }
  auto pairs = tiled_eigenpairs(algebra, problem, std::min(states + 1, n));
  const auto value = [&](Index k) { return pairs.values[static_cast<std::size_t>(k)]; };
  const double homo = value(states - 1), lumo = states < n ? value(states) : none;
  result.error = std::numeric_limits<double>::quiet_NaN();  // not measured yet
  result.gap = {{homo, homo}, {lumo, lumo}};
  result.chemical_potential = states < n ? (homo + lumo) / 2 : homo;
  const double width = pairs.values.back() - value(0);
  if (states < n &&
      !(lumo - homo > 1e3 * static_cast<double>(precision<T>) * std::max(width, std::abs(homo))))
    throw IterationEnded{
        {StatusCode::no_gap, "dense", 0,
         fmt::format("states {} and {} are at {:.12g} and {:.12g}", states, states + 1, homo, lumo)}};
  Runtime& runtime = algebra.runtime();
  if (runtime.size() == 1 && runtime.any_gpus() && pairs.vectors.row_tiles() == 1 &&
      pairs.vectors.col_tiles() == 1)
    return projector_of_tile(runtime, pairs.vectors, states, h.layout());
  const BlockSparseMatrix<T> vectors = in_blocks(algebra, std::move(pairs), h.layout()).vectors;
  BlockSparseMatrix<T> p(empty_pattern(runtime, h.layout()));
  const auto multiplied = multiply<T>(runtime, {.a = vectors, .b = {vectors, Op::adjoint}, .c = p},
                                      {.limits = {.end_inner = states}});
  if (!multiplied) throw IterationEnded{multiplied.status()};
  return p;
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template DenseEigenpairs<T> dense_eigenpairs<T>(BlockAlgebra<T>&, const DensityProblem<T>&, Index); \
  template BlockSparseMatrix<T> sum_over_states<T>(BlockAlgebra<T>&, const DenseEigenpairs<T>&,       \
                                                   std::span<const double>, const BlockLayout&);      \
  template BlockSparseMatrix<T> dense_density<T>(BlockAlgebra<T>&, const DensityProblem<T>&,          \
                                                 DensityResult<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
