// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <tessera/codelets/block_sparse/values/random_blocks.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// Streams of random numbers that have nothing in common.
enum Stream : std::uint64_t { stream_blocks = 1, stream_values = 2, stream_sites = 3 };

/// Uniform in [0, 1).
double unit_uniform(std::uint64_t bits) noexcept {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

void require_occupation(double occupation) {
  if (!(occupation >= 0 && occupation <= 1))
    throw InvalidArgument("occupation", fmt::to_string(occupation), "0 to 1");
}

/// The pattern whose block row i has the block columns columns_of(i) (ascending), as far as the layout stores
/// them. Every rank requests only the rows that it owns.
template <class Columns>
BlockPatternPointer pattern_by_rows(Runtime& runtime, const BlockLayout& layout, const Columns& columns_of) {
  const BlockDimension &rows = *layout.rows, &cols = *layout.cols;
  const auto number = [&](Index p, Index q) { return static_cast<std::size_t>(p + q * rows.panels()); };
  std::vector<PanelIndex> panels(static_cast<std::size_t>(rows.panels() * cols.panels()));
  for (Index p = 0; p < rows.panels(); ++p) {
    const auto members = rows.panel(p);
    std::vector<Index> mine;  // panels of columns
    for (Index q = 0; q < cols.panels(); ++q) {
      panels[number(p, q)].row_begin.assign(members.size() + 1, 0);
      if (layout.grid.rank(rows.panel_owner(p), cols.panel_owner(q)) == runtime.rank()) mine.push_back(q);
    }
    if (mine.empty()) continue;
    for (std::size_t row = 0; row < members.size(); ++row) {
      for (const Index col : columns_of(members[row])) {
        const Index q = cols.panel_of(col);
        if (!layout.stores(members[row], col) ||
            layout.grid.rank(rows.panel_owner(p), cols.panel_owner(q)) != runtime.rank())
          continue;
        panels[number(p, q)].column.push_back(static_cast<std::int32_t>(cols.position(col)));
      }
      for (const Index q : mine) {
        PanelIndex& index = panels[number(p, q)];
        index.row_begin[row + 1] = static_cast<std::int32_t>(index.column.size());
      }
    }
  }
  return BlockPattern::from_panels(runtime, layout, std::move(panels));
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

/// Bits of three coordinates interleaved: the number of a cell along the Morton curve.
std::uint64_t morton(std::array<Index, 3> cell) noexcept {
  std::uint64_t key = 0;
  for (int bit = 0; bit < 20; ++bit)
    for (std::size_t d = 0; d < 3; ++d)
      key |= static_cast<std::uint64_t>(cell[d] >> bit & 1) << (3 * bit + static_cast<int>(d));
  return key;
}

/// Molecules in a cube of `cells`^3 lattice cells, at most one in each. Lengths are in units of a cell.
class WaterBox {
 public:
  WaterBox(Index molecules, Index blocks_per_molecule, std::uint64_t seed) {
    constexpr double volume = 29.9, decay_length = 1;  // cubic angstrom a molecule; angstrom
    while (cells_ * cells_ * cells_ < molecules) ++cells_;
    sites_.side = static_cast<double>(cells_);
    sites_.blocks_per_site = blocks_per_molecule;
    sites_.decay_length =
        decay_length * sites_.side / std::cbrt(volume * static_cast<double>(std::max<Index>(molecules, 1)));
    place(molecules, splitmix(seed, stream_sites));
  }

  const PeriodicSites& sites() const noexcept { return sites_; }
  Index molecules() const noexcept { return static_cast<Index>(sites_.position.size()); }

  /// The squared distance within which each molecule has the share `occupation` of all (and itself), on
  /// average over a sample.
  double cutoff_squared(double occupation) const {
    const Index count = molecules();
    if (count == 0) return 0;
    if (occupation == 1) return 3 * sites_.side * sites_.side;
    const Index samples = std::min(count, std::max<Index>(64, ceil_div(Index(1) << 22, count)));
    std::vector<double> distances;
    for (Index s = 0; s < samples; ++s) {
      const Index a = s * count / samples;
      for (Index b = 0; b < count; ++b) distances.push_back(sites_.distance_squared(a, b));
    }
    const auto rank = static_cast<std::ptrdiff_t>(occupation * static_cast<double>(distances.size())) - 1;
    if (rank < 0) return 0;
    std::nth_element(distances.begin(), distances.begin() + rank, distances.end());
    return distances[static_cast<std::size_t>(rank)];
  }

  /// Molecules within the cutoff of one, itself among them, ascending.
  void neighbours(Index molecule, double cutoff_squared, std::vector<Index>& found) const {
    found.assign(1, molecule);
    const Index reach = static_cast<Index>(std::sqrt(cutoff_squared)) + 1;
    std::array<Index, 3> first{}, count{};
    for (std::size_t d = 0; d < 3; ++d) {
      const auto cell = static_cast<Index>(sites_.position[static_cast<std::size_t>(molecule)][d]);
      count[d] = std::min(2 * reach + 1, cells_);
      first[d] = cell - reach + cells_ * (reach / cells_ + 1);  // not negative
    }
    for (Index x = 0; x < count[0]; ++x)
      for (Index y = 0; y < count[1]; ++y)
        for (Index z = 0; z < count[2]; ++z) {
          const Index other =
              occupant({(first[0] + x) % cells_, (first[1] + y) % cells_, (first[2] + z) % cells_});
          if (other >= 0 && other != molecule && sites_.distance_squared(molecule, other) <= cutoff_squared)
            found.push_back(other);
        }
    std::sort(found.begin(), found.end());
  }

 private:
  Index cell_number(const std::array<Index, 3>& c) const noexcept {
    return c[0] + cells_ * (c[1] + cells_ * c[2]);
  }
  Index occupant(const std::array<Index, 3>& cell) const noexcept {
    return occupant_[static_cast<std::size_t>(cell_number(cell))];
  }

  /// The molecules go along the curve; cells that stay empty are spread evenly.
  void place(Index molecules, std::uint64_t seed) {
    const Index total = cells_ * cells_ * cells_;
    std::vector<std::pair<std::uint64_t, std::array<Index, 3>>> curve;
    for (Index z = 0; z < cells_; ++z)
      for (Index y = 0; y < cells_; ++y)
        for (Index x = 0; x < cells_; ++x) curve.push_back({morton({x, y, z}), {x, y, z}});
    std::sort(curve.begin(), curve.end());
    occupant_.assign(static_cast<std::size_t>(total), -1);
    for (Index m = 0; m < molecules; ++m) {
      const auto& cell = curve[static_cast<std::size_t>(m * total / molecules)].second;
      occupant_[static_cast<std::size_t>(cell_number(cell))] = m;
      std::array<double, 3> position{};
      for (std::size_t d = 0; d < 3; ++d)
        position[d] = static_cast<double>(cell[d]) +
                      unit_uniform(splitmix(seed, static_cast<std::uint64_t>(3 * m) + d));
      sites_.position.push_back(position);
    }
  }

  Index cells_ = 1;
  std::vector<Index> occupant_;  // molecule in each cell, or -1
  PeriodicSites sites_;
};

}  // namespace

namespace {

template <class T>
BlockSparseMatrix<T> make_water(Runtime& runtime, const BlockLayout& layout, double occupation,
                                std::uint64_t seed, Index blocks_per_molecule) {
  const Index blocks = layout.rows->blocks();
  const WaterBox box(ceil_div(blocks, blocks_per_molecule), blocks_per_molecule, seed);
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
  return random_values<T>(runtime, std::move(pattern), seed, symmetry, &box.sites());
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
