// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/exchanged_lists.hpp>
#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/dense_parts.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/submatrices.hpp>

namespace tessera::detail {

namespace {

using Submatrices = std::span<const PrincipalSubmatrix>;

void require_square(const BlockLayout& layout) {
  if (!layout.rows->same_sizes(*layout.cols))
    throw InvalidArgument("matrix", "rows and columns of other block sizes",
                          "rows and columns of the same blocks");
}

void require_columns(std::span<const Index> columns, Index blocks) {
  for (const Index column : columns)
    if (column < 0 || column >= blocks)
      throw InvalidArgument("columns", fmt::to_string(column), fmt::format("0 to {}", blocks - 1));
}

void require_ascending(const char* name, std::span<const Index> numbers, Index count) {
  Index last = -1;
  for (const Index number : numbers) {
    if (number <= last || number >= count)
      throw InvalidArgument(name, fmt::to_string(number),
                            fmt::format("ascending numbers from 0 to {}", count - 1));
    last = number;
  }
}

/// That fit a matrix of this layout.
void require_submatrices(const Runtime& runtime, const BlockLayout& layout, Submatrices submatrices) {
  require_square(layout);
  for (const PrincipalSubmatrix& s : submatrices) {
    require_ascending("blocks", s.blocks, layout.rows->blocks());
    require_ascending("columns", s.columns, layout.rows->blocks());
    if (!std::includes(s.blocks.begin(), s.blocks.end(), s.columns.begin(), s.columns.end()))
      throw InvalidArgument("columns", "a block column that is not among the blocks", "some of the blocks");
    if (s.owner < 0 || s.owner >= runtime.size())
      throw InvalidArgument("owner", fmt::to_string(s.owner),
                            fmt::format("a rank, 0 to {}", runtime.size() - 1));
    constexpr Index most = std::numeric_limits<std::int32_t>::max();
    if (const Index order = s.begins(*layout.rows).back(); order > most)
      throw InvalidArgument("blocks", fmt::format("{} elements", order), fmt::format("at most {}", most));
  }
}

std::uint64_t hash_of_numbers(std::uint64_t seed, const std::vector<Index>& numbers) {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Index));
  return argument_hash(seed, numbers.size(), detail::hash_of(bytes));
}

std::uint64_t hash_of_submatrices(Submatrices submatrices) {
  std::uint64_t hash = submatrices.size();
  for (const PrincipalSubmatrix& s : submatrices)
    hash = argument_hash(hash_of_numbers(hash_of_numbers(hash, s.blocks), s.columns), s.owner);
  return hash;
}

/// The panels of some blocks along a dimension, ascending.
std::vector<Index> panels_of(const BlockDimension& dimension, std::span<const Index> blocks) {
  std::vector<Index> panels;
  for (const Index block : blocks) panels.push_back(dimension.panel_of(block));
  std::sort(panels.begin(), panels.end());
  panels.erase(std::unique(panels.begin(), panels.end()), panels.end());
  return panels;
}

/// Of a stored block: its numbers, the element of the panel's data at which it begins.
struct StoredBlock {
  Index row, col, element;
};

/// What a panel stores of the block rows and columns of a submatrix.
struct PanelPart {
  std::size_t submatrix;
  Index panel, elements;
  /// Submatrix by submatrix, panels as they are stored.
  auto operator<=>(const PanelPart&) const = default;
};
using StoredParts = KeyedList<PanelPart, StoredBlock>;

/// The stored blocks of one submatrix after the other, panel by panel.
class SubmatrixBlocks {
 public:
  explicit SubmatrixBlocks(const BlockPattern& pattern)
      : pattern_(pattern),
        is_row_(static_cast<std::size_t>(pattern.rows().blocks()), 0),
        is_column_(is_row_) {}

  /// Calls visit(part, blocks) for each panel that stores blocks with elements in the block rows of a submatrix and
  /// in all, or those, of its columns: the same parts in the same order on all ranks. The blocks are those of
  /// the part on the panel's owner and on the submatrix', else none. Collective.
  template <class Visit>
  void find(Submatrices submatrices, bool all_columns, const Visit& visit) {
    const bool alone = pattern_.runtime().size() == 1;
    std::vector<StoredParts> mine;
    for (std::size_t s = 0; s < submatrices.size(); ++s) {
      find_own(s, submatrices[s].blocks, all_columns ? submatrices[s].blocks : submatrices[s].columns, mine);
      if (!alone) continue;
      // One submatrix after the other: no list of all blocks.
      for (const auto& [part, stored] : mine) visit(part, std::span<const StoredBlock>(stored));
      mine.clear();
    }
    if (!alone) visit_all(submatrices, std::move(mine), visit);
  }

