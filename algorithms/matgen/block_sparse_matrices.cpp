// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/molecule_box.hpp>
#include <tessera/algorithms/matgen/row_pattern.hpp>
#include <tessera/codelets/block_sparse/values/random_blocks.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// Streams of random numbers that have nothing in common.
enum Stream : std::uint64_t { stream_blocks = 1, stream_values = 2, stream_sites = 3 };

void require_occupation(double occupation) {
  if (!(occupation >= 0 && occupation <= 1))
    throw InvalidArgument("occupation", fmt::to_string(occupation), "0 to 1");
}

/// A matrix of random values, made by one task a panel.
template <class T>
BlockSparseMatrix<T> random_values(Runtime& runtime, BlockPatternPointer pattern, std::uint64_t seed,
                                   Symmetry symmetry, const PeriodicSites* sites) {
  BlockSparseMatrix<T> matrix(std::move(pattern));
  Sequence sequence(runtime);
  sequence.begin_stage("generate");
  for (Index p = 0; p < matrix.pattern().panels(); ++p)
    if (matrix.panel(p).valid())
      sequence.insert(RandomBlocks<T>{.blocks = matrix.pattern().blocks_of(p),
                                      .values = matrix.panel(p),
                                      .seed = splitmix(seed, stream_values),
                                      .symmetry = symmetry,
                                      .sites = sites});
  finish(sequence);
  return matrix;
}

/// The columns of one row of random blocks: the gaps between them have a geometric distribution.
class RandomRow {
 public:
  RandomRow(Index rows, Index cols, double occupation, std::uint64_t seed)
      : diagonals_(std::min(rows, cols)),
        cols_(cols),
        occupation_(occupation),
        log_absent_(std::log1p(-occupation)),
        seed_(splitmix(seed, stream_blocks)) {}

  const std::vector<Index>& operator()(Index row) {
    columns_.clear();
    bool diagonal = row >= diagonals_;  // absent, or already added
    const auto add = [&](Index col) {
      if (!diagonal && col >= row) {
        diagonal = true;
        if (col > row) columns_.push_back(row);
      }
      columns_.push_back(col);
    };
    const std::uint64_t key = splitmix(seed_, static_cast<std::uint64_t>(row));
    Index col = -1;
    for (std::uint64_t draw = 0; occupation_ > 0; ++draw) {
      // log(1 - u) / log(1 - occupation), u in [0, 1); occupation 1 gives no gap.
      const double gap = std::floor(std::log1p(-unit_uniform(splitmix(key, draw))) / log_absent_);
      if (!(gap < static_cast<double>(cols_ - col - 1))) break;
      col += 1 + static_cast<Index>(gap);
      add(col);
    }
    if (!diagonal) columns_.push_back(row);
    return columns_;
  }

 private:
  Index diagonals_, cols_;
  double occupation_, log_absent_;
  std::uint64_t seed_;
  std::vector<Index> columns_;
};

template <class T>
BlockSparseMatrix<T> make_water(Runtime& runtime, const BlockLayout& layout, double occupation,
                                std::uint64_t seed, Index blocks_per_molecule) {
  const Index blocks = layout.rows->blocks();
  const MoleculeBox box(ceil_div(blocks, blocks_per_molecule), water_volume, 1, splitmix(seed, stream_sites));
  PeriodicSites sites = box.sites();
  sites.blocks_per_site = blocks_per_molecule;
  sites.decay_length = box.cells_per_angstrom();  // one angstrom
  // One rank's number for all: what decides the pattern must not depend on the processor.
  double cutoff = box.cutoff_squared(occupation);
  runtime.broadcast(&cutoff, sizeof cutoff, 0);
  Index molecule = -1;
  std::vector<Index> near, columns;
  auto pattern = pattern_by_rows(runtime, layout, [&](Index i) -> const std::vector<Index>& {
    if (i / blocks_per_molecule == molecule) return columns;
    molecule = i / blocks_per_molecule;
    box.neighbours(molecule, cutoff, near);
    columns.clear();
    for (const Index other : near)
      for (Index j = other * blocks_per_molecule; j < std::min(blocks, (other + 1) * blocks_per_molecule);
           ++j)
        columns.push_back(j);
    return columns;
  });
  const Symmetry symmetry = layout.symmetry == Symmetry::none ? Symmetry::hermitian : layout.symmetry;
  return random_values<T>(runtime, std::move(pattern), seed, symmetry, &sites);
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

std::vector<Index> repeated_block_sizes(std::span<const Index> pattern, Index elements) {
  if (pattern.empty()) throw InvalidArgument("block sizes", "none", "at least one");
  for (const Index size : pattern)
    if (size < 1) throw InvalidArgument("block sizes", fmt::to_string(size), "at least 1");
  if (elements < 0) throw InvalidArgument("elements", fmt::to_string(elements), "at least 0");
  const double average = static_cast<double>(std::accumulate(pattern.begin(), pattern.end(), Index(0))) /
                         static_cast<double>(pattern.size());
  constexpr Index most = std::numeric_limits<std::int32_t>::max();  // as in BlockDimension
  if (static_cast<double>(elements) / average > static_cast<double>(most))
    throw InvalidArgument("elements", fmt::to_string(elements), fmt::format("at most {} blocks", most));
  std::vector<Index> sizes;
  for (std::size_t k = 0; elements > 0; ++k) {
    sizes.push_back(std::min(pattern[k % pattern.size()], elements));
    elements -= sizes.back();
  }
  return sizes;
}

template <class T>
BlockSparseMatrix<T> random_block_sparse(Runtime& runtime, const BlockLayout& layout, double occupation,
                                         std::uint64_t seed) {
  const auto check = [&] {
    layout.require_valid(runtime);
    require_occupation(occupation);
  };
  const std::uint64_t hash = argument_hash(layout.hash(runtime), occupation, seed);
  return collectively(runtime, "random_block_sparse", hash, check, [&] {
    RandomRow row(layout.rows->blocks(), layout.cols->blocks(), occupation, seed);
    auto pattern =
        pattern_by_rows(runtime, layout, [&](Index i) -> const std::vector<Index>& { return row(i); });
    return random_values<T>(runtime, std::move(pattern), seed, layout.symmetry, nullptr);
  });
}

template <class T>
BlockSparseMatrix<T> water_block_sparse(Runtime& runtime, const BlockLayout& layout, double occupation,
                                        std::uint64_t seed, Index blocks_per_molecule) {
  const auto check = [&] {
    layout.require_valid(runtime);
    require_occupation(occupation);
    if (!layout.rows->same_sizes(*layout.cols))
      throw InvalidArgument("layout",
                            fmt::format("{} x {} elements", layout.rows->elements(), layout.cols->elements()),
                            "the same block sizes for rows and columns");
    if (blocks_per_molecule < 1)
      throw InvalidArgument("blocks_per_molecule", fmt::to_string(blocks_per_molecule), "at least 1");
  };
  const std::uint64_t hash = argument_hash(layout.hash(runtime), occupation, seed, blocks_per_molecule);
  return collectively(runtime, "water_block_sparse", hash, check,
                      [&] { return make_water<T>(runtime, layout, occupation, seed, blocks_per_molecule); });
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template BlockSparseMatrix<T> random_block_sparse<T>(Runtime&, const BlockLayout&, double, std::uint64_t); \
  template BlockSparseMatrix<T> water_block_sparse<T>(Runtime&, const BlockLayout&, double, std::uint64_t,   \
                                                      Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