 private:
  template <class Visit>
  void visit_all(Submatrices submatrices, std::vector<StoredParts> mine, const Visit& visit) const {
    std::vector<PanelPart> parts;
    std::vector<StoredParts> sent;
    for (const StoredParts& own : mine) {
      parts.push_back(own.key);
      if (submatrices[own.key.submatrix].owner != pattern_.runtime().rank()) sent.push_back(own);
    }
    parts = values_of_all(pattern_.runtime(), std::move(parts));
    auto arrived = send_lists(pattern_.runtime(), std::move(sent),
                              [&](const PanelPart& part) { return submatrices[part.submatrix].owner; });
    std::move(arrived.begin(), arrived.end(), std::back_inserter(mine));
    std::sort(mine.begin(), mine.end(),
              [](const StoredParts& x, const StoredParts& y) { return x.key < y.key; });
    auto next = mine.begin();
    for (const PanelPart& part : parts) {
      const bool here = next != mine.end() && next->key == part;
      visit(part, here ? std::span<const StoredBlock>(next->entries) : std::span<const StoredBlock>());
      if (here) ++next;
    }
  }

  /// Appends the parts of this rank's panels.
  void find_own(std::size_t submatrix, std::span<const Index> rows, std::span<const Index> columns,
                std::vector<StoredParts>& found) {
    mark(rows, columns, 1);
    const auto row_panels = panels_of(pattern_.rows(), rows),
               col_panels = panels_of(pattern_.cols(), columns);
    for (const Index q : col_panels)
      for (const Index p : row_panels) {
        const Index panel = pattern_.panel(p, q);
        if (!pattern_.panel_local(panel) || pattern_.panel_elements(panel) == 0) continue;
        StoredParts part{{submatrix, panel, 0}, {}};
        collect(panel, part);
        if (!part.entries.empty()) found.push_back(std::move(part));
      }
    mark(rows, columns, 0);
  }
  void mark(std::span<const Index> rows, std::span<const Index> columns, char value) {
    for (const Index row : rows) is_row_[static_cast<std::size_t>(row)] = value;
    for (const Index column : columns) is_column_[static_cast<std::size_t>(column)] = value;
  }
  void collect(Index panel, StoredParts& part) const {
    const PanelIndex& index = pattern_.index(panel);
    const auto rows = pattern_.rows().panel(pattern_.row_panel(panel)),
               cols = pattern_.cols().panel(pattern_.col_panel(panel));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!is_row_[static_cast<std::size_t>(rows[i])]) continue;
      for (auto b = static_cast<std::size_t>(index.row_begin[i]);
           b < static_cast<std::size_t>(index.row_begin[i + 1]); ++b) {
        const Index col = cols[static_cast<std::size_t>(index.column[b])];
        const Index elements = index.offset[b + 1] - index.offset[b];
        if (!is_column_[static_cast<std::size_t>(col)] || elements == 0) continue;
        part.entries.push_back({rows[i], col, index.offset[b]});
        part.key.elements += elements;
      }
    }
  }
  const BlockPattern& pattern_;
  std::vector<char> is_row_, is_column_;
};

/// Places of blocks in one submatrix.
class SubmatrixPlaces {
 public:
  SubmatrixPlaces(const PrincipalSubmatrix& submatrix, const BlockDimension& dimension)
      : submatrix_(submatrix), dimension_(dimension), begins_(submatrix.begins(dimension)) {}
  Index order() const noexcept { return begins_.back(); }
  Index begin(Index block) const noexcept {
    const auto at = std::lower_bound(submatrix_.blocks.begin(), submatrix_.blocks.end(), block);
    return begins_[static_cast<std::size_t>(at - submatrix_.blocks.begin())];
  }
  /// Of a block whose elements begin at `element`.
  DensePart part(const StoredBlock& block, Index element, PartImage image) const {
    const bool mirrored = image == PartImage::mirrored;
    const auto rows = static_cast<std::int32_t>(dimension_.size(block.row));
    return {.element = element,
            .row = static_cast<std::int32_t>(begin(mirrored ? block.col : block.row)),
            .col = static_cast<std::int32_t>(begin(mirrored ? block.row : block.col)),
            .rows = rows,
            .cols = static_cast<std::int32_t>(dimension_.size(block.col)),
            .ld = rows,
            .image = image};
  }
  Index elements(const StoredBlock& block) const {
    return dimension_.size(block.row) * dimension_.size(block.col);
  }

 private:
  const PrincipalSubmatrix& submatrix_;
  const BlockDimension& dimension_;
  std::vector<Index> begins_;
};

template <class T>
std::vector<Data> submit_extraction(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                    Submatrices submatrices) {
  Runtime& runtime = sequence.runtime();
  double bytes = 0;
  std::vector<SubmatrixPlaces> places;
  std::vector<Data> dense;
  for (const PrincipalSubmatrix& s : submatrices) {
    const SubmatrixPlaces& place = places.emplace_back(s, a.pattern().rows());
    const auto order = static_cast<double>(place.order());
    if (s.owner == runtime.rank()) bytes += order * order * sizeof(T);
  }
  require_memory(runtime, "principal_submatrices", bytes);
  for (std::size_t s = 0; s < submatrices.size(); ++s) {
    // StarPU knows no empty matrices.
    const Index order = std::max<Index>(places[s].order(), 1);
    dense.push_back(Data::matrix(runtime, order, order, sizeof(T), submatrices[s].owner));
  }
  std::vector<char> written(submatrices.size(), 0);
  SubmatrixBlocks(a.pattern())
      .find(submatrices, true, [&](const PanelPart& part, std::span<const StoredBlock> stored) {
        const Data& matrix = dense[part.submatrix];
        std::vector<DensePart> parts;
        if (matrix.local())
          for (const StoredBlock& block : stored) {
            const SubmatrixPlaces& place = places[part.submatrix];
            parts.push_back(place.part(block, block.element, PartImage::straight));
            if (a.symmetry() != Symmetry::none && block.row != block.col)
              parts.push_back(place.part(block, block.element, PartImage::mirrored));
          }
        const Data list = make_task_list(runtime, parts, submatrices[part.submatrix].owner);
        char& before = written[part.submatrix];
        sequence.insert(GatherBlocks<T>{.parts = list,
                                        .values = a.panel(part.panel),
                                        .matrix = before ? add_to(matrix) : overwrite(matrix),
                                        .symmetry = a.symmetry()});
        before = 1;
      });
  for (std::size_t s = 0; s < submatrices.size(); ++s)
    if (!written[s]) sequence.insert(GatherBlocks<T>{.matrix = overwrite(dense[s])});
  for (Index p = 0; p < a.pattern().panels(); ++p)
    if (a.panel(p).valid()) a.panel(p).flush_remote_copies();
  return dense;
}

/// From a submatrix on another rank than the panel's: its owner packs the blocks, the panel's owner puts them.
template <class T>
void scatter_far(Sequence& sequence, const SubmatrixPlaces& places, std::span<const StoredBlock> stored,
                 Index elements, const Data& dense, const Data& values) {
  Runtime& runtime = sequence.runtime();
  std::vector<DensePart> parts;
  std::vector<BlockMove> moves;
  Index packed = 0;
  for (const StoredBlock& block : stored) {
    const DensePart part = places.part(block, packed, PartImage::straight);
    if (dense.local()) parts.push_back(part);
    if (values.local()) moves.push_back({packed, block.element, part.rows, part.cols, part.rows, part.rows});
    packed += places.elements(block);
  }
  const Data buffer = Data::bytes(runtime, static_cast<std::size_t>(elements) * sizeof(T), dense.owner());
  const Data list = make_task_list(runtime, parts, dense.owner());
  const Data move_list = make_task_list(runtime, moves, values.owner());
  sequence.insert(ScatterBlocks<T>{.parts = list, .matrix = dense, .values = overwrite(buffer)});
  sequence.insert(MoveBlocks<T>{.moves = move_list, .source = buffer, .destination = values, .factor = T(1)});
}

template <class T>
void submit_scatter(Sequence& sequence, Submatrices submatrices, std::span<const Data> dense,
                    const BlockSparseMatrix<T>& b) {
  Runtime& runtime = sequence.runtime();
  const BlockPattern& pattern = b.pattern();
  std::vector<SubmatrixPlaces> places;
  for (const PrincipalSubmatrix& s : submatrices) places.emplace_back(s, pattern.rows());
  std::vector<Index> written;
  SubmatrixBlocks(pattern).find(
      submatrices, false, [&](const PanelPart& part, std::span<const StoredBlock> stored) {
        written.push_back(part.panel);
        const Data &values = b.panel(part.panel), &matrix = dense[part.submatrix];
        const SubmatrixPlaces& place = places[part.submatrix];
        if (values.owner() != matrix.owner())
          return scatter_far<T>(sequence, place, stored, part.elements, matrix, values);
        std::vector<DensePart> parts;
        if (values.local())
          for (const StoredBlock& block : stored)
            parts.push_back(place.part(block, block.element, PartImage::straight));
        const Data list = make_task_list(runtime, parts, values.owner());
        sequence.insert(ScatterBlocks<T>{.parts = list, .matrix = matrix, .values = add_to(values)});
      });
  if (b.symmetry() == Symmetry::none) return;
  std::sort(written.begin(), written.end());
  for (const Index p : panels_on_diagonal(pattern))
    if (std::binary_search(written.begin(), written.end(), p))
      sequence.insert(ImposeSymmetry<T>{.pattern = pattern.packed(),
                                        .values = b.panel(p),
                                        .row_panel = word_of(pattern.row_panel(p)),
                                        .col_panel = word_of(pattern.col_panel(p)),
                                        .symmetry = b.symmetry()});
}

/// For each block column that some group names: the block rows that this rank stores there.
class ColumnRows {
 public:
  ColumnRows(const BlockPattern& pattern, std::span<const std::vector<Index>> groups)
      : rows_(static_cast<std::size_t>(pattern.cols().blocks())), wanted_(rows_.size(), 0) {
    for (const auto& group : groups)
      for (const Index column : group) wanted_[static_cast<std::size_t>(column)] = 1;
    const bool half = pattern.layout().symmetry != Symmetry::none;
    for (Index p = 0; p < pattern.panels(); ++p) {
      if (!pattern.panel_local(p)) continue;
      for (const auto& [row, col] : pattern.coordinates(p)) {
        note(row, col);
        if (half) note(col, row);
      }
    }
  }
  std::vector<Index> blocks_of(std::span<const Index> columns) const {
    std::vector<Index> blocks(columns.begin(), columns.end());
    for (const Index column : columns) {
      const auto& rows = rows_[static_cast<std::size_t>(column)];
      blocks.insert(blocks.end(), rows.begin(), rows.end());
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks;
  }

 private:
  void note(Index row, Index col) {
    if (wanted_[static_cast<std::size_t>(col)]) rows_[static_cast<std::size_t>(col)].push_back(row);
  }
  std::vector<std::vector<Index>> rows_;
  std::vector<char> wanted_;
};

/// The blocks of each submatrix from what each rank has of them. Collective.
void unite_blocks(const Runtime& runtime, std::vector<PrincipalSubmatrix>& submatrices) {
  if (runtime.size() == 1) return;
  struct Member {
    Index submatrix, block;
    auto operator<=>(const Member&) const = default;
  };
  std::vector<Member> members;
  for (std::size_t s = 0; s < submatrices.size(); ++s)
    for (const Index block : submatrices[s].blocks) members.push_back({static_cast<Index>(s), block});
  for (PrincipalSubmatrix& s : submatrices) s.blocks.clear();
  for (const auto& [submatrix, block] : values_of_all(runtime, std::move(members)))
    submatrices[static_cast<std::size_t>(submatrix)].blocks.push_back(block);
}

/// The largest first, each to the rank that has least to compute.
void deal(std::vector<PrincipalSubmatrix>& submatrices, const BlockDimension& dimension, int ranks) {
  std::vector<double> cost;
  for (const PrincipalSubmatrix& s : submatrices) {
    const auto order = static_cast<double>(s.begins(dimension).back());
    cost.push_back(order * order * order);
  }
  std::vector<std::size_t> turn(submatrices.size());
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  std::stable_sort(turn.begin(), turn.end(), [&](std::size_t x, std::size_t y) { return cost[x] > cost[y]; });
  std::vector<double> load(static_cast<std::size_t>(ranks), 0.0);
  for (const std::size_t s : turn) {
    const auto least = std::min_element(load.begin(), load.end());
    submatrices[s].owner = static_cast<int>(least - load.begin());
    *least += cost[s];
  }
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

std::vector<Index> PrincipalSubmatrix::begins(const BlockDimension& dimension) const {
  std::vector<Index> result{0};
  for (const Index block : blocks) result.push_back(result.back() + dimension.size(block));
  return result;
}

std::vector<PrincipalSubmatrix> submatrices_for(const BlockPattern& pattern,
                                                std::span<const std::vector<Index>> groups) {
  const auto check = [&] {
    require_square(pattern.layout());
    for (const auto& group : groups) require_columns(group, pattern.cols().blocks());
  };
  std::uint64_t hash = argument_hash(pattern.blocks(), pattern.elements());
  for (const auto& group : groups) hash = hash_of_numbers(hash, group);
  return collectively(pattern.runtime(), "submatrices_for", hash, check, [&] {
    const ColumnRows rows(pattern, groups);
    std::vector<PrincipalSubmatrix> result;
    for (const auto& group : groups) {
      std::vector<Index> columns = group;
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      result.push_back({.blocks = rows.blocks_of(columns), .columns = std::move(columns)});
    }
    unite_blocks(pattern.runtime(), result);
    deal(result, pattern.rows(), pattern.runtime().size());
    return result;
  });
}

std::vector<Index> submatrix_blocks(const BlockPattern& pattern, std::span<const Index> columns) {
  const std::vector<Index> group(columns.begin(), columns.end());
  return std::move(submatrices_for(pattern, std::span(&group, 1)).front().blocks);
}

template <class T>
std::vector<Data> principal_submatrices(Sequence& sequence, const BlockSparseMatrix<T>& a,
                                        std::span<const PrincipalSubmatrix> submatrices) {
  const auto check = [&] {
    require_made("a", a);
    require_submatrices(sequence.runtime(), a.layout(), submatrices);
  };
  return collectively(sequence.runtime(), "principal_submatrices",
                      argument_hash(hash_of_submatrices(submatrices), shape_hash(a)), check,
                      [&] { return submit_extraction(sequence, a, submatrices); });
}

template <class T>
Data principal_submatrix(Sequence& sequence, const BlockSparseMatrix<T>& a,
                         const PrincipalSubmatrix& submatrix) {
  return std::move(principal_submatrices(sequence, a, std::span(&submatrix, 1)).front());
}

template <class T>
void scatter_submatrices(Sequence& sequence, std::span<const PrincipalSubmatrix> submatrices,
                         std::span<const Data> dense, const BlockSparseMatrix<T>& b) {
  const auto check = [&] {
    require_made("b", b);
    require_submatrices(sequence.runtime(), b.layout(), submatrices);
    if (dense.size() != submatrices.size())
      throw InvalidArgument("dense", fmt::format("{} matrices", dense.size()),
                            fmt::format("{}, one for each submatrix", submatrices.size()));
    for (std::size_t s = 0; s < dense.size(); ++s) {
      if (!dense[s].valid()) throw InvalidArgument("dense", "nothing", "a piece of data");
      if (dense[s].owner() != submatrices[s].owner)
        throw InvalidArgument("dense", fmt::format("of rank {}", dense[s].owner()),
                              fmt::format("of the submatrix' owner, rank {}", submatrices[s].owner));
    }
  };
  collectively(sequence.runtime(), "scatter_submatrices",
               argument_hash(hash_of_submatrices(submatrices), shape_hash(b)), check,
               [&] { submit_scatter(sequence, submatrices, dense, b); });
}

template <class T>
void scatter_submatrix(Sequence& sequence, const PrincipalSubmatrix& submatrix, const Data& dense,
                       const BlockSparseMatrix<T>& b) {
  scatter_submatrices(sequence, std::span(&submatrix, 1), std::span(&dense, 1), b);
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template std::vector<Data> principal_submatrices<T>(Sequence&, const BlockSparseMatrix<T>&,              \
                                                      std::span<const PrincipalSubmatrix>);                \
  template Data principal_submatrix<T>(Sequence&, const BlockSparseMatrix<T>&, const PrincipalSubmatrix&); \
  template void scatter_submatrices<T>(Sequence&, std::span<const PrincipalSubmatrix>,                     \
                                       std::span<const Data>, const BlockSparseMatrix<T>&);                \
  template void scatter_submatrix<T>(Sequence&, const PrincipalSubmatrix&, const Data&,                    \
                                     const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
